"""Shares: how long a decision of 160 jobs takes, and what simple rules lose."""

from statistics import mean, median
from typing import get_args

import pytest

from formulations.shares import exact
from gsopt.problems.shares import Criterion
from heuristics.shares import equal_time, isolated, pop, progressive_filling
from instances import data_folder
from instances.interference.gavel import FILE
from instances.shares import typed_jobs
from instances.shares.real import measured
from instances.traces.throughputs import read_throughputs
from tests.benchmarks.measures import loss, proven, report, tabulate
from tests.unwrap import unwrap

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "jobs", "largest"), [("max_min", 1024, 1), ("max_min", 2048, 1), ("makespan", 1024, 8)]
)
def test_parts_of_many_jobs(criterion: Criterion, jobs: int, largest: int) -> None:
    """Parts of Gavel's jobs are no better than the proven optimum; the table tells what they keep of it."""
    rates = read_throughputs((data_folder() or pytest.skip("GSOPT_DATA is unset")) / FILE)
    gpus = dict.fromkeys(("v100", "p100", "k80"), jobs // 4)
    values: dict[int, list[float]] = {}
    means: dict[int, list[float]] = {}
    drawn: dict[int, list[float]] = {}
    times: dict[int, list[float]] = {}
    for seed in range(10):
        problem = measured(rates, criterion=criterion, jobs=jobs, gpus=gpus, largest=largest, seed=seed)
        whole = exact(problem)
        bound = unwrap(whole.bound)
        for parts in (2, 4, 8, 16):
            found = pop(problem, parts=parts, seed=seed)
            assert not problem.sense.better(unwrap(found.objective), bound)
            kept = [
                float(
                    problem.throughput(job, unwrap(found.solution))
                    / problem.throughput(job, unwrap(whole.solution))
                )
                for job in problem.jobs
            ]
            alone = pop(problem, parts=parts, seed=seed, even=False)
            drawn.setdefault(parts, []).append(float(unwrap(alone.objective) / bound))
            values.setdefault(parts, []).append(float(unwrap(found.objective) / bound))
            means.setdefault(parts, []).append(mean(kept))
            times.setdefault(parts, []).append(found.runtime / whole.runtime)
    tabulate(
        f"{criterion}, {jobs} jobs: relative to the proven optimum",
        ["parts", "value", "least", "largest", "drawn by job", "mean throughput", "time"],
        [
            [
                str(parts),
                *(
                    f"{each:.4f}"
                    for each in (
                        mean(own),
                        min(own),
                        max(own),
                        mean(drawn[parts]),
                        mean(means[parts]),
                        mean(times[parts]),
                    )
                ),
            ]
            for parts, own in values.items()
        ],
    )
