"""Position: a bound on the first completion, the second, and so on."""

from gsopt.bounds.srpt import srpt_completions
from gsopt.bounds.work import arrivals_of, height, sum_from_first_release
from gsopt.job import Workload


def position_bound(workload: Workload, gpus: float) -> float:
    """Bound the sum of completion times position by position.

    The q-th completion is not before the q-th of shortest remaining time on one fast machine, which maximises
    the jobs completed at every instant, nor before the q-th smallest release date plus height. At least as
    good as the SRPT and the height bound. Takes O(n log n).

    Examples
    --------
    >>> from gsopt.bounds import height_bound, srpt_bound
    >>> from gsopt.job import Job, Workload
    >>> jobs = [Job(name=str(i), release_date=0, duration=i + 1, gpus=1) for i in range(4)]
    >>> workload = Workload(jobs=jobs)
    >>> srpt_bound(workload, 2), height_bound(workload, 2), position_bound(workload, 2)
    (10.0, 10.0, 11.0)
    """
    return sum_from_first_release(workload, completions_by_position(workload, gpus))


def completions_by_position(workload: Workload, gpus: float) -> list[float]:
    """Bound the first, second, ... completion by SRPT and by release dates and heights."""
    alone = zip(arrivals_of(workload), map(height, workload.jobs), strict=True)
    return list(map(max, sorted(srpt_completions(workload, gpus)), sorted(map(sum, alone))))
