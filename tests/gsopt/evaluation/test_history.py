"""Histories of solves: what is told, and how it is shown."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import gsopt
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.progress import Bracket
from gsopt.evaluation import catalogue
from gsopt.evaluation.history import History
from gsopt.problems.reader import problem_types


def history_of(*known: tuple[float, float | None, float | None]) -> History:
    """Return a history of times, values and bounds."""
    history = History()
    for each in known:
        history(Bracket(*each))
    return history


@pytest.mark.parametrize("word", problem_types())
def test_every_exact_method_tells_of_value_and_bound(word: str) -> None:
    """Values and bounds only get better, no bound is better than the end's value, and the end is the result."""
    problem = gsopt.load(gsopt.names(f"{word}/small/")[0])
    better = problem.sense.better
    for method in catalogue.exact_methods(word).values():
        history = History()
        try:
            result = gsopt.solve(problem, method, on_progress=history)
        except Unsupported:
            continue
        values = [known.value for known in history if known.value is not None]
        bounds = [known.bound for known in history if known.bound is not None]
        assert all(better(after, before) for before, after in pairwise(dict.fromkeys(values)))
        assert all(better(before, after) for before, after in pairwise(dict.fromkeys(bounds)))
        assert (history[-1].value, history[-1].bound) == (result.objective, result.bound), method
        assert sorted(known.runtime for known in history) == [known.runtime for known in history]


def test_a_solve_without_listener_is_the_same() -> None:
    """Who listens changes nothing, and on_incumbent is told as before."""
    problem = gsopt.load("reclaiming/small/hypergraph")
    heard, told, history = [], [], History()
    gsopt.solve(problem, "milp", on_incumbent=lambda found: heard.append(found.objective))
    result = gsopt.solve(
        problem, "milp", on_incumbent=lambda found: told.append(found.objective), on_progress=history
    )
    assert heard == told
    assert result.solution == gsopt.solve(problem, "milp").solution


def test_table_records_and_file(tmp_path: Path) -> None:
    """The table, the frame and the file say the same."""
    history = history_of((0.1, 9, None), (0.25, 9, 6), (2.0, 8, 6.5))
    assert str(history).splitlines()[-1].split() == ["2.000", "s", "8", "6.5", "23.1", "%"]
    assert history.to_frame()["gap"].tolist()[1:] == [0.5, 1.5 / 6.5]
    gsopt.write(history, tmp_path / "history.json")
    assert json.loads((tmp_path / "history.json").read_text()) == {"history": history.records()}
    assert history.records()[0] == {"runtime": 0.1, "value": 9, "bound": None, "gap": None}


def test_plot_has_a_line_for_each_side() -> None:
    """Value and bound are steps of their own colour and style, from when they are known to the end."""
    axes = history_of((0.1, 9, None), (0.25, 9, 6), (2.0, 8, 6)).plot(unit="preemptions")
    value, _, bound, _ = axes.lines  # each with a dot at its end
    assert np.asarray(value.get_ydata()).tolist() == [9, 9, 8]
    assert np.asarray(bound.get_ydata()).tolist()[1:] == [6, 6]
    assert value.get_color() != bound.get_color()
    assert value.get_linestyle() != bound.get_linestyle()
    assert axes.get_ylabel() == "preemptions"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "value, 8 at the end",
        "bound, 6 at the end",
        "gap, 33.3 % at the end",
    ]


def test_axis_of_time_suits_the_changes() -> None:
    """Time is logarithmic where half of the changes come at the very beginning, and linear elsewhere."""
    early = history_of((0.01, 9, None), (0.02, 8, None), (0.05, 8, 5), (60.0, 7, 6))
    assert early.plot().get_xscale() == "log"
    assert history_of((1, 9, None), (30, 8, 5), (60, 7, 6)).plot().get_xscale() == "linear"


def test_a_history_of_nothing_is_drawn() -> None:
    """An empty history has an empty plot and table."""
    assert History().plot().get_xlabel() == "time [s]"
    assert str(History()).split()[:4] == ["time", "value", "bound", "gap"]


def test_a_heuristic_has_no_history() -> None:
    """A heuristic, which ends at once, is asked for no progress, and says so."""
    for option in ({"on_progress": History()}, {"display": True}):
        with pytest.raises(InvalidInput, match=r"is not an option of greedy"):
            gsopt.solve(gsopt.load("reclaiming/aryl-figure-5"), "greedy", **option)
