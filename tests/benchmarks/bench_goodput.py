"""Goodput: what the search of Pollux loses, and how long a decision takes, exactly."""

from statistics import mean, median
from time import perf_counter

import pytest

from formulations.goodput import exact
from gsopt.core.result import Status
from gsopt.problems.goodput import Goodput
from heuristics.goodput import genetic, greedy
from instances import data_folder
from instances.goodput import from_data, running_jobs

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
            begin = perf_counter()
            best = exact(problem)
            seconds["exact"].append(perf_counter() - begin)
            assert best.status is Status.OPTIMAL
            assert best.objective is not None
            for name, method in (("genetic", genetic), ("greedy", greedy)):
                begin = perf_counter()
                found = method(problem)
                seconds[name].append(perf_counter() - begin)
                assert found.objective is not None
                assert found.objective >= best.objective - problem.resolution(best.objective)
                fit = _fitness(problem, float(found.objective)) / _fitness(problem, float(best.objective))
                lost[name].append(1 - fit)
        print(f"\n{jobs} jobs on 64 GPUs, {running:.0%} run")  # noqa: T201 - a benchmark reports what it measured
        for name, values in lost.items():
            hit = sum(value < 1e-9 for value in values)
            print(  # noqa: T201
                f"  {name}: optimal in {hit} of {len(values)}, loses {mean(values):.1%} on average, "
                f"up to {max(values):.1%}"
            )
        for name, values in seconds.items():
            print(f"  {name}: {median(values):.3f} s at the median, up to {max(values):.3f} s")  # noqa: T201


def test_many_jobs_are_decided_at_once() -> None:
    """Of 160 jobs on 64 GPUs all decisions are proven; the seconds are printed."""
    seconds: list[float] = []
    for seed in range(12):
        problem = running_jobs(jobs=160, busy=(0.5, 0.9, 1.0)[seed % 3], seed=seed)
        begin = perf_counter()
        result = exact(problem)
        seconds.append(perf_counter() - begin)
        assert result.status is Status.OPTIMAL
    print(f"\n160 jobs: {median(seconds):.3f} s at the median, up to {max(seconds):.3f} s")  # noqa: T201


def test_the_authors_decisions() -> None:
    """On 45 decisions of the authors' simulator all is proven, and no search is fitter."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA names no folder of data")
    hit, seconds = {"genetic": 0, "greedy": 0}, []
    problems = list(from_data(folder))
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
    print(f"\n{len(problems)} decisions, {median(seconds):.3f} s at the median; optimal: {hit}")  # noqa: T201
