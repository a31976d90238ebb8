"""Speed of the exact methods of allocation, what they return in time, and the gaps of the heuristics."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, TypeVar, get_args

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import gsopt
from formulations.allocation import core, exact, milp
from formulations.allocation.bundling import solve_by_bundling
from formulations.allocation.core import solve_core
from formulations.allocation.dp import fill_table
from formulations.allocation.groups import Found, Groups
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import names
from gsopt.evaluation.compare import compare
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.solvers.backends import Highs
from heuristics.allocation import highest_density, marginal_greedy, two_phase
from instances import data_folder
from instances.allocation import elastic_jobs, from_data, multiple_choice
from instances.allocation.multiple_choice import Correlation
from tests.benchmarks.measures import once, tabulate, timed
from tests.strategies.allocation import committed, weakly_correlated

T = TypeVar("T")

SIZES = ((50, 256), (200, 1_000), (500, 2_000), (2_000, 4_000))
KINDS: dict[str, dict[str, Any]] = {
    "sizes 1, 2, 4, 8": {},
    "sizes 1 to 8": {"sizes": "any"},
    "across servers": {"sizes": "any", "scaling": "across_servers"},
}
ALGORITHMS: tuple[Callable[..., Found], ...] = (solve_by_bundling, solve_core, fill_table)
LARGEST: dict[str, Any] = {"jobs": 2_000, "capacity": 4_000, "seed": 2_000}

#: Jobs up to which the item form is given to a solver for every kind; with more only for the first one.
MOST_FOR_SOLVER = 500

#: How much faster than the full table, and than HiGHS on the item form, the core must be with 2,000 jobs.
FASTER_THAN_TABLE, FASTER_THAN_SOLVER = 10, 200

#: Limits at which no heuristic may be better, and what may be spent beyond them.
LIMITS, BEYOND = (0.2, 1.0, 5.0), 0.5


def two_phase_printed(problem: Allocation) -> Result[AllocationSolution]:
    """Run Algorithm 2 with the item weight as printed."""
    return two_phase(problem, weight="printed")


METHODS = (exact, two_phase, two_phase_printed, marginal_greedy, highest_density)


def milliseconds(call: Callable[[], T], repeat: int = 5) -> tuple[float, T]:
    """Return the quickest time of some calls, and the last result."""
    found, seconds = timed(call, repeat, perf_counter)
    return 1000 * seconds, found


def run(algorithm: Callable[..., Found], groups: Groups) -> Found:
    """Run an algorithm on arrays at hand, without a limit."""
    return algorithm(groups, Budget(), lambda *_: False)


def worth(groups: Groups, found: Found) -> Fraction:
    """Judge what an algorithm proved to be optimal."""
    assert found.excess == 0
    return Fraction(groups.problem.objective(groups.solution(found.choice)))


@pytest.mark.benchmark(group="allocation: 2,000 jobs, 4,000 GPUs, arrays at hand, proof included")
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.__name__)
def test_algorithms(benchmark: BenchmarkFixture, algorithm: Callable[..., Found]) -> None:
    """Bundling, core and full table prove the optimum of the largest instance, exactly."""
    problem = elastic_jobs(**LARGEST)
    groups = Groups.of(problem)

    assert worth(groups, benchmark(run, algorithm, groups)) == exact(problem).objective


@pytest.mark.benchmark(group="allocation: 2,000 jobs, 4,000 GPUs, from problem to judged result")
@pytest.mark.parametrize(
    "method", [exact, two_phase, marginal_greedy, highest_density], ids=lambda method: method.__name__
)
def test_methods(benchmark: BenchmarkFixture, method: Callable[..., Result[AllocationSolution]]) -> None:
    """Every method finds a solution of the largest instance."""
    result = benchmark(method, elastic_jobs(**LARGEST))

    assert result.solution is not None


@pytest.mark.benchmark(group="allocation: tables")
def test_table_of_times(benchmark: BenchmarkFixture) -> None:
    """All exact methods prove the same exact value, the core many times faster than the table and HiGHS."""
    rows = once(
        benchmark,
        lambda: [
            (kind, str(jobs), str(capacity), *_row(jobs, capacity, options))
            for kind, options in KINDS.items()
            for jobs, capacity in SIZES
        ],
    )
    head = (
        "kind",
        "jobs",
        "GPUs",
        "items",
        "arrays",
        "bundling",
        "core",
        "full table",
        "HiGHS",
        "HiGHS / core",
    )
    tabulate("allocation: quickest of five, in ms, exact proof included; HiGHS on the item form", head, rows)


def _row(jobs: int, capacity: int, options: dict[str, Any]) -> list[str]:
    problem = elastic_jobs(jobs=jobs, capacity=capacity, seed=jobs, **options)
    built, groups = milliseconds(lambda: Groups.of(problem))
    cells = [f"{groups.value.size - jobs:,}", f"{built:.2f}"]
    optimum = exact(problem).objective
    times: dict[Callable[..., Found], float] = {}
    for algorithm in ALGORITHMS:
        with suppress(Unsupported):
            times[algorithm], found = milliseconds(lambda: run(algorithm, groups), 3)  # noqa: B023 - called at once
            assert worth(groups, found) == optimum
        cells.append(f"{times[algorithm]:.2f}" if algorithm in times else "-")
    if jobs == LARGEST["jobs"]:
        assert times[fill_table] > FASTER_THAN_TABLE * times[solve_core]
    if jobs > MOST_FOR_SOLVER and options:
        return [*cells, "", ""]
    form = milp.standard_form(problem)
    time, outcome = milliseconds(lambda: Highs().solve(form), 1)
    assert outcome.objective == pytest.approx(float(optimum or 0), rel=1e-9)
    if jobs > MOST_FOR_SOLVER:
        assert time > FASTER_THAN_SOLVER * times[solve_core]
    return [*cells, f"{time:,.0f}", f"{time / times[solve_core]:,.0f}"]


@pytest.mark.benchmark(group="allocation: tables")
def test_table_of_classic_classes(benchmark: BenchmarkFixture) -> None:
    """The classic classes are proven in seconds; of the strongly correlated ones a millionth may be left."""
    shapes = ((10, 1_000), (100, 100), (1_000, 10), (1_000, 100))
    rows = once(
        benchmark,
        lambda: [
            (correlation, f"{largest:,}", *(_classic(correlation, largest, *shape) for shape in shapes))
            for largest in (1_000, 10_000)
            for correlation in get_args(Correlation)
        ],
    )
    head = ("values follow weights", "weights up to", *(f"{c:,} x {i:,}" for c, i in shapes))
    tabulate("allocation: the core on classic classes, 20 s each, in s", head, rows)


def _classic(correlation: Correlation, largest: int, classes: int, items: int) -> str:
    problem = multiple_choice(
        classes=classes, items=items, largest=largest, correlation=correlation, seed=classes + items
    )
    result = core(problem, time_limit=20)
    assert result.gap is not None
    if correlation == "strong":
        assert result.gap < 1e-5
    else:
        assert result.status is Status.OPTIMAL
    return f"{result.runtime:.2f}" + (f" ({result.gap:.0e})" if result.gap else "")


def dense() -> Iterable[Allocation]:
    """Yield the instances that once ran into minutes: weak correlation, and thousands of jobs of odd sizes."""
    yield weakly_correlated(1_000, 100, seed=1)
    yield weakly_correlated(300, 1_000, seed=1)
    yield elastic_jobs(jobs=10_000, capacity=80_001, sizes="any", seed=1)
    yield elastic_jobs(jobs=10_000, capacity=30_000, sizes="any", scaling="across_servers", seed=2)
    yield multiple_choice(classes=300, items=300, correlation="strong", seed=1)


@pytest.mark.benchmark(group="allocation: tables")
def test_never_worse_than_the_heuristics(benchmark: BenchmarkFixture) -> None:
    """At every limit the default method is as good as the best heuristic, bounded, and in time."""
    gsopt.warm_up()

    def rows() -> list[tuple[str, ...]]:
        for name in names("allocation/"):
            _limited(committed(name.removeprefix("allocation/")))
        return [(problem.name, *_limited(problem)) for problem in dense()]

    found = once(benchmark, rows)
    head = ("instance", "best heuristic", *(f"{limit:g} s" for limit in LIMITS))
    tabulate("allocation: gap at a limit (CPU seconds in all)", head, found)


def _limited(problem: Allocation) -> list[str]:
    best = max((Fraction(found) for found in _found_by_heuristics(problem)), default=None)
    cells: list[str] = []
    for limit in LIMITS:
        result, spent = timed(partial(gsopt.solve, problem, time_limit=limit))
        assert (best is None) == (result.status is Status.INFEASIBLE)
        assert spent < limit + BEYOND
        if best is not None and result.objective is not None and result.bound is not None:
            assert best <= result.objective <= result.bound
            cells.append(f"{result.gap or 0:.1e} ({spent:.2f})")
    return ["" if best is None else f"{float(best):,.0f}", *cells]


def _found_by_heuristics(problem: Allocation) -> Iterable[Any]:
    for method in (highest_density, marginal_greedy, two_phase):
        with suppress(Unsupported):
            value = method(problem).objective
            if value is not None:
                yield value


@pytest.mark.benchmark(group="allocation: tables")
def test_table_of_gaps(benchmark: BenchmarkFixture) -> None:
    """No heuristic beats the exact value, on the suites and on real snapshots where they are at hand."""
    small = [committed(name.removeprefix("allocation/")) for name in names("allocation/small/")]
    large = [[committed(name.removeprefix("allocation/"))] for name in names("allocation/production/")]
    folder = data_folder()
    real = [] if folder is None else [[problem] for problem in from_data(folder)]
    rows = once(benchmark, lambda: [_gaps(problems) for problems in (small, *large, *real)])
    head = ("instance", "jobs", "GPUs", *(method.__name__ for method in METHODS))
    tabulate("allocation: gap to the optimum, and time", head, rows, 160)


def _gaps(problems: list[Allocation]) -> list[str]:
    """Return the total gap and the median time of every method on some instances."""
    comparison = compare(problems, METHODS)
    proven = [exact(problem) for problem in problems]
    assert all(result.status in (Status.OPTIMAL, Status.INFEASIBLE) for result in proven)
    best = sum(Fraction(result.objective or 0) for result in proven)
    cells: list[str] = []
    for method in METHODS:
        results = [row.result for row in comparison if row.method == method.__name__ and row.result is not None]
        if len(results) < len(problems):
            cells.append("-")
            continue
        value = sum(Fraction(result.objective or 0) for result in results)
        assert value <= best
        gap = f"{float(100 * (1 - value / best)):.4f}" if value < best else "0"
        time = 1000 * median(result.runtime for result in results)
        cells.append(f"{gap} % {time:6.1f} ms")
    first = problems[0]
    if len(problems) > 1:
        return [f"small, {len(problems)} instances", "", "", *cells]
    return [first.name.removeprefix("allocation/"), *map(str, first.headline().values()), *cells]
