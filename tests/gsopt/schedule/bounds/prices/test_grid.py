"""Grids cover the time of the work, and splitting them changes no price."""

import numpy as np
import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices.demand import Demand
from gsopt.schedule.bounds.prices.grid import first_edges, split
from gsopt.schedule.bounds.prices.supply import GpuSupply
from tests.gsopt.simulation.scenarios import bundle


@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0, 1e9])
def test_the_first_grid_covers_the_work(spread: float) -> None:
    """Edges rise from 0 to a time by which the cluster does all the work, whatever the release dates."""
    jobs = bundle(Job(name=str(i), release_date=7 + spread * i, duration=1 + i % 3, gpus=1) for i in range(30))
    scenario = Scenario(workload=jobs, cluster=Cluster.plain(2))
    edges = first_edges(Demand.of(scenario), GpuSupply.of(scenario), 40)
    assert edges[0] == 0
    assert np.all(np.diff(edges) > 0)
    assert edges[-1] >= max(30.0, 29 * spread + 1)
    assert len(edges) <= 42


def test_splitting_keeps_prices_and_halves_where_they_jump() -> None:
    """The price at every time is what it was, no cell is halved twice, and the jump is divided first."""
    random = np.random.default_rng(1)
    edges = np.append(0.0, random.uniform(0.1, 3, size=12).cumsum())
    prices = random.uniform(0, 2, size=(2, 12))
    finer, same = split(edges, prices, 17)
    assert len(finer) == 18
    middles = (finer[1:] + finer[:-1]) / 2
    assert np.array_equal(same, prices[:, np.searchsorted(edges, middles) - 1])
    assert set(edges) < set(finer)
    step = np.array([[1.0] * 6 + [0.5] * 6])
    assert split(np.arange(13.0), step, 14)[0][5:8].tolist() == [5.0, 5.5, 6.0]


def test_flat_prices_are_not_split() -> None:
    """Where no price changes a finer grid proves no more; the end, after which all is free, is a change."""
    edges = np.array([0.0, 1.0, 2.0, 3.0])
    assert len(split(edges, np.zeros((1, 3)), 10)[0]) == 4
    assert split(edges, np.ones((1, 3)), 10)[0].tolist() == [0.0, 1.0, 2.0, 2.5, 3.0]
