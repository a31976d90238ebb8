"""Methods for allocation other than the core."""

import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import bundling, core, dp, exact, halves, milp, states
from formulations.allocation.bundling import bundle, bundling_message, divide_each_other, step_sizes
from formulations.allocation.dp import best_options, refuse_large
from formulations.allocation.groups import Groups
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import accepts
from gsopt.core.result import Status, StoppedBy
from gsopt.evaluation.catalogue import exact_methods, heuristics, load, names
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.solvers.backends import CpSat, Highs, Scip
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import check_formulation
from instances.allocation import elastic_jobs, figure_6, multiple_choice, table_4
from tests.effort import cases
from tests.strategies.allocation import Impatient, committed, medium, optimum, tiny
from tests.unwrap import unwrap


@st.composite
def divisible(draw: st.DrawFn) -> Allocation:
    """Draw jobs of steps that divide each other, with proportional speed or concave tables full of ties."""
    sizes = draw(st.sampled_from([(1,), (3,), (1, 2, 4, 8), (1, 3, 6), (2, 6, 12), (1, 5), (4, 8, 24)]))
    unit = draw(st.sampled_from([1.0, 0.1, 1e-9, 1e9]))
    jobs = []
    for index in range(draw(st.integers(0, 8))):
        least, more = draw(st.integers(1, 4)), draw(st.integers(0, 5))
        gains = sorted(draw(st.lists(st.integers(-3, 6), min_size=more, max_size=more)))[::-1]
        table = tuple(float(sum(gains[: w + 1])) * unit for w in range(more))
        fields: dict[str, Any] = {"values": table} if unit in (1.0, 1e9) else {}
        if not fields or draw(st.booleans()):
            fields = {"time_at_min": draw(st.integers(0, 60)) * unit}
        size = draw(st.sampled_from(sizes))
        if draw(st.booleans()) and "values" in fields:  # one worker of several GPUs, or several of one GPU
            fields |= {"counts": tuple(size * w for w in range(1, more + 1))}
        else:
            fields |= {"max_workers": least + more, "gpus_per_worker": size}
        jobs.append(ElasticJob(name=f"j{index}", min_workers=least, **fields))
    return Allocation(capacity=draw(st.integers(0, 60)), jobs=tuple(jobs))


@given(divisible())
@settings(deadline=None, max_examples=cases(300))
def test_equals_the_dynamic_programme_exactly(problem: Allocation) -> None:
    """Where it applies, value and bound are those of the dynamic programme, as exact numbers."""
    result = bundling(problem)
    assert result.objective == result.bound == dp(problem).objective
    assert result.status is Status.OPTIMAL


def test_equals_the_dynamic_programme_at_scale() -> None:
    """With hundreds of jobs the optimum is found, and the message names the sizes."""
    problem = elastic_jobs(jobs=300, capacity=1_001, seed=5)
    result = bundling(problem)
    assert result.objective == result.bound == dp(problem).objective
    assert result.message == "bundling: steps of 1, 2, 4, 8 GPUs, each saving less"


def test_the_message_counts_gpus() -> None:
    """Sizes of 4 and 8 GPUs are called that, though they are counted in units of four."""
    jobs = tuple(
        ElasticJob(name=str(d), min_workers=1, max_workers=3, gpus_per_worker=d, time_at_min=1) for d in (4, 8)
    )
    groups = Groups.of(Allocation(capacity=23, jobs=jobs))
    sizes = step_sizes(groups.first, groups.weight)
    assert (sizes, bundling_message(groups, sizes)) == (
        [1, 2],
        "bundling: steps of 4, 8 GPUs, each saving less",
    )


@pytest.mark.parametrize(
    ("jobs", "reason"),
    [
        (({"gpus_per_worker": 2}, {"gpus_per_worker": 3}), "must divide each other, not 2, 3"),
        (({"values": (1.0, 3.0)},), "more than the one before"),
        (({"values": (0.0, 1e-9)},), "more than the one before"),
        (({"values": (1e9, 2000000000.0000002)},), "more than the one before"),
        (({"max_workers": None, "counts": (1, 3)},), "must be equally far apart"),
        (({"max_workers": None, "counts": (2, 4)}, {"gpus_per_worker": 3}), "must divide each other, not 2, 3"),
    ],
)
def test_refuses_what_it_cannot_solve(jobs: tuple[dict[str, Any], ...], reason: str) -> None:
    """Steps that do not divide each other, differ within a job, or save ever more are refused by name."""
    made = tuple(
        ElasticJob(**{"name": str(i), "min_workers": 1, "max_workers": 3, "time_at_min": 9.0, **fields})
        for i, fields in enumerate(jobs)
    )
    with pytest.raises(Unsupported, match=reason):
        bundling(Allocation(capacity=50, jobs=made))


