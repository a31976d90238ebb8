"""Dally: the job lists of its simulator, with jobs from the Helios trace."""

import json
from collections.abc import Callable, Iterator, Mapping
from math import fsum, inf
from pathlib import Path
from random import Random
from typing import Any, Literal, Unpack

from gsopt.core.errors import InvalidInput, require, require_one_of, shorten
from gsopt.scenario.job import LATEST, Job
from instances.arguments import at_least
from instances.traces.reading import Issue, Reading, TraceRow, content, find, usable
from instances.traces.selection import Entry, Selection, select

#: Path in the folder of public traces of the default list: a day of 344 jobs, with real arrivals.
FILE = Path("dally_artistsim/jobs/sensetime-1april.json.gz")

#: Files of the lists that the paper evaluates, by short name.
LISTS: Mapping[str, str] = {
    "batch": "sense_500jobs_0start-withBert",
    "poisson": "sense_500jobs_poisson_1proc-week",
    "day": "sensetime-1april",
}

#: GPUs per machine and machines per rack in all experiments. Source: Dally, section V-B.
GPUS, MACHINES = 8, 8

#: Keys of `gsopt.scenario.speed.TIER_PENALTIES`, by the name of the model in the lists.
MODELS: Mapping[str, str] = {
    "VGG": "vgg11",
    "AlexNet": "alexnet",
    "MobileNetV3": "mobilenetv3",
    "ResNet18": "resnet18",
    "ResNet50": "resnet50",
    "BERT": "bert-large",
}

#: Assumptions where the paper is silent or its data say otherwise, for printing with results.
ASSUMPTIONS = (
    "The paper does not name the lists it evaluated: 500 jobs for the batch and 411 for Poisson fit its text.",
    "Iterations are counted on one GPU: on d GPUs a job computes for iterations times their time, over d.",
    "That product is the recorded duration on d GPUs, so jobs are d times shorter than on the real cluster.",
    "Models were assigned by Lucid and Dally, not recorded; VGG is read as VGG11 and BERT as BERT large.",
    "Table I, simulated for 8 GPUs, gives communication per unit of computation for jobs on 2 GPUs or more.",
    "A job on one GPU does not communicate.",
    "The paper does not say how it drew Poisson arrivals; here they have a given load or mean gap.",
    "Demands are those of the lists, 1 to 56 GPUs, not all of them powers of two.",
    "Racks have 8 machines of 8 GPUs; stopping and relaunching a job takes no time.",
)

_KEYS = ("job_id", "submit_time", "start_time", "model", "batchsize", "max_parallelism")
_WORK = {"iterations": ("total_iterations", "time_per_iteration"), "duration": ("duration",)}
_LISTED = "arrival_time"
_TO_BE_DRAWN = "-1"

#: Smallest and largest load; beyond them, release dates would be unreasonable.
_LEAST_LOAD, _MOST_LOAD = 1e-6, 1e6


def dally(
    path: str | Path,
    *,
    jobs: str = "day",
    work: Literal["iterations", "duration"] = "iterations",
    mean_gap: float | None = None,
    load: float | None = None,
    gpus: int = MACHINES * GPUS,
    listed: bool = False,
    **selection: Unpack[Selection],
) -> Reading:
    """Read a job list of Dally: arrival (s), work (s), number of GPUs, model and batch size of every job.

    The arrival is ``start_time``. In some lists, it is -1 for most jobs, because Dally's simulator draws the
    arrivals. These jobs arrive at their original ``submit_time``, unless `mean_gap`, `load` or `listed` is
    given; the other jobs of such a list are dropped. Every arrival that replaces a -1 is reported as a repair.

    The number of GPUs is ``max_parallelism``. For models of Table I, the names in
    `gsopt.scenario.speed.TIER_PENALTIES` are used. Slowdowns are not read. An entry is dropped if a required
    value is missing or breaks a rule, or if its job has been read before. `ASSUMPTIONS` lists what is unknown
    or differs from the paper.

    Parameters
    ----------
    path
        The file, plain or gzipped, or the folder of the job lists or of all traces.
    jobs
        If `path` is a folder: ``batch``, ``poisson`` or ``day`` (see `LISTS`), or the name of another list.
    work
        Duration of a job. ``iterations``: the number of iterations times the duration of one iteration on a
        single GPU, divided by the number of GPUs, as in the simulator. ``duration``: the recorded duration.
    mean_gap
        Mean seconds between two arrivals. Jobs arrive in the order of the file, with exponential gaps.
    load
        GPU-seconds submitted per second and GPU, without communication, between 1e-6 and 1e6. The mean gap is
        the mean GPU time of the list's jobs, divided by ``load * gpus``.
    gpus
        Number of GPUs of the cluster, for `load`.
    listed
        Whether jobs arrive at the list's ``arrival_time``. At most one of `mean_gap`, `load` and `listed` may
        be given.
    selection
        Window, GPU cap and sample; see `Selection`. `seed` is also the seed for arrivals.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not a list of jobs, an option is out of range, or `mean_gap`, `load` or
        `listed` is given although the list does not have -1 for most jobs.

    Notes
    -----
    Dally, sections V-A and V-B, with the simulator ArtISt-sim.

    Examples
    --------
    >>> from instances import data_folder
    >>> folder = data_folder()
    >>> folder is None or len(dally(folder, jobs="poisson", load=0.9, gpus=512).workload.jobs) == 411
    True
    """
    require_one_of("work", work, _WORK)
    at_least(1, gpus=gpus)
    require(mean_gap is None or 0 < mean_gap < inf, "mean_gap", mean_gap, "must be more than 0")
    require(load is None or _LEAST_LOAD <= load <= _MOST_LOAD, "load", load, "must be between 1e-6 and 1e6")
    require(Path(jobs).name == jobs, "jobs", jobs, f"must be {', '.join(LISTS)} or the name of a list")
    sources = (mean_gap is not None) + (load is not None) + listed
    require(sources <= 1, "arrivals", sources, "must come from one of mean_gap, load and listed")
    file = find(path, FILE.with_name(f"{LISTS.get(jobs, jobs)}.json.gz"))
    issues: list[Issue] = []
    table = list(_rows(file, (*_KEYS, *_WORK[work], *((_LISTED,) if listed else ())), issues))
    if sum(row.values["start_time"] == _TO_BE_DRAWN for row in table) > len(table) / 2:
        entries, done = _arriving(table, work, issues, listed=listed)
        if load is not None and entries:
            mean_gap = fsum(job.gpu_seconds for _, job in entries) / len(entries) / (load * gpus)
        if mean_gap is not None:
            entries = _drawn(entries, mean_gap, selection.get("seed", 0))
            done = f"drawn, mean gap {mean_gap:g} s"
        issues += [row.issue(f"start_time: -1: {done}", repaired=True) for row, _ in entries]
    else:
        require(not sources, "arrivals", file.name, "are in the list: mean_gap, load and listed are for others")
        entries = list(usable(table, lambda row: _job(row, row.number("start_time"), work), issues))
    return select("dally", f"Dally job list, {file.name}", entries, issues, **selection)


