"""Random order: reproducible by its seed."""

from gsopt.scenario.job import Job
from gsopt.simulation import simulate
from heuristics.policies import random_order
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle([Job(name=str(i), release_date=0, duration=1, gpus=1) for i in range(8)])


def test_the_seed_decides() -> None:
    """Equal seeds give equal orders, and some other seed another one."""
    orders = [simulate(_JOBS, random_order, cluster=1, seed=seed).completion_times for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1
