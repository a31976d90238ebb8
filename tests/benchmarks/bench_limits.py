"""Limits: every committed instance at short time limits, how late answers are, and what heuristics alone find.

Late is what is spent beyond the limit: on the wall, or in processor seconds of this process and its solvers'
workers where these are fewer. A busy machine adds to the wall, and a spare worker that starts meanwhile to the
processor's seconds.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from time import monotonic, process_time
from typing import Any

import pytest

import gsopt
from gsopt.core.errors import Unsupported
from gsopt.core.problem import Number, Problem
from gsopt.core.result import settles
from gsopt.evaluation.catalogue import own_heuristics
from gsopt.performance.batching import BatchingJob, StepTime
from gsopt.problems.batching import Batching
from gsopt.problems.configuration import AdaptiveJob, Configuration, shapes
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.solvers.backends.process import POOL
from instances.shares import typed_jobs
from tests.benchmarks.measures import report

pytestmark = pytest.mark.slow

LIMITS = (0.05, 0.2, 1.0)

#: Seconds by which an answer may be late.
BEYOND = 0.5


def batching(gpus: int, jobs: int) -> Batching:
    """Draw up jobs that may each have all GPUs."""
    model = StepTime(fixed=0.05, per_sample=0.001)
    options: dict[str, Any] = {"batch_limit": gpus, "local_limit": 1, "throughput": model}
    return Batching(
        gpus=gpus,
        jobs=[BatchingJob(name=f"j{each}", remaining=1e6 * (each + 1), **options) for each in range(jobs)],
    )


def configuration(types: int, gpus: int, jobs: int) -> Configuration:
    """Draw up jobs that run on every type, each of which has some GPUs now."""
    random = Random(5)
    kinds = [f"k{each}" for each in range(types)]
    menu = [shape for kind in kinds for shape in shapes(kind, gpus // 4, 4)]

    def job(number: int) -> AdaptiveJob:
        base, power = {kind: random.uniform(0.5, 4) for kind in kinds}, random.uniform(0.4, 1)
        goodputs = [base[shape.type] * shape.gpus**power for shape in menu]
        return AdaptiveJob(
            name=f"j{number}", goodputs=goodputs, current=random.randrange(len(menu)), restart_factor=0.8
        )

    return Configuration(
        gpus=dict.fromkeys(kinds, gpus), configurations=menu, jobs=[job(each) for each in range(jobs)]
    )


def years() -> Scheduling:
    """Return a job of a few minutes, and one of 5.6 years."""
    long = ElasticJob(name="a", release=0, work=1.8e8, rates={1: 1.0, 2: 2.0, 3: 3.0})
    return Scheduling(gpus=3, jobs=[long, ElasticJob(name="b", release=0, work=300, rates={1: 1.0})])


LARGE: dict[str, Callable[[], Problem[Any]]] = {
    "two jobs on 20,000 GPUs": partial(batching, gpus=20_000, jobs=2),
    "two jobs on 1,000,000 GPUs": partial(batching, gpus=1_000_000, jobs=2),
    "160 jobs on 3 x 64 GPUs": partial(configuration, types=3, gpus=64, jobs=160),
    "200 jobs on 6 x 128 GPUs": partial(configuration, types=6, gpus=128, jobs=200),
    "shares of 5,000 jobs, max_min": partial(typed_jobs, jobs=5_000, seed=1),
    "shares of 5,000 jobs, fifo": partial(typed_jobs, jobs=5_000, criterion="fifo", seed=1),
    "shares of 5,000 jobs, makespan": partial(typed_jobs, jobs=5_000, criterion="makespan", seed=1),
    "shares of 5,000 jobs, finish_time": partial(typed_jobs, jobs=5_000, criterion="finish_time", seed=1),
    "two jobs, one of 5.6 years": years,
}


def seconds() -> float:
    """Return the processor seconds of this process, of the workers that run, and of those that have ended."""
    ended = getrusage(RUSAGE_CHILDREN)
    return process_time() + ended.ru_utime + ended.ru_stime + sum(map(_of_worker, POOL.pids))


def _of_worker(pid: int) -> float:
    with suppress(OSError):  # it has ended
        figures = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return sum(map(int, figures[11:13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    gsopt.warm_up()


@pytest.mark.parametrize("limit", LIMITS)
def test_committed_instances_are_answered_in_time(limit: float) -> None:
    """Every answer is there within the limit and half a second, and no heuristic alone finds better in it."""
    late, worse = _tried([(name, partial(gsopt.load, name)) for name in gsopt.names()], limit)
    assert not late
    assert not worse


@pytest.mark.parametrize("limit", [0.1, *LIMITS])
def test_large_instances_are_answered_in_time(limit: float) -> None:
    """So it is where GPUs, jobs or seconds are many."""
    late, worse = _tried(list(LARGE.items()), limit)
    assert not late
    assert not worse


def _tried(
    instances: list[tuple[str, Callable[[], Problem[Any]]]], limit: float
) -> tuple[dict[str, float], list[str]]:
    """Solve instances, show the latest, and return those that are too late or worse than a heuristic."""
    beyond: dict[str, float] = {}
    worse: list[str] = []
    for name, load in instances:
        problem = load()
        begin, spent = monotonic(), seconds()
        found = gsopt.solve(problem, time_limit=limit).objective
        beyond[name] = min(monotonic() - begin, seconds() - spent) - limit
        worse += [f"{name}: {each}" for each in _better(load(), found, limit)]
    latest = sorted(beyond, key=beyond.__getitem__, reverse=True)
    said = ", ".join(f"{name} {beyond[name]:.2f}" for name in latest[:5])
    report(f"{limit:g} s, {len(instances)} instances, seconds beyond it: {said}")
    return {name: beyond[name] for name in latest if beyond[name] > BEYOND}, worse


def _better(problem: Problem[Any], found: Number | None, limit: float) -> list[str]:
    """Name the heuristics that alone find something better in the same time."""
    better: list[str] = []
    for name, method in own_heuristics(problem.word).items():
        with suppress(Unsupported):
            value = gsopt.solve(problem, method, time_limit=limit).objective
            if value is None:
                continue
            is_better = found is None or problem.sense.better(value, found)
            if is_better and (found is None or not settles(value, found, problem.resolution(value))):
                better.append(name)
    return better
