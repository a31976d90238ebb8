"""Shares: how long a decision of 160 jobs takes, and what simple rules lose."""

from statistics import mean, median
from time import perf_counter
from typing import get_args

import pytest

from formulations.shares import exact
from gsopt.core.result import Status
from gsopt.problems.shares import Criterion
from heuristics.shares import equal_time, isolated, progressive_filling
from instances.shares import typed_jobs
from tests.benchmarks.measures import report

#: Instances of each criterion.
SEEDS = range(5)


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_large_decisions_are_proven(criterion: Criterion) -> None:
    """A hundred and sixty jobs on 63 GPUs of three types are proven, and no rule is better."""
    seconds: list[float] = []
    losses: dict[str, list[float]] = {}
    for seed in SEEDS:
        problem = typed_jobs(jobs=160, gpus=21, criterion=criterion, seed=seed)
        begin = perf_counter()
        best = exact(problem)
        seconds.append(perf_counter() - begin)
        assert best.status is Status.OPTIMAL
        assert best.objective is not None
        for rule in (progressive_filling, isolated, equal_time):
            found = rule(problem).objective
            assert found is not None
            assert not problem.sense.better(found, best.bound or 0)
            losses.setdefault(rule.__name__, []).append(abs(float(found) / float(best.objective) - 1))
    said = ", ".join(f"{name} {mean(lost):.1%}" for name, lost in losses.items())
    report(f"{criterion}: {median(seconds):.2f} s at the median; {said} from the optimum on average")
