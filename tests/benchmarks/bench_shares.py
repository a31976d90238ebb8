"""Shares: how long a decision of 160 jobs takes, and what simple rules lose."""

from statistics import mean, median
from typing import get_args

import pytest

from formulations.shares import exact
from gsopt.problems.shares import Criterion
from heuristics.shares import equal_time, isolated, progressive_filling
from instances.shares import typed_jobs
from tests.benchmarks.measures import loss, proven, report

#: Instances of each criterion.
SEEDS = range(5)


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_large_decisions_are_proven(criterion: Criterion) -> None:
    """A hundred and sixty jobs on 63 GPUs of three types are proven, and no rule is better."""
    seconds: list[float] = []
    losses: dict[str, list[float]] = {}
    for seed in SEEDS:
        problem = typed_jobs(jobs=160, gpus=21, criterion=criterion, seed=seed)
        best = proven(exact, problem, seconds)
        for rule in (progressive_filling, isolated, equal_time):
            losses.setdefault(rule.__name__, []).append(loss(rule, problem, best))
    said = ", ".join(f"{name} {mean(lost):.1%}" for name, lost in losses.items())
    report(f"{criterion}: {median(seconds):.2f} s at the median; {said} from the optimum on average")
