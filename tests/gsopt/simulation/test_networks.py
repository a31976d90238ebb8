"""Simulator and judge agree on networks of any levels."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.testing import check_policy
from heuristics.policies import fifo, las
from tests.effort import cases
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.scenarios import workloads
from tests.strategies.topology import trees

_PENALTY = {"machine": 0.25, "rack": 0.5, "network": 4.0, "pod": 1.0, "island": 0.125}


@st.composite
def _scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a network and jobs on it, of which some are slowed down by some of its levels."""
    cluster: Cluster = draw(trees(linked=False))
    known = {
        level: _PENALTY[level] for level in ("machine", "rack", "network", *cluster.levels) if level in _PENALTY
    }
    return Scenario(
        workload=draw(workloads(cluster.gpus, most=5)),
        cluster=cluster,
        speed=Speed(tiers={"cnn": TierPenalty(**known)}),
    )


@settings(max_examples=cases(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenario=_scenarios(), seed=st.integers(0, 10**6))
def test_the_judge_agrees(scenario: Scenario, seed: int) -> None:
    """In fractions they agree without any tolerance under policies, and whatever else is decided."""
    for policy in (fifo, las):
        assert check_policy(policy, [scenario]) == 2
    assert check_policy(monkey, [scenario], seed=seed, share_limit=1) == 2
