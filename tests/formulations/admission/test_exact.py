"""The exact method for admission, and each of its parts by itself, against every choice on tiny instances."""

from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from random import Random
from typing import Any

import numpy as np
import pytest

import gsopt
from formulations.admission import exact, milp
from formulations.admission.alone import Alone
from formulations.admission.bounds import lower_bounds
from formulations.admission.displacement import Displacement
from formulations.admission.milp import _BASE
from formulations.admission.moving import Moving
from formulations.admission.places import PlacesProgram, like_worker
from formulations.admission.stops import Stops
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Number
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.admission import Admission
from gsopt.solvers.backends import CpSat
from gsopt.testing import check_formulation
from instances import load, names
from instances.admission import filled
from tests.effort import cases
from tests.exactness.admission import draw, optimum
from tests.exactness.changes import remade


def drawn(number: int, label: str) -> Iterator[Admission]:
    """Draw tiny instances with one pending gang of like workers."""
    seed = found = 0
    while found < number:
        problem = draw(Random(f"{label} {seed}"))
        seed += 1
        if len(problem.pending) == 1 and len(problem.pending[0].parts) == 1:
            found += 1
            yield problem


def committed(name: str) -> Any:
    """Return a committed small instance."""
    return load(f"admission/small/{name}")


def without_moves(problem: Admission) -> Admission:
    """Return the problem in which no gang may be moved."""
    found: Admission = remade(problem, running=[remade(gang, move_cost=None) for gang in problem.running])
    return found


def free_of(problem: Admission) -> Any:
    """Return the free amounts of all machines."""
    return np.array(problem.free, dtype=np.int64)


def agrees(result: Any, best: Number | None) -> bool:
    """Check that a result proves an optimum, or that there is no solution."""
    status = Status.INFEASIBLE if best is None else Status.OPTIMAL
    return result.status is status and result.objective == best


def test_all_methods_on_the_small_suite() -> None:
    """Every method proves the enumerated optimum, with two families of solvers."""
    problems = [load(name) for name in names("admission/small/")]
    assert check_formulation(exact, problems) == len(problems)
    assert check_formulation(milp, problems, backends=[gsopt.backends.Highs(), CpSat()]) == 2 * len(problems)


