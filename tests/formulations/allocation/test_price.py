"""The price: bounds that hold in spite of rounding, and no item lost that matters."""

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from formulations.allocation import core
from formulations.allocation.groups import Groups
from formulations.allocation.price import price_items
from gsopt.core.budget import Budget
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from instances.allocation import elastic_jobs, table_4
from tests.effort import cases
from tests.strategies.allocation import Impatient, medium, optimum, tiny


@pytest.mark.parametrize("hundred", range(5))
def test_the_excess_bounds_the_optimum(hundred: int) -> None:
    """On 500 instances of all magnitudes no choice is worth more than the one found and its excess."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        problem = tiny(seed)
        best = optimum(problem)
        if best is None:
            continue
        groups = Groups.of(problem)
        priced = price_items(groups, Budget())
        solution = groups.solution(priced.choice)
        assert problem.violations(solution) == []
        assert best <= problem.objective(solution) + Fraction(priced.excess)


@pytest.mark.parametrize("seed", range(cases(150)))
def test_better_choices_hold_only_items_that_are_left(seed: int) -> None:
    """Every choice that fits and is worth more than the one found consists of items that were kept."""
    problem = tiny(seed)
    if problem.obstacle:
        return
    groups = Groups.of(problem)
    priced = price_items(groups, Budget())
    known = problem.objective(groups.solution(priced.choice))
    left = set(priced.items.tolist())
    assert left >= set(priced.choice.tolist())
    for choice in product(*map(range, groups.first[:-1].tolist(), groups.first[1:].tolist())):
        solution = groups.solution(np.array(choice, dtype=np.int64))
        if not problem.violations(solution) and problem.objective(solution) > known:
            assert left >= set(choice)


@pytest.mark.parametrize("seed", range(60))
def test_rounding_does_not_make_the_excess_too_small(seed: int) -> None:
    """The excess is at least what exact fractions give for the same price and choice, to the last digit."""
    random = Random(seed)
    jobs = tuple(
        ElasticJob(
            name=str(index),
            min_workers=random.randint(1, 9),
            counts=(1, 2, 5, 11),
            gpus_per_worker=random.randint(1, 5),
            time_at_min=random.random() * 10.0 ** random.randint(-6, 6),
        )
        for index in range(20)
    )
    problem = Allocation(capacity=random.randint(1, 300), jobs=jobs)
    groups = Groups.of(problem)
    priced = price_items(groups, Budget())
    price = Fraction(priced.price)
    scores = [
        jobs[job].value(extra) - price * weight
        for job, extra, weight in zip(
            *(a.tolist() for a in (groups.job, groups.extra, groups.weight)), strict=True
        )
    ]
    best = [
        max(scores[a:b]) for a, b in zip(groups.first[:-1].tolist(), groups.first[1:].tolist(), strict=True)
    ]
    exact = sum(best) + price * groups.capacity - problem.objective(groups.solution(priced.choice))
    assert exact <= Fraction(priced.excess)
    assert float(priced.excess - exact) <= 1e-12 * (1 + float(sum(map(abs, best))))


def test_the_choice_is_close_to_the_bound() -> None:
    """For thousands of jobs the choice is within a hundredth of a percent of the optimum, any sizes."""
    for scaling in ("proportional", "across_servers"):
        problem = elastic_jobs(jobs=1_000, capacity=4_000, sizes="any", scaling=scaling, seed=2)
        groups = Groups.of(problem)
        priced = price_items(groups, Budget())
        assert priced.excess <= 1e-4 * float(problem.objective(groups.solution(priced.choice)))


def test_jobs_that_are_indifferent_fill_the_capacity() -> None:
    """Where all items are worth their GPUs the price decides nothing, and the capacity is full all the same."""
    menus = tuple(
        ElasticJob(name=str(n), min_workers=1, counts=(2, 3, 7), values=(2, 3, 7)) for n in range(200)
    )
    groups = Groups.of(Allocation(capacity=703, jobs=menus))
    priced = price_items(groups, Budget())
    assert groups.used(priced.choice) == 703
    assert priced.excess < 1e-9


def test_everything_fits_at_no_price() -> None:
    """With GPUs for all, every job gets what is best for it, and no price is charged."""
    jobs = (
        ElasticJob(name="a", min_workers=1, max_workers=4, values=(3, 9, 7)),
        ElasticJob(name="b", min_workers=2, max_workers=6, gpus_per_worker=3, time_at_min=60),
    )
    groups = Groups.of(Allocation(capacity=100, jobs=jobs))
    priced = price_items(groups, Budget())
    assert (priced.price, groups.solution(priced.choice).extra) == (0.0, {"a": 2, "b": 4})
    assert priced.items.tolist() == priced.choice.tolist()


def test_a_better_start_is_the_choice() -> None:
    """Of the start and the filled choice the better one is kept."""
    groups = Groups.of(table_4())
    worse = price_items(groups, Budget(start=AllocationSolution(extra={"A": 1})))
    assert groups.solution(worse.choice).extra == {"A": 1, "B": 3}
    problem = medium(12)
    groups = Groups.of(problem)
    alone = price_items(groups, Budget())
    better = core(problem).solution
    assert better is not None
    assert problem.objective(better) > problem.objective(groups.solution(alone.choice))
    assert groups.solution(price_items(groups, Budget(start=better)).choice) == better


def test_a_price_without_any_time() -> None:
    """A budget that has passed still gives the best price, and a choice that fits."""
    problem = elastic_jobs(jobs=300, capacity=1_000, seed=3)
    groups = Groups.of(problem)
    hurried, patient = price_items(groups, Impatient(looks=[0])), price_items(groups, Budget())
    assert hurried.price == patient.price
    assert problem.violations(groups.solution(hurried.choice)) == []
