"""Wish: what a job needs by its deadline, and the levels on which it can run."""

from dataclasses import dataclass

from gsopt.scenario.job import Job
from gsopt.simulation.policy import State


@dataclass(frozen=True)
class Wish:
    """What a job needs.

    Attributes
    ----------
    number
        Number of the job.
    work
        Seconds of work at speed 1 that are left.
    levels
        Numbers of GPUs on which it can run, ascending, each faster than the one before it.
    speeds
        Its speed on each of them.
    slots
        Whole slots until its deadline; None without one.
    """

    number: int
    work: float
    levels: tuple[int, ...]
    speeds: tuple[float, ...]
    slots: int | None

    def speed(self, gpus: int) -> float:
        """Return the speed on no GPUs or on those of a level."""
        return self.speeds[self.levels.index(gpus)] if gpus else 0.0


def levels_of(state: State, number: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the numbers of GPUs on which a job can run, with its speeds, without those that are no faster."""
    job: Job = state.jobs[number]
    best = state.cluster.best_tier
    found = [
        (count, float(state.rate(number, count, tier=best(count))))
        for count in job.counts
        if count <= state.cluster.gpus
    ]
    faster = [
        entry for place, entry in enumerate(found) if all(entry[1] > before for _, before in found[:place])
    ]
    return tuple(count for count, _ in faster), tuple(speed for _, speed in faster)