@pytest.mark.parametrize("width", [-1, 0])
def test_domains_with_wide_tables_are_solved_by_their_model(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Where tables are too large, the mixed-integer program of a domain finds the same."""
    monkeypatch.setattr(import_module("formulations.admission.domain"), "_WIDTH", width)
    for problem in drawn(cases(300), "wide"):
        still = without_moves(problem)
        assert agrees(exact(still), optimum(still)), problem.name


def test_places_find_the_optimum_where_workers_are_alike() -> None:
    """The program by groups of machines proves what trying every choice finds."""
    solved = infeasible = seed = 0
    while solved < cases(150):
        problem = draw(Random(f"places {seed}"))
        seed += 1
        moving = Moving(problem, free_of(problem))
        worker = like_worker(problem, moving)
        if worker is None:
            continue
        program = PlacesProgram(problem, moving, worker, moving.above)
        proof, solution = program.solve(Budget())
        best = optimum(problem)
        if best is None:
            assert proof.status is Status.INFEASIBLE, problem.name
            infeasible += 1
            continue
        assert solution is not None
        assert problem.violations(solution) == [], problem.name
        assert problem.objective(solution) == best == proof.bound, problem.name
        solved += 1
    assert infeasible


def test_bounds_hold_and_are_often_tight() -> None:
    """No bound of a domain, nor of the room that moved gangs take, exceeds the optimum."""
    tight = counted = 0
    for problem in drawn(cases(400), "bounds"):
        best = optimum(problem)
        if best is None:
            continue
        gang, free = problem.pending[0], free_of(problem)
        moving = Moving(problem, free)
        alone = Alone(problem, gang, moving.stops, free)
        unit = moving.stops.unit
        bound = min(alone.candidates(10**30).values())
        assert unit * bound <= best, problem.name
        for rounds in (1, 3):
            assert float(unit) * lower_bounds(alone.cover, rounds=rounds).by_domain.min() <= best * (1 + 1e-6)
        assert unit * moving.overall(gang, Budget()) <= best, problem.name
        tight += unit * bound == best
        if gang.parts[0].needs.gpu:
            displacement = Displacement(problem, gang, moving, free)
            below = int(best / unit) + 1
            for price in (*displacement.prices(), 1, 7):
                found = {domain: displacement.bound(domain, price, below) for domain in alone.candidates(below)}
                counted += max(found.values()) > bound
                assert unit * min(found.values()) <= best, problem.name
    assert tight
    assert counted


def test_stops_are_whole_units() -> None:
    """Weights are exact multiples of the unit, ties included."""
    for problem in drawn(cases(100), "stops"):
        stops = Stops.of(problem, moves=False)
        for number, weight in zip(stops.numbers, stops.weights, strict=True):
            gang = problem.running[number]
            assert stops.value(weight) == Fraction(repr(gang.cost)) + problem.tie


def test_amounts_of_many_digits_are_exact() -> None:
    """Amounts beyond the solvers' digits are compared exactly, one more or less decides."""
    problem = committed("large-amounts")
    form = milp.standard_form(problem)
    assert abs(form.matrix.data).max() <= _BASE
    assert milp(problem).objective == exact(problem).objective == 1


def test_a_gang_that_fits_nowhere_is_named() -> None:
    """Infeasible instances come with the obstacle."""
    result = exact(committed("too-large"))
    assert result.status is Status.INFEASIBLE
    assert "needs 2 workers (9 gpu), and at most 0 fit" in result.message
    result = exact(committed("not-together"))
    assert result.message == "the pending gangs do not fit together"


@pytest.mark.parametrize("workload", ["philly", "openb", "llm"])
@pytest.mark.parametrize("movable", [0.0, 0.5])
def test_without_time_there_is_still_a_solution(workload: Any, movable: float) -> None:
    """At a time limit of 0 a first solution and a bound come back."""
    problem = filled(
        workload=workload, machines=96, utilisation=0.99, workers=4, gpus=4, movable=movable, seed=2
    )
    hurried, proven = exact(problem, time_limit=0.0), exact(problem, time_limit=2.0)
    assert proven.objective is not None
    assert hurried.objective is not None
    assert hurried.bound is not None
    assert hurried.bound <= proven.objective <= hurried.objective


@pytest.mark.parametrize("seed", range(6))
def test_the_model_agrees_on_larger_clusters(seed: int) -> None:
    """On dozens of machines the method by domains proves what a solver of another family proves."""
    for moves in (0.0, 0.4):
        problem = filled(
            workload=("philly", "openb", "llm")[seed % 3],
            machines=20,
            rack=10,
            utilisation=0.97,
            workers=2 + seed % 2,
            gpus=4,
            within="rack" if seed % 3 < 2 else "pod",
            movable=moves,
            seed=seed,
        )
        assert agrees(exact(problem), milp(problem, backend=CpSat()).objective)


def test_tables_find_the_optimum_without_a_first_choice() -> None:
    """Dynamic programming over every domain finds what trying every choice does, with no help from guesses."""
    for problem in drawn(cases(1_000), "tables"):
        still = without_moves(problem)
        stops = Stops.of(still, moves=False)
        alone = Alone(still, still.pending[0], stops, free_of(still))
        while not alone.finished:
            alone.step()
        best = optimum(still)
        assert alone.possible == (best is not None), problem.name
        assert alone.best is None or stops.value(alone.best.weight) == best, problem.name


def test_a_part_reports_nothing_about_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound for some machines is none for all of them, also if Ctrl-C ends the search among these."""

    def interrupted(problem: Admission, *, budget: Budget) -> None:
        assert len(problem.cluster.machines) < len(whole.cluster.machines)
        budget.report(bound=10**6)
        raise KeyboardInterrupt

    whole: Any = load("admission/production/philly-two")
    monkeypatch.setattr(import_module("formulations.admission.exact"), "milp", interrupted)
    found = exact(whole, on_progress=lambda _: None)
    assert (found.status, found.stopped_by) == (Status.FEASIBLE, StoppedBy.INTERRUPT)
    assert found.objective is not None
