"""Docstrings of the reference: the parts of a model, and the signatures of data."""

from inspect import getdoc
from typing import Any

import pytest
from docstrings import escape, fold_model, process_signature

from formulations.reclaiming.milp import Milp
from gsopt import Budget
from gsopt.problems import Reclaiming

MODEL = """Choose.

Sets
----
Servers S, |S| of them.

Parameters
----------
w_: a cost.

Examples
--------
>>> 1
1
"""


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("|S| + 2*n", r"\|S\| + 2\*n"),
        ("w_j of w_, and end_", r"w_j of w\_, and end\_"),
        ("``a|b`` and `name_`", "``a|b`` and `name_`"),
    ],
)
def test_marks_without_meaning_are_escaped(text: str, escaped: str) -> None:
    """Bars, stars and final underscores are text, but in code they stay as they are."""
    assert escape(text) == escaped


def test_parts_of_a_model_become_notes() -> None:
    """Sets and parameters of a model stand in the notes, before the examples, and nothing is lost."""
    folded = fold_model(MODEL)
    assert "Sets\n----" not in folded
    assert "Parameters\n---" not in folded
    assert folded.index("Choose.") < folded.index("Notes\n-----") < folded.index("Examples\n--------")
    assert "Sets\n    Servers S, \\|S\\| of them." in folded
    assert "Parameters\n    w\\_: a cost." in folded


def test_parts_of_every_model_are_told_apart() -> None:
    """A formulation's docstring keeps each of its parts, under its own name."""
    folded = fold_model(getdoc(Milp) or "")
    for part in ("Sets", "Parameters", "Variables", "Objective", "Constraints", "Size", "Source"):
        assert folded.count(f"\n{part}\n    ") == 1


def test_parameters_of_functions_stay() -> None:
    """Without sets, parameters are those of a function, and other docstrings are not touched."""
    function = "Do.\n\nParameters\n----------\nx\n    What."
    assert fold_model(function) == function
    assert fold_model(f"{function}\n\nSource\n------\nA paper.").startswith(function)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (Reclaiming, "demand: int"),
        (Reclaiming, "problem: ~typing.Literal['reclaiming'] = 'reclaiming'"),
        (Budget, "time_limit: float | str | None = None"),
    ],
)
def test_data_are_shown_by_their_fields(found: Any, shown: str) -> None:
    """The signature of data has fields, types and defaults, and none of the rules that are checked."""
    signature, _ = process_signature(None, "class", "", found, None, "(**data)", "")  # type: ignore[arg-type]
    assert shown in signature
    assert "Field" not in signature
    assert "Annotated" not in signature


def test_signatures_of_functions_stay() -> None:
    """What is no class of data is shown with the signature that it has."""
    shown = process_signature(None, "function", "", escape, None, "(text)", "str")  # type: ignore[arg-type]
    assert shown == ("(text)", "str")
