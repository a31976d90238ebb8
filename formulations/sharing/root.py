"""Root: the bound of areas before anything has started."""

import numpy as np

from formulations.sharing.best import Best
from formulations.sharing.jobs import arrays_of
from gsopt.compiled import twin


def raise_to_root(best: Best) -> None:
    """Raise the bound to that of areas alone.

    It holds for starts at any time (`formulations.sharing.areas`), whatever else bounds the search over starts
    at events.

    Examples
    --------
    >>> from gsopt.budget import Budget
    >>> from gsopt.job import Job
    >>> from gsopt.problems.sharing import Sharing
    >>> jobs = [Job(name=n, release_date=0, duration=6, gpus=1) for n in "abc"]
    >>> best = Best(Sharing(gpus=1, jobs=jobs, default_interference=1.5), Budget(), "areas")
    >>> raise_to_root(best)
    >>> round(float(best.bound), 6)  # 4.5 s of a whole machine each, and half of 6 s
    9.75
    """
    from formulations.sharing.areas import area_bound
    from formulations.sharing.lower import weigh
    from formulations.sharing.stack import new_stack

    jobs, units = arrays_of(best.problem)
    weights = np.zeros((2, len(jobs.demand)))
    twin(weigh)(jobs, new_stack(jobs), 0, weights)
    areas = weights * jobs.demand * jobs.duration / jobs.gpus[0]
    alone = jobs.release + jobs.duration
    total = twin(area_bound)(jobs.release, jobs.duration, areas, alone, 0.0)
    best.raise_bound(units.mean(best.problem, float(total)))
