"""The linear relaxation and what its dual values rule out."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.reclaiming.bound import relaxed
from formulations.reclaiming.decomposition import curve, optimum, plan
from formulations.reclaiming.reduction import reduce
from gsopt.backends import Outcome
from gsopt.problem import Number
from gsopt.problems.reclaiming import Reclaiming
from gsopt.result import Status, StoppedBy
from instances.reclaiming import churn
from tests.strategies.reclaiming import figure_5, reclaiming_problems


def lower_hull(values: tuple[Number, ...]) -> list[float]:
    """Give the lower convex hull of a curve at every index."""
    exact = [Fraction(value) for value in values]
    last = len(exact) - 1
    return [
        float(
            min(
                exact[left]
                if left == right
                else (exact[left] * (right - at) + exact[right] * (at - left)) / (right - left)
                for left in range(at + 1)
                for right in range(at, last + 1)
            )
        )
        for at in range(last + 1)
    ]


@settings(deadline=None, max_examples=300)
@given(reclaiming_problems(elasticities=["tagged"], second_objectives=["none"]))
def test_the_relaxation_is_the_lower_convex_hull(problem: Reclaiming) -> None:
    """For every demand the relaxation has the value of the trade-off curve's lower convex hull."""
    for demand, expected in enumerate(lower_hull(curve(problem))):
        relaxation, _ = relaxed(reduce(problem.model_copy(update={"demand": demand})))

        assert relaxation is not None
        assert relaxation.bound == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("second_objective", ["none", "collateral"])
@pytest.mark.parametrize("mode", ["packed", "mixed"])
def test_the_relaxation_of_a_cluster_is_the_hull(mode: str, second_objective: str) -> None:
    """The same holds on a cluster of 80 servers, with collateral damage too."""
    problem = churn(servers=80, mode=mode, seed=4)  # type: ignore[arg-type]
    problem = problem.model_copy(update={"second_objective": second_objective})
    expected = lower_hull(curve(problem))
    for demand in range(0, 81, 7):
        relaxation, _ = relaxed(reduce(problem.model_copy(update={"demand": demand})))

        assert relaxation is not None
        assert relaxation.bound == pytest.approx(expected[demand], rel=1e-9, abs=1e-6)


CLUSTER = churn(servers=100, mode="mixed", seed=5, weighted=True)


@pytest.mark.parametrize("demand", range(5, 100, 10))
def test_the_core_keeps_every_solution_up_to_the_target(demand: int) -> None:
    """The optimum is found in its own core, and a core below the optimum has no solution that good."""
    problem = CLUSTER.model_copy(update={"demand": demand})
    least = float(curve(CLUSTER)[demand])
    relaxation, _ = relaxed(reduce(problem))
    assert relaxation is not None
    for target, found in ((least, True), (least - 1, False)):
        core = relaxation.core(target)
        program = plan(core, 20)
        assert program is not None
        counts = optimum(program, demand)

        assert (counts is not None and core.value(counts) <= target) is found


def test_the_core_is_smaller_than_the_problem() -> None:
    """On a cluster most jobs are decided by their reduced costs."""
    reduction = reduce(CLUSTER.model_copy(update={"demand": 30}))
    relaxation, _ = relaxed(reduction)
    assert relaxation is not None
    core = relaxation.core(relaxation.bound)

    assert sum(map(len, (group.servers for group in core.groups))) < 80


def test_wrong_dual_values_give_a_weaker_bound_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is valid for any dual values, those of another model included."""
    problem = figure_5(demand=3)
    exact, _ = relaxed(reduce(problem))
    assert exact is not None

    class Careless:
        def solve(self, form: object, **_: object) -> Outcome:
            columns, rows = form.matrix.shape[::-1]  # type: ignore[attr-defined]
            values = np.zeros(columns)
            return Outcome(
                Status.OPTIMAL, values, 0.0, 9.0, StoppedBy.FINISHED, "careless", duals=np.linspace(-2, 2, rows)
            )

    monkeypatch.setattr("formulations.reclaiming.bound.Highs", Careless)
    careless, _ = relaxed(reduce(problem))

    assert careless is not None
    assert careless.bound <= exact.bound


def test_a_stopped_relaxation_is_none() -> None:
    """Without time there is no relaxation, and the reason is given."""
    large = churn(servers=520, mode="worker", seed=1, demand=200)
    relaxation, stopped_by = relaxed(reduce(large), time_limit=0.0)

    assert (relaxation, stopped_by) == (None, StoppedBy.TIME_LIMIT)
