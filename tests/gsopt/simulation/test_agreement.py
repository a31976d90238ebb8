"""The simulator and the judge agree on 1,000 random workloads under every policy."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.scenario import Scenario
from gsopt.simulation import Policy
from gsopt.testing import check_policy
from heuristics import policies
from tests.gsopt.simulation.scenarios import plain_scenarios, tree_scenarios

POLICIES = [getattr(policies, name) for name in policies.__all__]
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(calm, max_examples=500)
@given(scenario=plain_scenarios(elastic=True))
def test_on_plain_clusters(scenario: Scenario) -> None:
    """They agree to 1e-9 with menus, overheads and capacity changes."""
    assert all(check_policy(policy, [scenario], exact=False) for policy in POLICIES)


@settings(calm, max_examples=250)
@given(scenario=tree_scenarios())
def test_on_racks(scenario: Scenario) -> None:
    """They agree to 1e-9 where GPUs have numbers and network tiers slow jobs down."""
    assert all(check_policy(policy, [scenario], exact=False) for policy in POLICIES)


@settings(calm, max_examples=250)
@given(scenario=plain_scenarios(), length=st.sampled_from([3.0, 4.5, 7.3]))
def test_in_rounds(scenario: Scenario, length: float) -> None:
    """They agree to 1e-9 where decisions are taken at multiples of a round length only.

    Rounds are longer than any overhead; a policy that preempts every round would never get on otherwise.
    """
    assert all(check_policy(policy, [scenario], exact=False, round_length=length) for policy in POLICIES)


@each_policy
@settings(calm, max_examples=20)
@given(scenario=plain_scenarios(elastic=True) | tree_scenarios())
def test_exactly_in_fractions(policy: Policy, scenario: Scenario) -> None:
    """In fractions they agree without any tolerance."""
    assert check_policy(policy, [scenario]) == 2
