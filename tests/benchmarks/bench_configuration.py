"""Configuration: what the greedy loses, and how long a decision takes, exactly."""

from functools import partial
from statistics import mean, median
from time import perf_counter

import pytest

from formulations.configuration import exact
from heuristics.configuration import greedy
from instances.configuration import from_data, growing_jobs
from tests.benchmarks.measures import data, loss, proven, report, timed

#: Clusters of 64 GPUs and of three types of 20, and of 64 of each of three types.
CLUSTERS = {"64": (16, 1), "3 x 20": (5, 3), "3 x 64": (16, 3)}


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("jobs", [15, 30, 60, 160])
def test_what_greedy_loses(cluster: str, jobs: int) -> None:
    """All decisions are proven and none is beaten; what greedy loses, and how long each takes, is printed."""
    nodes, types = CLUSTERS[cluster]
    lost, quick = [], []
    seconds: list[float] = []
    for seed in range(12):
        problem = growing_jobs(nodes=nodes, types=types, jobs=jobs, busy=(0.5, 0.9, 1.0)[seed % 3], seed=seed)
        best = proven(exact, problem, seconds)
        part, fast = timed(partial(loss, greedy, problem, best), clock=perf_counter)
        quick.append(fast)
        lost.append(part)
    hit = sum(part == 0 for part in lost)
    report(
        f"{jobs} jobs on {cluster} GPUs: exact {median(seconds):.3f} s at the median, up to "
        f"{max(seconds):.3f} s; greedy {median(quick):.3f} s, optimal in {hit} of {len(lost)}, costs "
        f"{mean(lost):.2%} more on average, up to {max(lost):.2%}"
    )


def test_the_authors_decisions() -> None:
    """On 147 decisions of the authors' simulator all is proven; how often greedy is as good is printed."""
    problems, hit = list(from_data(data())), 0
    for problem in problems:
        hit += greedy(problem).objective == proven(exact, problem, [])
    report(f"{hit} of {len(problems)} are optimal by greedy")
