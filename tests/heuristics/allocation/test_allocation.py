"""Greedy rules for extra workers, and the knapsack of Algorithm 2."""

from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import exact
from gsopt.core.errors import Unsupported
from gsopt.core.method import Method
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import heuristics, load, names
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.testing import check_heuristic
from heuristics.allocation import highest_density, marginal_greedy, two_phase
from heuristics.allocation.items import Items
from heuristics.allocation.max_value import max_value
from instances.allocation import elastic_jobs, table_4
from tests.effort import cases
from tests.heuristics.results import solved
from tests.strategies.allocation import tiny


@pytest.mark.parametrize("scaling", ["proportional", "imperfect"])
@pytest.mark.parametrize("capacity", [0, 9, 1_000])
def test_items_are_those_of_the_problem(scaling: Any, capacity: int) -> None:
    """Every item that fits stands in its job's place, with the problem's own value, in floats."""
    _check(elastic_jobs(jobs=9, capacity=capacity, scaling=scaling, queued_share=0.3, seed=2))


@pytest.mark.parametrize("seed", range(60))
def test_items_of_every_magnitude(seed: int) -> None:
    """Ranges and menus, tables and times of all magnitudes are listed alike."""
    problem = tiny(seed)
    if not problem.obstacle:
        _check(problem)


def _check(problem: Allocation) -> None:
    items = Items.of(problem)
    wanted = [
        (number, extra, extra * job.gpus_per_worker, pytest.approx(float(job.value(extra)), rel=1e-14, abs=0))
        for number, job in enumerate(problem.jobs)
        for extra in job.extras
        if extra * job.gpus_per_worker <= problem.remaining
    ]
    columns = (items.job, items.extra, items.gpus, items.value)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == wanted
    counts = [sum(number == each for each, *_ in wanted) for number in range(len(problem.jobs))]
    assert (items.first[1:] - items.first[:-1]).tolist() == counts


def test_no_jobs_are_no_items() -> None:
    """An instance without jobs, or without extra workers, has no items."""
    rigid = ElasticJob(name="a", min_workers=1, max_workers=1, time_at_min=1)
    for jobs in ((), (rigid,)):
        assert Items.of(Allocation(capacity=3, jobs=jobs)).value.tolist() == []


def test_the_order_of_table_4() -> None:
    """Densities 50 for A, and 20, 15, 12, 10 for B: A first, then three workers for B, worth 86."""
    result = highest_density(table_4())
    assert result.solution is not None
    assert (result.objective, dict(result.solution.extra)) == (86, {"A": 1, "B": 3})


def test_sees_behind_a_worker_that_saves_nothing() -> None:
    """Two workers that save 50 s together are taken though the first saves nothing."""
    job = ElasticJob(name="a", min_workers=1, max_workers=3, values=(0, 50))
    assert highest_density(Allocation(capacity=2, jobs=(job,))).objective == 50


def test_averages_mislead() -> None:
    """A second worker that adds 1 s is taken for its high average; 40 s for another job are lost."""
    first = ElasticJob(name="first", min_workers=1, max_workers=3, values=(100, 101))
    other = ElasticJob(name="other", min_workers=1, max_workers=2, values=(40,))
    assert highest_density(Allocation(capacity=2, jobs=(first, other))).objective == 101


def test_a_larger_item_worth_less_is_not_taken() -> None:
    """Two workers that save less than one are passed over, and the GPU goes elsewhere."""
    first = ElasticJob(name="first", min_workers=1, max_workers=3, values=(100, 90))
    other = ElasticJob(name="other", min_workers=1, max_workers=2, values=(40,))
    assert highest_density(Allocation(capacity=2, jobs=(first, other))).objective == 140


def test_items_of_a_menu() -> None:
    """A menu of 2 or 5 workers: 2 for 40 (20 per GPU) first, then 5 for 75 in their place."""
    menu = ElasticJob(name="menu", min_workers=1, counts=(2, 5), values=(40, 75))
    result = highest_density(Allocation(capacity=5, jobs=(menu,)))
    assert result.solution is not None
    assert (result.objective, dict(result.solution.extra)) == (75, {"menu": 5})


@given(st.integers(0, 10_000), st.integers(0, 120))
@settings(deadline=None, max_examples=cases(60))
def test_optimal_with_one_worker_size(seed: int, capacity: int) -> None:
    """With one worker size and proportional speed the greedy finds the optimum, exactly."""
    problem = elastic_jobs(jobs=12, capacity=capacity, sizes="one", seed=seed)
    assert marginal_greedy(problem).objective == exact(problem).objective


def test_blocked_by_a_small_job() -> None:
    """One GPU for a small job (100 s) leaves three that the large one (300 s for four) cannot use."""
    small = ElasticJob(name="small", min_workers=1, max_workers=2, time_at_min=200)
    large = ElasticJob(name="large", min_workers=1, max_workers=2, gpus_per_worker=4, time_at_min=600)
    problem = Allocation(capacity=4, jobs=(small, large))
    assert (marginal_greedy(problem).objective, exact(problem).objective) == (100, 300)


