"""The theorem on two jobs, against playing them in fractions."""

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.colocation import Pair, Rule
from tests.gsopt.performance.colocation.play import completions, drawn
from tests.refusals import refused

#: Two random jobs by seed, and the library's pair of them.
CASES = [(seed, jobs, Pair(*jobs)) for seed in range(300) for jobs in [drawn(Random(f"two {seed}"))]]


def test_both_end_points_are_what_is_played() -> None:
    """The sums of sharing at once and of waiting are those of the jobs as they run."""
    for seed, jobs, pair in CASES:
        assert pair.shared_sum == sum(completions(jobs, Fraction(0))), seed
        assert pair.sequential_sum == sum(completions(jobs, jobs.seconds_a)), seed


def test_every_delay_is_what_is_played() -> None:
    """At any delay, the turning point among them, both completions are exact."""
    for seed, jobs, pair in CASES:
        delays = [Fraction(k, 7) * jobs.seconds_a for k in range(8)]
        delays += [pair.turning_point] if pair.turning_point >= 0 else []
        assert [pair.completions(delay) for delay in delays] == [completions(jobs, d) for d in delays], seed


def test_no_delay_is_better_than_both_end_points() -> None:
    """Among 25 delays none has a smaller sum than the better end point, and the rule takes that one."""
    shared = 0
    for seed, jobs, pair in CASES:
        sums = [sum(completions(jobs, Fraction(k, 24) * jobs.seconds_a)) for k in range(25)]
        assert min(sums) == min(sums[0], sums[-1]), seed
        assert pair.shares() == (sums[0] <= sums[-1]), seed
        shared += pair.shares()
    assert 50 < shared < 250


def test_the_sum_rises_with_the_delay_and_is_linear_from_the_turning_point_on() -> None:
    """Up to the turning point a second of delay costs a second, from there on what the slope says."""
    both = 0
    for seed, _, pair in CASES:
        turn, end = max(pair.turning_point, Fraction(0)), Fraction(pair.remaining)
        middle = (turn + end) / 2
        first, corner, half, last = (sum(pair.completions(delay)) for delay in (0, turn, middle, end))
        assert corner - first == turn, seed
        assert last - half == half - corner == pair.slope * (end - middle), seed
        both += turn > 0
    assert 50 < both < 250


def test_the_printed_sign_is_right_only_where_the_new_job_lasts_longer() -> None:
    """In Case 2 the sign decides as the end points do, but for ties; in Case 1 both printed rules are wrong."""
    wrong = dict.fromkeys(("sign", "cases"), 0)
    for seed, _, pair in CASES:
        if pair.shared_sum == pair.sequential_sum:
            continue
        if not pair.running_lasts:
            assert pair.shares("sign") == pair.shares("cases") == pair.shares(), seed
        wrong["sign"] += pair.shares("sign") != pair.shares()
        wrong["cases"] += pair.shares("cases") != pair.shares()
    assert wrong["sign"] > 20
    assert wrong["cases"] > 60


@pytest.mark.parametrize(
    ("remaining", "seconds", "slowdown", "times", "decisions"),
    [
        pytest.param(1, 1, 3, (3, 3), {"end_points": False, "sign": False, "cases": True}, id="share is bad"),
        pytest.param(4, 1, 2, (5, 2), {"end_points": True, "sign": False, "cases": True}, id="share is good"),
        pytest.param(1, 4, 3, (3, 6), {"end_points": False, "sign": False, "cases": False}, id="Case 2"),
        pytest.param(0, 5, 2, (0, 5), {"end_points": True, "sign": False, "cases": False}, id="has ended"),
        pytest.param(5, 0, 2, (5, 0), {"end_points": True, "sign": False, "cases": True}, id="nothing to do"),
    ],
)
def test_decisions_by_hand(
    remaining: int, seconds: int, slowdown: int, times: tuple[int, int], decisions: dict[Rule, bool]
) -> None:
    """Completions and decisions of whole numbers, by each rule."""
    pair = Pair(remaining, seconds, slowdown, slowdown)
    assert pair.completions() == times
    assert {rule: pair.shares(rule) for rule in decisions} == decisions


