"""Families: the gaps of heuristics on the instances of each suite."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rich.console import RenderableType

from gsopt.core.errors import Unsupported
from gsopt.core.problem import Number, Problem
from gsopt.core.result import relative_gap, settles
from gsopt.evaluation import catalogue
from gsopt.evaluation.listing import Listing
from gsopt.evaluation.tables import PAGE, Column, lay_out, markdown_of, percent
from gsopt.studies.suites.known import Known, Standing
from gsopt.studies.suites.selection import by_suite, select


@dataclass(frozen=True)
class Member:
    """The values that heuristics found on an instance, and the heuristics that found a proven optimum."""

    known: Known
    values: dict[str, Number]
    solved: frozenset[str]

    def gap(self, heuristic: str) -> float | None:
        """Return a heuristic's `gsopt.core.result.relative_gap` to the best bound, or None if there is none."""
        proven = self.known.standing is Standing.PROVEN
        if heuristic in self.solved:
            return 0.0
        return relative_gap(self.values.get(heuristic), self.known.objective if proven else self.known.bound)


@dataclass(frozen=True)
class Family:
    """The selected instances of a suite, with the results of all heuristics for its decision.

    Attributes
    ----------
    suite
        Name of the suite.
    members
        The selected instances of the suite that have a known value, with the heuristics' results.

    Examples
    --------
    >>> (family,) = families("waiting/small/one-job")
    >>> family.suite, family.sizes, family.solved
    ('waiting/small', 'jobs 1, GPUs 8', 1.0)
    """

    suite: str
    members: tuple[Member, ...]

    @property
    def sizes(self) -> str:
        """Text with the ranges of the instances' sizes, such as ``jobs 1 to 7, GPUs 2 to 8``."""
        figures: dict[str, list[float]] = {}
        for member in self.members:
            for name, size in member.known.size.items():
                if not isinstance(size, str):
                    figures.setdefault(name, []).append(size)
        return ", ".join(f"{name} {_span(sizes)}" for name, sizes in figures.items())

    @property
    def solved(self) -> float:
        """The share of instances on which at least one heuristic finds the proven optimum."""
        return fmean(bool(member.solved) for member in self.members)

    @property
    def gaps(self) -> dict[str, float]:
        """Mean gap of each heuristic, keyed by name, over the instances on which its gap is defined."""
        names = dict.fromkeys(name for member in self.members for name in member.values)
        found = {name: [gap for each in self.members if (gap := each.gap(name)) is not None] for name in names}
        return {name: fmean(gaps) for name, gaps in found.items() if gaps}


@dataclass(frozen=True, repr=False)
class Families(Listing[Family]):
    """The gaps of heuristics on suites.

    They print as a table and are shown as one in notebooks.

    Examples
    --------
    >>> (family,) = families("reclaiming/aryl-figure-5")
    >>> family.suite, family.sizes, family.solved, family.gaps["greedy"]
    ('reclaiming', 'demand 2', 1.0, 0.0)
    """

    rows: tuple[Family, ...]

    def table(self) -> RenderableType:
        """Return a table with one line per suite."""
        return lay_out(self.columns(), width=PAGE, elsewhere="--json and --markdown")

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return markdown_of(self.columns())

    def records(self) -> list[dict[str, Any]]:
        """Return the figures of every suite, as plain JSON types."""
        return [
            {
                "suite": row.suite,
                "instances": len(row.members),
                "sizes": row.sizes,
                "solved_by_heuristics": row.solved,
                "mean_gaps": row.gaps,
            }
            for row in self.rows
        ]

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        best = [_extreme(row.gaps, min) for row in self.rows]
        worst = [_extreme(row.gaps, max) for row in self.rows]
        return [
            Column("suite", [row.suite for row in self.rows], right=False),
            Column("instances", [str(len(row.members)) for row in self.rows]),
            Column("sizes", [row.sizes for row in self.rows], right=False, rank=2),
            Column("solved by heuristics", [percent(row.solved) for row in self.rows]),
            Column("least mean gap", best, right=False),
            Column("largest mean gap", worst, right=False, rank=1),
        ]


def families(*what: str, on_instance: Callable[[str], Any] | None = None) -> Families:
    """Run each decision's heuristics on committed instances, and summarize the results by suite.

    Instances without a known value are left out.

    Parameters
    ----------
    what
        Names of decisions, suites and instances. By default, all instances.
    on_instance
        Called with the name of each selected instance before its turn.

    Raises
    ------
    InvalidInput
        A decision, suite or instance does not exist.

    Examples
    --------
    >>> [(family.suite, len(family.members)) for family in families("reclaiming/aryl-figure-5")]
    [('reclaiming', 1)]
    """
    members: list[Member] = []
    for name in select(what):
        if on_instance is not None:
            on_instance(name)
        problem = catalogue.load(name)
        if problem.about is not None and problem.about.objective is not None:
            members.append(_member(problem))
    suites = by_suite(members, lambda member: member.known.suite)
    return Families(tuple(Family(suite, tuple(found)) for suite, found in suites.items()))


def _member(problem: Problem[Any]) -> Member:
    known = Known.of(problem)
    values: dict[str, Number] = {}
    for name, method in catalogue.own_heuristics(problem.word).items():
        with suppress(Unsupported):
            value = method(problem).objective
            if value is not None:
                values[name] = value
    proven = known.standing is Standing.PROVEN
    solved = frozenset(name for name, value in values.items() if proven and _is_optimum(problem, known, value))
    return Member(known, values, solved)


def _is_optimum(problem: Problem[Any], known: Known, value: Number) -> bool:
    stored = None if known.objective is None else float(known.objective)
    return settles(float(value), stored, float(problem.resolution(value)))


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _extreme(gaps: dict[str, float], choose: Callable[..., str]) -> str:
    if not gaps:
        return "-"
    name = choose(gaps, key=lambda each: gaps[each])
    return f"{percent(gaps[name])} ({name})"
