"""The assignment in doubles and its proof."""

from fractions import Fraction

from formulations.colocation import assignment
from formulations.colocation.assignment import assign
from formulations.colocation.beginning import begin
from formulations.colocation.case import Case, Saving
from gsopt.budget import Budget
from gsopt.problems.colocation import Colocation, Pending, Running
from gsopt.result import Status
from gsopt.testing import check_formulation
from instances.colocation import full_cluster
from tests.exactness import colocation as oracle
from tests.strategies.colocation import committed, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the assignment is proven to be what enumeration finds."""
    assert check_formulation(assignment, committed()) == len(committed())


def test_what_is_called_optimal_is() -> None:
    """On 200 instances with hard numbers no value but the optimum is proven, and most are proven."""
    proven = 0
    for seed in range(300, 500):
        problem = tiny(seed)
        result, best = assignment(problem), oracle.optimum(problem)
        assert result.bound is not None
        assert result.bound >= best
        assert (result.status is Status.OPTIMAL) == (result.objective == result.bound), seed
        proven += result.status is Status.OPTIMAL
    assert proven > 190


def test_what_doubles_cannot_tell_is_not_called_optimal() -> None:
    """Savings that differ beyond the digits of doubles are assigned by chance, and not proven unless right."""
    jobs = [Running(name=f"r{k}", gpus=1, seconds=1) for k in range(3)]
    waiting = [Pending(name=f"p{k}", gpus=1, seconds=1) for k in range(3)]
    problem = Colocation(running=jobs, pending=waiting)
    tiny_part = Fraction(1, 10**30)
    case = Case(problem, {(r, p): Saving(1 + tiny_part * r * p, "") for r in range(3) for p in range(3)})
    found = {pair: saving.seconds for pair, saving in case.savings.items()}
    assert len({float(value) for value in found.values()}) == 1
    known, _ = begin(Case.of(problem), Budget(), "begin")
    result = assign(case, Budget(), known)
    assert result.objective == 3  # by the judge, which knows nothing of what the case was told


def test_a_hundred_jobs_are_proven() -> None:
    """A full cluster of a hundred running and a hundred pending jobs is proven."""
    result = assignment(full_cluster(running=100, pending=100, seed=2))
    assert (result.status, result.message) == (Status.OPTIMAL, "assignment")
