"""Speed of the exact methods of placement and of best-fit decreasing, and the gaps of the heuristics."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random
from statistics import median
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from formulations.placement import buckets, column_generation, exact, patterns
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import load, names
from gsopt.evaluation.solve import solve
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Workers
from heuristics.placement import best_fit_decreasing, best_of_three, first_fit, worst_fit
from instances import data_folder
from instances.placement import elastic, fine_sizes, from_data, vector_packing, vectors, whole_gpus
from instances.placement.clusters import cluster
from tests.benchmarks.measures import once, report, tabulate, timed
from tests.unwrap import unwrap

Answer = Result[PlacementSolution]

#: Seconds that the exact method has on each instance of the tables.
LIMIT = 20.0

SEEDS = range(5)
TYPES = (4, 8, 12, 20, 30, 50)

#: Classes of vector packing.
CLASSES = (1, 2, 3, 4, 5, 6, 7, 8, 10)

#: A limit within which only the first of the heuristics have time.
SHORT = 0.5


def by_sum(problem: Placement) -> Answer:
    """Place the largest sums of shares first."""
    return best_fit_decreasing(problem, order="sum")


def by_largest_share(problem: Placement) -> Answer:
    """Place the largest shares first."""
    return best_fit_decreasing(problem, order="max")


HEURISTICS: dict[str, Callable[[Placement], Answer]] = {
    "BFD, GPUs": best_fit_decreasing,
    "BFD, sum": by_sum,
    "BFD, largest": by_largest_share,
    "best of three": best_of_three,
    "first fit": first_fit,
    "worst fit": worst_fit,
}


@pytest.mark.benchmark(group="placement: 3,000 workers that need GPUs only, 1,200 servers")
@pytest.mark.parametrize("powers_of_two", [True, False], ids=["sizes 1, 2, 4, 8", "sizes 1 to 8"])
@pytest.mark.parametrize("method", [buckets, best_fit_decreasing], ids=lambda method: method.__name__)
def test_whole_gpus(
    benchmark: BenchmarkFixture, method: Callable[[Placement], Answer], *, powers_of_two: bool
) -> None:
    """Both methods use no more servers than the sum of the GPUs needs."""
    problem = whole_gpus(workers=3_000, servers=1_200, powers_of_two=powers_of_two)
    result = benchmark(method, problem)
    gpus = sum(line.demand.gpu * line.count for line in problem.workers)
    _print(f"{method.__name__}, {gpus:,} GPUs", result)

    assert result.objective == -(-gpus // 8)


@pytest.mark.benchmark(group="placement: vectors, 2,000 workers, 443 + 520 servers")
@pytest.mark.parametrize("types", [4, 8, 12])
@pytest.mark.parametrize("method", [patterns, column_generation, exact], ids=lambda method: method.__name__)
def test_few_vectors(benchmark: BenchmarkFixture, method: Callable[[Placement], Answer], types: int) -> None:
    """Every exact method proves the optimum of some types."""
    problem = vectors(types=types, workers=2_000)
    result = _benchmarked(benchmark, method, problem)

    assert result.status is Status.OPTIMAL


@pytest.mark.slow
@pytest.mark.benchmark(group="placement: vectors, 1,500 workers, 443 + 520 servers")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("types", [20, 30, 50])
def test_many_vectors(benchmark: BenchmarkFixture, types: int, seed: int) -> None:
    """Column generation finds a placement and a bound at most two servers below it."""
    problem = vectors(types=types, workers=1_500, seed=seed)
    result = once(benchmark, lambda: column_generation(problem))
    _print(problem.name, result)

    assert unwrap(result.objective) - unwrap(result.bound) <= 2


@pytest.mark.benchmark(group="placement: preferences, 420 jobs, 1,800 workers, 443 + 520 servers")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("split_jobs", [True, False], ids=["jobs split", "jobs whole"])
def test_preferences(benchmark: BenchmarkFixture, seed: int, *, split_jobs: bool) -> None:
    """The optimum is proven where elastic jobs prefer inference servers."""
    problem = elastic(jobs=420, split_jobs=split_jobs, seed=seed)
    result = _benchmarked(benchmark, exact, problem)

    assert result.status is Status.OPTIMAL


@pytest.mark.benchmark(group="placement: heuristics, 1,500 workers, 443 + 520 servers")
@pytest.mark.parametrize("types", [12, 500])
@pytest.mark.parametrize("name", HEURISTICS)
def test_heuristics(benchmark: BenchmarkFixture, name: str, types: int) -> None:
    """Every heuristic answers, with a placement or with the number of workers that stay unplaced."""
    result = benchmark(HEURISTICS[name], vectors(types=types, workers=1_500))

    assert result.solution is not None or "unplaced" in result.message


@pytest.mark.slow
@pytest.mark.benchmark(group="placement: classes of vector packing, three resources")
@pytest.mark.parametrize(
    ("workers", "limit", "share", "seeds"), [(60, 10.0, 0.9, 3), (120, 60.0, 0.5, 1)], ids=["60", "120"]
)
def test_vector_packing(
    benchmark: BenchmarkFixture, workers: int, limit: float, share: float, seeds: int
) -> None:
    """At least nine of ten with 60 workers are proven in 10 s, and half of those with 120 in a minute."""
    problems = [
        vector_packing(family=family, workers=workers, seed=seed) for family in CLASSES for seed in range(seeds)
    ]

    assert _part_proven(benchmark, partial(column_generation, time_limit=limit), problems) >= share


@pytest.mark.benchmark(group="placement: five and ten resources, 60 workers")
@pytest.mark.parametrize("resources", [5, 10])
def test_many_resources(benchmark: BenchmarkFixture, resources: int) -> None:
    """Half of the classes are proven in 10 s with five and with ten resources too."""
    problems = [vector_packing(family=family, workers=60, resources=resources) for family in CLASSES]

    assert _part_proven(benchmark, partial(exact, time_limit=10.0), problems) >= 0.5


@pytest.mark.slow
@pytest.mark.benchmark(group="placement: 200 sizes on a capacity of 100,000")
@pytest.mark.parametrize("seed", range(3))
def test_fine_sizes(benchmark: BenchmarkFixture, seed: int) -> None:
    """In 10 s the value is within one server of the bound, and better than best-fit decreasing."""
    problem = fine_sizes(seed=seed)
    result = once(benchmark, lambda: exact(problem, time_limit=10.0))
    _print(problem.name, result)

    assert unwrap(result.objective) - unwrap(result.bound) <= 1
    assert unwrap(result.objective) < (best_fit_decreasing(problem).objective or 0)


@pytest.mark.slow
@pytest.mark.benchmark(group="placement: deadlines")
@pytest.mark.parametrize("limit", [0.2, 1.0, 5.0])
def test_never_worse_than_the_heuristics(benchmark: BenchmarkFixture, limit: float) -> None:
    """No heuristic that has time is better, there is a bound, and the limit is kept."""
    problems = [*standing(), crowd(), fine_sizes(), vector_packing(family=5)]

    found = once(benchmark, lambda: [timed(partial(solve, problem, time_limit=limit)) for problem in problems])
    for problem, (result, spent) in zip(problems, found, strict=True):
        compared = HEURISTICS.values() if limit > SHORT else (best_of_three, best_fit_decreasing)
        values = [method(problem).objective for method in compared]
        best = min((float(value) for value in values if value is not None), default=None)
        assert best is None or (result.objective is not None and result.objective <= best), problem.name
        assert result.status is Status.INFEASIBLE or result.bound is not None, problem.name
        assert spent <= limit + 0.5, (problem.name, spent)  # of the processor: a busy machine adds none


@pytest.mark.slow
@pytest.mark.benchmark(group="placement: tables")
def test_table_of_gaps(benchmark: BenchmarkFixture) -> None:
    """No heuristic is below the proven bound, on generated instances and on real snapshots where at hand."""
    folder = data_folder()
    generated = {
        "whole GPUs": [whole_gpus(powers_of_two=False, seed=seed) for seed in SEEDS],
        **{
            f"{types} vectors": [vectors(types=types, workers=1_500, seed=seed) for seed in SEEDS]
            for types in TYPES
        },
        "8 vectors, 30 % in use": [vectors(types=8, workers=800, occupied=0.3, seed=seed) for seed in SEEDS],
        "preferences": [elastic(seed=seed) for seed in SEEDS],
    }
    real = {} if folder is None else {_short(problem): [problem] for problem in from_data(folder)}
    rows = once(
        benchmark,
        lambda: [
            (f"{name} ({len(problems)})", *_gaps(problems)) for name, problems in (generated | real).items()
        ],
    )
    head = ("instances", "exact", *HEURISTICS)
    tabulate("placement: mean gap to the proven bound (%), median time (ms)", head, rows, 180)


def _gaps(problems: list[Placement]) -> Iterable[str]:
    """Yield mean gap, workers unplaced and median time of the exact method and of every heuristic."""
    proven = [exact(problem, time_limit=LIMIT) for problem in problems]
    bounds = [float(result.bound or 0) for result in proven]
    yield _cell(proven, bounds)
    for method in HEURISTICS.values():
        results = [method(problem) for problem in problems]
        assert all(
            result.objective is None or float(result.objective) >= bound
            for result, bound in zip(results, bounds, strict=True)
        )
        yield _cell(results, bounds)


def _cell(results: list[Answer], bounds: list[float]) -> str:
    gaps = [
        100 * (float(result.objective) / bound - 1)
        for result, bound in zip(results, bounds, strict=True)
        if result.objective is not None
    ]
    without = len(results) - len(gaps)
    failed = f" ({without} unplaced)" if without else ""
    gap = f"{sum(gaps) / len(gaps):.1f}" if gaps else "-"
    return f"{gap}{failed} {1000 * median(result.runtime for result in results):6.1f} ms"


def _benchmarked(benchmark: BenchmarkFixture, method: Callable[..., Any], problem: Placement) -> Answer:
    result: Answer = benchmark.pedantic(method, args=(problem,), rounds=3, warmup_rounds=1)  # type: ignore[no-untyped-call]
    _print(problem.name, result)
    return result


def _part_proven(
    benchmark: BenchmarkFixture, method: Callable[..., Answer], problems: Sequence[Placement]
) -> float:
    """Solve and print all problems, and return the part of them that is proven."""
    results = once(benchmark, lambda: list(map(method, problems)))
    for problem, result in zip(problems, results, strict=True):
        _print(problem.name, result)
    return sum(result.status is Status.OPTIMAL for result in results) / len(results)


def _print(name: str, result: Answer) -> None:
    report(
        f"{name}: {result.method} {result.objective}, bound {result.bound}, {result.status}, "
        f"{1000 * result.runtime:.1f} ms without the judging; {result.message}"
    )


def _short(problem: Placement) -> str:
    return problem.name.removeprefix("placement/real/")


def standing() -> list[Placement]:
    """Load the committed suite."""
    problems = [load(name) for name in names("placement/")]
    return [problem for problem in problems if isinstance(problem, Placement)]


def crowd() -> Placement:
    """Return 4,000 workers in 1,000 lines, each of a need of its own, and 2,000 servers."""
    random = Random(0)
    needs: dict[tuple[int, int, int], None] = {}
    while len(needs) < 1_000:
        gpus = random.choice((1, 1, 1, 2, 2, 4, 8))
        cores, memory = round(gpus * random.uniform(4, 14)), round(gpus * random.uniform(8, 60))
        needs[gpus, min(cores, 92), min(memory, 210)] = None
    counts = Counter(random.choices(range(1_000), k=3_000))
    return Placement(
        name="crowd",
        servers=cluster(900, 1_100),
        workers=tuple(
            Workers(
                job=f"j{number}",
                count=1 + counts[number],
                demand=Resources(gpu=gpus, cpu=cores, memory=memory),
            )
            for number, (gpus, cores, memory) in enumerate(needs)
        ),
    )
