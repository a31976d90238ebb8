"""Simulate: as `gsopt.simulation.simulate`, with policies by name too."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from gsopt import simulation
from gsopt.evaluation.catalogue import find_policy
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.simulation.policy import Policy
from gsopt.simulation.run import Replay

Options = ParamSpec("Options")


def _by_name(
    function: Callable[Concatenate[Workload | Scenario, Policy, Options], Replay],
) -> Callable[Concatenate[Workload | Scenario, Policy | str, Options], Replay]:
    @wraps(function)
    def simulate(
        given: Workload | Scenario, policy: Policy | str, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> Replay:
        return function(given, find_policy(policy), *args, **kwargs)

    return simulate


simulate = _by_name(simulation.simulate)
