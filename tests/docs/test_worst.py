"""The page of worst cases: each row holds on its instance, and follows from the stored findings."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.method import run
from gsopt.core.result import Status
from gsopt.evaluation import catalogue
from gsopt.evaluation.ratio import ratio
from gsopt.evaluation.space import Pick
from tests.unwrap import unwrap

DOCS = Path(__file__).parents[2] / "docs"
ROWS: list[dict[str, Any]] = json.loads((DOCS / "_static" / "worst.json").read_text("utf-8"))
RATED = [row for row in ROWS if row["ratio"] is not None]
NAMES = [f"{row['space']} {row['method']}" for row in RATED]


@pytest.mark.parametrize("row", RATED, ids=NAMES)
def test_a_ratio_holds_on_its_instance(row: dict[str, Any]) -> None:
    """The method's value over the optimum is the ratio of the row, also with the optimum of a second method."""
    space = catalogue.spaces()[row["space"]](**row["arguments"])
    problem = unwrap(space.problem(Pick.read(row["pick"])))
    value = unwrap(run(catalogue.find_method(space.word, method_of(row)), problem).objective)
    exact = catalogue.exact_methods(space.word)
    found = [unwrap(run(exact[space.method], problem).objective)]
    for name, method in exact.items():
        if name != space.method and len(found) == 1:
            try:
                second = run(method, problem)
            except Exception:  # noqa: BLE001, S112 - the instance may be none for it
                continue
            found += [unwrap(second.objective)] if second.status is Status.OPTIMAL else []
    assert [ratio(problem, value, optimum) for optimum in found] == [Fraction(row["ratio"])] * len(found)
    assert len(found) == 2 or space.word == "shares"


def method_of(row: dict[str, Any]) -> str:
    """Return the method's name, or its path for a policy that is known by it only."""
    name: str = row["method"]
    return name if name in catalogue.methods(row["space"].partition("/")[0]) else catalogue.policy_paths()[name]


def test_the_page_shows_the_rows() -> None:
    """Every row is a line of the page."""
    text = (DOCS / "worst.md").read_text("utf-8")
    for row in ROWS:
        assert f"| `{row['method']}` |" in text
    assert text.count("\n| `") == len(ROWS)
