"""Gandiva: growth while nobody waits."""

from functools import partial

from heuristics.policies.aryl.epoch import Waiting
from heuristics.policies.aryl.schedulers import gandiva
from tests.heuristics.policies.aryl.schedulers.epochs import assert_always_legal, calm, crowded, linear


def test_the_first_that_started_grows_first() -> None:
    """Of 4 idle GPUs the job that started first gets all 3 workers that it can have, the next the last one."""
    assert gandiva(own_servers_only=False).extras(calm(linear(7, 9), linear(3, 1), training=4)) == {7: 3, 3: 1}


def test_whoever_waits_ends_growth() -> None:
    """As soon as a job waits flexible workers are given back, though GPUs are idle."""
    epoch = crowded([Waiting(9, 0.0, 1.0, 8)], linear(0, 9, extra=2), training=4)
    for own in (True, False):
        assert gandiva(own_servers_only=own).extras(epoch) == {0: 0}


def test_growth_beside_its_own_workers() -> None:
    """On its own machines each job asks for all that it can have, and the frame sees what is there."""
    scheduler = gandiva()
    assert getattr(scheduler, "own_servers_only", False)
    assert scheduler.extras(calm(linear(0, 9), linear(1, 9), training=4)) == {0: 3, 1: 3}


def test_always_legal() -> None:
    """Every answer for any machine is legal, and the same again."""
    assert_always_legal(partial(gandiva, own_servers_only=False), 100)
