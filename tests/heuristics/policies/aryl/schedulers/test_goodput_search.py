"""Goodput search: who is searched for, when, and what it finds."""

from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from heuristics.policies.aryl.schedulers import goodput_search
from heuristics.policies.aryl.schedulers.fitness import Fitness
from heuristics.policies.aryl.schedulers.goodput_search import How
from tests.effort import cases
from tests.heuristics.policies.aryl.schedulers.epochs import assert_always_legal, calm, linear


def test_harmonic_mean_by_hand() -> None:
    """With speeds 1+w and 2+w relative to 3, three workers are best as 2 and 1: 3/3 + 3/3."""
    epoch = calm(linear(0, 9), linear(1, 9, base=2, most=5), training=3)
    for search in get_args(How):
        assert goodput_search(search=search, doubling=False).extras(epoch) == {0: 2, 1: 1}


def test_nobody_more_than_doubles() -> None:
    """A job of one worker gets one more, then two more, unless that is lifted."""
    epoch = [calm(linear(0, 9, most=9, extra=extra), training=9) for extra in (0, 1)]
    assert [goodput_search().extras(each) for each in epoch] == [{0: 1}, {0: 3}]
    assert goodput_search(doubling=False).extras(epoch[0]) == {0: 8}


def test_between_searches_jobs_keep_what_they_have() -> None:
    """Until the next search is due nobody grows or shrinks, though GPUs are idle."""
    scheduler = goodput_search(interval=60)
    epochs = [replace(calm(linear(0, 9, extra=1), training=2), now=now) for now in (0.0, 59.0, 60.0)]
    assert [scheduler.extras(epoch) for epoch in epochs] == [{0: 3}, {0: 1}, {0: 3}]


def test_greedy_is_what_a_search_can_find_at_best() -> None:
    """For workers of one GPU that scale linearly no search has a better fitness."""
    for seed in range(cases(20)):
        random = np.random.default_rng(seed)
        jobs = [linear(job, 9, base=int(random.integers(1, 4)), most=8) for job in range(8)]
        epoch = calm(*jobs, training=int(random.integers(1, 20)))
        fitness = Fitness.of(epoch, power=-1)
        worth = []
        for search in get_args(How):
            extras = goodput_search(search=search, doubling=False, seed=seed).extras(epoch)
            worth.append(float(fitness.of_rows(np.array([[extras[job.job] for job in jobs]]))[0]))
        assert worth[0] <= worth[1] + SUM


@pytest.mark.parametrize("search", get_args(How))
def test_always_legal(search: How) -> None:
    """Every answer is legal, and the same again for the same seed."""
    assert_always_legal(partial(goodput_search, search=search, population=10, generations=10, seed=3), 50)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"search": "random"}, "search: 'random': must be one of genetic, greedy"),
        ({"population": 1}, "population: 1: must be a whole number from 2 to 10,000"),
        ({"generations": 1.5}, "generations: 1.5: must be a whole number from 1 to 10,000"),
        ({"patience": 0}, "patience: 0: must be a whole number from 1 to 10,000"),
        ({"interval": float("inf")}, "interval: inf: must be a number of seconds, at least 0"),
        ({"power": 11}, "power: 11: must be a number from -10 to 10"),
    ],
)
def test_bad_options(options: Any, line: str) -> None:
    """An option out of its range is refused in one line."""
    with pytest.raises(InvalidInput) as refusal:
        goodput_search(**options)
    assert str(refusal.value) == line
