"""Castor's claims on predicted interference, on public traces and tables."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from gsopt.performance.interference import PairTable, Predictor, predicted, predictors
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Policy, replay
from gsopt.simulation.beliefs import believing
from heuristics.policies import sjf_bsbf, sjf_ffs
from instances.interference import gavel
from instances.traces import philly

#: Slowdown of pairs that Gavel's table does not have, since they did not run together: the worst that it has.
_UNKNOWN = 11.0

_DAY = 86_400


#: Draws of models for the jobs: one of them says little, as a single bad pair may cost a tenth of the mean.
_DRAWS = 3


@pytest.fixture(scope="module")
def mean_jcts(traces: Path) -> Mapping[str, float]:
    """Replay 240 jobs of a day of Philly on 48 GPUs, with models drawn for them and slowdowns of a V100."""
    table = gavel(traces, gpu="v100").table
    models = [profile.name for profile in table.profiles]
    workload = philly(traces, window=(50 * _DAY, 51 * _DAY), max_gpus=48, sample=240, seed=0).workload
    policies = {
        "measured": sjf_bsbf,
        "first fit": sjf_ffs,
        "tree": _believing(table, predictors.regression_tree),
        "one for all": _believing(table, predictors.overall_mean),
    }
    found: dict[str, list[float]] = {name: [] for name in policies}
    for seed in range(_DRAWS):
        drawn = Random(seed)
        jobs = tuple(job.model_copy(update={"model": drawn.choice(models)}) for job in workload.jobs)
        scenario = Scenario(
            workload=workload.model_copy(update={"jobs": jobs}),
            cluster=Cluster.uniform(machines=6, gpus=8),
            speed=Speed(interference=table.slowdowns, default_interference=_UNKNOWN),
            share_limit=2,
        )
        for name, policy in policies.items():
            found[name].append(replay(scenario, policy, bound=False).metrics.mean_jct)
    return {name: fmean(values) for name, values in found.items()}


def _believing(table: PairTable, predictor: Predictor) -> Policy:
    slowdowns = predicted(table, predictor).slowdowns
    return believing(sjf_bsbf, Speed(interference=slowdowns, default_interference=_UNKNOWN))


def test_the_tree_is_as_good_as_what_was_measured(mean_jcts: Mapping[str, float]) -> None:
    """By predictions for pairs that the tree has not seen the mean JCT is within 2 % of that by true ones."""
    assert mean_jcts["tree"] == pytest.approx(mean_jcts["measured"], rel=0.02)


def test_one_ratio_for_all_pairs_is_not(mean_jcts: Mapping[str, float]) -> None:
    """Deciding by the mean of all pairs is more than 5 % worse, as is sharing with whoever comes first."""
    assert mean_jcts["one for all"] > 1.05 * mean_jcts["measured"]
    assert mean_jcts["first fit"] > 1.05 * mean_jcts["measured"]
