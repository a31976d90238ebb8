"""Answers: the best method for each group of instances, with its lead and its gap to the bound."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from gsopt.core.drawing import time_unit
from gsopt.core.numbers.tolerances import CONTINUOUS
from gsopt.evaluation.tables import percent
from gsopt.schedule.figures import FigureKind
from gsopt.studies import plots
from gsopt.studies.page.pictures import PagePicture, drawn
from gsopt.studies.page.table import Head, Table, table
from gsopt.studies.results import Results
from gsopt.studies.rows import CellRow, CellState

#: Maximum number of groups with an answer of their own, and of methods in a picture.
MOST_ANSWERS, _MOST_DOTS = 12, 12

#: Maximum number of methods for which the page states the number of groups in which they are best.
_MOST_WINNERS = 5

#: Ratio from which ratios are stated as multiples; smaller ones are stated in per cent.
_TWICE = 2

_MOST_LINES = 1000


@dataclass(frozen=True)
class Answer:
    """The answer for one group of instances on a page: a sentence, and a table of the ranked methods."""

    title: str
    sentence: str
    ranking: Table | None = None
    picture: PagePicture | None = None
    remark: str = ""


@dataclass(frozen=True)
class Rank:
    """The results of a method on the instances of a group, averaged over seeds."""

    method: str
    values: tuple[float, ...]  # by instance
    gaps: tuple[float, ...]  # on each instance on which all values have a gap
    optimal: int  # number of instances on which the method's values are proven optimal
    seconds: float

    @property
    def value(self) -> float:
        """The mean value over all instances."""
        return fmean(self.values)

    @property
    def gap(self) -> float | None:
        """The mean of `gaps`, or None if there are none."""
        return fmean(self.gaps) if self.gaps else None

    @property
    def worst(self) -> float | None:
        """The largest of `gaps`, or None if there are none."""
        return max(self.gaps, default=None)


@dataclass(frozen=True)
class Ranking:
    """The methods that have a result on every instance of a group, ranked from best to worst.

    Policies are ranked by mean job completion time. Methods for a decision are ranked by mean gap, because
    objective values of different instances are not comparable. The mean is over the instances on which every
    value has a gap. If there is no such instance, methods are ranked by mean value.
    """

    rows: tuple[CellRow, ...]

    @property
    def policies(self) -> bool:
        """Whether the ranked methods are policies."""
        return not self.rows[0].word

    @property
    def maximize(self) -> bool:
        """Whether larger values are better."""
        return any(row.figures.get("sense") == "maximize" for row in self.rows)

    @cached_property
    def instances(self) -> list[str]:
        """The instances on which any method has a result."""
        return list(dict.fromkeys(row.instance_key for row in self.rows))

    @cached_property
    def cells(self) -> Mapping[str, Mapping[str, list[CellRow]]]:
        """The cells, keyed by method and then by instance."""
        found: dict[str, dict[str, list[CellRow]]] = {}
        for row in self.rows:
            found.setdefault(str(row.labels.method), {}).setdefault(row.instance_key, []).append(row)
        return found

    @cached_property
    def ranks(self) -> list[Rank]:
        """The ranked methods, best first."""
        found = [self._rank(name, by) for name, by in self.cells.items() if len(by) == len(self.instances)]
        return sorted(found, key=self.score)

    @property
    def by_gap(self) -> bool:
        """Whether methods are ranked by gap."""
        return not self.policies and all(rank.gaps for rank in self.ranks)

    @property
    def best(self) -> list[Rank]:
        """The best method, and the methods that differ from it only by rounding."""
        return [rank for rank in self.ranks if self.is_equal(rank, self.ranks[0])]

    def score(self, rank: Rank) -> float:
        """Return the number by which a method is ranked, which is smallest for the best method."""
        if not self.policies and rank.gap is not None:
            return rank.gap
        return -rank.value if self.maximize else rank.value

    def is_equal(self, one: Rank, other: Rank) -> bool:
        """Check whether two methods are equally good up to rounding."""
        size = 1.0 if self.by_gap else abs(self.score(other))
        return abs(self.score(one) - self.score(other)) <= CONTINUOUS * size

    def place(self, rank: Rank) -> int:
        """Return the place of a method in the ranking.

        Equally good methods share a place.
        """
        return 1 + next(place for place, each in enumerate(self.ranks) if self.is_equal(each, rank))

    def _rank(self, name: str, by_instance: Mapping[str, Sequence[CellRow]]) -> Rank:
        key = "mean_jct" if self.policies else "objective"
        cells = [by_instance[instance] for instance in self.instances]
        values = tuple(fmean(float(row.figures[key]) for row in seeds) for seeds in cells)
        bounded = [seeds for seeds in cells if seeds[0].instance_key in self._bounded]
        gaps = tuple(fmean(row.figures["gap"] for row in seeds) for seeds in bounded)
        optimal = sum(all(_is_optimal(row) for row in seeds) for seeds in cells)
        times = [row.figures.get("runtime") or 0.0 for seeds in cells for row in seeds]
        return Rank(name, values, gaps, optimal, fmean(times))

    @cached_property
    def _bounded(self) -> set[str]:
        """The instances on which every value has a gap.

        A value has no gap if no bound is known, or if the bound is 0 and not attained.
        """
        return set(self.instances) - {row.instance_key for row in self.rows if row.figures.get("gap") is None}


def _is_optimal(row: CellRow) -> bool:
    gap = row.figures.get("gap")
    return gap is not None and gap <= CONTINUOUS


def answers(found: Results) -> Iterator[Answer]:
    """Yield one answer for each of the first `MOST_ANSWERS` groups.

    Call this inside `gsopt.studies.page.svg.drawing`.
    """
    groups = rankings(found)
    several = len({word for word, _ in groups}) > 1
    for word, group in list(groups)[:MOST_ANSWERS]:
        ranking = groups[word, group]
        title = titled(word if several else "", group)
        if not ranking.ranks:
            rule = f"No method has a result on each of the {len(ranking.instances):,} instances yet."
            yield Answer(title, rule)
            continue
        yield Answer(title, sentence(ranking), _table(ranking), _picture(ranking, title), _remark(ranking))


def titled(decision: str, group: str) -> str:
    """Return the title of a group: its name, with the decision's name in front unless it is there already."""
    return group if group.startswith(decision) else f"{decision}: {group}"


