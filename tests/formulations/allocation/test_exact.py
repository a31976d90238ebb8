"""The default method, all exact methods against each other, and properties of the optimum."""

import random
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import bundling, core, dp, exact, milp
from gsopt.errors import Unsupported
from gsopt.method import accepts
from gsopt.problem import Problem
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.result import Status
from gsopt.study import exact_methods, load, names
from gsopt.testing import brute_force
from instances.allocation import elastic_jobs, figure_6, table_4


def committed(name: str) -> Allocation:
    """Load a committed instance of this decision."""
    problem: Problem[Any] = load(f"allocation/{name}")
    assert isinstance(problem, Allocation)
    return problem


def random_problem(seed: int) -> Allocation:
    """Draw a small problem: any sizes, tables of any shape, queued jobs, sometimes too many of them."""
    rng = random.Random(seed)
    sizes = rng.choice([(1, 2, 4), (1, 2, 3, 4, 5), (3,)])
    jobs: list[ElasticJob] = []
    for index in range(rng.randint(0, 4)):
        least, more = rng.randint(1, 4), rng.randint(0, 4)
        queued = rng.random() < 0.2
        kinds: list[dict[str, Any]] = [
            {"time_at_min": rng.randint(0, 200)},
            {"remaining_work": rng.randint(0, 600) / 4},
            {"values": tuple(rng.randint(-5, 60) for _ in range(more)), "time_at_min": 9},
        ]
        jobs.append(
            ElasticJob(
                name=f"j{index}",
                min_workers=least,
                max_workers=least + more,
                gpus_per_worker=rng.choice(sizes),
                queued=queued,
                **rng.choice(kinds),
            )
        )
    return Allocation(name=f"seed {seed}", capacity=rng.randint(0, 25), jobs=tuple(jobs))


@pytest.mark.parametrize("hundred", range(20))
def test_all_methods_equal_enumeration(hundred: int) -> None:
    """On 2,000 random instances every exact method that applies finds the value of enumeration, exactly."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        problem = random_problem(seed)
        best = brute_force(problem)
        for method in exact_methods("allocation").values():
            certificates: list[dict[str, Any]] = [{}]
            if accepts(method, "exact_arithmetic"):
                certificates.append({"exact_arithmetic": True})
            for options in certificates:
                try:
                    result = method(problem, **options)
                except Unsupported:
                    assert method is bundling
                    continue
                assert result.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
                assert result.objective == (None if best is None else best[0]), (result.method, seed)
                assert not options or result.bound == result.objective


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
    """The value and bound that stand in every large file are what exact arithmetic proves."""
    problem = committed(name.removeprefix("allocation/"))
    result = exact(problem, exact_arithmetic=True)
    assert problem.about is not None
    assert result.objective == result.bound
    assert problem.about.objective == problem.about.bound == float(Fraction(result.objective or 0))
    assert exact(problem).objective == result.objective


@pytest.mark.parametrize(
    ("options", "technique"),
    [
        ({"jobs": 9, "capacity": 20}, "bundling: worker sizes 1"),
        ({"jobs": 30, "capacity": 60, "sizes": "any"}, "core: "),
        ({"jobs": 30, "capacity": 60, "scaling": "across_servers"}, "core: "),
    ],
)
def test_the_message_says_which_technique_was_used(options: dict[str, Any], technique: str) -> None:
    """Divisible sizes and concave values are bundled; other sizes, and other values, are left to the core."""
    assert exact(elastic_jobs(seed=1, **options)).message.startswith(technique)


def test_a_core_too_large_goes_to_the_integer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no table is possible the integer program takes over and says why; exact arithmetic is refused."""
    monkeypatch.setattr(import_module("formulations.allocation.dp"), "LARGEST_TABLE", -1)
    problem = committed("small/convex")
    result = exact(problem)
    assert (result.method, result.status, result.objective) == ("exact", Status.OPTIMAL, 34)
    assert result.message.startswith("milp: a table of")
    with pytest.raises(Unsupported):
        exact(problem, exact_arithmetic=True)


def test_infeasible_names_the_first_job() -> None:
    """Queued jobs that cannot all start make every exact method report infeasible and the first such job."""
    problem = committed("small/cannot-start")
    for method in exact_methods("allocation").values():
        result = method(problem)
        assert (result.status, result.solution, result.objective) == (Status.INFEASIBLE, None, None)
        assert result.message == "queued job 'third' needs 3 GPUs to start, 2 are left"


@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(1, 10))
@settings(deadline=None, max_examples=60)
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


def test_the_packages_methods() -> None:
    """The decision offers these exact methods, and the default among them is called exact."""
    assert list(exact_methods("allocation")) == ["bundling", "core", "dp", "exact", "milp"]
