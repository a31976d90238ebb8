"""Root: the bound of areas before anything has started."""

from math import inf

from formulations.sharing.best import Best
from formulations.sharing.jobs import arrays_of
from gsopt.compiled import twin


def raise_to_root(best: Best) -> None:
    """Raise the bound to that of areas; it holds for starts at any time (`formulations.sharing.areas`)."""
    from formulations.sharing.lower import lower
    from formulations.sharing.stack import new_stack

    jobs, units = arrays_of(best.problem)
    best.raise_bound(units.mean(best.problem, float(twin(lower)(jobs, new_stack(jobs), 0, inf))))