def test_sizes_of_inelastic_jobs_do_not_matter() -> None:
    """A job without extra workers, or whose workers do not fit, does not make sizes indivisible."""
    inelastic = ElasticJob(name="a", min_workers=1, max_workers=1, gpus_per_worker=3, time_at_min=9)
    huge = ElasticJob(name="b", min_workers=1, max_workers=2, gpus_per_worker=7, time_at_min=9)
    elastic = ElasticJob(name="c", min_workers=1, max_workers=2, gpus_per_worker=2, time_at_min=10)
    result = bundling(Allocation(capacity=6, jobs=(inelastic, huge, elastic)))
    assert (result.status, result.objective) == (Status.OPTIMAL, 5)


def test_losses_are_cut() -> None:
    """A worker that costs time is not taken though GPUs are left."""
    job = ElasticJob(name="a", min_workers=1, max_workers=5, values=(4, 5, 5, 3))
    result = bundling(Allocation(capacity=9, jobs=(job,)))
    assert (result.objective, unwrap(result.solution).extra) == (5, {"a": 2})


def test_first_options_that_weigh_something_are_paid() -> None:
    """Of groups that begin at weights 2 and 1, a capacity of 5 leaves 2 units for the steps."""
    weight, value = np.array([2, 3, 4, 1, 2]), np.array([10, 17, 22, 0, 6])
    assert bundle(5, np.array([0, 3, 5]), weight, value).tolist() == [1, 4]


@pytest.mark.parametrize(("method", "looks"), [(bundling, 0), (dp, 0), (dp, 3), (dp, 20)])
def test_without_time_the_price_answers(method: Any, looks: int) -> None:
    """Out of time before values are exact, or in the table: the choice at the best price, and its bound."""
    problem = elastic_jobs(jobs=50, capacity=256, seed=1)
    best = method(problem).objective
    result = method(problem, budget=Impatient(looks=[looks]))
    assert best is not None
    assert unwrap(result.objective) <= best <= unwrap(result.bound)
    assert result.stopped_by is StoppedBy.TIME_LIMIT


def test_divisibility() -> None:
    """One size, or none, always divide each other; 4 and 6 do not."""
    assert [divide_each_other(sizes) for sizes in ([], [5], [4, 6])] == [True, True, False]


@pytest.mark.parametrize("method", [core, dp, milp, bundling])
def test_proves_the_optimum_of_every_small_instance(method: Any) -> None:
    """On every committed small instance that a method supports it proves the optimum that enumeration finds."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    backends = [Highs()] if method is milp else []
    proven = check_formulation(method, problems, backends=backends)
    assert 12 <= proven <= len(problems)
    assert proven == len(problems) or method is bundling


def test_options_of_any_weight() -> None:
    """Options may have any rising weights, and a group may have one option only."""
    weight = np.array([0, 3, 7, 0, 0, 5])
    value = np.array([1, 4, 9, 2, 0, 6])
    options = unwrap(best_options(weight, value, np.array([0, 3, 4, 6]), 8, Budget()))
    assert options.tolist() == [1, 0, 1]


def test_values_of_any_length() -> None:
    """Integers of hundreds of digits are compared exactly."""
    large = 10**300
    value = np.array([0, large, 0, large + 1], dtype=object)
    options = unwrap(best_options(np.array([0, 1, 0, 1]), value, np.array([0, 2, 4]), 1, Budget()))
    assert options.tolist() == [0, 1]


def test_the_table_is_no_wider_than_the_largest_choice() -> None:
    """GPUs that nobody can use are no cells: two jobs of three workers need nine of ten million."""
    jobs = tuple(
        ElasticJob(name=str(d), min_workers=1, max_workers=4, gpus_per_worker=d, time_at_min=1) for d in (1, 2)
    )
    assert dp(Allocation(capacity=10_000_000, jobs=jobs)).message == "dp: table of 2 jobs by 9 GPUs"


def test_a_table_too_large_is_refused() -> None:
    """A table that memory cannot hold is refused with its size, before anything is computed."""
    jobs = tuple(
        ElasticJob(name=str(i), min_workers=1, counts=(10_000, 10_000 + i), time_at_min=1)
        for i in range(1, 1_001)
    )
    with pytest.raises(Unsupported, match="1,000 jobs by 9,000,000 GPUs"):
        dp(Allocation(capacity=9_000_000, jobs=jobs), budget=Impatient(looks=[0]))


def test_long_numbers_take_longer() -> None:
    """A table that is filled in seconds with machine integers may be too long to fill with others."""
    first = np.array([0, 1_000, 2_000])
    refuse_large(first, 200_000)
    with pytest.raises(Unsupported, match="2 jobs by 200,000 GPUs"):
        refuse_large(first, 200_000, long=True)


@pytest.mark.parametrize("hundred", range(cases(30)))
def test_all_methods_equal_exact_fractions(hundred: int) -> None:
    """On hundreds of instances of every magnitude each method proves the optimum, to the last digit."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        problem = tiny(seed)
        best = optimum(problem)
        for method in (bundling, core, dp, exact):
            try:
                result = method(problem)
            except Unsupported:
                assert method is bundling
                continue
            assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL), problem.name
            assert result.objective == result.bound == best, (result.method, problem.name)


