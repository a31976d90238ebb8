"""Exact numbers, and numbers that floats can tell apart."""

from fractions import Fraction
from itertools import accumulate, pairwise
from math import nextafter, ulp
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.numbers.assignment import sequence, shorter_first
from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.decimals import whole_numbers
from gsopt.core.numbers.grid import ceil_to, decimal, exact_total, floor_digits, floor_to, highest, lowest, step
from gsopt.core.numbers.hull import HullSegment, concave_hull
from gsopt.core.numbers.span import read_seconds
from tests.effort import cases
from tests.unwrap import unwrap

# Grid: decimals, totals and steps


decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=9)
fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)


@given(st.integers(-(10**15), 10**15), st.integers(0, 9))
def test_a_float_is_the_decimal_it_is_written_as(digits: int, places: int) -> None:
    """Up to fifteen digits, reading the float gives back exactly the decimal."""
    assert decimal(float(f"{digits}e-{places}")) == Fraction(digits, 10**places)


def test_decimals_stay_what_they_are() -> None:
    """Fractions next to decimals keep their meaning, and floats of numpy are the decimals that they are."""
    double = Fraction(0.1)
    assert decimal(double) == double != Fraction(1, 10) == decimal(0.1)
    assert decimal(np.float64(1.01)) == Fraction(101, 100)


@given(st.lists(decimals, max_size=20))
def test_totals_do_not_depend_on_the_order(values: list[object]) -> None:
    """Adding from either end gives the same exact number."""
    floats = [float(str(value)) for value in values]
    assert exact_total(floats) == exact_total(reversed(floats))


@given(st.lists(fractions, min_size=1, max_size=8))
def test_every_value_is_a_multiple_of_the_step_and_no_larger_step_does(values: list[Fraction]) -> None:
    """The step divides all values, and what is left of them has no common divisor."""
    found = step(values)
    if found is None:
        assert not any(values)
        return
    assert all((value / found).denominator == 1 for value in values)
    for times in (2, 3):
        assert any((value / (times * found)).denominator > 1 for value in values)


@given(fractions, fractions.filter(lambda value: value > 0))
def test_rounding_goes_to_the_next_multiple(value: Fraction, unit: Fraction) -> None:
    """Rounding up and down enclose the value within one step, and leave multiples alone."""
    below, above = floor_to(value, unit), ceil_to(value, unit)
    assert below <= value <= above
    assert above - below in (0, unit)
    assert (above == below) == ((value / unit).denominator == 1)


@pytest.mark.parametrize("value", [1e-300, 1.1, 0.1 + 0.2, 1e15, -3.3])
def test_a_float_stands_for_a_few_ulps(value: float) -> None:
    """The decimal of a float lies between the least and the greatest number that it may stand for."""
    assert lowest(value) < decimal(value) < highest(value)
    assert float(highest(value) - lowest(value)) <= 1e-14 * abs(value)


def test_digits_are_cut_downwards() -> None:
    """The result has that many digits, is at most the value, and is within one unit of the last digit."""
    random = Random(7)
    for _ in range(500):
        value = Fraction(random.randint(-(10**25), 10**25), random.randint(1, 10 ** random.randint(0, 40)))
        digits = random.randint(1, 30)
        cut = floor_digits(value, digits)
        assert cut <= value
        assert value - cut <= abs(value) / Fraction(10) ** (digits - 1)
        assert floor_digits(cut, digits) == cut
        assert digits > 15 or not -(10**15) < cut < 10**15 or decimal(float(cut)) == cut


# Decimals: many floats at once, against reading them one by one


written = st.builds("{}e-{}".format, st.integers(-(10**15) + 1, 10**15 - 1), st.integers(0, 12)).map(float)


@given(st.lists(written, max_size=6) | st.lists(st.floats(-1e16, 1e16, allow_nan=False), max_size=4))
@settings(max_examples=cases(300))
def test_no_float_is_read_as_another_decimal(values: list[float]) -> None:
    """Floats, whether short decimals or not, are all read as the right decimals or refused together."""
    whole = whole_numbers(values)
    if whole is not None:
        numbers, denominator = whole
        assert [Fraction(number, denominator) for number in numbers.tolist()] == [decimal(v) for v in values]