def test_sums_by_hand() -> None:
    """Waiting counts the whole batch, equal sums share, and savings are the difference of the sums."""
    whole, divided = Pair(6, 4, 1, 2), Pair(6, 5, 1, 2, seconds_whole=4)
    assert whole.sequential_sum == divided.sequential_sum == 16
    assert (whole.shared_sum, divided.shared_sum) == (13, 14)
    assert (whole.saved, divided.saved) == (3, 2)
    pair = Pair(1, 1, Fraction(3, 2), Fraction(3, 2))
    assert pair.saved == 0
    assert pair.shares()
    for seed, _, random_pair in CASES:
        pair = replace(random_pair, seconds_whole=Fraction(seed, 7))
        assert pair.saved == pair.sequential_sum - pair.shared_sum, seed


@pytest.mark.parametrize(("running", "new"), [(1.5, 1.5), (1.2, 3.0), (2.0, 1.0), (1.1, 5.5)])
def test_slowdowns_that_make_every_pair_a_tie_do_so_in_floats(running: float, new: float) -> None:
    """Where the slope is 0 as it is written, all floats of seconds share when the new job lasts longer."""
    ties = 0
    for tenths in range(1, 200):
        pair = Pair(tenths / 10, 50.1 * running, running, new)
        exact = Pair(*(Fraction(repr(each)) for each in (pair.remaining, pair.seconds, running, new)))
        assert pair.shares() == exact.shares(), tenths
        ties += exact.saved == 0
    assert ties > 100


def test_equal_sums_of_decimals_share() -> None:
    """Where the sums are equal as the numbers are written, rounding does not forbid sharing."""
    assert Pair(0.2, 0.1, 2, 2).shares()
    ties = 0
    for remaining in range(1, 30):
        for seconds in range(1, 30):
            pair = Pair(remaining / 10, seconds / 10, 2, 2)
            exact = Pair(Fraction(remaining, 10), Fraction(seconds, 10), 2, 2)
            assert pair.shares() == exact.shares(), (remaining, seconds)
            ties += exact.saved == 0
    assert ties > 10


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_floats_of_any_magnitude_decide_as_fractions_do(unit: float) -> None:
    """With floats the decision is that of the exact numbers, unless the sums are equal but for rounding."""
    for seed, jobs, exact in CASES:
        if exact.saved == 0:
            continue
        floats = Pair(*(float(each) * scale for each, scale in zip(jobs, (unit, unit, 1, 1), strict=True)))
        assert isinstance(floats.shared_sum, float)
        assert floats.shares() == exact.shares(), seed
        assert floats.saved / unit == pytest.approx(float(exact.saved), rel=1e-9), seed


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "seconds below 0": ({"remaining": -1}, "remaining: -1: must be at least 0 seconds"),
    "not a number": ({"seconds": float("nan")}, "seconds: nan: must be at least 0 seconds"),
    "faster together": ({"slowdown_new": 0.5}, "slowdown_new: 0.5: must be at least 1"),
    "whole below 0": ({"seconds_whole": -2}, "seconds_whole: -2: must be at least 0 seconds"),
}


@pytest.mark.parametrize(("changes", "line"), BAD.values(), ids=BAD.keys())
def test_bad_numbers_are_refused(changes: dict[str, Any], line: str) -> None:
    """A number that cannot be is refused in one line with its name."""
    with refused(line, start=line):
        Pair(**{"remaining": 1, "seconds": 1, "slowdown_running": 1, "slowdown_new": 1, **changes})


def test_delays_and_rules_that_are_none_are_refused() -> None:
    """A delay beyond the running job, and a rule that is not known, are refused in one line."""
    pair = Pair(4, 1, 2, 2)
    with pytest.raises(InvalidInput, match="delay: 5: must be at least 0 and at most the 4 seconds"):
        pair.completions(5)
    with pytest.raises(InvalidInput, match="rule: 'best': must be one of end_points, sign, cases"):
        pair.shares("best")  # type: ignore[arg-type]
