"""The core method for allocation, and its parts."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from formulations.allocation import core, dp, states, whole
from formulations.allocation import whole as module
from formulations.allocation.core import solve_core
from formulations.allocation.groups import Found, Groups, fitting_extras, judge, solve_groups
from formulations.allocation.knapsack import Knapsack
from formulations.allocation.price import price_items
from formulations.allocation.states import improve
from formulations.allocation.whole import LARGEST_TOTAL, whole_values
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from gsopt.testing import brute_force
from instances.allocation import elastic_jobs, multiple_choice, table_4
from tests.effort import cases
from tests.strategies.allocation import Impatient, medium, optimum, tiny, weakly_correlated
from tests.unwrap import unwrap


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
    assert (unwrap(result.solution).extra, result.message) == (
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
    result, best = core(problem), unwrap(brute_force(problem))
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
        assert unwrap(result.gap) <= 0.01
        assert result.stopped_by is (StoppedBy.GAP if result.status is Status.FEASIBLE else StoppedBy.FINISHED)
        stopped += result.stopped_by is StoppedBy.GAP
    assert stopped > 10


def test_a_start_is_kept_or_improved() -> None:
    """From the optimum the method proves it; from anything else it comes to the same value."""
    problem = medium(12)
    best = core(problem)
    for start in (unwrap(best.solution), AllocationSolution(extra={})):
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
    best = unwrap(optimum(problem))
    assert 0 < best - problem.objective(groups.solution(found.choice)) <= found.excess
    assert "no short common denominator" in found.message
    assert found.stopped_by is StoppedBy.FINISHED


def test_options_that_have_no_use_are_named() -> None:
    """The method uses no solver: a log or a backend that is asked for is said to be of no use."""
    assert core(elastic_jobs(jobs=3, seed=1), log=True).message.endswith("core takes no log")


@pytest.mark.parametrize("scaling", ["proportional", "across_servers"])
def test_items_are_those_of_the_jobs(scaling: Any) -> None:
    """Weight, workers and value of every item are those that the problem gives."""
    problem = elastic_jobs(jobs=7, capacity=90, sizes="any", scaling=scaling, seed=1)
    groups = Groups.of(problem)
    for item in range(groups.value.size):
        job, extra = problem.jobs[groups.job[item]], int(groups.extra[item])
        assert groups.weight[item] == extra * job.gpus_per_worker
        assert groups.workers[item] == extra + job.min_workers
        assert groups.value[item] == pytest.approx(float(job.value(extra)), rel=1e-15)


def test_extra_workers_beyond_the_capacity_are_left_out() -> None:
    """Items that do not fit alone are no items; that of no extra workers always is."""
    job = ElasticJob(name="a", min_workers=1, max_workers=9, gpus_per_worker=3, time_at_min=10)
    other = ElasticJob(name="b", min_workers=1, max_workers=2, gpus_per_worker=8, time_at_min=10)
    menu = ElasticJob(name="c", min_workers=1, counts=(2, 7, 9), values=(1, 2, 3))
    groups = Groups.of(Allocation(capacity=7, jobs=(job, other, menu)))
    assert groups.extra.tolist() == [0, 1, 2, 0, 0, 2, 7]
    assert groups.value[4:].tolist() == [0, 1, 2]
    assert list(fitting_extras(menu, 1)) == []


def test_capacity_is_counted_in_the_common_divisor() -> None:
    """Sizes 4, 8 and 12 are 1, 2 and 3 units of four GPUs; 23 GPUs are five of them."""
    jobs = tuple(
        ElasticJob(name=str(d), min_workers=1, max_workers=2, gpus_per_worker=d, time_at_min=1)
        for d in (4, 8, 12)
    )
    groups = Groups.of(Allocation(capacity=23, jobs=jobs))
    assert (groups.unit, groups.capacity, groups.size.tolist()) == (4, 5, [1, 2, 3])


def test_no_jobs_are_no_items() -> None:
    """An instance without jobs gives empty arrays."""
    groups = Groups.of(Allocation(capacity=3, jobs=()))
    assert (groups.capacity, groups.size.size, groups.first.tolist()) == (3, 0, [0])
    assert groups.solution(groups.nothing) == AllocationSolution(extra={})
    assert groups.choice(AllocationSolution(extra={})).tolist() == []


@pytest.mark.parametrize("seed", range(40))
def test_choices_are_solutions(seed: int) -> None:
    """A choice becomes a solution and the same choice again, and weighs what the problem counts."""
    problem = tiny(seed)
    if problem.obstacle:
        return
    groups = Groups.of(problem)
    choice = groups.nothing + np.arange(groups.size.size) % np.diff(groups.first)
    solution = groups.solution(choice)
    assert np.array_equal(groups.choice(solution), choice)
    assert groups.used(choice) * groups.unit == problem.used_gpus(solution)


def test_the_obstacle_is_reported() -> None:
    """Jobs that cannot start make the result infeasible, whatever the algorithm, and it is not even called."""
    job = ElasticJob(name="a", min_workers=2, max_workers=3, time_at_min=1, queued=True)
    problem = Allocation(capacity=1, jobs=(job,))

    def never(*_: Any) -> Found:
        raise AssertionError

    result = solve_groups(problem, "never", never, Budget())
    assert (result.status, result.message) == (Status.INFEASIBLE, problem.obstacle)


def test_an_excess_is_a_bound_above_the_value() -> None:
    """A choice worth 50 with an excess of 36 is bounded by 86, and is no optimum."""
    groups = Groups.of(table_4())
    found = Found(np.array([1, 2]), 36, "by hand: so", StoppedBy.TIME_LIMIT)
    result = judge(groups, "test", found, Budget())
    assert (result.status, result.objective, result.bound) == (Status.FEASIBLE, 50, 86)
    assert (result.solver, result.message, result.stopped_by) == (
        "by hand",
        "by hand: so",
        StoppedBy.TIME_LIMIT,
    )


@pytest.mark.parametrize(("answer", "stops"), [(None, False), (False, False), (True, True)])
def test_the_caller_hears_of_better_choices(answer: object, stops: bool) -> None:
    """The callback gets a judged result with its bound, and only True from it stops the algorithm."""
    heard: list[Any] = []

    def tell(result: Any) -> object:
        heard.append(result)
        return answer

    def algorithm(groups: Groups, budget: Budget, hear: Any) -> Found:
        del budget
        assert hear(groups.nothing, 100) is stops
        return Found(groups.nothing, 90, "")

    result = solve_groups(table_4(), "test", algorithm, Budget(on_incumbent=tell))
    assert [(each.objective, each.bound, each.method) for each in heard] == [(0, 100, "test")]
    assert result.bound == 90


FIRST = np.array([0, 2, 6])
WEIGHT = np.array([0, 2, 0, 1, 2, 3])
VALUE = np.array([0, 50, 0, 20, 30, 36])
START = np.array([0, 2])


@pytest.mark.parametrize(
    "price", [Fraction(0), Fraction(25, 2), Fraction(10), Fraction(20, 3), Fraction(1, 10**9)]
)
@pytest.mark.parametrize("scale", [1, 10**30])
def test_the_base_is_best_at_the_price(price: Fraction, scale: int) -> None:
    """Losses are differences to the base after payment, of machine integers and of long ones alike."""
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE.astype(object) * scale, price * scale, START)
    paid = Fraction(knapsack.price, knapsack.factor)
    assert abs(paid - price * scale) <= Fraction(1, knapsack.factor)
    for group, (begin, end) in enumerate(((0, 2), (2, 6))):
        scores = [int(VALUE[i]) * scale - int(WEIGHT[i]) * paid for i in range(begin, end)]
        base = int(knapsack.base[group])
        assert scores[base - begin] == max(scores)
        for option, score in zip(range(begin, end), scores, strict=True):
            assert Fraction(int(knapsack.loss[option]), knapsack.factor) == max(scores) - score
            assert knapsack.weight[option] == WEIGHT[option] - WEIGHT[base]
            assert knapsack.value[option] == int(VALUE[option] - VALUE[base]) * scale * knapsack.factor
    assert knapsack.room == 4 - sum(int(WEIGHT[base]) for base in knapsack.base)


def test_of_equals_the_start_is_the_base_and_else_the_lightest() -> None:
    """At a price of 10 the second and third items of a job are alike; the start decides, or the lighter one."""
    for start, base in (([0, 4], [1, 4]), ([0, 3], [1, 3]), ([0, 2], [1, 3])):
        assert Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(10), np.array(start)).base.tolist() == base


def test_a_ratio_of_whole_numbers_is_the_price_exactly() -> None:
    """A price of 20/3 is no binary fraction, and still exact."""
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(20, 3), START)
    assert Fraction(knapsack.price, knapsack.factor) == Fraction(20, 3)
    assert knapsack.value.dtype == np.int64


def test_a_price_that_is_no_short_ratio_is_rounded() -> None:
    """Where the denominator is too long for machine integers the price is the next one that is not."""
    price = Fraction(10**40 + 1, 10**40 - 1)
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE, price, START)
    assert abs(Fraction(knapsack.price, knapsack.factor) - price) < Fraction(1, 10**9)


@pytest.mark.parametrize("seed", range(200))
def test_machine_integers_do_not_overflow(seed: int) -> None:
    """Near the limit of machine integers losses are those of Python's integers."""
    random = Random(seed)
    largest = LARGEST_TOTAL // random.choice((3, 40, 10**6))
    value = np.array([0, random.randint(0, largest), 0, random.randint(-largest, largest)], dtype=object)
    weight = np.array([0, random.randint(1, 10**9), 0, random.randint(1, 10**9)])
    price = Fraction(random.randint(0, largest), random.randint(1, 10**9))
    first, start = np.array([0, 2, 4]), np.array([0, 2])
    found = Knapsack.of(10**9, first, weight, value, price, start)
    scores = [int(v) * found.factor - found.price * int(w) for v, w in zip(value, weight, strict=True)]
    best = [max(scores[:2])] * 2 + [max(scores[2:])] * 2
    assert found.loss.tolist() == [b - s for b, s in zip(best, scores, strict=True)]
    reach = 10**9 + int(weight.sum())
    assert found.value.dtype == object or (2 * found.price + 1) * reach < 2**63


