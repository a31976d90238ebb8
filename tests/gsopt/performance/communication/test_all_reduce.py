"""All-reduces, by hand and step by step."""

from fractions import Fraction
from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.performance.communication import (
    Collective,
    Dimension,
    Wire,
    Wiring,
    flat_ring,
    gigabytes,
    halving,
    hierarchical,
)

BANDWIDTHS = st.floats(1.0, 1e12)
LATENCIES = st.just(0.0) | st.floats(1e-12, 1.0)
SIZES = st.just(0.0) | st.floats(1e-9, 1e12)
WIRES = st.builds(Wire, bandwidth=BANDWIDTHS, latency=LATENCIES, wiring=st.sampled_from(list(Wiring)))
DIMENSIONS = st.builds(Dimension, units=st.integers(1, 64), wire=WIRES)


def close(value: float, expected: float | Fraction) -> bool:
    """Check whether two times are the same but for the rounding of sums."""
    return abs(Fraction(value) - Fraction(expected)) <= SUM * abs(Fraction(expected))


def test_a_ring_by_hand() -> None:
    """8 GPUs behind a switch of 25 GiB/s and 500 ns reduce 100 MB in 14 (2 * 500 ns + 12.5 MB / 25 GiB/s)."""
    wire = Wire(bandwidth=gigabytes(25, binary=True), latency=500e-9)
    expected = 14 * (2 * Fraction(500, 10**9) + Fraction(12_500_000, 25 * 2**30))

    assert close(flat_ring(100e6, Dimension(units=8, wire=wire)), expected)
    assert abs(float(expected) * 1e3 - 6.533258) < 1e-6


def test_a_ring_that_is_cut_to_nanoseconds_by_hand() -> None:
    """Each of its 14 steps takes 466,661 ns and a fraction, which is cut off."""
    wire = Wire(bandwidth=gigabytes(25, binary=True), latency=500e-9)

    assert close(flat_ring(100e6, Dimension(units=8, wire=wire), whole=True), Fraction(14 * 466_661, 10**9))


def test_a_hierarchy_by_hand() -> None:
    """4 GPUs of each of 2 machines: 6 steps of a quarter inside, 2 steps of an eighth between."""
    inside = Dimension(units=4, wire=Wire(bandwidth=4e9, latency=1e-3, wiring=Wiring.RING))
    between = Dimension(units=2, wire=Wire(bandwidth=1e9, latency=1e-2))

    assert close(hierarchical(8e9, [inside, between]), Fraction("6.046") - 3 + Fraction("2.0"))


@given(size=SIZES, dimension=DIMENSIONS)
def test_a_ring_passes_every_part_around_twice(size: float, dimension: Dimension) -> None:
    """A ring is as long as its steps, of which each unit needs p - 1 to add up and p - 1 to tell."""
    steps = [dimension.wire.send(size / dimension.units, dimension.hops) for _ in range(dimension.units - 1)]

    assert close(flat_ring(size, dimension), sum(map(Fraction, steps * 2)))


@given(size=SIZES, dimensions=st.lists(DIMENSIONS, max_size=4))
def test_a_hierarchy_is_a_latency_and_a_time_per_byte(size: float, dimensions: list[Dimension]) -> None:
    """The collective of dimensions takes as long as the hierarchy that it stands for."""
    assert close(Collective.of(dimensions).seconds(size), hierarchical(size, dimensions))


@given(size=SIZES, dimension=DIMENSIONS)
def test_a_ring_is_a_hierarchy_of_one_dimension(size: float, dimension: Dimension) -> None:
    """One dimension is a flat ring, and dimensions of a single unit add nothing."""
    alone = Dimension(units=1, wire=dimension.wire)

    assert hierarchical(size, [alone, dimension, alone]) == flat_ring(size, dimension)


@given(size=SIZES, dimension=DIMENSIONS)
def test_cutting_takes_less_than_a_nanosecond_of_each_step(size: float, dimension: Dimension) -> None:
    """Whole nanoseconds are never longer, and shorter by less than one in each step."""
    lost = flat_ring(size, dimension) - flat_ring(size, dimension, whole=True)

    assert -SUM * flat_ring(size, dimension) <= lost
    assert lost <= 2 * (dimension.units - 1) * 1e-9 + SUM * flat_ring(size, dimension)


@given(size=SIZES, dimension=DIMENSIONS)
def test_halving_sends_as_much_in_fewer_steps(size: float, dimension: Dimension) -> None:
    """Halving and doubling has two steps for each doubling of the units, and the bytes of the ring."""
    steps = 2 * ceil(log2(dimension.units))
    fewer = (2 * (dimension.units - 1) - steps) * dimension.hops * Fraction(dimension.wire.latency)

    assert close(halving(size, dimension) + float(fewer), flat_ring(size, dimension))


@pytest.mark.parametrize("size", [-1.0, float("inf"), float("nan")])
def test_a_size_is_a_number_of_bytes(size: float) -> None:
    """A size that is no number of bytes is refused in one line."""
    dimension = Dimension(units=2, wire=Wire(bandwidth=1))
    for reduce in (flat_ring, halving, lambda size, each: hierarchical(size, [each])):
        with pytest.raises(InvalidInput, match=r"^size: .*: must be a number of bytes$"):
            reduce(size, dimension)


def test_nothing_is_reduced_over_no_dimensions() -> None:
    """A single GPU has no dimensions, and takes no time."""
    assert hierarchical(1e9, []) == Collective.of([]).seconds(1e9) == 0
