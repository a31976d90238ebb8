"""Formulation: from Pyomo model to judged result, with the cross-check in between."""

from collections.abc import Mapping
from typing import Any

import pyomo.environ as pyo
import pytest

from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction, InvalidSolution, ModelMismatch
from gsopt.core.result import Level, Status, StoppedBy
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.solvers.backends import Highs, Incumbent, Outcome
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm
from tests.gsopt.problems.test_reclaiming import figure_5


class Late(Highs):
    """A solver that is always out of time."""

    def solve(self, form: StandardForm, **options: Any) -> Outcome:
        """Find nothing."""
        del form, options
        return Outcome(Status.UNKNOWN, None, None, None, StoppedBy.TIME_LIMIT, "late")


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
        """Return the returned servers and preempted jobs."""
        gone = {f"z[{job.name}]": 1.0 for job in problem.preempted(solution)}
        return gone | {f"x[{name}]": 1.0 for name in solution.servers}


def test_right_model_is_proven_and_checked() -> None:
    """A right model gives the optimum with its bound checked, with or without it as start."""
    result = Model()(figure_5(3))
    assert (result.objective, result.bound, result.status) == (2, 2, Status.OPTIMAL)
    assert (result.method, result.solver, result.level) == ("model", "highs", Level.CHECKED)
    assert result.stopped_by is StoppedBy.FINISHED
    start = ReclaimingSolution(servers=["s1", "s2"])
    assert Model()(figure_5(2), start=start).objective == 1


@pytest.mark.parametrize("mistake", ["forgets a job", "counts twice"])
def test_model_that_counts_wrong_is_caught(mistake: str) -> None:
    """A model whose objective differs from the problem's stops the run instead of giving a wrong optimum."""
    with pytest.raises((ModelMismatch, Contradiction), match=r"the problem counts|better than the bound"):
        Model(mistake)(figure_5(2))


def test_wrong_models_and_starts() -> None:
    """Broken rules of models and starts are stopped by the judge; infeasibility is a value."""
    with pytest.raises(InvalidSolution, match="the demand is 2"):
        Model("returns too few")(figure_5(2))
    result = Model("impossible")(figure_5(2))
    assert (result.status, result.solution, result.objective) == (Status.INFEASIBLE, None, None)
    with pytest.raises(InvalidSolution, match="the demand is 2"):
        Model()(figure_5(2), start=ReclaimingSolution(servers=["s1"]))


def test_incumbents_and_bounds() -> None:
    """Judged incumbents and rounded bounds are told at once, and returning True ends the solve."""
    heard: list[Any] = []
    Model()(figure_5(3), on_incumbent=heard.append)
    assert [result.method for result in heard] == ["model"] * len(heard)
    assert all(result.objective >= 2 and result.level is Level.CHECKED for result in heard)
    told: list[Any] = []
    result = Model()(figure_5(3), backend=Telling(), on_progress=told.append)
    assert [(known.value, known.bound) for known in told[:2]] == [(None, 1), (None, 2)]
    assert (told[-1].value, told[-1].bound) == (result.objective, result.bound) == (2, 2)


class Telling(Highs):
    """A solver that tells of bounds before it has a solution."""

    def solve(self, form: StandardForm, *, on_bound: Any = None, **options: Any) -> Outcome:
        """Report two bounds, then solve."""
        for bound in (0.4, 1.5):
            on_bound(bound)
        return super().solve(form, **options)


class Wasteful(Highs):
    """A solver whose first points mark every job as preempted, and which is then out of time."""

    def solve(self, form: StandardForm, **options: Any) -> Outcome:
        """Return the servers s3 and s4, s1 and s2, then s1 and s2 again for less."""
        every = {f"z[{job}]": 1.0 for job in "abcd"}
        last = form.point({"x[s1]": 1.0, "x[s2]": 1.0, **every})
        for servers, jobs in (("s3", "s4"), every), (("s1", "s2"), every), (("s1", "s2"), {"z[a]": 1.0}):
            point = form.point({f"x[{server}]": 1.0 for server in servers} | jobs)
            options["on_incumbent"](Incumbent(point, form.objective(point), 0.0, 0.0))
        return Outcome(Status.FEASIBLE, last, form.objective(last), 0.0, StoppedBy.TIME_LIMIT, "wasteful")


def test_incumbents_are_better_in_the_problem_not_in_the_model_alone() -> None:
    """A point cheaper in the model but no better once judged is not told, and the deadline is no error."""
    heard: list[Any] = []
    result = Model()(figure_5(2), backend=Wasteful(), on_incumbent=heard.append)
    assert [incumbent.objective for incumbent in heard] == [2, 1]
    assert (result.objective, result.stopped_by) == (1, StoppedBy.TIME_LIMIT)


class Begun(Model):
    """The model with something to return at once."""

    def at_once(self, problem: Reclaiming) -> tuple[ReclaimingSolution, int]:
        """Return the last servers; a job at least is preempted."""
        names = [server.name for server in problem.servers]
        return ReclaimingSolution(servers=names[len(names) - problem.demand :]), 1


def test_what_is_known_at_once_is_returned_at_least() -> None:
    """There is the first solution and bound, and a better start, at least; without time only these."""
    result = Begun(mistake="impossible").run(figure_5(2), Budget())
    assert result.status is Status.INFEASIBLE
    late = Begun()(figure_5(2), backend=Late())
    assert (late.objective, late.bound, late.stopped_by) == (2, 1, StoppedBy.TIME_LIMIT)
    started = Begun()(figure_5(2), backend=Late(), start=ReclaimingSolution(servers=["s1", "s2"]))
    assert (started.objective, started.bound, started.status) == (1, 1, Status.OPTIMAL)
    start = ReclaimingSolution(servers=["s3", "s4"])
    result = Model()(figure_5(2), start=start, time_limit=0.0)
    assert (result.solution, result.stopped_by) == (start, StoppedBy.TIME_LIMIT)
