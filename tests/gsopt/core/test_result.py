"""Results: status, level, gap and the errors that stop a run."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gsopt
from gsopt.core.errors import Contradiction, InvalidInput, InvalidSolution
from gsopt.core.problem import Number, Sense
from gsopt.core.result import (
    Level,
    Result,
    Status,
    StoppedBy,
    agree,
    gap_by_value,
    is_within,
    judged_value,
    plain,
    refuse_contradiction,
    relative_gap,
    same,
    value_of,
)
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from instances.sharing import interfering_jobs
from tests.gsopt.problems.test_reclaiming import figure_5, pick


def judged(solution: ReclaimingSolution | None, **found: object) -> Result[ReclaimingSolution]:
    """Judge a solution of the two-server Figure 5 example, whose optimum is 1."""
    return Result.judged(figure_5(2), method="m", runtime=0.0, solution=solution, **found)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("solution", "found", "status"),
    [
        (pick("s1", "s2"), {"bound": 1}, Status.OPTIMAL),
        (pick("s1", "s2"), {"bound": 0.00000001}, Status.OPTIMAL),
        (pick("s1", "s2"), {"bound": 1.0000000000000002}, Status.OPTIMAL),
        (pick("s1", "s2"), {"bound": 0}, Status.FEASIBLE),
        (pick("s3", "s4"), {}, Status.FEASIBLE),
        (None, {}, Status.UNKNOWN),
        (None, {"bound": 1}, Status.UNKNOWN),
        (None, {"infeasible": True}, Status.INFEASIBLE),
    ],
)
def test_status_follows_from_solution_and_proof(
    solution: ReclaimingSolution | None, found: dict[str, object], status: Status
) -> None:
    """A result is optimal only when a bound meets the judge's value; nothing else can claim it."""
    assert judged(solution, **found).status is status


@pytest.mark.parametrize(
    "bound",
    [float("inf"), float("-inf"), float("nan"), 10**400, Fraction(10**400, 3)],
    ids=["inf", "-inf", "nan", "large", "large fraction"],
)
def test_bounds_are_finite(bound: Number) -> None:
    """A bound that proves nothing or that no float can hold is refused, with and without a solution."""
    for solution in (None, pick("s1", "s2")):
        with pytest.raises(InvalidInput, match=r"m: bound: .*: must be a finite number"):
            judged(solution, bound=bound)


def test_nothing_found_is_none_not_a_number() -> None:
    """Without solution or bound, value, bound and gap are None; the gap is never infinite."""
    result = judged(None, stopped_by=StoppedBy.TIME_LIMIT)
    assert (result.objective, result.bound, result.gap) == (None, None, None)
    assert result.level is Level.CLAIMED
    assert relative_gap(0, 0) == 0.0
    assert relative_gap(3, 0) is None
    assert relative_gap(0, -3) == 1.0
    assert plain(Fraction(7, 7)) == 1


def test_contradictions() -> None:
    """A broken solution is no result, a value that beats a bound stops the run, and optima must agree."""
    with pytest.raises(InvalidSolution, match="the demand is 2"):
        judged(pick("s1"))
    with pytest.raises(Contradiction, match="better than the bound 2"):
        judged(pick("s1", "s2"), bound=2)
    with pytest.raises(Contradiction, match="proof that there is none"):
        judged(pick("s1", "s2"), infeasible=True)
    with pytest.raises(Contradiction):
        refuse_contradiction(Sense.MAXIMIZE, "a", 3, "b", 2)
    highs = judged(pick("s1", "s2"), bound=1, solver="highs")
    scip = replace(judged(pick("s1", "s2"), bound=1, solver="scip"), objective=2)
    assert [r.level for r in agree(figure_5(2), [highs, scip])] == [Level.CHECKED, Level.CHECKED]


