"""FIFO: no flexible workers."""

from functools import partial

import pytest

from heuristics.policies.aryl.epoch import Waiting
from heuristics.policies.aryl.schedulers import fifo
from tests.heuristics.policies.aryl.schedulers.epochs import assert_always_legal, calm, crowded, linear


def test_order_of_release() -> None:
    """Jobs start as they were released, whatever their size."""
    waiting = [Waiting(4, 0.0, 99.0, 8), Waiting(2, 1.0, 1.0, 1)]
    assert fifo().order(crowded(waiting)) == [4, 2]


def test_nobody_scales() -> None:
    """Elastic jobs stay on their base workers, and give back what they have beyond them."""
    assert fifo().extras(calm(linear(0, 9), linear(1, 9, extra=2), training=9)) == {0: 0, 1: 0}


@pytest.mark.parametrize("blocks", [True, False])
def test_always_legal(*, blocks: bool) -> None:
    """Every answer is legal, and the same again."""
    assert fifo(blocks=blocks).blocks is blocks
    assert_always_legal(partial(fifo, blocks=blocks), 50)
