"""Glance: what a comparison comes to, in a line per heuristic and a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from rich.text import Text

from gsopt.core.result import settles
from gsopt.evaluation.comparison import Comparison, ComparisonRow
from gsopt.evaluation.tables import percent

#: Columns of a line; a gap of 100 % fills the bar.
_NAME, _OPTIMAL, _GAP, _BAR = 22, 9, 10, 12

#: From these shares on a gap is shown without decimals, and as a multiple of the optimum.
_NO_DECIMALS, _MULTIPLES = 10, 100

#: Mean gaps below which a heuristic is shown as near the optimum, and from which on as far from it.
_NEAR, _FAR = 0.05, 1.0

_EXACT = "exact"


@dataclass(frozen=True)
class Glance:
    """One heuristic on the instances that it is for."""

    method: str
    instances: int
    optimal: int
    unsolved: int  # instances on which it finds nothing
    gaps: tuple[float, ...]  # to the best proven bound, relative to it, wherever that is not 0

    @property
    def mean(self) -> float | None:
        """The mean gap."""
        return fmean(self.gaps) if self.gaps else None

    @property
    def worst(self) -> float | None:
        """The largest gap."""
        return max(self.gaps, default=None)

    def line(self, *, ascii_only: bool = False) -> Text:
        """Show it in a line of eighty characters: optima, mean gap, worst gap, and the mean gap as a bar."""
        if not self.instances:
            return Text(f"  {self.method:<{_NAME}}{'-':>{_OPTIMAL}}  is for none of these instances", "dim")
        style = self._style()
        line = Text(f"  {self.method:<{_NAME}}{f'{self.optimal} of {self.instances}':>{_OPTIMAL}}")
        line.append(f"{_share(self.mean):>{_GAP}}", style)
        line.append(f"{_share(self.worst):>{_GAP}}  ")
        line.append(_bar(self.mean, ascii_only=ascii_only), style)
        if self.unsolved:
            line.append(f" {self.unsolved} failed", "dim")
        return line

    def _style(self) -> str:
        if self.optimal == self.instances:
            return "bold green"
        if self.mean is None or self.mean >= _FAR:
            return "red"
        return "green" if self.mean < _NEAR else "yellow"


def heads(title: str) -> Text:
    """Return the heads of the columns, behind a title that may reach above them."""
    return Text(f"{title:<{_NAME + 2}}{'optimal':>{_OPTIMAL}}{'mean gap':>{_GAP}}{'worst gap':>{_GAP}}")


def glances(comparison: Comparison) -> list[Glance]:
    """Return a glance at every heuristic of a comparison, the smallest mean gap first.

    Instances that a heuristic is not for are not counted; one that is for none of them comes last.
    """
    rows = [row for row in comparison if row.kind != _EXACT]
    found = [
        _glance(name, [row for row in rows if row.method == name])
        for name in dict.fromkeys(row.method for row in rows)
    ]
    return sorted(found, key=lambda each: (each.mean is None, each.mean, -each.optimal))


def lines_of(seen: Sequence[Glance], most: int | None = None, *, ascii_only: bool = False) -> list[Text]:
    """Return a line for each; where these are more than `most`, those in the middle share one line."""
    lines = [each.line(ascii_only=ascii_only) for each in seen]
    if most is None or len(lines) <= most:
        return lines
    first, last = (most - 1) // 2, len(lines) - most // 2
    between = seen[first:last]
    share = f"{_share(between[0].mean)} to {_share(between[-1].mean)}"
    return [*lines[:first], Text(f"  {len(between)} more: {share}", "dim"), *lines[last:]]


def proofs(comparison: Comparison) -> str:
    """Say in a sentence what the exact method does, and which heuristics find as much."""
    rows = [row for row in comparison if row.kind == _EXACT and row.result is not None]
    if not rows:
        return "no exact method was compared"
    proven = sum(row.optimum_known for row in rows)
    each = median(row.result.runtime for row in rows if row.result is not None)
    time = f"{1000 * each:.0f} ms" if each < 1 else f"{each:.1f} s"
    perfect = [seen.method for seen in glances(comparison) if seen.optimal == seen.instances > 0]
    equal = f"{perfect[0]} finds them all too" if perfect else "no heuristic finds them all"
    return f"exact proves {proven} of {len(rows)} optima in {time} each; {equal}"


def _glance(name: str, given: Sequence[ComparisonRow]) -> Glance:
    rows = [row for row in given if row.result is not None or row.failed]
    return Glance(
        method=name,
        instances=len(rows),
        optimal=sum(_is_optimal(row) for row in rows),
        unsolved=sum(row.result is None or row.result.objective is None for row in rows),
        gaps=tuple(row.gap for row in rows if row.gap is not None),
    )


def _is_optimal(row: ComparisonRow) -> bool:
    value = None if row.result is None else row.result.objective
    return value is not None and settles(value, row.bound, row.problem.resolution(value))


def _share(share: float | None) -> str:
    if share is None:
        return "-"
    if share >= _MULTIPLES:
        return f"{share + 1:,.0f} x"
    return f"{100 * share:,.0f} %" if share >= _NO_DECIMALS else percent(share)


def _bar(share: float | None, *, ascii_only: bool) -> str:
    """Draw a share as a bar, in eighths of a character where the terminal has them."""
    length = min(share or 0.0, 1.0) * _BAR
    if ascii_only:
        return "#" * round(length)
    whole, eighths = divmod(round(8 * length), 8)
    return "█" * whole + (chr(0x2590 - eighths) if eighths else "")
