"""Goodput: what the search of Pollux loses, and how long a decision takes, exactly."""

from functools import partial
from statistics import mean, median
from time import perf_counter

import pytest

from formulations.goodput import exact
from gsopt.core.result import Status
from gsopt.problems.goodput import Goodput
from heuristics.goodput import genetic, greedy
from instances.goodput import from_data, running_jobs
from tests.benchmarks.measures import data, report, timed

#: Jobs on 16 nodes of four GPUs.
JOBS = (8, 15, 30, 45)


def _fitness(problem: Goodput, found: float) -> float:
    return float(found ** (1 / problem.power))


@pytest.mark.parametrize("running", [0.95, 0.8])
def test_what_searches_lose(running: float) -> None:
    """On 16 nodes no search is fitter than the optimum; what each loses, and how long each takes, is printed.

    Once a twentieth and once a fifth of the jobs have arrived since the last decision.
    """
    for jobs in JOBS:
        lost: dict[str, list[float]] = {"genetic": [], "greedy": []}
        seconds: dict[str, list[float]] = {"exact": [], "genetic": [], "greedy": []}
        for seed in range(6):
            problem = running_jobs(jobs=jobs, running=running, busy=(0.5, 0.9, 1.0)[seed % 3], seed=seed)
            best, spent = timed(partial(exact, problem), clock=perf_counter)
            seconds["exact"].append(spent)
            assert best.status is Status.OPTIMAL
            assert best.objective is not None
            for name, method in (("genetic", genetic), ("greedy", greedy)):
                found, spent = timed(partial(method, problem), clock=perf_counter)
                seconds[name].append(spent)
                assert found.objective is not None
                assert found.objective >= best.objective - problem.resolution(best.objective)
                fit = _fitness(problem, float(found.objective)) / _fitness(problem, float(best.objective))
                lost[name].append(1 - fit)
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
        problem = running_jobs(jobs=160, busy=(0.5, 0.9, 1.0)[seed % 3], seed=seed)
        begin = perf_counter()
        result = exact(problem)
        seconds.append(perf_counter() - begin)
        assert result.status is Status.OPTIMAL
    report(f"160 jobs: {median(seconds):.3f} s at the median, up to {max(seconds):.3f} s")


def test_the_authors_decisions() -> None:
    """On 45 decisions of the authors' simulator all is proven, and no search is fitter."""
    hit, seconds = {"genetic": 0, "greedy": 0}, []
    problems = list(from_data(data()))
    for problem in problems:
        begin = perf_counter()
        best = exact(problem)
        seconds.append(perf_counter() - begin)
        assert best.status is Status.OPTIMAL
        assert best.objective is not None
        for name, method in (("genetic", genetic), ("greedy", greedy)):
            found = method(problem).objective
            assert found is not None
            assert found >= best.objective - problem.resolution(best.objective)
            hit[name] += found <= best.objective + problem.resolution(best.objective)
    report(f"{len(problems)} decisions, {median(seconds):.3f} s at the median; optimal: {hit}")
