"""Results: status, level, gap and the errors that stop a run."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.errors import Contradiction, InvalidSolution
from gsopt.problem import Sense
from gsopt.problems.reclaiming import ReclaimingSolution
from gsopt.result import (
    Level,
    Result,
    Status,
    StoppedBy,
    agree,
    gap_by_value,
    is_within,
    plain,
    refuse_contradiction,
    relative_gap,
    same,
)
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


def test_nothing_found_is_none_not_a_number() -> None:
    """Without solution or bound, objective, bound and gap are None."""
    result = judged(None, stopped_by=StoppedBy.TIME_LIMIT)
    assert (result.objective, result.bound, result.gap) == (None, None, None)
    assert result.level is Level.CLAIMED


def test_broken_solution_is_an_error() -> None:
    """A solution that breaks a rule cannot become a result."""
    with pytest.raises(InvalidSolution, match="the demand is 2"):
        judged(pick("s1"))


def test_value_better_than_bound_is_an_error() -> None:
    """A value that beats a proven bound stops the run, and so does a solution of an infeasible problem."""
    with pytest.raises(Contradiction, match="better than the bound 2"):
        judged(pick("s1", "s2"), bound=2)
    with pytest.raises(Contradiction, match="proof that there is none"):
        judged(pick("s1", "s2"), infeasible=True)
    with pytest.raises(Contradiction):
        refuse_contradiction(Sense.MAXIMIZE, "a", 3, "b", 2)


def test_two_families_make_an_optimum_agreed() -> None:
    """Level agreed needs the same optimum proven by two different solver families."""
    highs = judged(pick("s1", "s2"), bound=1, solver="highs")
    scip = judged(pick("s1", "s2"), bound=1, solver="scip")
    open_one = judged(pick("s3", "s4"), solver="cp-sat")
    assert [r.level for r in agree(figure_5(2), [highs, scip, open_one])] == [
        Level.AGREED,
        Level.AGREED,
        Level.CHECKED,
    ]
    assert [r.level for r in agree(figure_5(2), [highs, highs])] == [Level.CHECKED, Level.CHECKED]


def test_different_optima_are_not_agreed() -> None:
    """Two families that claim different optima agree on nothing."""
    highs = judged(pick("s1", "s2"), bound=1, solver="highs")
    scip = replace(judged(pick("s1", "s2"), bound=1, solver="scip"), objective=2)
    assert [r.level for r in agree(figure_5(2), [highs, scip])] == [Level.CHECKED, Level.CHECKED]


def test_dictionary_holds_what_the_command_line_promises() -> None:
    """The JSON form has the documented keys and plain types."""
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


def test_gap_is_never_infinite() -> None:
    """Around a bound of 0 the gap is 0 when proven and None when not."""
    assert relative_gap(0, 0) == 0.0
    assert relative_gap(3, 0) is None
    assert relative_gap(0, -3) == 1.0
    assert plain(Fraction(7, 7)) == 1


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
