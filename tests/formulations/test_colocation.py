"""Exact methods for colocation."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from formulations.colocation import assignment, exact, matching, milp
from formulations.colocation.assignment import assign
from formulations.colocation.beginning import begin
from formulations.colocation.case import ColocationCase, Saving
from gsopt.core.budget import Budget
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.colocation import Colocation, ColocationSolution, Pending, Running, Share
from gsopt.solvers.backends import CpSat, Scip
from gsopt.testing import check_formulation
from instances.colocation import full_cluster
from tests.effort import cases
from tests.exactness import colocation as oracle
from tests.strategies.colocation import committed, tiny
from tests.unwrap import unwrap


@pytest.mark.parametrize("method", [exact, assignment, matching, milp])
def test_proves_the_optimum_of_every_small_instance(method: Any) -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    assert check_formulation(method, committed()) == len(committed())


@pytest.mark.parametrize(
    ("method", "seeds"),
    [(exact, range(200)), (matching, range(200, 300)), (milp, range(500, 500 + cases(60)))],
)
def test_proves_the_optimum_of_hard_numbers(method: Any, seeds: range) -> None:
    """On instances with numbers that are hard on floats value and bound are the optimum, to the last digit."""
    for seed in seeds:
        problem = tiny(seed)
        result, best = method(problem), oracle.optimum(problem)
        assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best), seed


def test_nothing_to_decide_needs_no_solver() -> None:
    """Where nobody competes the bound of the beginning is the value."""
    result = exact(full_cluster(running=1, pending=1, seed=3))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "greedy", "")


def test_digits_beyond_doubles_are_left_to_the_matching() -> None:
    """Where savings differ in digits that doubles do not have, the matching finds and proves the optimum."""
    messages = []
    for seed in (87, 1247, 1458):  # ties of the last bit
        problem = tiny(seed)
        result = exact(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed
        messages.append(result.message)
    assert "matching" in messages


@pytest.mark.parametrize("epoch", [0.0, 1.7e9])
def test_long_jobs_are_decided_exactly(epoch: float) -> None:
    """Seconds that add up with 1.7e9 are decided as exactly as small ones."""
    problem = full_cluster(running=12, pending=12, seed=4)
    moved = problem.model_copy(
        update={"running": [job.model_copy(update={"seconds": job.seconds + epoch}) for job in problem.running]}
    )
    result = exact(moved)
    assert (result.status, result.objective) == (Status.OPTIMAL, result.bound)


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
    known, _ = begin(ColocationCase.of(problem), Budget(), "begin")
    messages = []
    for best in (0, 2):  # the last digits are in favour of one diagonal or the other
        parts = {(r, p): Fraction(r * abs(best - p), 10**30) for r in range(3) for p in range(3)}
        case = ColocationCase(problem, {pair: Saving(1 + part, "") for pair, part in parts.items()})
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
    assert max(ColocationCase.of(problem).weights.values()) > 10**309
    assert (result.status, result.message) == (Status.OPTIMAL, "assignment")


def test_a_hundred_jobs_are_proven() -> None:
    """A full cluster of a hundred running and a hundred pending jobs is proven."""
    result = assignment(full_cluster(running=100, pending=100, seed=2))
    assert (result.status, result.message) == (Status.OPTIMAL, "assignment")


def test_agrees_with_the_assignment() -> None:
    """On clusters too large for enumeration the matching and the proven assignment have one value."""
    for seed in range(4):
        problem = full_cluster(running=20, pending=25, models=3, worst=1.8, seed=seed)
        assert matching(problem).objective == exact(problem).objective


def test_out_of_time_the_first_pairs_are_kept() -> None:
    """Without any time the pairs of the beginning are returned."""
    result = matching(full_cluster(running=30, pending=30, seed=1), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)


def test_solvers_agree() -> None:
    """HiGHS, CP-SAT and SCIP find the value of the assignment."""
    problem = full_cluster(running=7, pending=7, models=3, seed=1)
    best = exact(problem).objective
    assert {milp(problem, backend=backend).objective for backend in (None, CpSat(), Scip())} == {best}


def test_a_start_is_taken() -> None:
    """The columns of the optimum are a feasible point with its value, in every mode."""
    problem = full_cluster(running=7, pending=7, models=3, seed=1)
    best = unwrap(exact(problem).solution)
    form = milp.standard_form(problem)
    values = milp.encode(best, problem)
    assert len(values) == len(best.shares)
    assert milp.extract(values, problem) == best
    assert form.objective(form.point(values)) > 0


def test_a_better_start_takes_the_place_of_the_greedy_pairs() -> None:
    """A start of more value is what is begun with."""
    problem = full_cluster(seed=1)
    case = ColocationCase.of(problem)
    nothing, worse = ColocationSolution(shares={}), begin(case, Budget(), "x")[0]
    assert begin(case, Budget(start=nothing), "x")[0].objective == worse.objective
    assert begin(case, Budget(start=worse.solution), "x")[0].solution == worse.solution


def test_without_any_time_there_is_a_bound() -> None:
    """Where time ended the look at pairs the bound is what the running jobs still need."""
    problem = full_cluster(seed=1)
    bound = sum(job.seconds for job in problem.running)
    case = ColocationCase.of(problem, Budget(time_limit=0.0))
    result, ended = begin(case, Budget(time_limit=0.0), "x")
    assert (result.status, result.bound, result.stopped_by) == (Status.FEASIBLE, bound, StoppedBy.TIME_LIMIT)
    assert ended


def test_the_fastest_mode_that_fits_saves_most() -> None:
    """For every pair the saving is the most of all modes, as the judge counts it; what costs is left out."""
    looked = 0
    for seed in range(100):
        problem = tiny(seed)
        case = ColocationCase.of(problem)
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
        case, best = ColocationCase.of(problem), oracle.optimum(problem)
        greedy = problem.objective(case.solution(case.greedy()))
        at_once = ColocationCase(problem, {}, complete=False).bound
        assert at_once >= case.bound >= best >= greedy >= best / 2, seed


def test_time_ends_the_look_at_pairs() -> None:
    """Without time no pair is known, and the case says so."""
    case = ColocationCase.of(full_cluster(seed=1), Budget(time_limit=0.0))
    assert (dict(case.savings), case.complete) == ({}, False)
