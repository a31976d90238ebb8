"""The rows of admission on the page of worst cases, against optima and costs found by trying every choice."""

from fractions import Fraction
from random import Random
from typing import Any

import heuristics.admission
from gsopt.core.result import Status
from gsopt.evaluation.space import Pick
from gsopt.problems.admission import Admission
from instances.admission.spaces import tiny
from tests.docs.test_worst import ROWS
from tests.effort import cases
from tests.exactness.admission import optimum, value

WORST = {row["method"]: row for row in ROWS if row["space"] == "admission/tiny"}


def _found(method: str, problem: Admission) -> Fraction | None:
    """Return what a heuristic's solution costs; None if it has none."""
    result = getattr(heuristics.admission, method)(problem)
    if result.solution is None:
        assert result.status is Status.UNKNOWN
        return None
    cost = value(problem, result.solution)
    assert cost == result.objective
    assert cost is not None
    return cost


def test_no_heuristic_of_admission_is_worse_than_its_row() -> None:
    """On random classes, in all orders, ratios are within 1 and their rows; on all, rows are exact."""
    space = tiny(**next(iter(WORST.values()))["arguments"])
    by_class: dict[Any, list[Admission]] = {}
    for first in space.classes():
        if space.problem(first) is not None:
            setting = space.settings[first.setting]
            members = (space.problem(Pick(first.setting, items)) for items in setting.members(first.items))
            by_class[first] = [each for each in members if isinstance(each, Admission)]
    number = cases(len(by_class))
    drawn = Random("rows").sample([*by_class], number)
    worst, unsolved = dict.fromkeys(WORST, Fraction(1)), dict.fromkeys(WORST, 0)
    for first in drawn:
        best = optimum(by_class[first][0])
        assert best is not None
        for problem in by_class[first]:
            for method in WORST:
                cost = _found(method, problem)
                unsolved[method] += cost is None
                assert cost is None or cost >= best
                if cost is not None and best:
                    worst[method] = max(worst[method], cost / best)
    assert all(worst[method] <= Fraction(row["ratio"]) for method, row in WORST.items())
    if number == len(by_class):
        instances = sum(map(len, by_class.values()))
        for method, row in WORST.items():
            told = (Fraction(row["ratio"]), row["unsolved"], row["instances"])
            assert (worst[method], unsolved[method], instances) == told, method
