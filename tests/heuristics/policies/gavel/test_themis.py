"""Themis as others compare with it: Gavel's finish-time fairness, and what its isolated times are."""

from functools import partial
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.gavel.gavel import gavel
from heuristics.policies.gavel.themis import themis
from heuristics.policies.gavel.time_shares import Isolated
from tests.gsopt.simulation.scenarios import bundle

JOBS = bundle(
    Job(name=f"j{i}", release_date=r, duration=d, gpus=g)
    for i, (r, d, g) in enumerate([(0, 900, 1), (0, 2500, 2), (100, 400, 1), (700, 1500, 4), (800, 3000, 1)])
)


@pytest.mark.parametrize(
    "options", [{}, {"interval": 100}, {"renewal": 100}, {"rounds": "port"}, {"shares": "equal_time"}], ids=str
)
def test_it_is_gavel_for_finish_times(options: dict[str, Any]) -> None:
    """Jobs complete as under the other name, with any option that makes a difference."""
    sizes = [("a", 0, 1000), ("b", 50, 700), ("c", 400, 600)]
    jobs = bundle(Job(name=name, release_date=r, duration=d, gpus=1) for name, r, d in sizes)
    run = partial(simulate, jobs, cluster=1, bound=False)
    times = run(themis, **options).completion_times
    assert times == run(gavel, objective="finish_time", **options).completion_times
    assert not options or times != run(themis).completion_times


@pytest.mark.parametrize("isolated", ["accumulated", "present"])
def test_it_passes_the_check_with_either_isolated_time(isolated: Isolated) -> None:
    """Both readings replay legally in rounds of the port, with restarts that cost."""
    scenario = Scenario(workload=JOBS, cluster=Cluster.plain(4), overheads={"": Overhead(start=30.0)})
    assert check_policy(themis, [scenario], rounds="port", isolated=isolated, restart=30.0) == 2


def test_each_kind_of_rounds_has_its_own_isolated_time() -> None:
    """The original accumulates, the port looks at the present speed."""
    times = {
        isolated: simulate(
            JOBS, themis, cluster=4, rounds="port", isolated=isolated, bound=False
        ).completion_times
        for isolated in (None, "present", "accumulated")
    }
    assert times[None] == times["present"] != times["accumulated"]
