"""Branch and bound of which every step is proven: against all integer points, and with a solver that lies."""

from collections.abc import Callable
from functools import partial
from itertools import product
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from formulations import proving
from formulations.proving import ProofQuestion, proven_bound
from gsopt.core.budget import Budget
from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import StandardForm

#: Largest value of each column of the programs drawn.
MOST = 3.0


def _drawn(seed: int, *, mixed: bool = False) -> StandardForm:
    """Draw a program of four columns, all whole unless mixed, that an integer point keeps for most seeds."""
    random = np.random.default_rng(seed)
    matrix = random.integers(-4, 5, (3, 4)).astype(float)
    middle = matrix @ random.integers(0, 4, 4) + random.choice([0.0, 0.0, 0.5])
    integer = np.array([True, True, True, not mixed])
    return StandardForm.build(
        cost=random.integers(1, 9, 4).astype(float),
        matrix=matrix,
        row_lower=middle - random.choice([0.0, 0.75], 3),
        row_upper=middle + random.choice([0.0, 0.75], 3),
        column_upper=np.full(4, MOST),
        integer=integer,
        offset=2.0,
    )


def _least(form: StandardForm) -> float:
    """Return the least cost of all integer points; infinite without any."""
    points = [np.array(point) for point in product(range(int(MOST) + 1), repeat=4)]
    return min((form.objective(point) for point in points if form.violation(point) <= 1e-9), default=inf)


def _bound(form: StandardForm, goal: float, *, wrap: Callable[[Any], Any] = lambda solver: solver) -> float:
    """Bound a program in this process, by a solver that may lie."""
    task = Highs().request(form, time_limit=None, gap=0.0, start=None)[1]
    link: Any = SimpleNamespace(stopped=False)
    tree = proving._OpenNodes(  # noqa: SLF001 - the solver of a worker is out of reach
        ProofQuestion(task.model, task.options, np.full(4, MOST), goal, None), link
    )
    tree.solver = wrap(tree.solver)
    return tree.bound()


@pytest.mark.parametrize("seed", range(30))
def test_the_bound_is_the_least_cost_of_all_points(seed: int) -> None:
    """Below a goal beyond all costs the bound is the optimum; where no point is left it is the goal."""
    form, goal = _drawn(seed), 99.0
    least = _least(form)
    assert _bound(form, goal) == pytest.approx(min(least, goal), abs=1e-6)
    assert _bound(form, goal) <= min(least, goal)


@pytest.mark.parametrize("seed", range(10))
def test_columns_that_need_not_be_whole_are_not_branched_on(seed: int) -> None:
    """With one column in parts the bound is what the solver finds, and no more."""
    form = _drawn(seed, mixed=True)
    best = Highs().solve(form).objective
    found = _bound(form, 99.0)
    assert found == pytest.approx(99.0 if best is None else best, abs=1e-5)
    assert best is None or found <= best + 1e-9


def test_a_goal_that_is_met_ends_the_search() -> None:
    """Below the optimum the search ends with a bound at least as high as the goal, and none too high."""
    for seed in range(12):
        form = _drawn(seed)
        least = _least(form)
        if least < inf:
            goal = least - 1.0
            assert goal <= _bound(form, goal) <= least


class _Liar:
    """A solver whose objective is wrong, and dual values, or status and rays, where these are named as lies."""

    def __init__(self, solver: Any, seed: int, lies: str) -> None:
        self._solver, self._random = solver, np.random.default_rng(seed)
        self.getObjectiveValue = lambda: 1e9
        if "duals" in lies:
            self.getSolution = self._solution
        if "status" in lies:
            self.modelStatusToString = lambda _: "Infeasible"
            self.getDualRay = self._ray

    def __getattr__(self, name: str) -> Any:
        return getattr(self._solver, name)

    def _solution(self) -> Any:
        found = self._solver.getSolution()
        duals = np.asarray(found.row_dual) + self._random.normal(scale=5.0, size=3)
        return SimpleNamespace(col_value=found.col_value, row_dual=duals, dual_valid=True)

    def _ray(self) -> tuple[Any, bool, Any]:
        return None, True, self._random.normal(size=3) * self._random.integers(2)  # or one that proves nothing


@pytest.mark.parametrize("lies", ["duals", "status", "duals and status"])
def test_no_lie_of_the_solver_raises_the_bound(lies: str) -> None:
    """Whatever the dual values, and though every node is said to be empty, no bound exceeds the optimum."""
    for seed in range(12):
        form = _drawn(seed)
        least = _least(form)
        if least < inf:
            found = _bound(form, 99.0, wrap=partial(_Liar, seed=seed, lies=lies))
            assert found <= least + 1e-9, seed


def test_the_worker_proves_the_same() -> None:
    """In a process of its own the bound is that of the tree."""
    form = _drawn(1)
    assert proven_bound(form, Budget(), largest=np.full(4, MOST), goal=99.0) == _bound(form, 99.0)


def test_without_time_nothing_is_proven() -> None:
    """A budget that has passed leaves minus infinity."""
    assert proven_bound(_drawn(1), Budget(time_limit=0.0), largest=np.full(4, MOST), goal=99.0) == -inf
