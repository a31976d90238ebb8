"""Max first: running jobs grow before others start."""

from functools import partial

import pytest

from gsopt.core.errors import InvalidInput
from heuristics.policies.aryl.epoch import Waiting
from heuristics.policies.aryl.schedulers import max_first
from tests.heuristics.policies.aryl.schedulers.epochs import assert_always_legal, calm, crowded, linear


def test_who_starts_leaves_running_jobs_their_most() -> None:
    """The running job wants 3 of 5 GPUs; the shorter waiting one needs 1 of the rest and wants both."""
    short = Waiting(1, 1.0, 5.0, 1, linear(1, 5.0, most=3))
    epoch = crowded([Waiting(2, 0.0, 9.0, 1), short], linear(0, 60.0), training=5)
    assert max_first().order(epoch) == [1]
    assert max_first(order="release").order(epoch) == [2, 1]


def test_what_flexible_workers_hold_counts_as_theirs() -> None:
    """A job at its most leaves what is idle to those that wait."""
    epoch = crowded([Waiting(1, 0.0, 9.0, 2)], linear(0, 60.0, extra=3), training=2)
    assert max_first().order(epoch) == [1]


def test_blocking() -> None:
    """A job that does not fit is passed over, or blocks those behind it."""
    epoch = crowded([Waiting(1, 0.0, 1.0, 4), Waiting(2, 0.0, 9.0, 1)], training=2)
    assert max_first().order(epoch) == [2]
    assert max_first(blocks=True).order(epoch) == []


def test_the_least_left_grows_first() -> None:
    """The job with less GPU time left gets its most, the other what remains."""
    assert max_first().extras(calm(linear(0, 60.0), linear(1, 59.0), training=4)) == {0: 1, 1: 3}


@pytest.mark.parametrize("blocks", [True, False])
def test_always_legal(*, blocks: bool) -> None:
    """Every answer is legal, and the same again."""
    assert_always_legal(partial(max_first, blocks=blocks), 100)


def test_bad_order() -> None:
    """An order that there is not is refused."""
    with pytest.raises(InvalidInput, match=r"^order: ''"):
        max_first(order="")  # type: ignore[arg-type]