@pytest.mark.parametrize(
    ("values", "whole"),
    [
        ([], ([], 1)),
        ([0.0, -0.0], ([0, 0], 1)),
        ([1e-9, 2.5e-8], ([1, 25], 10**9)),
        ([999_999_999_999_999.0], ([999_999_999_999_999], 1)),
        ([[1.5], [-2.25]], ([[150], [-225]], 100)),
    ],
)
def test_fifteen_digits_are_enough(values: list[float], whole: tuple[list[int], int]) -> None:
    """Few digits of any magnitude are one power of ten away from integers; shapes are kept."""
    numbers, denominator = unwrap(whole_numbers(values))
    assert (numbers.tolist(), denominator) == whole


@pytest.mark.parametrize("values", [[1e15], [1e9, 1e-9], [0.1 + 0.2], [1 / 3], [5e-324], [2.0**53 + 2]])
def test_more_digits_are_refused(values: list[float]) -> None:
    """Values that fifteen digits do not hold, alone or together, are refused."""
    assert whole_numbers(values) is None


# Lengths of time as people write them


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("250ms", 0.25),
        ("30s", 30.0),
        (" 30 s ", 30.0),
        ("2m", 120.0),
        ("2min", 120.0),
        ("1.5h", 5400.0),
        ("1e1d", 864_000.0),
    ],
)
def test_a_number_and_its_unit(text: str, seconds: float) -> None:
    """A number with a unit is that many seconds; alone it counts seconds."""
    assert read_seconds(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s",
        "h2",
        "-1s",  # a length is not negative
        "1,5h",
        "0x10",
        "1_000",  # Python's own notation
        "inf",
        "nan",
        "3 weeks",
        "30S",
        "1h30m",  # one number, one unit
        "٣s",  # digits of another script
        "²s",
        "1\x00s",
        "1\n2",
        pytest.param("9" * 1_000_000 + "x", id="a million digits"),
    ],
)
def test_what_is_no_length_of_time(text: str) -> None:
    """Anything else is refused, with how it is written."""
    with pytest.raises(ValueError, match=r"^must be a number of seconds, or such as 30s"):
        read_seconds(text)


# The clock's error is that of floats: a few units in the last place, and a billionth of the span


@pytest.mark.parametrize("time", [1e-3, 1.0, 1e6, 1.7e9, 1e12])
def test_a_tick_is_excused_and_twenty_are_not(time: float) -> None:
    """Without a span the error lies between one and twenty units in the last place of the time."""
    assert nextafter(time, 2 * time) - time <= clock_error(time, 0) < 20 * ulp(time)


def test_the_span_counts_by_itself() -> None:
    """Beyond the ticks a billionth of the span is excused, whatever the time, and in fractions too."""
    for time in (1.0, 1.7e9):
        assert clock_error(time, 1e6) - clock_error(time, 0) == pytest.approx(1e-3, rel=1e-6)
    assert clock_error(Fraction(3, 2), Fraction(1, 2)) == clock_error(1.5, 0.5)


# The hull covers its menu, its steps lead through the menu, and their efficiency falls


menus = st.dictionaries(st.integers(1, 64), st.floats(1e-9, 1e6), min_size=1, max_size=8).map(
    lambda speeds: tuple(speeds.items())
)


@given(menu=menus)
def test_the_hull_covers_the_menu_and_is_covered(menu: tuple[tuple[int, float], ...]) -> None:
    """Corners are entries of the menu, and no entry lies above the line between two corners."""
    hull = concave_hull(menu)
    corners: list[tuple[int, Fraction]] = [(0, Fraction(0))]
    for segment in hull:
        gpus = corners[-1][0] + segment.gpus
        corners.append((gpus, Fraction(dict(menu)[gpus])))
    fastest = max(speed for _, speed in menu)
    assert corners[-1] == (min(gpus for gpus, speed in menu if speed == fastest), Fraction(fastest))
    for gpus, speed in menu:
        (low, slow), (high, fast) = next(
            (pair for pair in pairwise(corners) if pair[0][0] <= gpus <= pair[1][0]), (corners[-1], corners[-1])
        )
        line = slow if low == high else slow + (fast - slow) * Fraction(gpus - low, high - low)
        assert speed <= line + Fraction(fastest) * Fraction(1, 10**14)


