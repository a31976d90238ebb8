"""Alone: every job by itself at its fastest."""

from gsopt.core.numbers.grid import Exact, Number
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds.work import Steps


def height_bound(workload: Workload, gpus: Number) -> Exact:
    """Bound the sum of completion times by every job alone at its fastest.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> height_bound(Workload(jobs=[Job(name="a", release_date=1, duration=5, gpus=1)]), 4)
    6
    """
    steps = Steps.of(workload, gpus)
    return steps.completed(sum(steps.release) + sum(steps.height))
