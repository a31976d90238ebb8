"""The integer program of record, against enumeration and the other exact methods."""

from typing import Any

import pytest

from formulations.allocation import exact, milp
from gsopt.backends import CpSat, Highs, Scip
from gsopt.method import accepts
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.result import Status, same
from gsopt.study import load, names
from gsopt.testing import check_formulation
from instances.allocation import elastic_jobs, figure_6, table_4


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance HiGHS proves the optimum that enumeration finds."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_formulation(milp, problems, backends=[Highs()]) == len(problems)


@pytest.mark.parametrize("backend", [CpSat(), Scip()], ids=lambda backend: backend.name)
def test_other_solvers_agree(backend: CpSat | Scip) -> None:
    """The other solver families prove the same optima where the values are integers."""
    integral = (load(f"allocation/small/{name}") for name in ("convex", "greedy-blocked", "no-gpus"))
    problems = [table_4(), figure_6(), *integral]
    assert check_formulation(milp, problems, backends=[backend]) == len(problems)


@pytest.mark.parametrize("options", [{}, {"sizes": "any", "scaling": "across_servers"}])
def test_equals_the_default_method_at_scale(options: dict[str, Any]) -> None:
    """With a hundred jobs HiGHS finds the value of the default method to nine digits."""
    problem = elastic_jobs(jobs=100, capacity=400, seed=3, **options)
    found, optimum = milp(problem).objective, exact(problem, exact_arithmetic=True).objective
    assert found is not None
    assert optimum is not None
    assert float(found) == pytest.approx(float(optimum), rel=1e-9)


def test_size_of_the_model() -> None:
    """The model has one column per extra worker, and one row per elastic job beside that of the capacity."""
    problem = elastic_jobs(jobs=20, capacity=50, seed=4)
    form = milp.standard_form(problem)
    assert form.matrix.shape == (21, sum(job.max_extra for job in problem.jobs))
    assert form.integer.all()


def test_a_solution_goes_in_and_out_unchanged() -> None:
    """Encoding a solution as columns and extracting it again gives the same solution and value."""
    problem = table_4()
    solution = AllocationSolution(extra={"A": 1, "B": 3})
    form = milp.standard_form(problem)
    point = form.point(milp.encode(solution, problem))
    assert (form.objective(point), form.is_feasible(point)) == (86.0, True)
    assert milp.extract(form.named(point), problem) == solution


def test_a_start_and_a_limit_are_taken() -> None:
    """The formulation takes the options of every formulation, and starts from a known solution."""
    assert accepts(milp, "time_limit")
    assert accepts(milp, "backend")
    result = milp(table_4(), start=AllocationSolution(extra={"A": 1}), time_limit=60)
    assert same(result.objective, 86)


def test_the_obstacle_is_named() -> None:
    """Queued jobs that cannot all start are reported as infeasible by name, without a solver."""
    job = ElasticJob(name="a", min_workers=2, max_workers=3, time_at_min=1, queued=True)
    result = milp(Allocation(capacity=1, jobs=(job,)))
    assert (result.status, result.message) == (
        Status.INFEASIBLE,
        "queued job 'a' needs 2 GPUs to start, 1 are left",
    )