@pytest.mark.parametrize("hundred", range(3))
def test_no_heuristic_is_better(hundred: int) -> None:
    """On 300 instances no heuristic is above the proven value."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        problem = tiny(seed)
        best = exact(problem).objective
        for method in heuristics("allocation").values():
            found = method(problem).objective
            assert (found is None) == (best is None)
            assert found is None or best is None or found <= best


@pytest.mark.parametrize(
    ("problem", "value", "extra"),
    [(table_4(), 86, {"A": 1, "B": 3}), (figure_6(), 80, {"A": 1, "B": 2})],
    ids=["table-4", "figure-6"],
)
def test_examples_of_the_paper(problem: Allocation, value: int, extra: dict[str, int]) -> None:
    """Table 4 (A+1, B+3) and Figure 6 (A+1, B+2) with four remaining GPUs are worth 86 and 80."""
    for method in (dp, bundling, core, exact, milp):
        result = method(problem)
        assert (result.status, result.objective, dict(unwrap(result.solution).extra)) == (
            Status.OPTIMAL,
            value,
            extra,
        )


@pytest.mark.parametrize("name", names("allocation/production"))
def test_production_instances_carry_their_optimum(name: str) -> None:
    """The value and bound that stand in every large file are what is proven, without any time limit needed."""
    problem = committed(name.removeprefix("allocation/"))
    result = exact(problem)
    assert problem.about is not None
    assert result.status is Status.OPTIMAL
    assert problem.about.objective == problem.about.bound == float(Fraction(result.objective or 0))


@pytest.mark.parametrize(
    ("options", "bundled"),
    [
        ({"jobs": 90, "capacity": 200}, True),
        ({"jobs": 90, "capacity": 200, "sizes": "any"}, False),
        ({"jobs": 90, "capacity": 200, "scaling": "across_servers"}, False),
    ],
)
def test_the_message_says_which_technique_was_used(options: dict[str, Any], bundled: bool) -> None:
    """Divisible sizes and concave values are bundled; other sizes, and other values, are searched."""
    message = exact(elastic_jobs(seed=1, **options)).message
    assert message.startswith("bundling") == bundled


def test_bundles_what_has_too_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that are all alike leave the whole problem undecided; bundling needs no states for it."""
    _keep_no_states(monkeypatch)
    problem = _alike()
    assert core(problem).status is Status.FEASIBLE
    assert (exact(problem).status, exact(problem).objective) == (Status.OPTIMAL, 1_003)


def _keep_no_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_STATES", -1)
    monkeypatch.setattr(halves, "MOST_SUMS", -1)
    monkeypatch.setattr(states, "lattice_bound", lambda knapsack: knapsack.price * knapsack.room)


def _alike() -> Allocation:
    """Return jobs of eight GPUs worth 8 each, one of two GPUs worth 1, and a capacity that leaves six."""
    jobs = tuple(
        ElasticJob(name=str(n), min_workers=1, max_workers=3, gpus_per_worker=8, values=(8, 16))
        for n in range(99)
    )
    small = ElasticJob(name="small", min_workers=1, max_workers=6, gpus_per_worker=2, values=(1, 2, 3, 4, 5))
    return Allocation(capacity=1_006, jobs=(*jobs, small))


