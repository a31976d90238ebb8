"""The study of the best policy: its tables, and what is claimed of them.

The tables of `docs/best-policy.md` are printed by ``python -m tests.benchmarks.bench_policies FOLDER ...`` for
the folders in which the studies were run. The benchmark runs the generated part of the study, without data.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import exp, fsum, log
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from gsopt import studies
from gsopt.studies.outcome import State
from gsopt.studies.rows import Row

pytestmark = pytest.mark.slow

STUDY = Path(__file__).parents[2] / "docs" / "studies" / "best-policy.json"

#: What is compared with each other: policies that are told the same. The first ones of each are ours.
KNOWN = ("marginal", "marginal, hysteresis 4", "EFQ", "elastic SRTF", "SRTF", "SRSF", "SJF", "SSF")
UNKNOWN = ("marginal attained", "elastic LAS", "Tiresias", "equal share", "FIFO", "FIFO, skipping")
ESTIMATED = tuple(f"{name}, estimated" for name in KNOWN if name not in ("SJF", "SSF"))
CLASSES = {"known durations": KNOWN, "unknown durations": UNKNOWN, "estimated durations": ESTIMATED}
OURS = "marginal"

#: Figures of a schedule in the second table of each class, how they are written, and how they are averaged.
FIGURES = {
    "p99_jct": "p99 JCT",
    "preemptions_per_job": "preemptions per job",
    "resizes": "resizes per job",
    "unfair_fraction": "unfair jobs",
    "worst_fairness": "worst fairness",
    "gap": "gap",
}

Results = Mapping[str, Mapping[str, Mapping[str, Row]]]


def by_instance(rows: Iterable[Row]) -> Results:
    """Give the finished cells by group (without options), instance and method."""
    found: dict[str, dict[str, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.outcome.state is State.DONE:
            found[row.labels.group.base][row.instance_key][str(row.labels.method)] = row
    return found


def relative(cells: Mapping[str, Row], methods: Sequence[str], figure: str) -> dict[str, float]:
    """Divide a figure of each method by that of the best published one, best by mean JCT, on one instance."""
    published = [cells[name] for name in methods if name in cells and not name.startswith(OURS)]
    best = min(published, key=lambda row: row.figures["mean_jct"]).figures[figure]
    return {name: cells[name].figures[figure] / best for name in methods if name in cells}


def geometric_mean(values: Sequence[float]) -> float:
    """Give the geometric mean."""
    return exp(fsum(map(log, values)) / len(values))


def tables(rows: Sequence[Row], half: str) -> Iterator[str]:
    """Give the tables of one half in Markdown."""
    found = by_instance(rows)
    for name, methods in CLASSES.items():
        for end, setting in ((False, "decisions at every event, no overheads"), (True, "rounds and overheads")):
            groups = [key for key in found if key.startswith(half) and key.endswith("rounds") is end]
            yield f"### {name[0].upper()}{name[1:]}, {setting}\n\n"
            yield _relative_table(found, groups, methods)
            yield _figures_table(found, groups, methods)


def _relative_table(found: Results, groups: Sequence[str], methods: Sequence[str]) -> str:
    heads = [f"{_title(group)} ({len(found[group])})" for group in groups]
    lines = []
    for method in methods:
        cells = []
        for group in groups:
            ratios = [relative(each, methods, "mean_jct") for each in found[group].values()]
            values = [ratio[method] for ratio in ratios if method in ratio]
            cells.append(f"{geometric_mean(values):.3f}" if len(values) == len(ratios) else "-")
        lines.append([method, *cells])
    return _markdown(["mean JCT", *heads], lines)


def _figures_table(found: Results, groups: Sequence[str], methods: Sequence[str]) -> str:
    heads, lines = (
        ["", *(f"{kind}: {label}" for kind in ("elastic", "rigid") for label in FIGURES.values())],
        [],
    )
    for method in methods:
        line = [method]
        for kind in ("elastic", "rigid"):
            instances = [cells for group in groups if f", {kind}" in group for cells in found[group].values()]
            line += [_figure(instances, methods, method, figure) for figure in FIGURES]
        lines.append(line)
    return _markdown(heads, lines)


def _figure(instances: Sequence[Mapping[str, Row]], methods: Sequence[str], method: str, figure: str) -> str:
    there = [cells for cells in instances if method in cells]
    if not there or len(there) < len(instances):
        return "-"
    own = [cells[method].figures for cells in there]
    if figure == "p99_jct":
        return f"{geometric_mean([relative(cells, methods, figure)[method] for cells in there]):.2f}"
    if figure == "resizes":
        return f"{fmean(each[figure] / each['jobs'] for each in own):.2f}"
    if figure in ("gap", "unfair_fraction"):
        return f"{fmean(each[figure] for each in own):.1%}"
    return f"{fmean(each[figure] for each in own):.2f}"


def _title(group: str) -> str:
    parts = [part for part in group.split(", ")[1:] if part != "rounds"]
    return ", ".join(parts) if len(parts) > 1 else f"{parts[0]}, generated"


def _markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["--", *["--:"] * (len(heads) - 1)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *lines)) + "\n"


@cache
def _generated(folder: Path) -> tuple[Row, ...]:
    found = studies.run(studies.read_study(STUDY), folder, workers=1)
    return tuple(found.rows)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    """Run the generated part of the study."""
    return _generated(tmp_path_factory.mktemp("best-policy"))


def _ratios(rows: Sequence[Row], group: str, method: str, methods: Sequence[str]) -> list[float]:
    return [relative(cells, methods, "mean_jct")[method] for cells in by_instance(rows)[group].values()]


def test_the_tables(benchmark: Any, rows: Sequence[Row]) -> None:
    """Every cell of the generated part has a result, and its tables are printed."""
    text = benchmark.pedantic(lambda: "".join(tables(rows, "second half")), rounds=1, iterations=1)
    print(f"\n{text}")  # noqa: T201 - a benchmark reports
    assert all(row.outcome.state is State.DONE for row in rows)


if __name__ == "__main__":
    kept = [row for folder in sys.argv[1:] for row in studies.results(folder).rows]
    for which in ("second half", "first half"):
        sys.stdout.write(f"## The {which}\n\n{''.join(tables(kept, which))}")
