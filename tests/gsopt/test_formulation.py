"""Formulation: from Pyomo model to judged result, with the cross-check in between."""

from collections.abc import Mapping
from typing import Any

import pyomo.environ as pyo
import pytest

from gsopt.backends import Outcome
from gsopt.errors import Contradiction, InvalidSolution, ModelMismatch
from gsopt.formulation import Formulation, proven_bound
from gsopt.problem import Sense
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Level, Status, StoppedBy
from gsopt.standard_form import StandardForm
from tests.gsopt.problems.test_reclaiming import figure_5


class Model(Formulation[Reclaiming, ReclaimingSolution]):
    """A reclaiming model in which single mistakes can be switched on."""

    name = "model"

    def __init__(self, mistake: str = "") -> None:
        self.mistake = mistake

    def build(self, problem: Reclaiming) -> Any:
        """Build the model, with the mistake."""
        model = pyo.ConcreteModel()
        model.x = pyo.Var([s.name for s in problem.servers], domain=pyo.Binary)
        model.z = pyo.Var([j.name for j in problem.jobs], domain=pyo.Binary)
        forgotten = "a" if self.mistake == "forgets a job" else ""
        weight = 2 if self.mistake == "counts twice" else 1
        model.cost = pyo.Objective(expr=weight * sum(model.z[j] for j in model.z if j != forgotten))
        few = 1 if self.mistake == "returns too few" else 0
        model.demand = pyo.Constraint(expr=sum(model.x[s] for s in model.x) == problem.demand - few)
        model.preempt = pyo.ConstraintList()
        for job in problem.jobs:
            for server in job.workers:
                model.preempt.add(model.x[server] <= model.z[job.name])
        if self.mistake == "impossible":
            model.never = pyo.Constraint(expr=model.x["s1"] >= 2)
        return model

    def extract(self, values: Mapping[str, float], problem: Reclaiming) -> ReclaimingSolution:
        """Read the returned servers."""
        return ReclaimingSolution(servers=[s.name for s in problem.servers if values[f"x[{s.name}]"] > 0.5])

    def encode(self, solution: ReclaimingSolution, problem: Reclaiming) -> dict[str, float]:
        """Give the returned servers and preempted jobs."""
        gone = {f"z[{job.name}]": 1.0 for job in problem.preempted(solution)}
        return gone | {f"x[{name}]": 1.0 for name in solution.servers}


def test_right_model_is_proven_and_checked() -> None:
    """A right model gives the optimum, its bound and level checked."""
    result = Model()(figure_5(3))
    assert (result.objective, result.bound, result.status) == (2, 2, Status.OPTIMAL)
    assert (result.method, result.solver, result.level) == ("model", "highs", Level.CHECKED)
    assert result.stopped_by is StoppedBy.FINISHED


@pytest.mark.parametrize("mistake", ["forgets a job", "counts twice"])
def test_model_that_counts_wrong_is_caught(mistake: str) -> None:
    """A model whose objective differs from the problem's stops the run instead of giving a wrong optimum."""
    with pytest.raises((ModelMismatch, Contradiction), match=r"the problem counts|better than the bound"):
        Model(mistake)(figure_5(2))


def test_model_that_breaks_a_rule_is_caught() -> None:
    """A model whose solutions break the problem's rules is stopped by the judge."""
    with pytest.raises(InvalidSolution, match="the demand is 2"):
        Model("returns too few")(figure_5(2))


def test_infeasible_model_is_a_result() -> None:
    """Infeasibility is a value with neither solution nor bound, not an exception."""
    result = Model("impossible")(figure_5(2))
    assert (result.status, result.solution, result.objective) == (Status.INFEASIBLE, None, None)


def test_start_solution_is_taken() -> None:
    """A known optimum as start leads to the same proven optimum."""
    start = ReclaimingSolution(servers=["s1", "s2"])
    assert Model()(figure_5(2), start=start).objective == 1


@pytest.mark.parametrize(
    ("cost", "sense", "bound", "proven"),
    [
        ([1.0], Sense.MINIMIZE, 2.0000004, 2),
        ([1.0], Sense.MINIMIZE, 2.1, 3),
        ([1.0], Sense.MAXIMIZE, 2.9, 2),
        ([1.0], Sense.MINIMIZE, 50_000_000.0, 50_000_000),
        ([1.0], Sense.MAXIMIZE, 50_000_000.0, 50_000_000),
        ([0.5], Sense.MINIMIZE, 2.1, 2.1),
        ([1.0], Sense.MINIMIZE, None, None),
    ],
)
def test_bounds_are_rounded_where_the_objective_is_integral(
    cost: list[float], sense: Sense, bound: float | None, proven: float | None
) -> None:
    """An integral objective lets a bound be rounded towards the optimum, any other keeps it as it is."""
    form = StandardForm.build(cost=cost, matrix=[[1]], row_lower=[0], row_upper=[9], sense=sense)
    outcome = Outcome(Status.UNKNOWN, None, None, bound, StoppedBy.TIME_LIMIT, "highs")
    assert proven_bound(form, outcome) == proven
