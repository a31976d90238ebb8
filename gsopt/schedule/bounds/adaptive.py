"""Adaptive: replacement of adaptive jobs by non-adaptive ones that are at least as fast, for lower bounds."""

from collections.abc import Iterable, Mapping

from gsopt.core.numbers.tolerances import TERM, ULPS
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.epochs import EpochTimes, epoch_times


def on_weighted_epochs(scenario: Scenario, times: Mapping[str, EpochTimes] | None = None) -> Scenario:
    """Return a scenario in which non-adaptive jobs replace the adaptive ones and are at least as fast.

    The speed of an adaptive job depends on the placement, the batch and the epoch. In the result, its work is
    the sum of the weights of its epochs, and its menus contain the highest speeds at which this weighted work
    can grow (see `gsopt.schedule.bounds.epochs.EpochTimes`). The weight of an epoch is the least number of
    GPU-seconds that it takes. Every schedule of the given scenario therefore has time for all work of the
    result. Lower bounds for the result hold for the given scenario, counted from the first progress of each
    job. A scenario without applications is returned unchanged.

    Parameters
    ----------
    scenario
        The scenario, whose jobs may be adaptive.
    times
        The least seconds of each epoch, by name of the job, for the jobs that can run; computed if None.

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
    jobs = tuple(_weighted(job, known.get(job.name)) for job in scenario.workload.jobs)
    workload = scenario.workload.model_copy(update={"jobs": jobs})
    return scenario.model_copy(update={"workload": workload, "applications": {}})


def _weighted(job: Job, times: EpochTimes | None) -> Job:
    """Return a job with the weighted work of an adaptive job, at the highest speeds at which it grows."""
    if times is None:
        return job  # it is not adaptive, or runs nowhere
    weights = times.weights
    speeds = dict(zip(times.counts.tolist(), times.speeds(weights).tolist(), strict=True))
    menus = {mode: [count for count in menu if count in speeds] for mode, menu in job.speeds.items()}
    first, *others = [mode for mode, counts in menus.items() if counts]
    gpus = job.gpus if job.gpus in menus[first] else min(menus[first])
    own = speeds[gpus]

    def menu(counts: Iterable[int]) -> tuple[tuple[int, float], ...]:
        return tuple((count, speeds[count] / own) for count in counts)

    rounding = TERM * (ULPS + len(weights))  # no longer than without it
    modes = {mode.name: mode for mode in job.modes}
    return job.model_copy(
        update={
            "duration": float(weights.sum()) / own * (1 - rounding),
            "gpus": gpus,
            "gpu_type": job.gpu_type_in(first),
            "memory": job.memory_in(first),
            "menu": menu(menus[first]),
            "modes": tuple(
                modes[name].model_copy(
                    update={
                        "menu": menu(menus[name]),
                        "gpu_type": job.gpu_type_in(name),
                        "memory": job.memory_in(name),
                        "tunes": False,
                    }
                )
                for name in others
            ),
        }
    )
