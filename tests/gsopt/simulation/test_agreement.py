"""The simulator and the judge agree, whatever the scenario and the policy."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.scenario import Scenario
from gsopt.simulation import Policy
from gsopt.testing import check_policy
from heuristics import policies
from tests.gsopt.simulation.scenarios import plain_scenarios, tree_scenarios

POLICIES = [getattr(policies, name) for name in policies.__all__]

#: 10 policies x (50 + 25 + 25) scenarios = 1,000, each in floats and in fractions.
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
@settings(calm, max_examples=50)
@given(scenario=plain_scenarios(elastic=True))
def test_on_plain_clusters(policy: Policy, scenario: Scenario) -> None:
    """Judge and simulator agree with menus, overheads and capacity changes."""
    assert check_policy(policy, [scenario]) == 2


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
@settings(calm, max_examples=25)
@given(scenario=tree_scenarios())
def test_on_racks(policy: Policy, scenario: Scenario) -> None:
    """Judge and simulator agree where GPUs have numbers and network tiers slow jobs down."""
    assert check_policy(policy, [scenario]) == 2


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
@settings(calm, max_examples=25)
@given(scenario=plain_scenarios(), length=st.sampled_from([3.0, 4.5, 7.3]))
def test_in_rounds(policy: Policy, scenario: Scenario, length: float) -> None:
    """Judge and simulator agree where decisions are taken at multiples of a round length only.

    Rounds are longer than any overhead; a policy that preempts every round would never get on otherwise.
    """
    assert check_policy(policy, [scenario], round_length=length) == 2
