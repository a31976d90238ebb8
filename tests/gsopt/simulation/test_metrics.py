"""Metrics: the proven bound never stands above the figure that it bounds."""

from math import nextafter

import pytest

from gsopt.cluster import Cluster
from gsopt.errors import Contradiction
from gsopt.job import Job
from gsopt.scenario import Scenario
from gsopt.simulation import replay
from heuristics.policies import fifo
from tests.gsopt.simulation.scenarios import bundle

_SCENARIO = Scenario(
    workload=bundle([Job(name="a", release_date=0, duration=9362.15, gpus=1)]), cluster=Cluster.plain(1)
)


def test_a_bound_above_the_mean_by_rounding_is_the_mean() -> None:
    """A bound that exceeds the mean job completion time by float rounding only is printed equal to it."""
    figures = replay(_SCENARIO, fifo, bound=nextafter(9362.15, 1e9)).metrics
    assert (figures.mean_jct, figures.lower_bound, figures.gap) == (9362.15, 9362.15, 0)


def test_a_bound_above_the_mean_is_a_contradiction() -> None:
    """A bound that exceeds the mean job completion time by more than rounding is an error."""
    with pytest.raises(Contradiction, match="below the proven bound"):
        replay(_SCENARIO, fifo, bound=9363)