@pytest.mark.parametrize("columns", [30_000, 5])
def test_the_integer_program_goes_on_where_memory_ends(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no states can be kept the integer program starts from the choice known, unless it is too large."""
    _keep_no_states(monkeypatch)
    monkeypatch.setattr(import_module("formulations.allocation.exact"), "MOST_COLUMNS", columns)
    problem = committed("small/sizes-2-3-5")
    known = core(problem)
    assert (known.status, known.stopped_by) == (Status.FEASIBLE, StoppedBy.FINISHED)
    result = exact(problem)
    assert (result.method, result.status) == ("exact", Status.OPTIMAL if columns > 5 else Status.FEASIBLE)
    assert result.objective == (optimum(problem) if columns > 5 else known.objective)
    assert result.message.startswith("milp: core: " if columns > 5 else "core: ")
    assert result.solver == ("highs" if columns > 5 else "core")


def test_the_better_bound_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the integer program ends without a proof, solution and bound are the better ones of the two."""
    _keep_no_states(monkeypatch)
    problem = medium(12)
    known, result = core(problem), exact(problem, on_incumbent=lambda found: found.solver == "highs")
    assert unwrap(result.objective) >= unwrap(known.objective)
    assert unwrap(result.bound) <= unwrap(known.bound)


def test_a_model_that_solvers_cannot_take_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where weights are beyond what solvers can be trusted with, the choice known is returned and says so."""
    _keep_no_states(monkeypatch)
    jobs = tuple(
        ElasticJob(name=str(n), min_workers=1, counts=(200_000 + n, 300_001), values=(200_000, 299_990 + n))
        for n in range(4)
    )
    result = exact(Allocation(capacity=700_000, jobs=jobs))
    assert result.status is Status.FEASIBLE
    assert "too many states" in result.message
    assert "coefficient" in result.message


def test_infeasible_names_the_first_job() -> None:
    """Queued jobs that cannot all start make every exact method report infeasible and the first such job."""
    problem = committed("small/cannot-start")
    for method in exact_methods("allocation").values():
        result = method(problem)
        assert (result.status, result.solution, result.objective) == (Status.INFEASIBLE, None, None)
        assert result.message == "queued job 'third' needs 3 GPUs to start, 2 are left"


@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(1, 10))
@settings(deadline=None, max_examples=cases(60))
def test_the_value_rises_with_the_capacity(seed: int, capacity: int, more: int) -> None:
    """More remaining GPUs never make the optimum smaller."""
    few = elastic_jobs(jobs=6, capacity=capacity, sizes="any", scaling="across_servers", seed=seed)
    many = elastic_jobs(jobs=6, capacity=capacity + more, sizes="any", scaling="across_servers", seed=seed)
    assert (exact(few).objective or 0) <= (exact(many).objective or 0)


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=cases(40, least=14))
def test_all_jobs_get_their_maximum_when_everything_fits(seed: int) -> None:
    """With GPUs for all extra workers and proportional speed every job runs with its maximum."""
    problem = elastic_jobs(jobs=8, capacity=8 * 17 * 8, sizes="any", seed=seed)
    for method in (exact, core, dp):
        solution = unwrap(method(problem).solution)
        assert dict(solution.extra) == {job.name: job.max_extra for job in problem.jobs}


@pytest.mark.parametrize("limit", [0.2, 1.0])
@pytest.mark.parametrize("correlation", ["weak", "strong", "subset_sum"])
def test_never_worse_than_the_heuristics(limit: float, correlation: Any) -> None:
    """Whatever the limit, the value is at least that of every heuristic, and the bound is not below it."""
    problem = multiple_choice(classes=60, items=40, correlation=correlation, seed=5)
    result = exact(problem, time_limit=limit)
    assert result.objective is not None
    assert result.objective <= unwrap(result.bound)
    for method in heuristics("allocation").values():
        with suppress(Unsupported):
            assert (method(problem).objective or 0) <= result.objective


def test_usual_instances_need_neither_pyomo_nor_a_solver() -> None:
    """A fresh process proves an optimum without loading the modelling language or a solver."""
    program = (
        "import sys, gsopt; result = gsopt.solve(gsopt.load('allocation/aryl-table-4'));"
        "print(result.status, {'pyomo', 'highspy'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["optimal", "set()"]


def test_the_packages_methods() -> None:
    """The decision offers these exact methods, and the default among them is called exact."""
    assert list(exact_methods("allocation")) == ["bundling", "core", "dp", "exact", "milp"]


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
