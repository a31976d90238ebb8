"""Collectives."""

from gsopt.performance.communication import Collective, Dimension, Wire, Wiring


def test_only_what_is_left_of_the_bytes_reaches_outer_dimensions() -> None:
    """Two machines of 8 GPUs send an eighth of the bytes each way: 2 / 16 of a second for every byte."""
    inside = Dimension(units=8, wire=Wire(bandwidth=1e9, latency=1.0, wiring=Wiring.RING))
    between = Dimension(units=2, wire=Wire(bandwidth=1.0, latency=10.0))
    both = Collective.of([inside, between])

    assert both.latency == 14 * 1 + 2 * 2 * 10
    assert both.per_byte == 14 / 8e9 + 2 / 16
