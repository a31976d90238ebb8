"""AFS: one worker after the other by throughput."""

from functools import partial
from typing import get_args

import pytest

from gsopt.core.errors import InvalidInput
from heuristics.policies.aryl.epoch import Elastic, Waiting
from heuristics.policies.aryl.schedulers import afs
from heuristics.policies.aryl.schedulers.afs import Gain
from tests.heuristics.policies.aryl.schedulers.epochs import assert_always_legal, calm, crowded, linear


def test_few_base_workers_gain_most() -> None:
    """In multiples of base throughput one of two workers gains 1/2 by the next, one of one 1, 1, 1."""
    assert afs().extras(calm(linear(0, 9, base=2, most=5), linear(1, 99), training=4)) == {0: 1, 1: 3}


def test_gains_count_per_gpu() -> None:
    """A worker of two GPUs has to gain twice as much."""
    assert afs().extras(calm(linear(0, 9, gpus=2), linear(1, 9, base=3, most=4), training=2)) == {0: 1, 1: 0}
    assert afs().extras(calm(linear(0, 9, gpus=4), linear(1, 9, base=3, most=4), training=4)) == {0: 0, 1: 1}


def test_present_throughput_spreads_workers() -> None:
    """In shares of the present throughput a job of one worker gains 1, 1/2, 1/3, one of two 1/2."""
    epoch = calm(linear(0, 9), linear(1, 9, base=2, most=5), training=3)
    assert afs().extras(epoch) == {0: 3, 1: 0}
    assert afs(gain="present").extras(epoch) == {0: 2, 1: 1}


def test_pairs_by_hand() -> None:
    """Job 1, the shorter, gains 1/2, 1/2, 1/3; job 0, by its later throughput, 1/2, 1/3, 1/3, and wins ties."""
    epoch = [calm(linear(0, 200.0), linear(1, 60.0, base=2, most=5), training=gpus) for gpus in range(4)]
    served = [afs(gain="pairs").extras(each) for each in epoch]
    assert served == [{0: 0, 1: 0}, {0: 1, 1: 0}, {0: 1, 1: 1}, {0: 2, 1: 1}]


def test_pairs_depend_on_the_order() -> None:
    """The rule of pairs is not transitive: each of these three jobs wins in some order."""
    a, b, c = (
        Elastic(job, time, 1, 1, 2, 0, "training", (1.0, speed))
        for job, (time, speed) in enumerate([(2.0, 1.3), (5.0, 1.4), (10.0, 1.6)])
    )
    served = [afs(gain="pairs").extras(calm(*jobs, training=1)) for jobs in ((a, b, c), (b, c, a), (c, a, b))]
    winners = [next(job for job, extra in extras.items() if extra) for extras in served]
    assert sorted(winners) == [0, 1, 2]


def test_nothing_is_given_for_nothing() -> None:
    """A worker that gains no throughput is not given."""
    flat = Elastic(0, 9.0, 1, 1, 3, 0, "training", (1.0, 1.0, 0.5))
    for gain in get_args(Gain):
        assert afs(gain=gain).extras(calm(flat, training=2)) == {0: 0}


def test_starts() -> None:
    """Nobody is blocked; jobs start by release, or the shortest first."""
    epoch = crowded([Waiting(0, 0.0, 9.0, 8), Waiting(1, 1.0, 2.0, 1)])
    assert not afs().blocks
    assert [list(afs(order=order).order(epoch)) for order in ("release", "time")] == [[0, 1], [1, 0]]


@pytest.mark.parametrize("gain", get_args(Gain))
def test_always_legal(gain: Gain) -> None:
    """Every answer is legal, and the same again."""
    assert_always_legal(partial(afs, gain=gain))


def test_bad_gain() -> None:
    """A gain that there is not is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^gain: 'none': must be one of base, present, pairs$"):
        afs(gain="none")  # type: ignore[arg-type]