def test_not_optimal_with_several_sizes() -> None:
    """Sizes 2, 3, 5 and sizes 1, 3, 6 leave remainders that cost the greedy some of the value."""
    for name in ("sizes-2-3-5", "sizes-1-3-6"):
        problem = load(f"allocation/small/{name}")
        assert isinstance(problem, Allocation)
        found, best = marginal_greedy(problem).objective, exact(problem).objective
        assert found is not None
        assert best is not None
        assert found < best


def test_blind_behind_a_worker_that_saves_nothing() -> None:
    """A first worker that saves nothing hides the second that saves 50 s."""
    job = ElasticJob(name="a", min_workers=1, max_workers=3, values=(0, 50))
    assert marginal_greedy(Allocation(capacity=2, jobs=(job,))).objective == 0


def test_a_step_of_a_menu_is_one_choice() -> None:
    """Three workers at once for 90 (30 per GPU) come before one for 25, and the last GPU goes to that one."""
    menu = ElasticJob(name="menu", min_workers=1, counts=(3, 4), values=(90, 95))
    single = ElasticJob(name="single", min_workers=1, max_workers=3, values=(25, 26))
    result = marginal_greedy(Allocation(capacity=4, jobs=(menu, single)))
    assert result.solution is not None
    assert (result.objective, dict(result.solution.extra)) == (115, {"menu": 3, "single": 1})


def test_of_equal_steps_that_of_the_first_job_is_taken() -> None:
    """Equal values per GPU go in the order of the jobs, though a later job needs fewer GPUs."""
    large = ElasticJob(name="large", min_workers=1, counts=(2,), values=(20,))
    small = ElasticJob(name="small", min_workers=1, counts=(1,), values=(10,))
    solution = solved(marginal_greedy(Allocation(capacity=2, jobs=(large, small))))
    assert dict(solution.extra) == {"large": 2}


ITEM = st.tuples(st.integers(1, 9), st.integers(-5, 30).map(float))


@given(st.lists(st.lists(ITEM, max_size=3), max_size=4), st.integers(0, 20))
@settings(deadline=None, max_examples=cases(200))
def test_finds_the_largest_value(groups: list[list[tuple[int, float]]], capacity: int) -> None:
    """Items in any order: the choice fits, and no other choice that fits is worth more."""
    chosen = max_value(groups, capacity)
    taken = [items[number - 1] for items, number in zip(groups, chosen, strict=True) if number]
    assert sum(weight for weight, _ in taken) <= capacity
    best = max(
        sum(value for _, value in choice)
        for choice in product(*([(0, 0.0), *items] for items in groups))
        if sum(weight for weight, _ in choice) <= capacity
    )
    assert sum(value for _, value in taken) == best


def test_items_of_figure_6() -> None:
    """Jobs A (two GPUs per worker) and B of Figure 6 on four GPUs: one extra worker and two, worth 80."""
    job_b = [(1, 20.0), (2, 30.0), (3, 36.0), (4, 40.0)]
    assert max_value([[(2, 50.0)], job_b], 4) == [1, 2]


def test_a_table_too_large_is_refused() -> None:
    """A table that memory cannot hold is refused with its size."""
    with pytest.raises(Unsupported, match="2,000 groups by 1,000,000 GPUs"):
        max_value([[(500, 1.0)]] * 2_000, 10**9)


def test_a_run_too_long_is_refused() -> None:
    """A table of few rows is refused too when its items make it take minutes."""
    with pytest.raises(Unsupported, match="3 groups by 3,000,000 GPUs"):
        max_value([[(1_000_000, 1.0)] * 60] * 3, 10**9)


def test_the_packages_methods() -> None:
    """The decision offers these heuristics, each by the name of its function."""
    found = heuristics("allocation")
    assert list(found) == ["highest_density", "marginal_greedy", "two_phase"]
    assert all(name == method.__name__ for name, method in found.items())


def test_every_heuristic_names_the_first_job_that_cannot_start() -> None:
    """Where the queued jobs cannot all start every heuristic reports infeasible and the first such job."""
    problem = load("allocation/small/cannot-start")
    for method in heuristics("allocation").values():
        result = method(problem)
        assert (result.status, result.solution) == (Status.INFEASIBLE, None)
        assert result.message == "queued job 'third' needs 3 GPUs to start, 2 are left"


@pytest.mark.parametrize("method", [*heuristics("allocation").values(), partial(two_phase, weight="printed")])
def test_solutions_of_every_small_instance(method: Method) -> None:
    """On every committed small instance the solution is feasible and never beats the optimum."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_heuristic(method, problems) == len(problems) - 1
