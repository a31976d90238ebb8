"""Measures: what benchmarks have in common: seconds, what they print, and the data that they need."""

from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from rich import box
from rich.console import Console
from rich.table import Table

from gsopt.core.problem import Number, Problem
from gsopt.core.result import Result, Status, settles
from gsopt.scenario.scenario import Scenario
from instances import data_folder
from instances.traces import ares, philly
from tests.unwrap import unwrap

T = TypeVar("T")


def report(*lines: str) -> None:
    """Print what was measured."""
    print("", *lines, sep="\n")  # noqa: T201 - a benchmark reports what it measured


def tabulate(title: str, head: Iterable[str], rows: Iterable[Iterable[str]], width: int = 140) -> None:
    """Print a table whose first column is text."""
    table = Table(title=title, box=box.SIMPLE_HEAD)
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    Console(width=width).print("", table)


def timed(run: Callable[[], T], repeat: int = 1, clock: Callable[[], float] = process_time) -> tuple[T, float]:
    """Return the last result of some runs, and the least seconds, of the processor or by another clock."""
    spent = []
    for _ in range(repeat):
        begin = clock()
        found = run()
        spent.append(clock() - begin)
    return found, min(spent)


def least_seconds(run: Callable[[], Any]) -> float:
    """Return the least processor seconds of three runs."""
    return timed(run, 3)[1]


def proven(method: Callable[..., Result[Any]], problem: Problem[Any], seconds: list[float]) -> Number:
    """Return the optimum, which must be proven, and note the seconds that this takes by the clock."""
    result, spent = timed(lambda: method(problem), clock=perf_counter)
    assert result.status is Status.OPTIMAL
    seconds.append(spent)
    return unwrap(result.objective)


def loss(method: Callable[..., Result[Any]], problem: Problem[Any], optimum: Number) -> float:
    """Return how far a heuristic is from the optimum, as a part of it; it must not be better."""
    found = unwrap(method(problem).objective)
    assert not problem.sense.better(found, optimum) or settles(found, optimum, problem.resolution(optimum))
    return abs(float(found) / float(optimum) - 1)


def ares_scenario(trace: str) -> Scenario:
    """Return a workload of Ares, its demands halved once, on 64 GPUs."""
    return Scenario.of(ares(data(), trace=trace, number=1, gpus=64, halvings=1).workload, 64)


def philly_scenario(gpus: int, day: int | None = None) -> Scenario:
    """Return a day of Philly, or all of it, on a plain cluster."""
    window = None if day is None else (day * 86_400.0, (day + 1) * 86_400.0)
    return Scenario.of(philly(data(), window=window, max_gpus=gpus).workload, gpus)


def once(benchmark: BenchmarkFixture, run: Callable[[], T]) -> T:
    """Run once under the clock of a benchmark, and return the result."""
    found: T = benchmark.pedantic(run, rounds=1)  # type: ignore[no-untyped-call]
    return found


def data(place: str = "") -> Path:
    """Return the folder of public traces, or skip the benchmark where it, or a place in it, is missing."""
    folder = data_folder()
    if folder is None or not (folder / place).exists():
        pytest.skip(f"GSOPT_DATA is unset or holds no {place or 'data'}")
    return folder