def overall(found: Results) -> str:
    """Return a sentence on how many groups each leading method is best in; empty for fewer than two groups."""
    groups = [ranking for ranking in rankings(found).values() if ranking.ranks]
    wins: dict[str, int] = {}
    for rank in (rank for ranking in groups for rank in ranking.best):
        wins[rank.method] = wins.get(rank.method, 0) + 1
    if len(groups) < _TWICE:
        return ""
    (first, count), *others = sorted(wins.items(), key=lambda item: -item[1])[:_MOST_WINNERS]
    parts = [f"{first} is best in {count:,}", *(f"{name} in {number:,}" for name, number in others)]
    return f"Of {len(groups):,} groups of instances, {', '.join(parts)}."


def rankings(found: Results) -> dict[tuple[str, str], Ranking]:
    """Return the ranking of each group of instances, keyed by decision and group name."""
    groups: dict[tuple[str, str], list[CellRow]] = {}
    for row in found.rows:
        key = "objective" if row.word else "mean_jct"
        if row.outcome.state is CellState.DONE and row.figures.get(key) is not None:
            groups.setdefault((row.word or "policies", str(row.labels.group)), []).append(row)
    return {name: Ranking(tuple(rows)) for name, rows in groups.items()}


def sentence(ranking: Ranking) -> str:
    """Return a text on the best method, its distance from the proven bound, and its lead over the others."""
    best, ranks = ranking.best, ranking.ranks
    names = _joined([rank.method for rank in best])
    value = [] if not ranking.policies else [f"mean JCT {_time(ranking, best[0].value)}"]
    told = ", ".join([*value, _distance(ranking, best[0])])
    verb = "are equally good" if len(best) > 1 else "is best" if len(ranks) > 1 else "is the only method"
    others = [rank for rank in ranks if rank not in best]
    if not others:
        return f"{names} {verb}: {told}."
    last = others[-1] if len(others) > 1 else None
    behind = f"{others[0].method} follows with {_behind(ranking, others[0])}"
    end = f", {last.method} is last with {_behind(ranking, last)}" if last else ""
    return f"{names} {verb}: {told}. {behind}{end}."


