"""Performance profiles are those of Dolan and More."""

from math import inf

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.legend import Legend

from gsopt.core.errors import InvalidInput
from gsopt.studies.profiles import SHORTEST, PerformanceProfile, draw_profiles, profiles, profiles_of
from tests.gsopt.studies.samples import found, row

TIMES: dict[str, dict[str, float | None]] = {
    "fast": {"one": 1.0, "two": 2.0, "three": None, "four": None},
    "sure": {"one": 4.0, "two": 2.0, "three": 9.0, "four": None},
    "idle": {"one": None, "two": None, "three": None, "four": None},
}


def test_ratios_are_to_the_best_of_each_instance() -> None:
    """A time counts in multiples of the shortest on its instance, and what is not solved never counts."""
    fast, sure, idle = profiles(TIMES)

    assert (fast.ratios, sure.ratios, idle.ratios) == ((1.0, 1.0), (1.0, 1.0, 4.0), ())
    assert [fast.share(ratio) for ratio in (0.99, 1.0, 100.0)] == [0.0, 0.5, 0.5]
    assert [sure.share(ratio) for ratio in (1.0, 3.99, 4.0, inf)] == [0.5, 0.5, 0.75, 0.75]
    assert (fast.solved, sure.solved, idle.solved) == (0.5, 0.75, 0.0)


def test_times_below_the_clock_are_equal() -> None:
    """Moments too short to be measured do not tell methods apart."""
    short, shorter = profiles({"a": {"one": SHORTEST / 2}, "b": {"one": 0.0}})

    assert short.ratios == shorter.ratios == (1.0,)


def test_nothing_is_solved_of_nothing() -> None:
    """Without instances no share is solved."""
    assert PerformanceProfile("a", (), 0).solved == 0.0
    assert profiles({"a": {}})[0].share(1.0) == 0.0


def test_a_study_counts_proofs_on_common_instances() -> None:
    """Solved is what is proven; heuristics, and instances that a method was not given, are left out."""
    optimal, feasible = {"status": "optimal", "bound": 1}, {"status": "feasible", "bound": 1}
    heuristic = {"status": "feasible", "bound": None}
    cells = [
        row({**figures, "runtime": seconds}, method, instance=instance)
        for instance, method, seconds, figures in (
            ("a", "exact", 1.0, optimal),
            ("b", "exact", 1.0, optimal),
            ("c", "exact", 1.0, optimal),
            ("a", "milp", 3.0, optimal),
            ("b", "milp", 0.5, feasible),
            ("a", "greedy", 0.1, heuristic),
        )
    ]

    exact, milp = profiles_of(found(*cells))

    assert (exact.method, exact.ratios, exact.instances) == ("exact", (1.0, 1.0), 2)
    assert (milp.method, milp.ratios, milp.instances) == ("milp", (3.0,), 2)
    with pytest.raises(InvalidInput, match="no cell of an exact method"):
        profiles_of(found(cells[-1]))


def test_lines_are_steps_that_end_at_the_right() -> None:
    """A line rises where a ratio is reached, holds until the next, and all end at the same place."""
    axes = draw_profiles([PerformanceProfile("a", (1.0, 4.0), 4), PerformanceProfile("b", (), 4)])

    first, second = axes.get_lines()
    assert first.get_xydata() == pytest.approx(np.array([(1.0, 0.25), (4.0, 0.5), (6.0, 0.5)]))
    assert second.get_xydata() == pytest.approx(np.array([(1.0, 0.0), (6.0, 0.0)]))
    assert first.get_drawstyle() == second.get_drawstyle() == "steps-post"
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in _legend(axes).get_texts()] == ["a", "b"]


def _legend(axes: Axes) -> Legend:
    legend = axes.get_legend()
    assert legend is not None
    return legend
