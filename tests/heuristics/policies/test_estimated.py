"""Estimated: another policy by name, with estimates."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.evaluation.catalogue import find_policy
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import simulate
from gsopt.simulation.estimates import misjudging
from gsopt.testing import check_policy
from heuristics.policies import marginal
from heuristics.policies.estimated import estimated
from tests.gsopt.simulation.scenarios import bundle

_MENU = ((1, 1.0), (2, 1.5))
_JOBS = bundle(Job(name=str(i), release_date=i, duration=1 + 5 * i % 11, gpus=1, menu=_MENU) for i in range(20))


def test_it_is_the_policy_with_its_options() -> None:
    """Named with its options, a policy decides as the misled policy itself does."""
    named = simulate(_JOBS, estimated, cluster=3, of="marginal", options={"exponent": 2}, factor=3.0, seed=1)
    itself = simulate(_JOBS, misjudging(marginal, factor=3.0, seed=1), cluster=3, exponent=2)
    assert (
        named.completion_times
        == itself.completion_times
        != simulate(_JOBS, marginal, cluster=3).completion_times
    )


def test_a_share_is_wrong() -> None:
    """By share and margin it is the misled policy too, which may be named by its module."""
    path = "heuristics.policies:marginal"
    named = simulate(_JOBS, estimated, cluster=3, of=path, wrong=0.6, margin=0.5)
    itself = simulate(_JOBS, misjudging(marginal, wrong=0.6, margin=0.5), cluster=3)
    assert named.completion_times == itself.completion_times


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound."""
    assert check_policy(estimated, [Scenario(workload=_JOBS, cluster=Cluster.plain(3))]) == 2


def test_studies_find_it() -> None:
    """A study names it by module and function."""
    assert find_policy("heuristics.policies.estimated:estimated") is estimated


def test_bad_name() -> None:
    """A policy that there is not is refused in one line."""
    with pytest.raises(InvalidInput, match=r"^of: 'lifo': must be one of .*efq, "):
        simulate(_JOBS, estimated, cluster=3, of="lifo")
