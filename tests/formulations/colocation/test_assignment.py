"""The assignment in doubles and its proof."""

from fractions import Fraction
from random import Random

from formulations.colocation import assignment
from formulations.colocation.assignment import assign
from formulations.colocation.beginning import begin
from formulations.colocation.case import Case, Saving
from gsopt.core.budget import Budget
from gsopt.core.result import Status
from gsopt.problems.colocation import Colocation, Pending, Running
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


def test_what_doubles_cannot_tell_is_not_called_proven() -> None:
    """Of two matrices with different optima that are one in doubles, at most one is proven."""
    problem = Colocation(
        running=[Running(name=f"r{k}", gpus=1, seconds=1) for k in range(3)],
        pending=[Pending(name=f"p{k}", gpus=1, seconds=1) for k in range(3)],
    )
    known, _ = begin(Case.of(problem), Budget(), "begin")
    messages = []
    for best in (0, 2):  # the last digits are in favour of one diagonal or the other
        parts = {(r, p): Fraction(r * abs(best - p), 10**30) for r in range(3) for p in range(3)}
        case = Case(problem, {pair: Saving(1 + part, "") for pair, part in parts.items()})
        assert {float(saving.seconds) for saving in case.savings.values()} == {1.0}
        messages.append(assign(case, Budget(), known).message)
    assert "assignment, not proven" in messages


def test_common_denominators_may_have_any_number_of_digits() -> None:
    """Slowdowns of seventeen digits, whose common denominator no double holds, are assigned and proven."""
    names = [f"m{k}" for k in range(12)]
    random = Random(5)
    problem = Colocation(
        running=[Running(name=name, gpus=1, seconds=random.uniform(1, 9), model=name) for name in names],
        pending=[Pending(name=name, gpus=1, seconds=random.uniform(1, 9), model=name) for name in names],
        interference={a: {b: random.uniform(1, 2) for b in names} for a in names},
    )
    result = assignment(problem)
    assert max(Case.of(problem).weights.values()) > 10**309
    assert (result.status, result.message) == (Status.OPTIMAL, "assignment")


def test_a_hundred_jobs_are_proven() -> None:
    """A full cluster of a hundred running and a hundred pending jobs is proven."""
    result = assignment(full_cluster(running=100, pending=100, seed=2))
    assert (result.status, result.message) == (Status.OPTIMAL, "assignment")
