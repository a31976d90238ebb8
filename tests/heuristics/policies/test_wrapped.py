"""Policies around another one: with slowdowns that it believes in, or with estimated durations."""

from functools import partial
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Policy, simulate
from gsopt.simulation.beliefs import believing
from gsopt.simulation.estimates import misjudging
from gsopt.testing import check_policy
from heuristics.policies import marginal, sjf_bsbf
from heuristics.policies.believed import believed
from heuristics.policies.estimated import estimated
from tests.gsopt.simulation.scenarios import bundle

_MACHINE = Cluster.uniform(machines=1, gpus=3)
_TRUTH = Speed(default_interference=1.25)
_TABLE = {"m0": {"m1": 3.0}, "m1": {"m0": 2.5, "m1": 1.2}}
_SHARING = bundle(
    Job(name=str(i), release_date=i, duration=1 + 5 * i % 11, gpus=1 + i % 2, model=f"m{i % 2}")
    for i in range(20)
)


def test_beliefs_are_those_of_the_policy() -> None:
    """Named with its options and a table, a policy decides as the one itself does that believes in it."""
    run = partial(simulate, _SHARING, cluster=_MACHINE, speed=_TRUTH, share_limit=2)
    beliefs: dict[str, Any] = {"interference": _TABLE, "default_interference": 1.1}
    options: dict[str, Any] = {"free_first": True}
    named = run(believed, of="sjf_bsbf", options=options, **beliefs).completion_times
    assert named == run(believing(sjf_bsbf, Speed(**beliefs)), **options).completion_times
    assert named != run(sjf_bsbf, **options).completion_times


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound."""
    sharing = Scenario(workload=_SHARING, cluster=_MACHINE, speed=_TRUTH, share_limit=2)
    assert check_policy(believed, [sharing]) == 2
    assert check_policy(estimated, [Scenario(workload=_JOBS, cluster=Cluster.plain(3))]) == 2


@pytest.mark.parametrize("policy", [believed, estimated])
def test_bad_name(policy: Policy) -> None:
    """A policy that does not exist is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^of: 'lifo': must be one of .*efq, "):
        simulate(_SHARING, policy, cluster=_MACHINE, of="lifo")


def test_bad_beliefs() -> None:
    """A slowdown that is a speedup is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^believed: default_interference: 0.5: "):
        simulate(_SHARING, believed, cluster=_MACHINE, default_interference=0.5)


_MENU = ((1, 1.0), (2, 1.5))
_JOBS = bundle(Job(name=str(i), release_date=i, duration=1 + 5 * i % 11, gpus=1, menu=_MENU) for i in range(20))


@pytest.mark.parametrize(
    ("of", "options", "errors"),
    [
        ("marginal", {"exponent": 2}, {"factor": 3.0, "seed": 1}),
        ("heuristics.policies:marginal", {}, {"wrong": 0.6, "margin": 0.5}),
        (marginal, {}, {"factor": 3.0}),
    ],
)
def test_estimates_are_those_of_the_policy(of: Any, options: dict[str, Any], errors: dict[str, Any]) -> None:
    """Given by name, path or itself, with its options, a policy decides as the misled policy does."""
    named = simulate(_JOBS, estimated, cluster=3, of=of, options=options, **errors).completion_times
    assert named == simulate(_JOBS, misjudging(marginal, **errors), cluster=3, **options).completion_times
    assert named != simulate(_JOBS, marginal, cluster=3).completion_times
