"""Position: a bound on the first completion, the second, and so on."""

from gsopt.core.numbers.grid import Exact, Number, float_below
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds.srpt import srpt_completions
from gsopt.schedule.bounds.work import Steps


def position_bound(workload: Workload, gpus: Number) -> Exact:
    """Bound the sum of completion times position by position.

    The q-th completion is not before the q-th of shortest remaining time on one fast machine, which maximises
    the jobs completed at every instant, nor before the q-th smallest release date plus height. At least as
    good as the SRPT and the height bound. Takes O(n log n).

    Examples
    --------
    >>> from gsopt.schedule.bounds import height_bound, srpt_bound
    >>> from gsopt.scenario.job import Job, Workload
    >>> jobs = [Job(name=str(i), release_date=0, duration=i + 1, gpus=1) for i in range(4)]
    >>> workload = Workload(jobs=jobs)
    >>> srpt_bound(workload, 2), height_bound(workload, 2), position_bound(workload, 2)
    (10, 10, 11)
    """
    steps = Steps.of(workload, gpus)
    return steps.completed(sum(positions(steps)))


def completions_by_position(workload: Workload, gpus: Number) -> list[float]:
    """Bound the first, second, ... completion by SRPT, release dates and heights, from the first release."""
    steps = Steps.of(workload, gpus)
    return [float_below(time * steps.seconds) for time in positions(steps)]


def positions(steps: Steps) -> list[int]:
    """Bound the first, second, ... completion, in steps."""
    alone = (release + height for release, height in zip(steps.release, steps.height, strict=True))
    return list(map(max, srpt_completions(steps), sorted(alone)))
