"""Gaps on a page."""

from typing import Any

from gsopt.studies import Row, State
from gsopt.studies.page.gaps import decisions
from tests.gsopt.studies.samples import found, row


def _decided(method: str, value: float, bound: float | None = None, **changes: Any) -> Row:
    figures = {"objective": value, "bound": bound, "proven_bound": 2, "gap": value / 2 - 1, "unit": "servers"}
    return row({**figures, **changes.pop("figures", {})}, method, **changes)


def _texts(lines: Any) -> list[list[str]]:
    return [[entry.text for entry in line] for line in lines]


def test_an_instance_has_one_line() -> None:
    """It has the best value, the bound, the first who proved it, and the mean gap of each method."""
    rows = [
        _decided("greedy", 3, seed=0),
        _decided("greedy", 4, seed=1),
        _decided("relaxed", 5, 1),
        _decided("exact", 2, 2, figures={"solver": "highs"}),
        _decided("other", 2, 2),
        _decided("greedy", 3, instance="b"),
    ]
    (decision,) = decisions(found(*rows))
    made = decision.by_instance()
    assert (decision.title, decision.repeats) == ("reclaiming: servers", True)
    assert [head.title for head in made.heads[4:]] == ["greedy", "relaxed", "exact", "other"]
    assert _texts(made.lines) == [
        ["suite/1", "2", "2", "exact, highs", "75.0 %", "150.0 %", "0.0 %", "0.0 %"],
        ["b", "3", "2", "-", "50.0 %", "-", "-", "-"],
    ]
    assert made.lines[0][4].value == 0.75


def test_the_best_value_is_the_largest_where_that_is_better() -> None:
    """A decision that maximizes has its largest value in the line."""
    rows = [_decided(method, value, figures={"sense": "maximize"}) for method, value in (("a", 1), ("b", 7))]
    (decision,) = decisions(found(*rows))
    assert decision.by_instance().lines[0][1].text == "7"


def test_every_cell_has_its_bound() -> None:
    """Policies have their mean JCT, and the word for what proves their bound; cells without figures no line."""
    figures = {"mean_jct": 30.0, "lower_bound": 20.0, "gap": 0.5, "proof": "prices"}
    rows = [
        row(figures, "fifo", word="", seed=3),
        row({"mean_jct": 30.0, "lower_bound": None, "gap": None, "proof": ""}, "las", word="", instance="b"),
        row({}, "srtf", word="", error="Crash"),
        row({}, "srtf", word="", state=State.UNSUPPORTED),
        _decided("exact", 2, 2),
    ]
    policies, reclaiming = decisions(found(*rows))
    assert policies.title == "policies: mean JCT [s]"
    assert not policies.repeats
    assert _texts(policies.by_cell().lines) == [
        ["suite/1", "fifo", "3", "30", "20", "prices", "50.0 %", "0.1"],
        ["b", "las", "-", "30", "-", "-", "-", "0.1"],
    ]
    assert len(reclaiming.by_cell().lines) == 1
