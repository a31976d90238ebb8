"""Mixtures of configurations."""

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import lifted, shortest_mixture
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.effort import cases
from tests.strategies.scheduling import packing, tiny


def test_area_is_not_enough_to_fit() -> None:
    """A job on both GPUs for 1 s and one on either for 2 s take 3 s, though their area fits in 2 s."""
    assert shortest_mixture(Instance.of(packing()), {(0, 0): 1.0, (1, 0): 2.0}).length == pytest.approx(3)


def test_nothing_takes_no_time() -> None:
    """Without times there is nothing to mix."""
    assert shortest_mixture(Instance.of(packing()), {}) == (0.0, {})


def test_prices_hold_however_early_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no further configuration is generated, the prices of those that are missing add up to 1 at most."""
    monkeypatch.setattr("formulations.scheduling.mixture.PRICING", 9.0)
    jobs = [ElasticJob(name=name, release=0, work=1, rates={1: 1.0}) for name in "abc"]
    instance = Instance.of(Scheduling(gpus=3, jobs=jobs))
    mixture = shortest_mixture(instance, dict.fromkeys([(0, 0), (1, 0), (2, 0)], 1.0))

    assert mixture.length == pytest.approx(3)
    assert sum(mixture.prices.values()) <= 1 + 1e-15


@settings(deadline=None, max_examples=cases(60))
@given(st.integers(0, 10**6))
def test_prices_prove_the_length(seed: int) -> None:
    """The prices of the times add up to the length, and those of no configuration to more than 1."""
    instance = Instance.of(tiny(seed))
    random = Random(seed)
    items = [(job, mode) for job, modes in enumerate(instance.modes) for mode in range(len(modes))]
    times = {item: random.uniform(0.1, 2) for item in items if random.random() < 0.7}
    length, prices = shortest_mixture(instance, times)

    assert sum(prices[item] * time for item, time in times.items()) == pytest.approx(length)
    raised = lifted(instance, prices)
    assert all(price <= raised[item] for item, price in prices.items() if price > 0)
    for choice in product(*([None, *range(len(modes))] for modes in instance.modes)):
        chosen = [(job, mode) for job, mode in enumerate(choice) if mode is not None]
        if sum(instance.modes[job][mode].gpus for job, mode in chosen) <= instance.gpus:
            assert sum(raised.get(item, 0.0) for item in chosen) <= 1 + 1e-9