def test_the_step_divides_all_differences() -> None:
    """Values of 50, 20, 30 and 36 differ by multiples of 2; without options there is no difference."""
    assert Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(12), START).step == 2 * (
        Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(12), START).factor
    )
    nothing = np.zeros(1, dtype=np.int64)
    assert Knapsack.of(4, np.array([0, 1]), nothing, nothing, Fraction(1), nothing).step == 1


def test_worth_is_counted_from_the_base() -> None:
    """The base itself is worth nothing more; dearer choices are worth the difference."""
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(12), START)
    assert knapsack.worth(knapsack.base) == 0
    assert knapsack.worth(np.array([1, 4])) == (50 + 30 - 50 - 20) * knapsack.factor


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
    better = unwrap(core(problem).solution)
    assert problem.objective(better) > problem.objective(groups.solution(alone.choice))
    assert groups.solution(price_items(groups, Budget(start=better)).choice) == better


def test_a_price_without_any_time() -> None:
    """A budget that has passed still gives the best price, and a choice that fits."""
    problem = elastic_jobs(jobs=300, capacity=1_000, seed=3)
    groups = Groups.of(problem)
    hurried, patient = price_items(groups, Impatient(looks=[0])), price_items(groups, Budget())
    assert hurried.price == patient.price
    assert problem.violations(groups.solution(hurried.choice)) == []


