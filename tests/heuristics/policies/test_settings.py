"""Options of policies as settings."""

from inspect import signature

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Workload
from gsopt.simulation import Policy, simulate
from heuristics.policies.aryl.policy import aryl
from heuristics.policies.aryl.settings import ArylSettings
from heuristics.policies.dally.policy import dally
from heuristics.policies.dally.settings import DallySettings
from heuristics.policies.ones.policy import ones
from heuristics.policies.ones.settings import OnesSettings


@pytest.mark.parametrize(
    ("policy", "kind"), [(aryl, ArylSettings), (dally, DallySettings), (ones, OnesSettings)]
)
def test_fields_are_the_options_of_the_policy(policy: Policy, kind: type) -> None:
    """A policy has the fields of its settings as keyword options, and refuses others by name."""
    state, *options = signature(policy).parameters.values()
    assert state.name == "state"
    assert options == list(signature(kind).parameters.values())
    with pytest.raises(InvalidInput, match=f"patience: 3: .*nor an option of {policy.__name__}"):
        simulate(Workload(jobs=[]), policy, cluster=1, patience=3)
