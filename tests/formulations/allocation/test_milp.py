"""The integer program of record, against enumeration and the other exact methods."""

from fractions import Fraction
from typing import Any

import pytest

from formulations.allocation import exact, milp
from gsopt.core.method import accepts
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.solvers.backends import CpSat, Highs, Scip
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import check_formulation
from instances.allocation import elastic_jobs, figure_6, table_4
from tests.effort import cases
from tests.strategies.allocation import optimum, tiny


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
    """With a hundred jobs HiGHS finds the value of the default method, exactly."""
    problem = elastic_jobs(jobs=100, capacity=400, seed=3, **options)
    assert milp(problem).objective == exact(problem).objective


@pytest.mark.parametrize("ten", range(cases(15)))
def test_equals_exact_fractions(ten: int) -> None:
    """On 150 instances of every magnitude, values near 1e-9 among them, the optimum is found and proven."""
    for seed in range(10 * ten, 10 * ten + 10):
        problem = tiny(seed)
        best = optimum(problem)
        result = milp(problem)
        assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL), problem.name
        assert result.objective == result.bound == best, problem.name


@pytest.mark.parametrize("seed", range(25))
def test_the_arrays_are_those_of_the_pyomo_model(seed: int) -> None:
    """Filled directly or compiled from Pyomo: the same columns, rows, costs and limits."""
    problem = tiny(seed)
    if problem.obstacle or not any(extra for job in problem.jobs for extra in fitting(problem, job)):
        return
    own, compiled = milp.standard_form(problem), StandardForm.from_pyomo(milp.build(problem))
    assert sorted(own.columns) == sorted(compiled.columns)
    assert own.sense is compiled.sense
    assert rows_of(own) == rows_of(compiled)
    assert costs_of(own) == pytest.approx(costs_of(compiled), rel=1e-14)
    for form in (own, compiled):
        assert form.integer.all()
        assert (form.column_lower.tolist(), form.column_upper.tolist()) == (
            [0.0] * len(form.columns),
            [1.0] * len(form.columns),
        )


def fitting(problem: Allocation, job: ElasticJob) -> list[int]:
    """List the numbers of extra workers of a job that fit alone."""
    return [extra for extra in job.extras if extra * job.gpus_per_worker <= problem.remaining]


def rows_of(form: StandardForm) -> set[tuple[Any, ...]]:
    """Return every row as its coefficients by column, and its limits."""
    table = form.matrix.toarray()
    return {
        (frozenset((form.columns[at], row[at]) for at in row.nonzero()[0]), lower, upper)
        for row, lower, upper in zip(table, form.row_lower.tolist(), form.row_upper.tolist(), strict=True)
    }


def costs_of(form: StandardForm) -> dict[str, float]:
    """Return the cost of every column by name."""
    return dict(zip(form.columns, form.cost.tolist(), strict=True))


def test_costs_are_exact() -> None:
    """The exact costs are the problem's fractions, in the order of the columns."""
    third = ElasticJob(name="third", min_workers=2, max_workers=4, time_at_min=1)
    tenth = ElasticJob(name="tenth", min_workers=1, counts=(2, 50), values=(0.1, 7))
    problem = Allocation(capacity=9, jobs=(third, tenth))
    form = milp.standard_form(problem)
    assert form.columns == ("take[0,1]", "take[0,2]", "take[1,2]")
    assert list(milp.exact_costs(problem, form)) == [Fraction(1, 3), Fraction(1, 2), Fraction(1, 10)]


def test_size_of_the_model() -> None:
    """The model has one column per extra worker, and one row per elastic job beside that of the capacity."""
    problem = elastic_jobs(jobs=20, capacity=500, seed=4)
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
    assert result.objective == 86


def test_the_obstacle_is_named() -> None:
    """Queued jobs that cannot all start are reported as infeasible by name, without a solver."""
    job = ElasticJob(name="a", min_workers=2, max_workers=3, time_at_min=1, queued=True)
    result = milp(Allocation(capacity=1, jobs=(job,)))
    assert (result.status, result.message) == (
        Status.INFEASIBLE,
        "queued job 'a' needs 2 GPUs to start, 1 are left",
    )
