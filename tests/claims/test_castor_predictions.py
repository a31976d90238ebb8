"""Castor's claims on predicted interference, on public traces and tables."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from gsopt.cluster import Cluster
from gsopt.interference import Predictor, predicted, predictors
from gsopt.scenario import Scenario
from gsopt.simulation import Policy, replay
from gsopt.simulation.beliefs import believing
from gsopt.speed import Speed
from heuristics.policies import sjf_bsbf, sjf_ffs
from instances.interference import gavel
from instances.traces import philly

#: Slowdown of pairs that Gavel's table does not have, since they did not run together: the worst that it has.
_UNKNOWN = 11.0

_DAY = 86_400


@pytest.fixture(scope="module")
def mean_jcts(traces: Path) -> Mapping[str, float]:
    """Replay 240 jobs of a day of Philly on 48 GPUs, with models drawn for them and slowdowns of a V100."""
    table = gavel(traces, gpu="v100").table
    drawn, models = Random(0), [profile.name for profile in table.profiles]
    workload = philly(traces, window=(50 * _DAY, 51 * _DAY), max_gpus=48, sample=240, seed=0).workload
    jobs = [job.model_copy(update={"model": drawn.choice(models)}) for job in workload.jobs]
    scenario = Scenario(
        workload=workload.model_copy(update={"jobs": tuple(jobs)}),
        cluster=Cluster.uniform(machines=6, gpus=8),
        speed=Speed(interference=table.slowdowns, default_interference=_UNKNOWN),
        share_limit=2,
    )

    def by(predictor: Predictor) -> Policy:
        slowdowns = predicted(table, predictor).slowdowns
        return believing(sjf_bsbf, Speed(interference=slowdowns, default_interference=_UNKNOWN))

    policies = {
        "measured": sjf_bsbf,
        "first fit": sjf_ffs,
        "tree": by(predictors.regression_tree),
        "one for all": by(predictors.overall_mean),
    }
    return {name: replay(scenario, policy, bound=False).metrics.mean_jct for name, policy in policies.items()}


def test_the_tree_is_as_good_as_what_was_measured(mean_jcts: Mapping[str, float]) -> None:
    """By predictions for pairs that the tree has not seen the mean JCT is within 2 % of that by measurements."""
    assert mean_jcts["tree"] == pytest.approx(mean_jcts["measured"], rel=0.02)


def test_one_ratio_for_all_pairs_is_as_good_as_none(mean_jcts: Mapping[str, float]) -> None:
    """Deciding by the mean of all pairs gains nothing much on sharing with whoever comes first."""
    assert mean_jcts["one for all"] > 1.08 * mean_jcts["measured"]
    assert mean_jcts["one for all"] > 0.95 * mean_jcts["first fit"]
