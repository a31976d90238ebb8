"""What the integer programs leave out: it changes no optimum, and whatever leaves out more is noticed."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from formulations.goodput.case import Case, Floats, Option
from formulations.goodput.counting import Counting
from formulations.goodput.patterned import Patterned
from formulations.goodput.program import OptionProgram
from formulations.goodput.reduced import Reduced
from gsopt.core.budget import Budget
from gsopt.problems.goodput import Goodput
from gsopt.solvers.scaling import optimize
from tests.exactness import goodput as oracle
from tests.strategies.goodput import job, tiny


def _all_options(counting: Counting, *_: Any) -> Sequence[Sequence[Option]]:
    return counting.case.options


def _every_speed_up(table: Floats) -> Floats:
    return np.maximum(table, 0.0)


def _every_number_of_nodes(table: Floats) -> Any:
    return np.repeat(np.arange(1, len(table) + 1)[:, None], table.shape[1], axis=1)


_FILLED = sys.modules["formulations.goodput.patterns"]._filled  # noqa: SLF001 - a rule to be switched off


def _every_filling(sizes: Sequence[int], room: int, *, is_full: bool) -> Any:
    del is_full
    return _FILLED(sizes, room, is_full=False)


#: Each rule by which something is left out: where it stands, and what leaves nothing out.
RULES: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "options that cost too much beside the others": (Counting, "alive", _all_options),
    "GPUs that are no faster": (sys.modules["formulations.goodput.case"], "_grown", _every_speed_up),
    "numbers of nodes that are alike": (
        sys.modules["formulations.goodput.case"],
        "_alike",
        _every_number_of_nodes,
    ),
    "patterns in which another job fits": (
        sys.modules["formulations.goodput.patterns"],
        "_filled",
        _every_filling,
    ),
}


def _pairs() -> list[Goodput]:
    """Return jobs among which GPUs are short, some of which run, and for which several nodes pay."""
    found: list[Goodput] = []
    for turn in range(4):
        grows = [[1.0, 1.9, 2.7], [1.6, 2.6 - turn / 4, 3.0], [2.2]]
        flat = [[1.0, 1.0, 1.2], [1.0, 1.0, 1.2 + turn]]
        jobs = [job("a", *grows, current=[1, 0, 0]), job("b", *flat), job("c", *grows, current=[0, 1, 1])]
        found.append(Goodput(nodes=[2, 1 + turn % 2, 2], jobs=jobs[: 2 + turn % 2], power=-1 - turn % 3))
    old = {"age": 1e6, "restarts": 30_000}  # a restart would cost nearly all of its speed
    one, two = [1.0], [3.0]
    wider = job("a", [0.1], [0.2, 0.3], [2.0])  # faster on three nodes than on two
    alike = job("a", [], [0.0, 2.0], [2.0])  # as fast on three nodes as on two
    stays = job("b", one, current=[1, 0, 0], **old)
    return [
        *found,
        Goodput(nodes=[2, 1, 1], jobs=[wider]),
        Goodput(nodes=[2, 1, 1], jobs=[alike, stays]),
        Goodput(
            nodes=[2, 1], jobs=[job("a", one, two, current=[1, 1], **old), job("b", one, current=[1, 0], **old)]
        ),
        Goodput(nodes=[1, 1], jobs=[job("a", [0.1], [3.0])]),
    ]


#: Problems, and their optima by trying everything.
PROBLEMS = [
    (problem, oracle.optimum(problem))
    for problem in [*(tiny(seed) for seed in range(16)), *_pairs()]
    if problem.jobs
]


@pytest.mark.parametrize("rule", ["none", *RULES])
@pytest.mark.parametrize("kind", [Patterned, Reduced])
def test_what_is_left_out_changes_no_optimum(
    kind: type[OptionProgram], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the optimum as the limit, the best is still there; and so it is with each rule switched off."""
    if rule in RULES:
        monkeypatch.setattr(*RULES[rule])
    for problem, optimum in PROBLEMS:
        case = Case.of(problem)
        alive = Counting.of(case).alive(float(optimum) * len(problem.jobs), Budget())
        program = kind(case, alive)
        proof = optimize(program.form, Budget(), costs=program.costs(float(optimum)), offset=program.paid)
        assert proof.values is not None, problem
        found = problem.objective(case.solution(program.vectors(proof.values)))
        assert found - optimum <= problem.resolution(optimum), problem
