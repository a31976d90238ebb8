"""Goodput: what the search of Pollux loses, and how long a decision takes, exactly."""

from collections.abc import Callable
from functools import partial
from statistics import mean, median
from time import perf_counter
from typing import Any

import pytest

from formulations.goodput import exact
from heuristics.goodput import genetic, greedy
from instances.goodput import from_data, running_jobs
from tests.benchmarks.measures import data, loss, proven, report, timed

#: Jobs on 16 nodes of four GPUs.
JOBS = (8, 15, 30, 45)

SEARCHES: dict[str, Callable[..., Any]] = {"genetic": genetic, "greedy": greedy}


@pytest.mark.parametrize("running", [0.95, 0.8])
def test_what_searches_lose(running: float) -> None:
    """On 16 nodes no search is fitter than the optimum; what each loses, and how long each takes, is printed.

    Once a twentieth and once a fifth of the jobs have arrived since the last decision.
    """
    for jobs in JOBS:
        lost: dict[str, list[float]] = {name: [] for name in SEARCHES}
        seconds: dict[str, list[float]] = {name: [] for name in ("exact", *SEARCHES)}
        for seed in range(6):
            problem = running_jobs(jobs=jobs, running=running, busy=(0.5, 0.9, 1.0)[seed % 3], seed=seed)
            best = proven(exact, problem, seconds["exact"])
            for name, method in SEARCHES.items():
                more, spent = timed(partial(loss, method, problem, best), clock=perf_counter)
                seconds[name].append(spent)
                lost[name].append(1 - (1 + more) ** (1 / problem.power))
        report(f"{jobs} jobs on 64 GPUs, {running:.0%} run")
        for name, values in lost.items():
            hit = sum(value < 1e-9 for value in values)
            report(
                f"  {name}: optimal in {hit} of {len(values)}, loses {mean(values):.1%} on average, "
                f"up to {max(values):.1%}"
            )
        for name, values in seconds.items():
            report(f"  {name}: {median(values):.3f} s at the median, up to {max(values):.3f} s")


def test_many_jobs_are_decided_at_once() -> None:
    """Of 160 jobs on 64 GPUs all decisions are proven; the seconds are printed."""
    seconds: list[float] = []
    for seed in range(12):
        proven(exact, running_jobs(jobs=160, busy=(0.5, 0.9, 1.0)[seed % 3], seed=seed), seconds)
    report(f"160 jobs: {median(seconds):.3f} s at the median, up to {max(seconds):.3f} s")


def test_the_authors_decisions() -> None:
    """On 45 decisions of the authors' simulator all is proven, and no search is fitter."""
    hit: dict[str, int] = dict.fromkeys(SEARCHES, 0)
    seconds: list[float] = []
    problems = list(from_data(data()))
    for problem in problems:
        best = proven(exact, problem, seconds)
        for name, method in SEARCHES.items():
            hit[name] += loss(method, problem, best) * best <= problem.resolution(best)
    report(f"{len(problems)} decisions, {median(seconds):.3f} s at the median; optimal: {hit}")
