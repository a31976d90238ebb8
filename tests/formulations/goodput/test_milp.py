"""The integer program of record."""

import numpy as np

from formulations.goodput import milp
from gsopt.core.numbers.tolerances import SUM
from gsopt.solvers.backends import CpSat, Highs
from gsopt.testing import check_formulation
from instances.goodput import running_jobs
from tests.strategies.goodput import committed


def test_proves_the_optimum_of_small_instances() -> None:
    """On committed small instances both solvers prove the optimum that enumeration finds."""
    problems = committed()
    assert check_formulation(milp, problems[::4], backends=[Highs()]) == len(problems[::4])
    assert check_formulation(milp, problems[2::4], backends=[CpSat()]) == len(problems[2::4])


def test_size_is_as_documented() -> None:
    """Columns for shapes, jobs and nodes, and rows for jobs and nodes."""
    problem = running_jobs(nodes=4, jobs=9, seed=1)
    form = milp.standard_form(problem)
    shapes = sum(name.startswith("runs[") for name in form.columns)
    holding = sum(bool(job.current) for job in problem.jobs)
    assert form.matrix.shape == (4 * 9 + 2 * 9 * 4 + 2 * 4, shapes + 9 + holding + 3 * 9 * 4)


def test_a_start_is_a_point_of_the_model() -> None:
    """A solution becomes columns of which the model counts what the judge counts."""
    problem = running_jobs(nodes=4, jobs=9, seed=2)
    solution, _ = milp.at_once(problem)
    form = milp.standard_form(problem)
    point = form.point(milp.encode(solution, problem))
    assert form.violation(point) == 0
    assert np.isclose(form.objective(point), float(problem.objective(solution)), rtol=SUM)