def drawn(seed: int) -> tuple[Knapsack, np.ndarray, int]:
    """Draw a small knapsack at some price, a choice that fits, and the best worth by enumeration."""
    random = Random(seed)
    first, weight, value = [0], [], []
    spread = random.choice((0, 2, 30))
    long = random.choice((1, 1, 10**25))
    for _ in range(random.randint(1, 5)):
        options = sorted(random.sample(range(1, 40), random.randint(0, 5)))
        weight += [0, *options]
        value += [0, *(long * max(0, 3 * w + random.randint(-spread, spread)) for w in options)]
        first.append(len(weight))
    capacity = random.randint(0, 90)
    price = Fraction(random.choice((3, 3, 1, 5, 2.9, 0))) * long
    begins = np.array(first)
    choices = [
        np.array(choice)
        for choice in product(*map(range, first[:-1], first[1:]))
        if sum(weight[option] for option in choice) <= capacity
    ]
    start = random.choice(choices)
    knapsack = Knapsack.of(capacity, begins, np.array(weight), np.array(value, dtype=object), price, start)
    return knapsack, start, max(map(knapsack.worth, choices))


def weigh(knapsack: Knapsack, choice: np.ndarray) -> int:
    """Return the weight of a choice above that of the base."""
    return int(knapsack.weight[choice].sum())