@given(menu=menus)
def test_efficiency_falls(menu: tuple[tuple[int, float], ...]) -> None:
    """Every step adds GPUs and speed, and no more speed for each GPU than the step before, but for rounding."""
    hull = concave_hull(menu)
    assert all(segment.gpus > 0 and segment.speed > 0 for segment in hull)
    rounding = 1e-14 * max(speed for _, speed in menu)
    assert all(right.efficiency <= left.efficiency + rounding for left, right in pairwise(hull))


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 0.1, 1e-9])
def test_a_linear_menu_keeps_all_its_counts(unit: float) -> None:
    """A job of linear speed may run on each of its numbers of GPUs, so each is a corner, rounded or not."""
    counts = (1, 2, 3, 5, 7, 8)
    hull = concave_hull((count, count * unit) for count in counts)
    assert tuple(accumulate(segment.gpus for segment in hull)) == counts


def test_small_hulls() -> None:
    """One entry is one step, none give none, and of two modes on equal GPUs the faster one is the corner."""
    assert concave_hull([(4, 1.0)]) == (HullSegment(4, 1.0),)
    assert concave_hull([]) == ()
    assert concave_hull([(2, 1.0), (2, 1.5), (2, 0.5)]) == (HullSegment(2, 1.5),)


# Orders in doubles


def total(seconds: list[list[float]], available: list[float], orders: list[list[int]]) -> float:
    """Add completion times up."""
    found = 0.0
    for machine, jobs in enumerate(orders):
        now = available[machine]
        for job in jobs:
            now += seconds[job][machine]
            found += now
    return found


def test_positions_on_few_machines() -> None:
    """Like machines take the shortest first, one may take all, and a job that runs nowhere has no order."""
    assert sequence(np.zeros((0, 2))) == sequence(np.zeros((0, 2)), np.ones(2)) == [[], []]
    assert sequence(np.array([[3.0], [1.0], [2.0]])) == [[1, 2, 0]]
    orders = sequence(np.array([[float(each)] * 2 for each in (1, 2, 3, 4)]))
    assert sorted(len(jobs) for jobs in orders) == [2, 2]
    assert {jobs[0] for jobs in orders} == {0, 1}
    seconds = np.full((9, 4), np.inf)
    seconds[:, 2] = range(9, 0, -1)
    assert sequence(seconds) == [[], [], list(range(8, -1, -1)), []]
    seconds = np.full((9, 4), 1e6)
    seconds[:, 1] = range(1, 10)
    assert sequence(seconds) == [[], list(range(9)), [], []]
    with pytest.raises(ValueError, match="infeasible"):
        sequence(np.array([[1.0, 2.0], [np.inf, np.inf]]))


def test_shorter_jobs_begin_earlier_at_no_cost() -> None:
    """Orders in which short jobs begin early have the same total, and as many jobs on each machine."""
    for seed in range(cases(24)):
        random = Random(seed)
        kinds = [random.choice("xy") for _ in range(random.randint(1, 4))]
        by_kind = [{"x": random.randint(1, 9), "y": random.randint(1, 9)} for _ in range(random.randint(1, 9))]
        seconds = [[float(own[kind]) for kind in kinds] for own in by_kind]
        available = [float(random.choice((0, random.randint(1, 20)))) for _ in kinds]
        best = sequence(np.array(seconds), np.array(available))
        settled = shorter_first(best, np.array(seconds), np.array(available), kinds)
        assert total(seconds, available, settled) == total(seconds, available, best)
        assert [len(jobs) for jobs in settled] == [len(jobs) for jobs in best]


def test_few_positions_are_as_good_as_all() -> None:
    """The orders cost no more than with as many positions as jobs, whichever machines are busy for how long."""
    from scipy.optimize import linear_sum_assignment

    for seed in range(cases(24)):
        random = Random(seed)
        jobs, machines = random.randint(1, 12), random.randint(1, 4)
        seconds = [[random.uniform(1, 9) ** 3 for _ in range(machines)] for _ in range(jobs)]
        available = [random.choice((0.0, random.uniform(0, 900))) for _ in range(machines)]
        costs = np.hstack([(k + 1) * np.array(seconds) + available for k in range(jobs)])
        best = costs[linear_sum_assignment(costs)].sum()
        orders = sequence(np.array(seconds), np.array(available))
        assert sorted(job for each in orders for job in each) == list(range(jobs))
        assert total(seconds, available, orders) == pytest.approx(best)
