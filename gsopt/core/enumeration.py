"""Enumeration: the optimum of a tiny instance, found by trying every possible solution."""

from gsopt.core.problem import Number, Problem, S


def brute_force(problem: Problem[S]) -> tuple[Number, S] | None:
    """Return the optimal value and a solution of a tiny instance by brute force, or None if it is infeasible.

    Examples
    --------
    >>> import gsopt
    >>> brute_force(gsopt.load("reclaiming/aryl-figure-5"))
    (1, ReclaimingSolution(servers=('s1', 's2')))
    """
    best: tuple[Number, S] | None = None
    for candidate in problem.candidates():
        if problem.violations(candidate):
            continue
        value = problem.objective(candidate)
        if best is None or problem.sense.better(value, best[0]):
            best = (value, candidate)
    return best
