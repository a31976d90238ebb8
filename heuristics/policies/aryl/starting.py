"""Starting: the start of waiting jobs and the placement of their base workers."""

from collections.abc import Iterable, Mapping, Sequence

from heuristics.policies.aryl.flexing import displace
from heuristics.policies.aryl.forms import Form
from heuristics.policies.aryl.occupancy import Occupancy, RunningJob
from heuristics.policies.aryl.placing import place_base


def start(
    occupancy: Occupancy,
    order: Iterable[int],
    forms: Mapping[int, Sequence[Form]],
    *,
    blocks: bool,
    grouping: bool,
) -> list[RunningJob]:
    """Start jobs on their base workers, displace flexible workers if necessary, and return the started jobs.

    Each job starts in its first form whose base workers can be placed. With `blocks`, a job that does not fit
    blocks the jobs behind it; otherwise it is skipped, and jobs that have only a mixed form come last. Then,
    all started jobs are placed again, in descending order of worker size, mixed jobs last (Aryl, sections 5.3
    and 6). If one of them no longer fits, they all stay where they are. Last, flexible workers are displaced
    where base workers have taken their GPUs.
    """
    started: list[RunningJob] = []
    if not blocks:
        order = sorted(order, key=lambda job: forms[job][0].pool == "mixed")
    refused: set[tuple[int, int, int]] = set()  # forms that do not fit, as room only shrinks here
    for job in order:
        base = None
        for form in forms[job]:
            shape = id(form.suits), form.worker_gpus, form.base
            if shape in refused:
                continue
            base = place_base(occupancy, form, grouping=grouping)
            if base is not None:
                started.append(RunningJob(job, form, base, pool=form.pool, speeds=form.speeds))
                occupancy.start(started[-1])
                break
            refused.add(shape)
        if base is None and blocks:
            break
    _place_again(occupancy, started, grouping=grouping)
    displace(occupancy)
    return started


def _place_again(occupancy: Occupancy, started: Sequence[RunningJob], *, grouping: bool) -> None:
    """Place base workers anew, largest first.

    All workers stay where they are if one of them does not fit.
    """
    if started == started[:1]:
        return
    for running in started:
        occupancy.put_base(running.base, -running.form.worker_gpus)
    placed = _placed(occupancy, started, grouping=grouping)
    for running in started:
        running.base = placed.get(running.job, running.base)
        occupancy.put_base(running.base, running.form.worker_gpus)


def _placed(
    occupancy: Occupancy, started: Sequence[RunningJob], *, grouping: bool
) -> dict[int, dict[int, int]]:
    """Return each job's machines, found in descending order of worker size, or {} if a job does not fit."""
    placed: dict[int, dict[int, int]] = {}
    size = {running.job: running.form.worker_gpus for running in started}
    for running in sorted(
        started, key=lambda running: (running.form.pool == "mixed", -running.form.worker_gpus)
    ):
        base = place_base(occupancy, running.form, grouping=grouping)
        if base is None:
            break
        placed[running.job] = base
        occupancy.put_base(base, running.form.worker_gpus)
    for job, base in placed.items():
        occupancy.put_base(base, -size[job])
    return placed if len(placed) == len(started) else {}