def _rows(file: Path, keys: tuple[str, ...], issues: list[Issue]) -> Iterator[TraceRow]:
    for number, entry in enumerate(_entries(file), start=1):
        values = entry if isinstance(entry, dict) else {}
        wrong = next((key for key in keys if not isinstance(values.get(key), str) or not values[key]), "")
        if wrong:
            value = shorten(values[wrong]) + ": " if wrong in values else ""
            reason = f"{wrong}: {value}must be a string that is not empty"
            issues.append(Issue(file=file.name, row=number, reason=reason))
        else:
            yield TraceRow(file.name, number, {key: values[key] for key in keys})


def _entries(file: Path) -> list[Any]:
    try:
        data = json.loads(content(file))
    except RecursionError:
        raise InvalidInput("", "", "must be nested less deeply", source=str(file)) from None
    except InvalidInput:
        raise
    except ValueError:  # no JSON, no UTF-8, or an integer of thousands of digits
        raise InvalidInput("", "", "must be JSON", source=str(file)) from None
    if not isinstance(data, list):
        raise InvalidInput("", shorten(data), "must be a list of jobs", source=str(file))
    return data


def _arriving(
    table: list[TraceRow], work: str, issues: list[Issue], *, listed: bool
) -> tuple[list[Entry], str]:
    """Return the jobs with arrivals from the list instead of random ones, and a note for the reports."""
    when: Callable[[TraceRow], float] = (
        (lambda row: row.number(_LISTED)) if listed else (lambda row: row.moment("submit_time"))
    )

    def convert(row: TraceRow) -> Job:
        arrival = row.values["start_time"]
        if arrival != _TO_BE_DRAWN:
            raise InvalidInput("start_time", shorten(arrival), "must be -1, as in most entries")
        return _job(row, when(row), work)

    return list(usable(table, convert, issues)), f"{_LISTED if listed else 'submit_time'} is used"


def _job(row: TraceRow, release_date: float, work: str) -> Job:
    gpus = row.whole_number("max_parallelism")
    model = row.values["model"]
    return Job(
        name=row.values["job_id"],
        release_date=release_date,
        duration=_seconds(row, gpus) if work == "iterations" else row.number("duration"),
        gpus=gpus,
        model=MODELS.get(model, model),
        batch_size=row.whole_number("batchsize"),
    )


def _seconds(row: TraceRow, gpus: int) -> float:
    """Return the computing time in seconds, with iterations divided among the demanded GPUs."""
    return row.number("total_iterations") * row.number("time_per_iteration") / max(gpus, 1)


def _drawn(entries: list[Entry], mean_gap: float, seed: int) -> list[Entry]:
    random = Random(seed)
    time = 0.0
    drawn: list[Entry] = []
    for row, job in entries:
        drawn.append((row, job.model_copy(update={"release_date": time})))
        time += random.expovariate(1 / mean_gap)
        require(time <= LATEST, "mean_gap", mean_gap, f"must let all jobs arrive before {LATEST:g} s")
    return drawn
