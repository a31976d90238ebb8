"""Speed of the exact models of consolidation, and what the heuristics lose."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from math import inf
from statistics import median
from time import perf_counter
from typing import Any

import pytest

from formulations.consolidation import counts, divisible, exact, laminar, patterns
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result, Status
from gsopt.problems.consolidation import Consolidation
from gsopt.solvers.backends import CpSat
from heuristics.consolidation import fifo, greedy, most_sensitive_first
from instances.consolidation import half_busy
from tests.benchmarks.measures import proven, report, tabulate, timed
from tests.exactness import consolidation as oracle
from tests.strategies.consolidation import tiny
from tests.unwrap import unwrap

#: Seconds that each model has on each instance of the table.
LIMIT = 5.0

#: The gap at which a decision that is taken online may stop.
GAP = 1e-3

#: Racks of eight machines with eight GPUs, and jobs.
SIZES = ((2, 10), (2, 50), (2, 200), (4, 50), (4, 200), (8, 100), (8, 200), (16, 100), (16, 200))

#: Racks and jobs up to which the naive model is shown.
LARGEST_NAIVE = (2, 50)

SEEDS = range(2)

WAYS: Mapping[str, tuple[Callable[..., Result[Any]], Mapping[str, Any]]] = {
    "counts": (counts, {}),
    "laminar": (laminar, {}),
    "patterns": (patterns, {}),
    "divisible": (divisible, {}),
    "laminar, CP-SAT": (laminar, {"backend": CpSat()}),
    "divisible, CP-SAT": (divisible, {"backend": CpSat()}),
    "exact": (exact, {}),
}

HEURISTICS = (greedy, fifo, most_sensitive_first)


def test_every_model_has_the_same_optimum() -> None:
    """On 300 small instances every model proves the optimum of brute force, to the last digit."""
    solved = Counter[str]()
    for seed in range(300):
        problem = tiny(seed)
        optimum = oracle.optimum(problem)
        for name, (method, options) in WAYS.items():
            with suppress(Unsupported):
                result = method(problem, **options)
                assert (result.status, result.objective) == (Status.OPTIMAL, optimum), (name, seed)
                solved[name] += 1
    assert min(solved.values()) >= 200
    assert [solved[name] for name in ("counts", "laminar", "exact")] == [300, 300, 300]


@pytest.mark.slow
@pytest.mark.parametrize("demands", ["powers_of_two", "any"])
def test_time_and_gap_by_size(demands: Any) -> None:
    """The merged models reach the gap at every size."""
    rows = []
    for racks, jobs in SIZES:
        problems = [half_busy(racks=racks, jobs=jobs, demands=demands, seed=seed) for seed in SEEDS]
        cells = {name: _cell(name, problems) for name in WAYS}
        rows.append((f"{racks} x {jobs}", *(_shown(cell) for cell in cells.values())))
        merged = unwrap(cells["patterns" if demands == "any" else "divisible"])
        assert merged[2] <= GAP
    title = f"demands {demands}: median seconds to a gap of {GAP:g}, to the proof, gap left"
    tabulate(title, ("racks x jobs", *WAYS), rows, 170)


def _cell(name: str, problems: Iterable[Consolidation]) -> tuple[float, float, float] | None:
    """Return the median times to the gap and to the proof, and the worst gap that is left after the latter."""
    method, options = WAYS[name]
    near: list[float] = []
    end: list[float] = []
    left: list[float] = []
    for problem in problems:
        naive = len(problem.jobs) * len(problem.cluster.racks) > LARGEST_NAIVE[0] * LARGEST_NAIVE[1]
        if name == "counts" and naive:
            return None
        for times, gap in ((near, GAP), (end, 0.0)):
            run = partial(method, problem, time_limit=LIMIT, gap=gap, **options)
            try:
                result, seconds = timed(run, clock=perf_counter)
            except Unsupported:
                return None
            times.append(seconds)
        left.append(inf if result.gap is None else result.gap)
    return median(near), median(end), max(left)


def _shown(cell: tuple[float, float, float] | None) -> str:
    return "-" if cell is None else f"{cell[0]:.2f} {cell[1]:.2f} {cell[2]:.0e}"


def test_merging_pays() -> None:
    """With 100 jobs on 8 racks slots are proven in less time than groups are, or are given up."""
    problem = half_busy(racks=8, jobs=100, seed=1)
    divisible(problem)  # the solver's process is started
    seconds: list[float] = []
    best = proven(divisible, problem, seconds)
    other, long = timed(partial(laminar, problem, time_limit=LIMIT), clock=perf_counter)
    report(f"laminar takes {long / seconds[0]:.1f} times as long as divisible")
    assert unwrap(other.objective) <= best
    assert long > seconds[0]


@pytest.mark.parametrize("demands", ["powers_of_two", "any"])
def test_what_heuristics_lose(demands: Any) -> None:
    """Where 50 to 200 jobs compete, the order of value density loses least in the median."""
    rows = []
    for racks, jobs in ((2, 50), (4, 100), (8, 200), (16, 200)):
        losses: dict[str, list[float]] = {method.__name__: [] for method in HEURISTICS}
        for seed in range(8):
            problem = half_busy(racks=racks, jobs=jobs, demands=demands, seed=seed)
            best = unwrap(exact(problem, gap=GAP).objective)
            for method in HEURISTICS:
                value = Fraction(unwrap(method(problem).objective))
                losses[method.__name__].append(float(Fraction(best) / value) - 1)
        cells = (f"{median(loss):.1%} {max(loss):.1%}" for loss in losses.values())
        rows.append((f"{racks} x {jobs}", *cells))
        assert median(losses["greedy"]) < min(median(losses[name]) for name in ("fifo", "most_sensitive_first"))
    head = ("racks x jobs", *(method.__name__ for method in HEURISTICS))
    tabulate(f"demands {demands}: optimum over value, less 1: median and largest", head, rows)