def test_families_agree() -> None:
    """Two families agree on an optimum, and the JSON form has the documented keys."""
    highs = judged(pick("s1", "s2"), bound=1, solver="highs")
    scip = judged(pick("s1", "s2"), bound=1, solver="scip")
    open_one = judged(pick("s3", "s4"), solver="cp-sat")
    assert [r.level for r in agree(figure_5(2), [highs, scip, open_one])] == [
        Level.AGREED,
        Level.AGREED,
        Level.CHECKED,
    ]
    assert [r.level for r in agree(figure_5(2), [highs, highs])] == [Level.CHECKED, Level.CHECKED]
    found = judged(pick("s1", "s2"), bound=1).as_dict()
    wanted = {"method", "status", "objective", "bound", "gap", "stopped_by", "level", "runtime", "solution"}
    assert wanted <= set(found)
    assert found["solution"] == {"servers": ["s1", "s2"]}
    assert (found["status"], found["objective"], found["gap"]) == ("optimal", 1, 0.0)


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6))
def test_exact_numbers_differ_however_close(value: int, by: int) -> None:
    """Integers and fractions are compared exactly, floats up to the rounding of sums."""
    assert not same(value, value + by)
    assert not same(Fraction(value), Fraction(value) + Fraction(1, 10**9))
    assert same(float(value), value)


@pytest.mark.parametrize(
    "result",
    [
        judged(pick("s1", "s2"), bound=1, solver="highs", message="at once"),
        judged(pick("s3", "s4"), bound=1, stopped_by=StoppedBy.TIME_LIMIT),
        judged(None, bound=1),
        judged(None),
        Result.judged(figure_5(2), method="m", runtime=0.5, infeasible=True),
        replace(judged(pick("s1", "s2"), bound=1), level=Level.AGREED),
    ],
)
def test_there_and_back(result: Result[ReclaimingSolution]) -> None:
    """What a result gives as plain JSON is read back equal."""
    data = json.loads(json.dumps(result.as_dict()))
    assert Result.from_dict(figure_5(2), data) == result


def test_exact_numbers_come_back() -> None:
    """Values and bounds that no float can hold come back exact, on a grid and where there is none."""
    costly = figure_5(2)
    costly = costly.model_copy(
        update={"jobs": tuple(job.model_copy(update={"cost": 0.1}) for job in costly.jobs)}
    )
    between = Result.judged(costly, method="m", solution=pick("s3", "s4"), bound=Fraction(1, 10), runtime=0.0)
    assert (between.objective, between.bound) == (Fraction(1, 5), Fraction(1, 10))
    fine = gsopt.load("allocation/small/decimals")
    assert fine.step is None
    proven = gsopt.solve(fine)
    assert proven.bound == proven.objective == Fraction(15000000000000001, 25000000000000000)
    for problem, result in ((costly, between), (fine, proven)):
        assert Result.from_dict(problem, json.loads(json.dumps(result.as_dict()))) == result


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"status": "feasible"}, InvalidInput, "status: 'feasible': must be what follows"),
        ({"status": "perfect"}, InvalidInput, "status: 'perfect': must be optimal or feasible or"),
        ({"objective": 0}, InvalidInput, "objective: 0: must be 1, as the judge finds"),
        ({"bound": 2}, Contradiction, "better than the bound 2"),
        ({"bound": float("inf")}, InvalidInput, "bound: inf: must be int or float or NoneType"),
        ({"runtime": True}, InvalidInput, "runtime: True: must be int or float"),
        ({"runtime": -1.0}, InvalidInput, "runtime: -1.0: must be at least 0 seconds"),
        ({"gap": 7.0}, InvalidInput, "gap: 7.0: must be 0.0, which follows"),
        ({"gap": "0"}, InvalidInput, "gap: '0': must be 0.0, which follows"),
        ({"level": "claimed"}, InvalidInput, "level: 'claimed': must be checked or agreed"),
        (
            {"bound": 0, "gap": None, "status": "feasible", "level": "agreed"},
            InvalidInput,
            "must be checked, as",
        ),
        ({"solution": {"servers": ["s1"]}}, InvalidSolution, "demand is 2"),
        ({"solution": {"server": []}}, InvalidInput, "solution.servers"),
        ({"solution": None}, InvalidInput, "status: 'optimal': must be what follows"),
        ({"method": ...}, InvalidInput, "method: is required"),
        ({"objective": ...}, InvalidInput, "objective: None: must be 1, as the judge finds"),
        ({"bound": 10**400}, InvalidInput, "bound: 1000.*must be int or float or NoneType"),
        ({"exact": {"bound": "2/2"}, "bound": 0.5}, InvalidInput, "exact.bound: '2/2': must be the fraction"),
        ({"exact": {"bound": "1/0"}}, InvalidInput, "exact.bound: '1/0': must be the fraction"),
        ({"exact": {"bound": "9" * 4000 + "/1"}}, InvalidInput, "exact.bound: '999.*must be the fraction"),
        ({"exact": {"bound": 1}}, InvalidInput, "exact.bound: 1: must be the fraction"),
        ({"exact": "x"}, InvalidInput, "exact.bound: 'x': must be the fraction"),
    ],
)
def test_a_stored_result_is_judged_again(change: dict[str, Any], error: type[Exception], message: str) -> None:
    """A stored result that is not what the judge finds is refused."""
    data = judged(pick("s1", "s2"), bound=1).as_dict() | change
    data = {name: value for name, value in data.items() if value is not ...}
    with pytest.raises(error, match=message):
        Result.from_dict(figure_5(2), data)


