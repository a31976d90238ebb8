"""Instances: functions that read and compare the instances given on the command line."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gsopt.cli.interrupts import noticed
from gsopt.cli.progress import show_progress
from gsopt.core.problem import Problem
from gsopt.evaluation import catalogue
from gsopt.evaluation.compare import compare as compare_methods
from gsopt.evaluation.comparison import Comparison, ComparisonRow
from gsopt.problems.reader import read_problem


def read_instance(name: str) -> Problem[Any]:
    """Read an instance from a file, or load a committed instance by name."""
    return read_problem(name) if Path(name).exists() or name.endswith(".json") else catalogue.load(name)


def read_instances(what: Iterable[str]) -> list[Problem[Any]]:
    """Read all instances that are given as decisions, suites, names or files."""
    found: list[Problem[Any]] = []
    for name in what:
        suite = [] if Path(name).is_file() else catalogue.names(f"{name.rstrip('/')}/")
        found += [catalogue.load(member) for member in suite] if suite else [read_instance(name)]
    return found


def compare_instances(
    problems: Sequence[Problem[Any]], chosen: list[str] | None, time_limit: float | None, seed: int
) -> Comparison:
    """Compare methods on instances while showing progress.

    After Ctrl-C, the finished rows are returned.
    """
    for word in dict.fromkeys(problem.word for problem in problems):
        for name in chosen or ():
            catalogue.find_method(word, name)  # refused before anything runs
    comparison = Comparison(())
    with noticed() as interrupt, show_progress() as progress:
        task = progress.add_task("", total=len(problems))
        for problem in problems:

            def show(row: ComparisonRow, task: Any = task) -> None:
                progress.update(task, description=f"{row.instance}: {row.method}")

            methods = chosen or None
            comparison += compare_methods(problem, methods, time_limit=time_limit, on_row=show, seed=seed)
            if comparison.interrupted or interrupt.is_set():
                return replace(comparison, interrupted=True)
            progress.advance(task)
    return comparison