@pytest.mark.parametrize(
    "passes",
    [
        ((None, None),),
        ((None, 1), (None, None)),
        ((1, 2), (2, None), (None, 5), (None, None)),
        ((64, 64), (None, 64), (None, 1_024), (None, None)),
    ],
)
@pytest.mark.parametrize("cells", [10**9, 0])
def test_finds_the_best_choice(
    passes: tuple[tuple[int | None, int | None], ...], cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever price, start and passes, merging in a table or by sorting: the best choice, proven."""
    monkeypatch.setattr(states, "PASSES", passes)
    monkeypatch.setattr(states, "_CELLS_PER_STATE", cells)
    for seed in range(cases(400)):
        knapsack, start, best = drawn(seed)
        improved = improve(knapsack, start, Budget())
        assert weigh(knapsack, improved.choice) <= knapsack.room
        assert (knapsack.worth(improved.choice), improved.excess) == (best, 0), seed
        assert improved.stopped_by is StoppedBy.FINISHED


def test_a_search_cut_short_gives_a_bound_that_holds() -> None:
    """Wherever the clock stops it: a choice that fits, no worse than the start, and an excess that holds."""
    early = 0
    for seed in range(cases(120)):
        knapsack, start, best = drawn(seed)
        for looks in range(60):
            improved = improve(knapsack, start, Impatient(looks=[looks]))
            worth = knapsack.worth(improved.choice)
            assert weigh(knapsack, improved.choice) <= knapsack.room
            assert max(knapsack.worth(start), 0 if knapsack.room >= 0 else worth) <= worth <= best
            assert best <= worth + improved.excess
            if not improved.excess:
                break
            assert improved.stopped_by is StoppedBy.TIME_LIMIT
            early += 1
    assert early > cases(500)


def test_bounds_get_sharper_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search stopped late knows a better bound than the price alone gives."""
    monkeypatch.setattr(states, "PASSES", ((None, None),))
    sharper = 0
    for seed in range(cases(120)):
        knapsack, start, _ = drawn(seed)
        before = improve(knapsack, start, Impatient(looks=[0])).excess + knapsack.worth(start)
        for looks in range(1, 40):
            improved = improve(knapsack, start, Impatient(looks=[looks]))
            if improved.excess and improved.excess + knapsack.worth(improved.choice) < before:
                sharper += 1
                break
    assert sharper >= cases(20)


def test_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without memory for states or sums the search says so, with a bound that holds."""
    for limits in ({"MOST_STATES": 0}, {"MOST_CELLS": 0, "MOST_SUMS": 0}):
        full = 0
        with monkeypatch.context() as patch:
            for name, limit in limits.items():
                patch.setattr(states, name, limit)
            for seed in range(80):
                knapsack, start, best = drawn(seed)
                improved = improve(knapsack, start, Budget())
                assert best <= knapsack.worth(improved.choice) + improved.excess
                assert improved.stopped_by is StoppedBy.FINISHED
                assert improved.full == (improved.excess > 0)
                full += improved.full
        assert full > 10


def test_an_excess_that_is_enough_ends_the_search() -> None:
    """The search stops by the gap once the excess is small enough, and what it says holds."""
    stopped = 0
    for seed in range(200):
        knapsack, start, best = drawn(seed)
        enough = 40 * knapsack.step
        improved = improve(knapsack, start, Budget(), enough=enough)
        assert improved.excess <= enough
        assert best <= knapsack.worth(improved.choice) + improved.excess
        assert (improved.stopped_by is StoppedBy.GAP) == (improved.excess > 0)
        stopped += improved.excess > 0
    assert stopped > 20


def test_every_better_choice_is_told_and_may_be_the_last() -> None:
    """Choices are told in rising order with excesses that hold; True stops the search there."""
    told = 0
    for seed in range(200):
        knapsack, start, best = drawn(seed)
        heard: list[tuple[int, int]] = []

        def hear(choice: np.ndarray, excess: int, heard: Any = heard, knapsack: Knapsack = knapsack) -> None:
            heard.append((knapsack.worth(choice), excess))

        improve(knapsack, start, Budget(), hear=hear)
        assert [worth for worth, _ in heard] == sorted({worth for worth, _ in heard})
        assert all(worth + excess >= best for worth, excess in heard)
        if heard:
            told += 1
            improved = improve(knapsack, start, Budget(), hear=lambda *_: True)
            assert knapsack.worth(improved.choice) == heard[0][0]
            assert improved.stopped_by is (StoppedBy.INTERRUPT if improved.excess else StoppedBy.FINISHED)
    assert told > 50


@pytest.mark.parametrize("cells", [10**9, 0])
def test_dominated_states_are_dropped(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty groups alike have as many states as there are weights, not as there are combinations."""
    monkeypatch.setattr(states, "PASSES", ((None, None),))
    monkeypatch.setattr(states, "MOST_STATES", 40 * 40)
    monkeypatch.setattr(states, "_CELLS_PER_STATE", cells)
    first = np.arange(0, 3 * 41, 3)
    weight, value = np.tile([0, 2, 4], 40), np.tile([0, 4, 7], 40)
    knapsack = Knapsack.of(81, first, weight, value, Fraction(7, 4), first[:-1])
    improved = improve(knapsack, first[:-1], Budget())
    assert (improved.full, improved.excess) == (False, 0)
    assert int(value[improved.choice].sum()) == 40 * 4


def test_a_hard_class_takes_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups come from both sides, and states near the capacity first: 100 groups of 100 need no wide pass."""
    random = Random(5)
    weight = [w for _ in range(100) for w in (0, *sorted(random.sample(range(1, 10_000), 100)))]
    first = np.arange(0, 101 * 101, 101)
    value = np.array(weight)
    start = first[:-1] + np.repeat([100, 0], 50)
    capacity = int(value[start].sum()) + 7
    monkeypatch.setattr(states, "PASSES", ((64, 64),))
    improved = improve(Knapsack.of(capacity, first, value, value, Fraction(1), start), start, Budget())
    assert improved.excess == 0
    assert int(value[improved.choice].sum()) == capacity


@pytest.mark.parametrize("seed", range(cases(300)))
def test_values_are_those_of_the_problem_exactly(seed: int) -> None:
    """Of any items, of any magnitude: the number over the denominator is the problem's own fraction."""
    problem = tiny(seed)
    if problem.obstacle:
        return
    groups = Groups.of(problem)
    for items in (np.arange(groups.value.size), np.arange(0, groups.value.size, 3)):
        whole = unwrap(whole_values(groups, items, Budget()))
        given = [problem.jobs[groups.job[item]].value(int(groups.extra[item])) for item in items.tolist()]
        assert [Fraction(int(number), whole.denominator) for number in whole.numbers] == given


def test_machine_integers_as_long_as_totals_fit() -> None:
    """A total of 2**60 in units of the denominator is where Python's integers take over."""
    for total, kind in ((LARGEST_TOTAL // 4, np.int64), (LARGEST_TOTAL // 2, object)):
        jobs = tuple(
            ElasticJob(name=name, min_workers=1, max_workers=2, values=(float(total) / 10**7,)) for name in "ab"
        )
        jobs += (ElasticJob(name="c", min_workers=1, max_workers=2, values=(1e-7,)),)
        groups = Groups.of(Allocation(capacity=9, jobs=jobs))
        whole = unwrap(whole_values(groups, np.arange(6), Budget()))
        assert (whole.denominator, whole.numbers.dtype) == (10**7, np.dtype(kind))


def test_production_sizes_fit_machine_integers() -> None:
    """Two thousand jobs with up to 25 workers need no long numbers, nor do tables of seconds."""
    for scaling in ("proportional", "across_servers"):
        groups = Groups.of(elastic_jobs(jobs=2_000, capacity=4_000, scaling=scaling, seed=1))
        whole = unwrap(whole_values(groups, np.arange(groups.value.size), Budget()))
        assert whole.numbers.dtype == np.int64


def test_a_job_that_is_only_there_with_nothing_costs_nothing() -> None:
    """Where only the empty item of a long job is asked for, its time does not make numbers long."""
    long = ElasticJob(name="long", min_workers=1, max_workers=2, time_at_min=1e12)
    third = ElasticJob(name="third", min_workers=2, max_workers=30, time_at_min=1)
    groups = Groups.of(Allocation(capacity=40, jobs=(long, third)))
    whole = unwrap(whole_values(groups, np.array([0, *range(2, 12)]), Budget()))
    assert whole.numbers.dtype == np.int64


@pytest.mark.parametrize("most", [20_000, 40])
def test_a_denominator_that_is_too_long_is_refused(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many different worker counts have no short common denominator, alone or together with the times'."""
    monkeypatch.setattr(module, "_LONGEST", 20_000 if most > 100 else 60)
    job = ElasticJob(name="a", min_workers=1, max_workers=most, time_at_min=0.001)
    groups = Groups.of(Allocation(capacity=19_000, jobs=(job,)))
    with pytest.raises(Unsupported, match="no short common denominator"):
        whole_values(groups, np.arange(groups.value.size), Budget())


def test_too_many_long_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all numbers together would fill the memory they are not computed."""
    monkeypatch.setattr(module, "_MOST_DIGITS", 1_000)
    job = ElasticJob(name="a", min_workers=1, max_workers=60, time_at_min=1)
    groups = Groups.of(Allocation(capacity=100, jobs=(job,)))
    with pytest.raises(Unsupported, match="no short common denominator"):
        whole_values(groups, np.arange(groups.value.size), Budget())


@pytest.mark.parametrize("values", [(1e9, 1e-9), None])
def test_none_when_the_budget_passes_on_the_way(values: tuple[float, ...] | None) -> None:
    """Tables and proportional values alike look at the clock while they are converted."""
    job = ElasticJob(name="a", min_workers=1, max_workers=3, values=values, time_at_min=1)
    groups = Groups.of(Allocation(capacity=9, jobs=(job,)))
    for looks in (0, 1):
        assert whole_values(groups, np.arange(3), Impatient(looks=[looks])) is None
    assert whole_values(groups, np.arange(3), Impatient(looks=[2])) is not None
