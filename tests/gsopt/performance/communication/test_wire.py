"""Hops and messages."""

from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.performance.communication import DALLY_WIRES, Dimension, Wire, Wiring


@pytest.mark.parametrize("distance", range(-9, 10))
def test_hops_by_wiring(distance: int) -> None:
    """Of 8 units a ring needs the shorter way, full wiring one hop and a switch two; nobody sends to itself."""
    away = min(distance % 8, -distance % 8)
    wires = {wiring: Wire(bandwidth=1, wiring=wiring) for wiring in Wiring}

    assert wires[Wiring.RING].hops(8, distance) == away
    assert wires[Wiring.RING].hops(8, distance, one_way=True) == distance % 8
    assert wires[Wiring.FULL].hops(8, distance) == min(away, 1)
    assert wires[Wiring.SWITCH].hops(8, distance) == 2 * min(away, 1)


def test_bytes_pass_once_and_every_hop_takes_its_latency() -> None:
    """A message of 3 GB at 2 GB/s over two hops of a quarter of a second takes two seconds."""
    assert Wire(bandwidth=2e9, latency=0.25).send(3e9, 2) == 2.0


def test_whole_nanoseconds_are_cut_and_not_lost() -> None:
    """Times are cut to whole nanoseconds; one that is whole stays, whatever doubles make of it."""
    assert Wire(bandwidth=1e9, latency=1e-9).send(2.9, 1, whole=True) == 3e-9
    assert Wire(bandwidth=1e10, latency=0.1e-9).send(3, 7, whole=True) == 1e-9
    assert Wire(bandwidth=1e18).send(1, 2, whole=True) == 0


def test_a_lone_unit_has_no_hops() -> None:
    """A dimension of one unit sends nothing."""
    assert Dimension(units=1, wire=Wire(bandwidth=1)).hops == 0


def test_the_wires_of_dally_explain_the_fitted_latencies() -> None:
    """14 steps of 8 GPUs take 0.87, 9 and 249 us in a machine, a rack and on the network, as Table I wants."""
    steps = {level: 14 * wire.hops(8) * wire.latency for level, wire in DALLY_WIRES.items()}

    assert [round(steps[level] * 1e6, 2) for level in ("machine", "rack", "network")] == [0.87, 8.96, 249.2]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no bandwidth": ({"bandwidth": 0.0}, "greater than 0"),
    "a negative latency": ({"bandwidth": 1.0, "latency": -1e-9}, "greater than or equal to 0"),
    "another wiring": ({"bandwidth": 1.0, "wiring": "torus"}, "'ring', 'fully connected' or 'switch'"),
}


@pytest.mark.parametrize(("values", "rule"), BAD.values(), ids=BAD.keys())
def test_bad_wires_are_refused(values: dict[str, Any], rule: str) -> None:
    """Bandwidths are above 0, latencies at least 0, and wirings have one of three names."""
    with pytest.raises(ValidationError, match=rule):
        Wire(**values)


def test_no_units_have_no_hops() -> None:
    """Hops between no units are refused in one line."""
    with pytest.raises(InvalidInput, match=r"^units: 0: must be at least 1$"):
        Wire(bandwidth=1).hops(0)
