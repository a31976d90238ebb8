"""Sequencing: how long a decision of 160 jobs on 64 GPUs takes, and what simple rules lose."""

from statistics import mean, median

import pytest

from formulations.sequencing import exact, paths
from heuristics.sequencing import earliest_end, free_machines
from instances.sequencing import unit_jobs
from tests.benchmarks.measures import loss, proven, report

#: Instances of each share of busy GPUs.
SEEDS = range(5)


@pytest.mark.parametrize("busy", [0.0, 0.75])
def test_large_decisions_are_proven(busy: float) -> None:
    """A hundred and sixty jobs on 64 GPUs of four types are proven, twice alike, and no rule is better."""
    seconds: list[float] = []
    losses: dict[str, list[float]] = {}
    for seed in SEEDS:
        problem = unit_jobs(jobs=160, gpus=16, types=4, busy=busy, seed=seed)
        best = proven(exact, problem, seconds)
        assert paths(problem).objective == best
        for rule in (earliest_end, free_machines):
            losses.setdefault(rule.__name__, []).append(loss(rule, problem, best))
    said = ", ".join(f"{name} {mean(lost):.1%}" for name, lost in losses.items())
    report(f"{busy:.0%} busy: {median(seconds):.2f} s at the median; {said} from the optimum on average")
