"""What pairs save in their best mode."""

from itertools import product

from formulations.colocation.case import Case
from gsopt.core.budget import Budget
from gsopt.problems.colocation import ColocationSolution, Share
from instances.colocation import full_cluster
from tests.exactness import colocation as oracle
from tests.strategies.colocation import tiny


def test_the_fastest_mode_that_fits_saves_most() -> None:
    """For every pair the saving is the most of all modes, as the judge counts it; what costs is left out."""
    looked = 0
    for seed in range(100):
        problem = tiny(seed)
        case = Case.of(problem)
        for (r, beside), (p, job) in product(enumerate(problem.running), enumerate(problem.pending)):
            shares = [
                ColocationSolution(shares={job.name: Share(running=beside.name, mode=mode)})
                for mode in ("", *(each.name for each in job.modes))
            ]
            values = [problem.objective(each) for each in shares if not problem.violations(each)]
            best = max(values, default=0)
            assert (case.savings[r, p].seconds if (r, p) in case.savings else 0) == max(best, 0), seed
            looked += 1
    assert looked > 200


def test_the_bound_is_above_and_the_greedy_pairs_have_half() -> None:
    """No optimum is above the bound, and the greedy pairs save at least half of it."""
    for seed in range(100):
        problem = tiny(seed)
        case, best = Case.of(problem), oracle.optimum(problem)
        greedy = problem.objective(case.solution(case.greedy()))
        at_once = Case(problem, {}, complete=False).bound
        assert at_once >= case.bound >= best >= greedy >= best / 2, seed


def test_time_ends_the_look_at_pairs() -> None:
    """Without time no pair is known, and the case says so."""
    case = Case.of(full_cluster(seed=1), Budget(time_limit=0.0))
    assert (dict(case.savings), case.complete) == ({}, False)
