"""Speed of proofs of admission on clusters of 5,000 and 50,000 machines, with and without moves."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from statistics import median, quantiles
from typing import Any, NamedTuple

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from formulations.admission import exact
from formulations.admission.alone import Alone
from formulations.admission.moving import Moving
from gsopt.core.result import Status
from gsopt.problems.admission import Admission, Running
from instances.admission import filled
from tests.benchmarks.measures import once, report, timed

#: Proofs may take so many times what it takes to build arrays and the bounds of all domains.
MOST = 4


class Run(NamedTuple):
    """One snapshot: processor seconds of the proof and of bounds alone, without those of solvers' processes."""

    proof: float
    bounds: float
    status: Status
    positive: bool


def drawn(seed: int, machines: int = 5_000) -> Admission:
    """Draw a nearly full cluster of one of three kinds, and a pending gang."""
    random = Random(seed)
    workload = ("philly", "openb", "llm")[seed % 3]
    options: dict[str, Any] = {}
    if workload == "llm":
        within = random.choice(("pod", "pod", "rack", ""))
        workers = random.choice((4, 8, 16) if within == "rack" else (8, 16, 32, 64, 128))
        options["slices"] = random.choice((1, 2, 4)) if within != "rack" else 1
    else:
        within = random.choice(("rack", "rack", "machine", ""))
        gpus = random.choice((1, 2) if workload == "openb" or within == "machine" else (1, 2, 4, 8))
        workers = random.choice((2, 4) if within == "machine" else (2, 4, 8, 16))
        options = {"gpus": gpus, "slices": random.choice((1, 2)) if not within else 1}
    return filled(
        workload=workload,  # type: ignore[arg-type]
        machines=machines,
        utilisation=random.choice((0.97, 0.98, 0.99)),
        workers=workers,
        within=within,
        costs=random.choice(("ones", "gpu_hours", "gpu_hours")),
        movable=0.5,
        protected=random.choice((0.0, 0.05, 0.2)),
        seed=seed,
        **options,
    )


def still(problem: Admission) -> Admission:
    """Return the snapshot without moves."""
    running = [Running(**{**dict(gang), "move_cost": None}) for gang in problem.running]
    return Admission(**{**dict(problem), "running": running})


def runs(problems: Iterator[Admission]) -> Iterator[Run]:
    """Prove snapshots one after another, within ten seconds each."""
    for problem in problems:
        assert problem.free
        found, proof = timed(lambda problem=problem: exact(problem, time_limit=10.0))  # type: ignore[misc]
        moving, building = timed(lambda problem=problem: Moving(problem, _free(problem)))  # type: ignore[misc]
        _, bounding = timed(
            lambda problem=problem, moving=moving: Alone(  # type: ignore[misc]
                problem, problem.pending[0], moving.stops, _free(problem)
            )
        )
        yield Run(proof, building + bounding, found.status, bool(found.objective))


def _free(problem: Admission) -> Any:
    return np.array(problem.free, dtype=np.int64)


def _told(title: str, found: list[Run]) -> float:
    """Report a sweep, and return the share of snapshots that are settled."""
    times = sorted(run.proof for run in found)
    counts = Counter(run.status for run in found)
    settled = (counts[Status.OPTIMAL] + counts[Status.INFEASIBLE]) / len(found)
    report(
        f"{title}: {len(found)} snapshots, {sum(run.positive for run in found)} of which need stops, "
        f"{settled:.1%} settled, median {median(times):.3f} s, 95 % {quantiles(times, n=20)[-1]:.3f} s, "
        f"worst {times[-1]:.3f} s"
    )
    return settled


@pytest.mark.benchmark(group="admission: 5,000 machines")
@pytest.mark.parametrize("number", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_evictions_are_proven(benchmark: BenchmarkFixture, number: int) -> None:
    """Without moves 99 % of the snapshots are settled, at a few times the price of the bounds."""
    found = once(benchmark, lambda: list(runs(still(drawn(seed)) for seed in range(number))))

    assert _told("evictions", found) >= 0.99
    assert median(run.proof / run.bounds for run in found) <= MOST


@pytest.mark.benchmark(group="admission: 5,000 machines")
@pytest.mark.parametrize("number", [pytest.param(200, marks=pytest.mark.slow)])
def test_moves_are_proven(benchmark: BenchmarkFixture, number: int) -> None:
    """With moves nine in ten snapshots are settled."""
    found = once(benchmark, lambda: list(runs(drawn(seed) for seed in range(number))))

    assert _told("moves", found) >= 0.9


@pytest.mark.slow
@pytest.mark.benchmark(group="admission: 50,000 machines")
def test_ten_times_as_many_machines(benchmark: BenchmarkFixture) -> None:
    """On 50,000 machines the bounds dominate, too."""
    found = once(benchmark, lambda: list(runs(still(drawn(seed, 50_000)) for seed in range(3))))

    assert _told("50,000 machines", found) == 1
    assert median(run.proof / run.bounds for run in found) <= MOST
