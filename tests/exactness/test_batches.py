"""Batches that are released together: the closed form, and how far the bound and `marginal` are from it."""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from random import Random

import pytest

from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.bounds.prices import price_bound
from gsopt.simulation import replay
from heuristics.policies import marginal
from tests.effort import cases
from tests.exactness import batches, orders
from tests.exactness.batches import Batch
from tests.unwrap import unwrap

#: Relative error of floats.
ERROR = 1e-9


def optimum(batch: Batch) -> Fraction:
    """Return the least mean completion time on whole GPUs."""
    return batches.mean(batches.whole(batch.speeds, len(batch.sizes)), batch.sizes)


def test_the_closed_form_is_the_best_of_all_orders_of_events() -> None:
    """On up to 3 jobs and 4 GPUs, it agrees with the search through all orders of events."""
    for batch in batches.drawn(range(cases(600)), jobs=3, gpus=4):
        assert unwrap(orders.optimum(batch.problem)) == pytest.approx(float(optimum(batch)), rel=ERROR)


def test_the_schedule_of_the_closed_form_is_legal_and_costs_that() -> None:
    """The judge finds no violation, and the value of the closed form, for up to 50 jobs and 64 GPUs."""
    for batch in batches.drawn(range(cases(200)), gpus=64):
        problem, solution = batch.problem, batches.schedule(batch)
        assert problem.violations(solution) == []
        assert problem.objective(solution) == pytest.approx(float(optimum(batch)), rel=ERROR)


@pytest.mark.parametrize("exponent", [0.1, 0.5, 0.9])
def test_hesrpt_is_what_ever_thinner_slices_of_gpus_come_to(exponent: float) -> None:
    """Four GPUs in slices cost more than divisible ones whatever the sizes, and in thin slices hardly more."""
    jobs, slices = 6, 400
    thin = batches.whole([(4 * part / slices) ** exponent for part in range(1, slices + 1)], jobs)
    coarse = batches.whole([count**exponent for count in range(1, 5)], jobs)
    fluid = [*accumulate(batches.divisible(exponent, 4, jobs))]  # of jobs of size 1, which build all others

    assert all(least <= cost * (1 + ERROR) for least, cost in zip(fluid, accumulate(thin), strict=True))
    assert all(least <= cost * (1 + ERROR) for least, cost in zip(fluid, accumulate(coarse), strict=True))
    assert [*map(float, accumulate(thin))] == pytest.approx([*map(float, fluid)], rel=1e-3)


@pytest.mark.parametrize("seed", range(10))
def test_the_shares_of_hesrpt_cost_what_its_closed_form_says(seed: int) -> None:
    """Divided in these shares until the next job completes, the GPUs bring about the least mean."""
    batch = batches.draw(Random(f"shares {seed}"), gpus=16)
    expected = batches.mean(batches.divisible(batch.exponent, batch.gpus, len(batch.sizes)), batch.sizes)

    assert mean_in_shares(batch) == pytest.approx(float(expected), rel=ERROR)


def mean_in_shares(batch: Batch) -> float:
    """Run a batch on divisible GPUs in the shares of heSRPT, and return the mean completion time."""
    left = sorted(batch.sizes, reverse=True)
    now = total = 0.0
    while left:
        held = (share * batch.gpus for share in batches.shares(batch.exponent, len(left)))
        speeds = [gpus**batch.exponent for gpus in held]
        seconds = left[-1] / speeds[-1]
        left = [work - seconds * speed for work, speed in zip(left, speeds, strict=True)][:-1]
        now += seconds
        total += now
    return total / len(batch.sizes)


def test_no_bound_is_above_the_optimum_of_a_batch() -> None:
    """Neither few price vectors nor many prove more than the exact optimum."""
    for batch in batches.drawn(range(cases(100)), jobs=12, gpus=12):
        for evaluations in (0, 5, 40):
            found = unwrap(mean_jct_bound(batch.scenario, evaluations=evaluations))
            assert Fraction(found.mean_jct) <= optimum(batch)


@pytest.mark.parametrize("seed", [2, 12, 57, 79])
def test_the_search_for_prices_is_not_stuck_at_kinks(seed: int) -> None:
    """With 60 price vectors, the bound is within 1 % of the optimum of batches of equal jobs."""
    (batch,) = batches.drawn([seed])
    best = float(optimum(batch))

    assert len({*batch.sizes}) == 1
    assert best * 0.99 <= price_bound(batch.scenario, evaluations=60).mean_jct <= best


@pytest.mark.parametrize("seed", [57, 79])
def test_few_prices_prove_as_much_as_the_best_schedule_of_two_copies(seed: int) -> None:
    """What GPUs are worth in that schedule proves hardly more than what the search finds in 60 steps."""
    (batch,) = batches.drawn([seed])
    times, prices = batches.gpu_prices(batch.copied(2))
    first = price_bound(batch.scenario, evaluations=1)
    started = price_bound(batch.scenario, evaluations=15, start=replace(first, times=times, prices=prices))

    assert price_bound(batch.scenario, evaluations=60).mean_jct >= started.mean_jct * 0.99


def test_marginal_is_near_the_optimum_of_batches_that_scale_poorly() -> None:
    """It is never below the optimum; with p below 0.5, at most 4 % above, and below 0.3, at most 1 %."""
    for batch in batches.drawn(range(cases(1_000)), gpus=64):
        above = replay(batch.scenario, marginal).metrics.mean_jct / float(optimum(batch)) - 1
        assert above >= -ERROR
        assert batch.exponent >= 0.5 or above <= 0.04
        assert batch.exponent >= 0.3 or above <= 0.01


def test_marginal_shares_what_equal_jobs_should_have_in_turn() -> None:
    """Equal jobs that scale well get equal shares, and a mean completion time 39 % above the optimum."""
    batch = Batch(0.9, powers(0.9, 8), (1.0,) * 4)
    found = replay(batch.scenario, marginal).metrics.mean_jct

    assert found == pytest.approx(0.5**0.9)
    assert found / float(optimum(batch)) == pytest.approx(1.39, abs=0.01)


@pytest.mark.parametrize("gpus", [1, 2, 7])
def test_known_cases(gpus: int) -> None:
    """If speeds are linear, the shortest job has all GPUs; if jobs cannot grow, they run in order of size."""
    linear = batches.whole([float(count) for count in range(1, gpus + 1)], 4)
    rigid = batches.whole([1.0] * gpus, 4)

    assert linear == [Fraction(rank, gpus) for rank in range(1, 5)]
    assert rigid == [Fraction(-(-rank // gpus)) for rank in range(1, 5)]
    assert batches.mean(linear, (1.0, 8.0, 2.0, 4.0)) == Fraction(8 + 2 * 4 + 3 * 2 + 4 * 1, 4 * gpus)


def powers(exponent: float, gpus: int) -> tuple[float, ...]:
    """Return the speeds on 1, 2, ... GPUs."""
    return tuple(count**exponent for count in range(1, gpus + 1))
