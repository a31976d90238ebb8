"""The study of the best policy: its tables, and what is claimed of them.

The tables of `docs/best-policy.md` are printed by ``python -m tests.benchmarks.bench_policies FOLDER ...`` for
the folders in which the studies were run. The benchmark runs the generated part of the study, without data.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import exp, fsum, log
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from gsopt import studies
from gsopt.evaluation.catalogue import data_folder
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.prices import price_bound
from gsopt.studies.cells import Cell, cells_of
from gsopt.studies.rows import CellRow, CellState
from tests.benchmarks.measures import once, report

pytestmark = pytest.mark.slow

STUDIES = Path(__file__).parents[2] / "docs" / "studies"
STUDY, TRACES = STUDIES / "best-policy.json", STUDIES / "best-policy-traces.json"

#: Prices that are tried for the bound of each workload.
EVALUATIONS = 300

#: What is compared with each other: policies that are told the same. The first ones of each are ours.
KNOWN = ("marginal", "marginal, for overheads", "EFQ", "elastic SRTF", "SRTF", "SRSF", "SJF", "SSF")
UNKNOWN = ("marginal attained", "elastic LAS", "Tiresias", "equal share", "FIFO", "FIFO, skipping")
ESTIMATED = tuple(f"{name}, estimated" for name in KNOWN if name not in ("SJF", "SSF"))
CLASSES = {"known durations": KNOWN, "unknown durations": UNKNOWN, "estimated durations": ESTIMATED}
OURS = "marginal"

#: Figures of a schedule in the last tables of each class, and what they are called there.
FIGURES = {
    "p99_jct": "p99 JCT",
    "preemptions_per_job": "preemptions per job",
    "resizes": "resizes per job",
    "unfair_fraction": "unfair jobs",
    "worst_fairness": "worst fairness",
}

Results = Mapping[str, Mapping[str, Mapping[str, CellRow]]]


def by_instance(rows: Iterable[CellRow]) -> Results:
    """Return the finished cells by group (without options), instance and method."""
    found: dict[str, dict[str, dict[str, CellRow]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.outcome.state is CellState.DONE:
            found[row.labels.group.base][row.instance_key][str(row.labels.method)] = row
    return found


def relative(cells: Mapping[str, CellRow], methods: Sequence[str], figure: str) -> dict[str, float]:
    """Divide a figure of each method by that of the best published one, best by mean JCT, on one instance."""
    published = [cells[name] for name in methods if name in cells and not name.startswith(OURS)]
    best = min(published, key=lambda row: row.figures["mean_jct"]).figures[figure]
    return {name: cells[name].figures[figure] / best for name in methods if name in cells}


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return exp(fsum(map(log, values)) / len(values))


def certified(rows: Iterable[CellRow]) -> dict[str, float]:
    """Bound the mean JCT on each instance of the rows; overheads and rounds do not count."""
    wanted = {row.instance_key for row in rows}
    cells = [cell for path in (STUDY, TRACES) for cell in _cells(path) if cell.instance_key in wanted]
    bounds: dict[str, float] = {}
    proven: dict[str, float] = {}
    for cell in cells:
        if cell.instance_key not in proven:
            setting = {key: value for key, value in cell.instance["setting"].items() if key == "gpus"}
            alike = json.dumps([{**cell.instance, "setting": setting}])
            if alike not in bounds:
                scenario, _ = cell.load()
                plain = Scenario.of(scenario.workload, scenario.cluster)
                bounds[alike] = price_bound(plain, evaluations=EVALUATIONS).mean_jct
            proven[cell.instance_key] = bounds[alike]
    return proven


def _cells(path: Path) -> Sequence[Cell]:
    return cells_of(studies.read_study(path)) if path == STUDY or data_folder() else ()


def tables(rows: Sequence[CellRow], half: str) -> Iterator[str]:
    """Yield the tables of one half in Markdown."""
    rows = [row for row in rows if row.labels.group.base.startswith(half)]
    found, proven = by_instance(rows), certified(rows)

    def mean_gap(cells: Sequence[Mapping[str, CellRow]], methods: Sequence[str], method: str) -> str:
        del methods
        own = [each[method] for each in cells]
        return _share(fmean(row.figures["mean_jct"] / proven[row.instance_key] - 1 for row in own), 1)

    for name, methods in CLASSES.items():
        for end, setting in ((False, "decisions at every event, no overheads"), (True, "rounds and overheads")):
            groups = [key for key in found if key.startswith(half) and key.endswith("rounds") is end]
            yield f"### {name[0].upper()}{name[1:]}, {setting}\n\n"
            yield _by_group(found, groups, methods, "mean JCT", _relative_jct)
            yield _by_group(found, groups, methods, "gap", mean_gap)
            for kind in ("elastic", "rigid"):
                yield _by_figure(found, [group for group in groups if f", {kind}" in group], methods, kind)


def _by_group(
    found: Results, groups: Sequence[str], methods: Sequence[str], what: str, value: Callable[..., str]
) -> str:
    """Return one figure by workloads."""
    heads = [what, *(f"{_title(group)} ({len(found[group])})" for group in groups)]
    lines = [
        [method, *(_if_all(value, list(found[group].values()), methods, method) for group in groups)]
        for method in methods
    ]
    return _markdown(heads, lines)


def _by_figure(found: Results, groups: Sequence[str], methods: Sequence[str], kind: str) -> str:
    """Return the other figures over all workloads of a kind."""
    cells = [each for group in groups for each in found[group].values()]
    lines = [
        [method, *(_if_all(_figure, cells, methods, method, figure) for figure in FIGURES)]
        for method in methods
    ]
    return _markdown([kind, *FIGURES.values()], lines)


def _if_all(
    value: Callable[..., str],
    cells: Sequence[Mapping[str, CellRow]],
    methods: Sequence[str],
    method: str,
    *more: str,
) -> str:
    """Return a value when the method has a result on every instance."""
    return value(cells, methods, method, *more) if all(method in each for each in cells) else "-"


def _relative_jct(cells: Sequence[Mapping[str, CellRow]], methods: Sequence[str], method: str) -> str:
    return f"{geometric_mean([relative(each, methods, 'mean_jct')[method] for each in cells]):.3f}"


def _figure(cells: Sequence[Mapping[str, CellRow]], methods: Sequence[str], method: str, figure: str) -> str:
    own = [each[method].figures for each in cells]
    if figure == "p99_jct":
        return f"{geometric_mean([relative(each, methods, figure)[method] for each in cells]):.2f}"
    if figure == "resizes":
        return f"{fmean(each[figure] / each['jobs'] for each in own):.2f}"
    if figure == "unfair_fraction":
        return _share(fmean(each[figure] for each in own), 0)
    return f"{fmean(each[figure] for each in own):.2f}"


def _share(value: float, digits: int) -> str:
    return f"{100 * value:.{digits}f} %"


def _title(group: str) -> str:
    _, kind, *trace = (part for part in group.split(", ") if part != "rounds")
    return f"{kind}: {trace[0] if trace else 'generated'}"


def _markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = f"|:--|{'--:|' * (len(heads) - 1)}\n"
    head, *body = (f"| {' | '.join(line)} |\n" for line in (heads, *lines))
    return f"{head}{rule}{''.join(body)}\n"


@cache
def _generated(folder: Path) -> tuple[CellRow, ...]:
    found = studies.run(studies.read_study(STUDY), folder, workers=1)
    return tuple(found.rows)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[CellRow, ...]:
    """Run the generated part of the study."""
    return _generated(tmp_path_factory.mktemp("best-policy"))


def _ratios(rows: Sequence[CellRow], group: str, method: str, methods: Sequence[str]) -> list[float]:
    return [relative(cells, methods, "mean_jct")[method] for cells in by_instance(rows)[group].values()]


def test_the_tables(benchmark: Any, rows: Sequence[CellRow]) -> None:
    """Every cell of the generated part has a result, and its tables are printed."""
    text = once(benchmark, lambda: "".join(tables(rows, "second half")))
    report(text)
    assert all(row.outcome.state is CellState.DONE for row in rows)


@pytest.mark.parametrize(
    ("group", "method", "methods", "most"),
    [  # as measured, and some per cent for the machine's arithmetic
        ("second half, elastic", "marginal", KNOWN, 0.80),
        ("second half, elastic, rounds", "marginal, for overheads", KNOWN, 0.80),
        ("second half, elastic", "marginal attained", UNKNOWN, 0.89),
        ("second half, elastic, rounds", "marginal attained", UNKNOWN, 0.87),
        ("second half, elastic", "marginal, estimated", ESTIMATED, 0.83),
        ("second half, rigid", "marginal", KNOWN, 1.001),
        ("second half, rigid, rounds", "marginal, for overheads", KNOWN, 1.01),
    ],
)
def test_what_is_claimed(
    rows: Sequence[CellRow], group: str, method: str, methods: Sequence[str], most: float
) -> None:
    """On the second half of the generated workloads the policies are as much better than the best published."""
    ratios = _ratios(rows, group, method, methods)
    report(f"{group}: {method} {geometric_mean(ratios):.3f} of the best published")
    assert len(ratios) >= 4
    assert geometric_mean(ratios) <= most


def test_what_overheads_are_answered_with(rows: Sequence[CellRow]) -> None:
    """In rounds hysteresis and charge save half of the preemptions, a third of the resizes, and time."""
    cells = list(by_instance(rows)["second half, elastic, rounds"].values())
    lively, calm = ([each[name].figures for each in cells] for name in KNOWN[:2])
    for figure, most in (("preemptions", 1 / 2), ("resizes", 2 / 3)):
        assert sum(each[figure] for each in calm) <= most * sum(each[figure] for each in lively)
    assert geometric_mean([a["mean_jct"] / b["mean_jct"] for a, b in zip(calm, lively, strict=True)]) <= 0.95


if __name__ == "__main__":
    kept = [row for folder in sys.argv[1:] for row in studies.results(folder).rows]
    for which in ("second half", "first half"):
        sys.stdout.write(f"## The {which}\n\n{''.join(tables(kept, which))}")
