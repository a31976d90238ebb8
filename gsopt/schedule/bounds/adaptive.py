"""Adaptive: the replacement of adaptive jobs by non-adaptive jobs that are at least as fast."""

from collections.abc import Mapping

from gsopt.core.numbers.tolerances import TERM, ULPS
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.epochs import EpochTimes, epoch_times, kinds_in


def on_weighted_epochs(scenario: Scenario, times: Mapping[str, EpochTimes] | None = None) -> Scenario:
    """Return the scenario with each adaptive job replaced by a non-adaptive job that is at least as fast.

    The speed of an adaptive job depends on its placement, batch size and epoch. Each of its epochs has a weight
    (`gsopt.schedule.bounds.epochs.EpochTimes`). The work of the job that replaces it is the sum of these
    weights, and its menus state the highest speed at which this weighted work can be done in any epoch.
    Whatever the weights are, the GPUs that an adaptive job holds in a schedule of the given scenario also
    suffice for the job that replaces it. Lower bounds for the result therefore also hold for the given
    scenario.

    Parameters
    ----------
    scenario
        The scenario, whose jobs may be adaptive.
    times
        Minimum epoch durations of the adaptive jobs that can run, keyed by job name; computed if None.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Workload
    >>> given = Scenario(workload=Workload(jobs=[]), cluster=Cluster.plain(4))
    >>> on_weighted_epochs(given) is given
    True
    """
    if not scenario.applications:
        return scenario
    known = epoch_times(scenario) if times is None else times
    jobs = tuple(_weighted(scenario, job, known.get(job.name)) for job in scenario.workload.jobs)
    workload = scenario.workload.model_copy(update={"jobs": jobs})
    return scenario.model_copy(update={"workload": workload, "applications": {}})


def _weighted(scenario: Scenario, job: Job, times: EpochTimes | None) -> Job:
    """Return a job with the weighted work of an adaptive job, and the highest speeds at which this work grows.

    The result has a mode for each GPU type if the job distinguishes types.
    """
    if times is None:
        return job  # it is not adaptive, or runs nowhere
    weights = times.weights
    speeds = dict(zip(times.columns, times.speeds(weights).tolist(), strict=True))
    menus = {
        (mode, kind): [count for count in menu if (kind, count) in speeds]
        for mode, menu in job.speeds.items()
        for kind in kinds_in(scenario, job, mode)
    }
    (first, kind), *others = [way for way, counts in menus.items() if counts]
    counts = menus[first, kind]
    gpus = job.gpus if job.gpus in counts else min(counts)
    own = speeds[kind, gpus]

    def menu(mode: str, kind: str) -> tuple[tuple[int, float], ...]:
        return tuple((count, speeds[kind, count] / own) for count in menus[mode, kind])

    rounding = TERM * (ULPS + len(weights))  # no longer than without it
    return job.model_copy(
        update={
            "duration": float(weights.sum()) / own * (1 - rounding),
            "gpus": gpus,
            "gpu_type": kind or job.gpu_type_in(first),
            "memory": job.memory_in(first),
            "menu": menu(first, kind),
            "modes": tuple(
                Mode.model_construct(
                    name=f"{name} on {kind}" if kind else name,
                    menu=menu(name, kind),
                    gpu_type=kind or job.gpu_type_in(name),
                    memory=job.memory_in(name),
                )
                for name, kind in others
            ),
        }
    )