def test_a_bound_of_thirds_comes_back() -> None:
    """A bound that no JSON number can hold, away from the value, is the same fraction again."""
    problem = interfering_jobs(jobs=3)
    value = problem.objective(gsopt.solve(problem).solution)  # type: ignore[arg-type]
    bound = Fraction(value) - Fraction(1, 3)
    result = replace(gsopt.solve(problem), bound=bound, status=Status.FEASIBLE)
    data = json.loads(json.dumps(result.as_dict()))
    assert data["exact"]["bound"] == str(bound)
    assert data["bound"] == float(bound) != bound
    assert Result.from_dict(problem, data) == result


@given(st.integers(0, 200), st.integers(0, 200), st.fractions(0, 3, max_denominator=20).map(float))
def test_every_reading_of_a_gap_is_the_same(value: int, bound: int, asked: float) -> None:
    """A value is within a gap exactly when its distance is at most that share of the bound."""
    gap = relative_gap(value, bound)
    if gap is not None and abs(gap - asked) > 1e-9:
        assert is_within(value, bound, asked) == (gap < asked)
        assert is_within(-value, -bound, asked) == (gap < asked)
    assert is_within(value, bound, asked) == (abs(value - bound) <= Fraction(asked) * bound)


@given(st.integers(-200, 200), st.integers(-200, 200), st.fractions(0, 3, max_denominator=20).map(float))
def test_a_gap_by_the_value_is_never_wider(value: int, bound: int, asked: float) -> None:
    """A solver that stops at the narrower gap relative to the value has met the one relative to the bound."""
    narrower = gap_by_value(asked)
    if abs(value - bound) <= Fraction(narrower) * abs(value) * (1 - Fraction(1, 10**9)):
        assert is_within(value, bound, asked)
    if 0 < bound <= value and is_within(value, bound, asked):
        assert abs(value - bound) <= Fraction(narrower) * value * (1 + Fraction(1, 10**9))


def test_what_was_judged_is_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solution is checked once for a problem, and anew for an equal one and for another problem."""
    checked: list[ReclaimingSolution] = []
    violations = Reclaiming.violations

    def counted(problem: Reclaiming, solution: ReclaimingSolution) -> list[str]:
        checked.append(solution)
        return violations(problem, solution)

    monkeypatch.setattr(Reclaiming, "violations", counted)
    problem, good, bad = figure_5(2), pick("s1", "s2"), pick("s1")
    assert value_of(problem, good) == 1
    assert not checked
    assert [judged_value(problem, "test", good) for _ in range(3)] == [1, 1, 1]
    assert value_of(problem, good) == 1
    assert len(checked) == 1
    assert judged_value(problem, "test", pick("s1", "s2")) == judged_value(figure_5(2), "test", good) == 1
    assert len(checked) == 3
    for _ in range(2):
        with pytest.raises(InvalidSolution):
            judged_value(problem, "test", bad)
    with pytest.raises(InvalidSolution):
        judged_value(figure_5(3), "test", good)
    assert len(checked) == 6
