"""Measures: what benchmarks have in common: seconds, what they print, and the data that they need."""

from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time
from typing import TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from rich import box
from rich.console import Console
from rich.table import Table

from instances import data_folder

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
