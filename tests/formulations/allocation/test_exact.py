"""The default method, all exact methods against each other, and properties of the optimum."""

import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import bundling, core, dp, exact, milp, states
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status, StoppedBy
from gsopt.evaluation.catalogue import exact_methods, heuristics, names
from gsopt.problems.allocation import Allocation, ElasticJob
from instances.allocation import elastic_jobs, figure_6, multiple_choice, table_4
from tests.effort import cases
from tests.strategies.allocation import committed, medium, optimum, tiny


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
    [
        (table_4(), 86, {"A": 1, "B": 3}),
        (figure_6(), 80, {"A": 1, "B": 2}),
    ],
    ids=["table-4", "figure-6"],
)
def test_examples_of_the_paper(problem: Allocation, value: int, extra: dict[str, int]) -> None:
    """Table 4 (A+1, B+3) and Figure 6 (A+1, B+2) with four remaining GPUs are worth 86 and 80."""
    for method in (dp, bundling, core, exact, milp):
        result = method(problem)
        assert result.solution is not None
        assert (result.status, result.objective, dict(result.solution.extra)) == (Status.OPTIMAL, value, extra)


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
    monkeypatch.setattr(states, "MOST_STATES", -1)
    problem = _alike()
    assert core(problem).status is Status.FEASIBLE
    assert (exact(problem).status, exact(problem).objective) == (Status.OPTIMAL, 1_003)


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
    monkeypatch.setattr(states, "MOST_STATES", -1)
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
    monkeypatch.setattr(states, "MOST_STATES", -1)
    problem = medium(12)
    known, result = core(problem), exact(problem, on_incumbent=lambda found: found.solver == "highs")
    assert result.objective is not None
    assert result.bound is not None
    assert known.objective is not None
    assert known.bound is not None
    assert result.objective >= known.objective
    assert result.bound <= known.bound


def test_a_model_that_solvers_cannot_take_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where weights are beyond what solvers can be trusted with, the choice known is returned and says so."""
    monkeypatch.setattr(states, "MOST_STATES", -1)
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
@settings(deadline=None, max_examples=40)
def test_all_jobs_get_their_maximum_when_everything_fits(seed: int) -> None:
    """With GPUs for all extra workers and proportional speed every job runs with its maximum."""
    problem = elastic_jobs(jobs=8, capacity=8 * 17 * 8, sizes="any", seed=seed)
    for method in (exact, core, dp):
        solution = method(problem).solution
        assert solution is not None
        assert dict(solution.extra) == {job.name: job.max_extra for job in problem.jobs}


@pytest.mark.parametrize("limit", [0.2, 1.0])
@pytest.mark.parametrize("correlation", ["weak", "strong", "subset_sum"])
def test_never_worse_than_the_heuristics(limit: float, correlation: Any) -> None:
    """Whatever the limit, the value is at least that of every heuristic, and the bound is not below it."""
    problem = multiple_choice(classes=60, items=40, correlation=correlation, seed=5)
    result = exact(problem, time_limit=limit)
    assert result.objective is not None
    assert result.bound is not None
    assert result.objective <= result.bound
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
