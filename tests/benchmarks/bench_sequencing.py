"""Sequencing: how long a decision of 160 jobs on 64 GPUs takes, and what simple rules lose."""

from statistics import mean, median
from time import perf_counter

import pytest

from formulations.sequencing import exact, paths
from gsopt.core.result import Status
from heuristics.sequencing import earliest_end, free_machines
from instances.sequencing import unit_jobs
from tests.benchmarks.measures import report

#: Instances of each share of busy GPUs.
SEEDS = range(5)


@pytest.mark.parametrize("busy", [0.0, 0.75])
def test_large_decisions_are_proven(busy: float) -> None:
    """A hundred and sixty jobs on 64 GPUs of four types are proven, twice alike, and no rule is better."""
    seconds: list[float] = []
    losses: dict[str, list[float]] = {}
    for seed in SEEDS:
        problem = unit_jobs(jobs=160, gpus=16, types=4, busy=busy, seed=seed)
        begin = perf_counter()
        best = exact(problem)
        seconds.append(perf_counter() - begin)
        assert best.status is Status.OPTIMAL
        assert best.objective is not None
        assert paths(problem).objective == best.objective
        for rule in (earliest_end, free_machines):
            found = rule(problem).objective
            assert found is not None
            assert found >= best.objective
            losses.setdefault(rule.__name__, []).append(float(found) / float(best.objective) - 1)
    said = ", ".join(f"{name} {mean(lost):.1%}" for name, lost in losses.items())
    report(f"{busy:.0%} busy: {median(seconds):.2f} s at the median; {said} from the optimum on average")
