"""Root: the bound of areas before anything has started, in fractions."""

from fractions import Fraction

from formulations.sharing.best import Best, IndependentPart, Parts
from formulations.sharing.jobs import arrays_of
from gsopt.core.numbers.compiled import twin


def raise_to_root(best: Best) -> None:
    """Raise the bound to that of areas alone, part by part.

    It holds for starts at any time (`formulations.sharing.areas`), whatever else bounds the search over starts
    at events.

    Examples
    --------
    >>> from gsopt.core.budget import Budget
    >>> from gsopt.scenario.job import Job
    >>> from gsopt.problems.sharing import Sharing
    >>> from formulations.sharing.listing import in_turn
    >>> jobs = [Job(name=n, release_date=0, duration=6, gpus=1) for n in "abc"]
    >>> best = Best(Sharing(gpus=1, jobs=jobs, default_interference=1.5), Budget(), "areas")
    >>> best.take(in_turn(best.problem))
    True
    >>> raise_to_root(best)
    >>> best.bound  # 4.5 s of a whole machine each, and half of 6 s
    Fraction(39, 4)
    """
    for part in Parts(best).every:
        if best.finished is None:
            raise_part_to_root(part)


def raise_part_to_root(part: IndependentPart) -> None:
    """Raise the bound of a part to that of areas."""
    from formulations.sharing.areas import area_bound
    from formulations.sharing.lower import weigh
    from formulations.sharing.stack import new_stack

    jobs, units = arrays_of(part.problem)
    stack = new_stack(jobs)
    weights = stack.due[:2]
    twin(weigh)(jobs, stack, 0, weights)
    areas = weights * jobs.share * jobs.duration
    total = twin(area_bound)(jobs.release, jobs.duration, areas, jobs.release + jobs.duration, stack.time[0])
    part.raise_bound(units.mean(Fraction(total)))
