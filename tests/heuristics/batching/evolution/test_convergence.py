"""Convergence of searches, as lines."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from heuristics.batching.evolution import Evolved, Settings, convergence, evolve
from tests.gsopt.simulation.plots.samples import legend
from tests.heuristics.batching.evolution.tables import uniform


def found(rate: float) -> Evolved:
    """Search a division whose least cost is 8: all GPUs to the first job."""
    return evolve(uniform(6, 8), 30, settings=Settings(mutation_rate=rate))


def test_lines_are_gaps_to_the_optimum() -> None:
    """Each search has a line of its best candidate's gap to the optimum, and a dot where scores agree."""
    slow, fast = found(0.0), found(0.4)
    axes = convergence({"slow": slow.logbook, "fast": fast.logbook}, optimum=8.0)
    lines = list[Any](axes.lines)
    alike = fast.logbook.select("distinct").index(1)

    assert len(lines) == 4
    assert lines[2].get_ydata().tolist() == [best / 8 - 1 for best in fast.logbook.select("best")]
    assert lines[2].get_ydata()[-1] == 0
    assert lines[3].get_xdata() == [alike]
    assert legend(axes) == ["slow", "fast"]


def test_where_scores_never_agree_there_is_no_dot() -> None:
    """A search that keeps distinct candidates has a line only."""
    kept = evolve(uniform(6, 8), 5, settings=Settings(distinct=True))
    axes = convergence({"kept": kept.logbook}, optimum=8.0)
    dots: Any = axes.lines[1]

    assert list(dots.get_xdata()) == []
    assert not convergence({}, optimum=1.0).lines


def test_a_gap_needs_an_optimum_above_0() -> None:
    """Relative to 0 there is no gap."""
    with pytest.raises(InvalidInput, match="optimum: 0: must be above 0"):
        convergence({}, optimum=0)
