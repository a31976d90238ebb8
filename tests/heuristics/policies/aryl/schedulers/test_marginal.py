"""Marginal: starts and growth compete."""

from functools import partial
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from heuristics.policies.aryl.epoch import Waiting
from heuristics.policies.aryl.schedulers import marginal
from tests.heuristics.policies.aryl.schedulers.epochs import assert_always_legal, calm, crowded, linear


def test_who_is_shorter_than_what_it_displaces_starts() -> None:
    """Flexible workers of a job with 60 GPU-seconds left make way for one of 59 GPU-seconds, not of 61."""
    waiting = [Waiting(1, 0.0, 61.0, 1), Waiting(2, 0.0, 59.0, 1)]
    assert marginal().order(crowded(waiting, linear(0, 60.0, extra=3))) == [2]


def test_who_would_start_grows_before_longer_ones_start() -> None:
    """Of 3 GPUs a waiting job that scales linearly takes all before a longer one starts."""
    elastic = Waiting(1, 0.0, 5.0, 1, linear(1, 5.0, most=3))
    epoch = [crowded([elastic, Waiting(2, 0.0, 9.0, 1)], training=gpus) for gpus in (3, 4)]
    assert [marginal().order(each) for each in epoch] == [[1], [1, 2]]


def test_bad_scaling_waits() -> None:
    """A worker that adds half as much counts as 16 times the GPU time by default, twice with exponent 1."""
    half = linear(0, 20.0, most=2)._replace(speeds=(1.0, 1.5))
    epoch = crowded([Waiting(1, 0.0, 100.0, 1)], half, training=1)
    assert marginal().order(epoch) == [1]
    assert marginal(exponent=1).order(epoch) == []


def test_all_may_start() -> None:
    """As in Aryl's first phase all jobs are named, the shortest first."""
    waiting = [Waiting(1, 0.0, 61.0, 1), Waiting(2, 0.0, 59.0, 1)]
    assert marginal(starts="all").order(crowded(waiting, linear(0, 60.0, extra=3))) == [2, 1]


def test_the_least_left_grows_first() -> None:
    """The job with less GPU time left gets its most, the other what remains."""
    assert marginal().extras(calm(linear(0, 60.0), linear(1, 59.0), training=4)) == {0: 1, 1: 3}


@pytest.mark.parametrize("exponent", [1, 4])
def test_always_legal(exponent: float) -> None:
    """Every answer is legal, and the same again."""
    assert_always_legal(partial(marginal, exponent=exponent), 100)


@pytest.mark.parametrize("exponent", [0, 17, "4", float("nan")])
def test_bad_exponent(exponent: Any) -> None:
    """An exponent out of its range is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^exponent: .* must be a number above 0 and at most 16$"):
        marginal(exponent=exponent)


def test_bad_starts() -> None:
    """A way to start that there is not is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^starts: 'most': must be one of ranked, all$"):
        marginal(starts="most")  # type: ignore[arg-type]
