"""The core method, against the dynamic programme and exact fractions."""

from fractions import Fraction
from typing import Any

import pytest

from formulations.allocation import core, dp, whole
from formulations.allocation.core import solve_core
from formulations.allocation.groups import Groups
from gsopt.core.budget import Budget
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.testing import brute_force, check_formulation
from instances.allocation import elastic_jobs, multiple_choice
from tests.effort import cases
from tests.strategies.allocation import Impatient, medium, optimum, tiny, weakly_correlated


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the core proves the optimum that enumeration finds."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_formulation(core, problems) == len(problems)


@pytest.mark.parametrize("hundred", range(cases(4)))
def test_equals_the_dynamic_programme(hundred: int) -> None:
    """On hundreds of instances with large cores value and bound are exactly those of the full table."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        problem = medium(seed)
        result = core(problem)
        assert result.objective == result.bound == dp(problem).objective, problem.name


@pytest.mark.parametrize("scaling", ["proportional", "imperfect", "across_servers"])
def test_equals_the_dynamic_programme_at_scale(scaling: Any) -> None:
    """With hundreds of jobs of any sizes the core and the full table give one optimum."""
    problem = elastic_jobs(jobs=300, capacity=1_003, sizes="any", scaling=scaling, seed=8)
    result = core(problem)
    assert (result.status, result.bound) == (Status.OPTIMAL, result.objective)
    assert result.objective == dp(problem).objective


@pytest.mark.parametrize("correlation", ["none", "weak", "strong", "subset_sum", "ordered"])
@pytest.mark.parametrize(("classes", "items"), [(10, 100), (100, 10), (300, 30)])
def test_proves_the_classic_classes(correlation: Any, classes: int, items: int) -> None:
    """The classes by which algorithms for the problem are compared are proven, in work and not in luck."""
    problem = multiple_choice(classes=classes, items=items, largest=100, correlation=correlation, seed=7)
    result = core(problem)
    assert result.status is Status.OPTIMAL
    assert classes > 100 or result.objective == dp(problem).objective


@pytest.mark.parametrize("sizes", [(1, 2, 4, 8), (3, 5, 7)])
def test_proves_weakly_correlated_jobs(sizes: tuple[int, ...]) -> None:
    """A thousand jobs of up to a hundred extra workers, worth about their GPUs, are proven in a few looks."""
    result = core(weakly_correlated(1_000, 100, seed=1, sizes=sizes), budget=Impatient(looks=[20_000]))
    assert result.status is Status.OPTIMAL


def test_items_of_equal_density_stay_in_the_core() -> None:
    """Where every item is worth its weight the price decides nothing, and the result is still the optimum."""
    jobs = tuple(
        ElasticJob(
            name=str(d),
            min_workers=1,
            max_workers=4,
            gpus_per_worker=d,
            values=tuple(float(d * w) for w in (1, 2, 3)),
        )
        for d in (6, 10, 15, 21)
    )
    result = core(Allocation(capacity=29, jobs=jobs))
    assert result.objective == result.bound == dp(Allocation(capacity=29, jobs=jobs)).objective == 28


def test_everything_fits() -> None:
    """With GPUs for all, every job gets what is best for it, and nothing is left undecided."""
    jobs = (
        ElasticJob(name="a", min_workers=1, max_workers=4, values=(3, 9, 7)),
        ElasticJob(name="b", min_workers=2, max_workers=6, gpus_per_worker=3, time_at_min=60),
    )
    result = core(Allocation(capacity=100, jobs=jobs))
    assert result.solution is not None
    assert (result.solution.extra, result.message) == (
        {"a": 2, "b": 4},
        "core: 0 of 2 jobs undecided at the best price per GPU",
    )


@pytest.mark.parametrize("last", [0.1, 0.3, 0.30000000000000004, 1e9])
def test_sees_what_floats_cannot(last: float) -> None:
    """One digit in the seventeenth place decides, and is seen beside values of 1e9."""
    jobs = (
        ElasticJob(name="a", min_workers=1, max_workers=3, values=(0.1, 0.2)),
        ElasticJob(name="b", min_workers=1, max_workers=4, values=(0.1, 0.2, last)),
        ElasticJob(name="c", min_workers=1, max_workers=2, gpus_per_worker=3, values=(0.4,)),
    )
    problem = Allocation(capacity=3, jobs=jobs)
    result, best = core(problem), brute_force(problem)
    assert best is not None
    assert result.objective == result.bound == best[0]


def test_a_price_that_no_float_is() -> None:
    """At a price of a third, three hundred jobs are indifferent; the capacity is filled, the optimum proven."""
    jobs = tuple(
        ElasticJob(name=str(n), min_workers=1, counts=(3, 9), gpus_per_worker=1, values=(1, 3))
        for n in range(300)
    )
    odd = ElasticJob(name="odd", min_workers=1, counts=(1,), values=(0.2,))
    result = core(Allocation(capacity=1_000, jobs=(*jobs, odd)))
    assert (result.status, result.objective) == (Status.OPTIMAL, 333 + Fraction(1, 5))


@pytest.mark.parametrize("seed", range(cases(60)))
def test_cut_short_it_gives_a_choice_and_a_bound(seed: int) -> None:
    """Wherever the clock stops the method, value and bound enclose the optimum, and the reason is true."""
    problem = tiny(seed) if seed % 2 else medium(seed)
    best = optimum(problem) if seed % 2 else dp(problem).objective
    if best is None:
        return
    groups = Groups.of(problem)
    for looks in (0, 1, 2, 3, 5, 8, 13, 21, 34):
        found = solve_core(groups, Impatient(looks=[looks]), lambda *_: False)
        value = problem.objective(groups.solution(found.choice))
        assert value <= best <= value + found.excess
        assert found.stopped_by is (StoppedBy.TIME_LIMIT if found.excess else StoppedBy.FINISHED)


def test_the_time_limit_leaves_a_moment_for_the_core() -> None:
    """Without any time the few undecided jobs of a usual instance are still decided, and the optimum proven."""
    result = core(elastic_jobs(jobs=300, capacity=1_003, seed=8), time_limit=0.0)
    assert result.status is Status.OPTIMAL


def test_stops_at_a_gap() -> None:
    """With a gap of a percent the method may stop early; value and bound are then that close."""
    stopped = 0
    for seed in range(60):
        problem = medium(seed)
        result = core(problem, gap=0.01)
        assert result.gap is not None
        assert result.gap <= 0.01
        assert result.stopped_by is (StoppedBy.GAP if result.status is Status.FEASIBLE else StoppedBy.FINISHED)
        stopped += result.stopped_by is StoppedBy.GAP
    assert stopped > 10


def test_a_start_is_kept_or_improved() -> None:
    """From the optimum the method proves it; from anything else it comes to the same value."""
    problem = medium(12)
    best = core(problem)
    assert best.solution is not None
    for start in (best.solution, AllocationSolution(extra={})):
        assert core(problem, start=start).objective == best.objective


def test_tells_of_every_better_choice() -> None:
    """The caller hears of choices of rising value with bounds that hold; True ends the search with the last."""
    told = 0
    for seed in range(40):
        problem = medium(seed)
        heard: list[Result[AllocationSolution]] = []
        best = core(problem, on_incumbent=heard.append).objective
        values = [each.objective or 0 for each in heard]
        assert values == sorted(set(values))
        assert all((each.bound or 0) >= (best or 0) for each in heard)
        if heard:
            told += 1
            stopped = core(problem, on_incumbent=lambda _: True)
            assert stopped.objective == values[0]
            assert stopped.stopped_by is StoppedBy.INTERRUPT
    assert told > 10


def test_values_without_a_common_denominator_leave_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where exact numbers would be too long the choice is returned with the bound of floats, and says why."""
    monkeypatch.setattr(whole, "_LONGEST", 4)
    problem = elastic_jobs(jobs=40, capacity=101, sizes="any", seed=1)
    groups = Groups.of(problem)
    found = solve_core(groups, Budget(), lambda *_: False)
    best = optimum(problem)
    assert best is not None
    assert 0 < best - problem.objective(groups.solution(found.choice)) <= found.excess
    assert "no short common denominator" in found.message
    assert found.stopped_by is StoppedBy.FINISHED


def test_options_that_have_no_use_are_named() -> None:
    """The method uses no solver: a log or a backend that is asked for is said to be of no use."""
    assert core(elastic_jobs(jobs=3, seed=1), log=True).message.endswith("core takes no log")
