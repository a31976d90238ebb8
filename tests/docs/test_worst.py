"""The page of worst cases: each row holds on its instance, and follows from the stored findings."""

import json
import re
from contextlib import suppress
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest

import gsopt
from gsopt.core.errors import Unsupported
from gsopt.core.method import run
from gsopt.core.numbers.grid import Number
from gsopt.core.problem import Problem
from gsopt.core.result import Status
from gsopt.evaluation import catalogue
from gsopt.evaluation.ratio import ratio
from gsopt.evaluation.space import Pick
from gsopt.problems.reader import problem_types
from tests.docs.scripts import DOCS, script
from tests.unwrap import unwrap

ROWS: list[dict[str, Any]] = json.loads((DOCS / "_static" / "worst.json").read_text("utf-8"))
NAMES = [f"{row['space']} {row['method']}" for row in ROWS]

#: Decisions on which brute force takes milliseconds, and a second exact method a second.
BRUTE = ("sharing", "waiting")


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_ratio_holds_on_its_instance(row: dict[str, Any]) -> None:
    """The method's value over the optimum is the ratio of the row, also with the optimum of a second method."""
    space = catalogue.spaces()[row["space"]](**row["arguments"])
    problem = unwrap(space.problem(Pick.read(row["pick"])))
    method, options = catalogue.find_method(space.word, method_of(row)), row.get("options", {})
    value = unwrap(run(method, problem, **options).objective)
    first = unwrap(run(catalogue.exact_methods(space.word)[space.method], problem).objective)
    for optimum in (first, second_optimum(space.word, space.method, problem)):
        assert ratio(problem, value, optimum) == Fraction(row["ratio"])


def second_optimum(word: str, first: str, problem: Problem[Any]) -> Number:
    """Return the optimum of another exact method, or of brute force where none proves it or it is faster."""
    for name, method in catalogue.exact_methods(word).items():
        if name != first and word not in BRUTE:
            with suppress(Unsupported):
                result = run(method, problem)
                if result.status is Status.OPTIMAL:
                    return unwrap(result.objective)
    optimum: Number = import_module(f"tests.exactness.{word}").optimum(problem)
    return optimum


def method_of(row: dict[str, Any]) -> str:
    """Return the method's name, or its path for a policy that is known by it only."""
    name = bare_name(row)
    return name if name in catalogue.methods(row["space"].partition("/")[0]) else catalogue.policy_paths()[name]


def bare_name(row: dict[str, Any]) -> str:
    """Return the method's name without its options."""
    name: str = row["method"]
    return name.partition("(")[0]


def test_every_method_has_a_row_or_a_reason() -> None:
    """Each heuristic and policy has a row for its decision, or the page says why it has none."""
    known = {(word, name) for word in problem_types() for name in catalogue.own_heuristics(word)}
    known |= {("scheduling", name) for name in (*catalogue.policies(), *catalogue.policy_paths())}
    shown = {(row["space"].partition("/")[0], bare_name(row)) for row in ROWS}
    reasons = re.findall(r"^- (`.+?): .", (DOCS / "_static" / "worst-head.md").read_text("utf-8"), re.MULTILINE)
    excused = {("scheduling", name) for each in reasons for name in re.findall(r"`(\w+)`", each)}
    assert known - shown == excused


def test_the_page_follows_from_the_rows() -> None:
    """The program would write the same page again."""
    assert script("worst").page(ROWS) == (DOCS / "worst.md").read_text("utf-8")


def test_the_suites_hold_the_worst_instances() -> None:
    """The suites of worst cases hold the instances of all rows above 1, and no others."""
    found = set()
    for row in ROWS:
        space = catalogue.spaces()[row["space"]](**row["arguments"])
        picks = [row["pick"], row["unbounded"]] if Fraction(row["ratio"]) > 1 else []
        found |= {bare(unwrap(space.problem(Pick.read(pick)))) for pick in picks if pick}
    committed = [bare(gsopt.load(name)) for name in gsopt.names() if "/worst/" in name]

    assert len(committed) == len(set(committed))
    assert set(committed) == found


def bare(problem: Problem[Any]) -> str:
    """Return the data of an instance, without its name and what is known of it."""
    return problem.model_dump_json(exclude={"name", "about"})
