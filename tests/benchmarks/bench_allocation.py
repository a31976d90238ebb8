"""Speed of the exact methods of allocation against each other and HiGHS, and the gaps of the heuristics."""

from collections.abc import Callable
from fractions import Fraction
from statistics import median
from time import perf_counter
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from rich import box
from rich.console import Console
from rich.table import Table

from formulations.allocation import exact, milp
from formulations.allocation.bundling import bundle
from formulations.allocation.core import solve_core
from formulations.allocation.dp import fill_table
from formulations.allocation.groups import Found, Groups
from gsopt.backends import Highs
from gsopt.errors import Unsupported
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.result import Result
from gsopt.study import compare, load, names
from heuristics.allocation import highest_density, marginal_greedy, two_phase
from instances import data_folder
from instances.allocation import elastic_jobs, from_data

SIZES = ((50, 256), (200, 1_000), (500, 2_000), (2_000, 4_000))
KINDS: dict[str, dict[str, Any]] = {
    "sizes 1, 2, 4, 8": {},
    "sizes 1 to 8": {"sizes": "any"},
    "across servers": {"sizes": "any", "scaling": "across_servers"},
}
ALGORITHMS: tuple[Callable[[Groups], Found], ...] = (bundle, solve_core, fill_table)
LARGEST: dict[str, Any] = {"jobs": 2_000, "capacity": 4_000, "seed": 2_000}


def two_phase_printed(problem: Allocation) -> Result[AllocationSolution]:
    """Run Algorithm 2 with the item weight as printed."""
    return two_phase(problem, weight="printed")


METHODS = (exact, two_phase, two_phase_printed, marginal_greedy, highest_density)


def timed(call: Callable[[], Any], repeat: int = 5) -> tuple[float, Any]:
    """Give the quickest time of some calls, in ms, and the last result."""
    times: list[float] = []
    for _ in range(repeat):
        begin = perf_counter()
        result = call()
        times.append(perf_counter() - begin)
    return 1000 * min(times), result


@pytest.mark.benchmark(group="allocation: 2,000 jobs, 4,000 GPUs, arrays at hand")
@pytest.mark.parametrize("arithmetic", ["floats", "exact"])
@pytest.mark.parametrize("algorithm", ALGORITHMS[:2], ids=lambda algorithm: algorithm.__name__)
def test_algorithms(benchmark: BenchmarkFixture, algorithm: Callable[[Groups], Found], arithmetic: str) -> None:
    """Bundling and core find the optimum of the largest instance, in floats and in exact arithmetic."""
    problem = elastic_jobs(**LARGEST)
    groups = Groups.of(problem, exact_arithmetic=arithmetic == "exact")
    counts, _, _ = benchmark(algorithm, groups)

    assert groups.in_seconds(groups.total(counts)) == pytest.approx(float(exact(problem).objective or 0))


@pytest.mark.benchmark(group="allocation: 2,000 jobs, 4,000 GPUs, arrays at hand")
def test_full_table(benchmark: BenchmarkFixture) -> None:
    """The dynamic programme over all jobs and GPUs finds the same optimum."""
    problem = elastic_jobs(**LARGEST)
    groups = Groups.of(problem)
    counts, _, _ = benchmark(fill_table, groups)

    assert groups.total(counts) == pytest.approx(float(exact(problem).objective or 0))


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
    """All exact methods and HiGHS on the item form find the same value to nine digits, in the times printed."""
    table = Table(box=box.SIMPLE_HEAD, title="allocation: quickest of five, in ms (exact arithmetic)")
    for name in ("jobs", "GPUs", "items", "kind", "arrays", "bundling", "core", "full table"):
        table.add_column(name, justify="left" if name == "kind" else "right")
    for name in ("HiGHS, item form", "HiGHS / fastest"):
        table.add_column(name, justify="right")

    def fill() -> None:
        for kind, options in KINDS.items():
            for jobs, capacity in SIZES:
                table.add_row(str(jobs), str(capacity), *_row(kind, jobs, capacity, options))
            table.add_section()

    benchmark.pedantic(fill, rounds=1)  # type: ignore[no-untyped-call]  # pytest-benchmark is untyped here
    Console(width=140).print("", table)

    assert table.row_count == len(KINDS) * len(SIZES)


def _row(kind: str, jobs: int, capacity: int, options: dict[str, Any]) -> list[str]:
    problem = elastic_jobs(jobs=jobs, capacity=capacity, seed=jobs, **options)
    built, groups = timed(lambda: Groups.of(problem))
    built_exact, exactly = timed(lambda: Groups.of(problem, exact_arithmetic=True))
    cells = [f"{groups.value.size - jobs:,}", kind, f"{built:.2f} ({built_exact:.0f})"]
    optimum = float(exact(problem, exact_arithmetic=True).objective or 0)
    fastest = float("inf")
    for algorithm in ALGORITHMS:
        try:
            time, (counts, _, _) = timed(lambda: algorithm(groups))  # noqa: B023 - called at once
        except Unsupported:
            cells.append("-")
            continue
        assert groups.total(counts) == pytest.approx(optimum, rel=1e-9)
        certified = "" if algorithm is fill_table else f" ({timed(lambda: algorithm(exactly), 3)[0]:.1f})"  # noqa: B023
        cells.append(f"{time:.2f}{certified}")
        fastest = min(fastest, time)
    form = milp.standard_form(problem)
    time, outcome = timed(lambda: Highs().solve(form), 1)
    assert outcome.objective == pytest.approx(optimum, rel=1e-9)
    return [*cells, f"{time:,.0f}", f"{time / fastest:,.0f}"]


@pytest.mark.benchmark(group="allocation: tables")
def test_table_of_gaps(benchmark: BenchmarkFixture) -> None:
    """No heuristic beats the exact value, on the suites and on real snapshots where they are at hand."""
    small = [_loaded(name) for name in names("allocation/small/")]
    large = [[_loaded(name)] for name in names("allocation/production/")]
    folder = data_folder()
    real = [] if folder is None else [[problem] for problem in from_data(folder)]
    table = Table(box=box.SIMPLE_HEAD, title="allocation: gap to the optimum, and time")
    for name in ("instance", "jobs", "GPUs", *(method.__name__ for method in METHODS)):
        table.add_column(name, justify="left" if name == "instance" else "right")

    def fill() -> None:
        for problems in (small, *large, *real):
            table.add_row(*_gaps(problems))

    benchmark.pedantic(fill, rounds=1)  # type: ignore[no-untyped-call]  # pytest-benchmark is untyped here
    Console(width=160).print("", table)

    assert table.row_count == 1 + len(large) + len(real)


def _loaded(name: str) -> Allocation:
    problem = load(name)
    assert isinstance(problem, Allocation)
    return problem


def _gaps(problems: list[Allocation]) -> list[str]:
    """Give the total gap and the median time of every method on some instances."""
    comparison = compare(problems, METHODS)
    certified = (exact(problem, exact_arithmetic=True) for problem in problems)
    best = sum(Fraction(result.objective or 0) for result in certified)
    cells: list[str] = []
    for method in METHODS:
        results = [row.result for row in comparison if row.method == method.__name__ and row.result is not None]
        value = sum(Fraction(result.objective or 0) for result in results)
        assert value <= best
        gap = f"{float(100 * (1 - value / best)):.4f}" if value < best else "0"
        time = 1000 * median(result.runtime for result in results)
        cells.append(f"{gap} % {time:6.1f} ms")
    first = problems[0]
    if len(problems) > 1:
        return [f"small, {len(problems)} instances", "", "", *cells]
    return [first.name.removeprefix("allocation/"), *map(str, first.headline().values()), *cells]
