"""Enumeration: the optimum of a tiny instance, found by trying all candidates."""

from gsopt.core.problem import Number, Problem, S


def brute_force(problem: Problem[S]) -> tuple[Number, S] | None:
    """Find an optimal solution of a tiny instance by brute force, and return its value and the solution.

    Return None if the instance is infeasible. Raise `gsopt.core.errors.Unsupported` if the problem cannot list
    its candidates.

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
