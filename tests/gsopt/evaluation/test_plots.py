"""Plots of gaps."""

from typing import Any

from gsopt.core.drawing import new_figure
from gsopt.evaluation import plots


def test_gaps_that_are_all_the_same() -> None:
    """Equal gaps do not blow up an axis around them, and the markers of later methods are smaller."""
    axes = plots.gaps({"a": [(0.0, "x"), (0.0, "y")], "b": [(0.0, "y")]}, new_figure(4, 2).subplots())
    assert axes.get_xlim() == (-0.05, 1)
    first, second = list[Any](axes.get_lines())
    assert first.get_markersize() > second.get_markersize()
    assert first.get_ydata().tolist() == [0, 1]
    assert second.get_ydata().tolist() == [1]
    axes = plots.gaps({"a": [(0.01, "x"), (0.22, "y")]}, new_figure(4, 2).subplots())
    assert 0.22 < axes.get_xlim()[1] < 0.25
