"""Tuned timers over time."""

from typing import Any

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation import simulate
from heuristics.policies import dally
from heuristics.policies.dally.plots import tuned_timers
from heuristics.policies.dally.tuner import TunedTimer
from tests.gsopt.simulation.plots.samples import legend
from tests.gsopt.simulation.scenarios import bundle


def test_a_line_has_the_timers_of_one_tier_and_demand() -> None:
    """What a run told of one tier and demand is its line; the axis of waits has a unit."""
    seen: list[TunedTimer] = []
    jobs = [Job(name=str(n), release_date=0, duration=7200 * (1 + n % 3), gpus=2 + n % 2) for n in range(24)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    simulate(bundle(jobs), dally, cluster=cluster, observe=seen.append)
    mine = [(each.time, each.seconds) for each in seen if (each.tier, each.gpus) == ("machine", 3)]
    axes = tuned_timers({"all": seen, "none": []}, tier="machine", gpus=3)
    lines = list[Any](axes.lines)

    assert len(mine) > 1
    assert {each.gpus for each in seen if each.tier == "machine"} == {2, 3}
    assert [tuple(point) for point in lines[0].get_xydata().tolist()] == mine
    assert lines[1].get_xydata().tolist() == []
    assert legend(axes) == ["all", "none"]
    assert axes.get_ylabel() == "wait for the tier machine, 3 GPUs [h]"


def test_nothing_tuned_is_an_empty_picture() -> None:
    """Where no timer was tuned the axes still have an extent."""
    axes = tuned_timers({}, tier="rack", gpus=8)

    assert not axes.lines
    assert axes.get_ylim() == (0, 1)
    assert axes.get_xlim() == (0, 1)
