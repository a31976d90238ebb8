"""Root: the area bound before any job has started, computed in fractions."""

from fractions import Fraction

from formulations.sharing.best import BestSharing, IndependentPart, Parts
from formulations.sharing.jobs import arrays_of
from gsopt.core.numbers.compiled import twin


def raise_to_root(best: BestSharing) -> None:
    """Raise the bound to the area bound, part by part.

    Unlike other bounds in the search over starts at events, the area bound holds for starts at any time
    (`formulations.sharing.areas`).
    """
    for part in Parts(best).every:
        if best.finished is None:
            raise_part_to_root(part)


def raise_part_to_root(part: IndependentPart) -> None:
    """Raise the bound of a part to the area bound."""
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
