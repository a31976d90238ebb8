"""Believed: another policy by name, with slowdowns that it believes in."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.evaluation.catalogue import find_policy
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import simulate
from gsopt.simulation.beliefs import believing
from gsopt.testing import check_policy
from heuristics.policies import sjf_bsbf
from heuristics.policies.believed import believed
from tests.gsopt.simulation.scenarios import bundle

_MACHINE = Cluster.uniform(machines=1, gpus=3)
_TRUTH = Speed(default_interference=1.25)
_TABLE = {"m0": {"m1": 3.0}, "m1": {"m0": 2.5, "m1": 1.2}}
_JOBS = bundle(
    Job(name=str(i), release_date=i, duration=1 + 5 * i % 11, gpus=1 + i % 2, model=f"m{i % 2}")
    for i in range(20)
)


def test_it_is_the_policy_with_its_options() -> None:
    """Named with its options and a table, a policy decides as the one itself does that believes in it."""
    beliefs = Speed(interference=_TABLE, default_interference=1.1)
    named, itself, told = (
        simulate(_JOBS, policy, cluster=_MACHINE, speed=_TRUTH, share_limit=2, **options).completion_times
        for policy, options in (
            (
                believed,
                {
                    "of": "sjf_bsbf",
                    "options": {"free_first": True},
                    "interference": _TABLE,
                    "default_interference": 1.1,
                },
            ),
            (believing(sjf_bsbf, beliefs), {"free_first": True}),
            (sjf_bsbf, {"free_first": True}),
        )
    )
    assert named == itself != told


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound."""
    scenario = Scenario(workload=_JOBS, cluster=_MACHINE, speed=_TRUTH, share_limit=2)
    assert check_policy(believed, [scenario]) == 2


def test_studies_find_it() -> None:
    """A study names it by module and function."""
    assert find_policy("heuristics.policies.believed:believed") is believed


def test_bad_input() -> None:
    """A policy that there is not, and a slowdown that is a speedup, are refused in one line."""
    with pytest.raises(InvalidInput, match=r"^of: 'lifo': must be one of .*efq, "):
        simulate(_JOBS, believed, cluster=_MACHINE, of="lifo")
    with pytest.raises(InvalidInput, match=r"^believed: default_interference: 0.5: "):
        simulate(_JOBS, believed, cluster=_MACHINE, default_interference=0.5)