def _joined(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _time(ranking: Ranking, seconds: float) -> str:
    """Format a time in the unit that the table uses."""
    unit, name = time_unit(max(rank.value for rank in ranking.ranks))
    return f"{seconds / unit:,.3g} {name}"


def _distance(ranking: Ranking, rank: Rank) -> str:
    """Return a phrase on the distance of a method from the proven bound."""
    count = len(ranking.instances)
    if rank.optimal == count:
        return "proven optimal" + (f" on all {count:,} instances" if count > 1 else "")
    if rank.gap is None or rank.worst is None:
        return "no gap is proven"
    side = "below" if ranking.maximize else "above"
    if len(rank.gaps) == 1:
        return f"{percent(rank.gap)} {side} the proven bound"
    return f"on average {percent(rank.gap)} and at most {percent(rank.worst)} {side} the proven bound"


def _behind(ranking: Ranking, rank: Rank) -> str:
    """Return a phrase on how far a method is behind the best."""
    if ranking.by_gap and rank.gap is not None:
        return f"a mean gap of {percent(rank.gap)}"
    best = ranking.ranks[0].value
    if not best:
        return f"a mean of {rank.value:,.3g}"
    ratio = rank.value / best
    if ratio >= _TWICE:
        return f"{ratio:,.2g} times as much"
    return f"{percent(abs(ratio - 1))} {'less' if ratio < 1 else 'more'}"


def _table(ranking: Ranking) -> Table:
    count = len(ranking.instances)
    heads = [Head("rank", FigureKind.COUNT), Head("method")]
    if not ranking.by_gap:
        heads += [
            Head("mean JCT [s]", FigureKind.SECONDS) if ranking.policies else Head("mean", FigureKind.RATIO),
            Head("times best", FigureKind.RATIO),
        ]
    heads += [Head("mean gap" if count > 1 else "gap", FigureKind.SHARE)]
    heads += [Head("worst gap", FigureKind.SHARE)] if count > 1 else []
    heads += (
        []
        if ranking.policies
        else [Head(f"optimal of {count:,}", FigureKind.COUNT), Head("time [s]", FigureKind.SECONDS)]
    )
    return table(heads, (_line(ranking, rank) for rank in ranking.ranks), most=_MOST_LINES)


def _line(ranking: Ranking, rank: Rank) -> list[object]:
    best = ranking.ranks[0].value
    value = [] if ranking.by_gap else [rank.value, rank.value / best if best else None]
    worst = [rank.worst] if len(ranking.instances) > 1 else []
    own = [] if ranking.policies else [rank.optimal, rank.seconds]
    return [ranking.place(rank), rank.method, *value, rank.gap, *worst, *own]


def _picture(ranking: Ranking, title: str) -> PagePicture:
    """Plot the gap of each method, or its value if there are no gaps, with a mark for each instance."""
    gaps = all(rank.gaps for rank in ranking.ranks)
    shown = (
        ranking.ranks
        if len(ranking.ranks) <= _MOST_DOTS
        else [*ranking.ranks[: _MOST_DOTS - 1], ranking.ranks[-1]]
    )
    dots = []
    for rank in shown:
        marks = [0.0 if gap <= CONTINUOUS else gap for gap in rank.gaps] if gaps else list(rank.values)
        dots.append(plots.Dot(rank.method, fmean(marks), min(marks), max(marks), marks))
    axes = plots.draw_dots([("", dots)])
    kind = FigureKind.SHARE if gaps else FigureKind.SECONDS if ranking.policies else FigureKind.RATIO
    side = "below" if ranking.maximize else "above"
    name = f"{side} the proven bound" if gaps else "mean JCT [s]" if ranking.policies else "objective"
    plots.scale_dots(axes, name, [place for dot in dots for place in dot.marks], kind)
    left = len(ranking.ranks) - len(shown)
    several = "Dots are means, and marks are instances." if len(ranking.instances) > 1 else ""
    further = f" {left:,} more methods are in the table." if left else ""
    return drawn(axes.figure, f"{title}: {name}", f"{several}{further}".strip())


def _remark(ranking: Ranking) -> str:
    """Return a remark on methods that are not ranked and on instances without gaps; empty if there are none."""
    count = len(ranking.instances)
    parts = [f"{name} ({len(by):,} of {count:,})" for name, by in ranking.cells.items() if len(by) < count]
    found = (
        [f"Not ranked, as results are missing on some of the {count:,} instances: {', '.join(parts)}."]
        if parts
        else []
    )
    bounded = len(ranking.ranks[0].gaps)
    if 0 < bounded < count:
        found.append(
            f"Gaps are those of {bounded:,} of {count:,} instances; on the others no bound above 0 is proven."
        )
    return " ".join(found)
