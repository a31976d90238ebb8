"""Pairs of jobs of which one may as well complete first."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from random import Random

import pytest

from formulations.scheduling.exchange import exchange_orders
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import best_plan
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.effort import cases


def _alike(seed: int) -> Scheduling:
    """Draw three jobs, most of them with rates in proportion; for every other seed also fairness."""
    random = Random(seed)
    counts = random.choice(((1, 2), (1, 4), (2, 4), (1, 2, 4)))
    exponent = random.choice((1.0, 0.6))
    jobs = []
    for index in range(3):
        factor, works = random.choice((1, 2, 5)), random.randint(1, 4)
        menu = counts if random.random() < 0.8 else counts[:1]
        jobs.append(
            ElasticJob(
                name=f"j{index}",
                release=random.choice((0, 0, 1)),
                work=factor * works,
                rates={count: factor * round(count**exponent, 3) for count in menu},
            )
        )
    fairness = random.choice((0.5, 1.0, 2.0)) if seed % 2 else None
    return Scheduling(name=f"alike-{seed}", gpus=4, jobs=jobs, fairness=fairness)


def _totals(instance: Instance) -> Iterator[tuple[tuple[int, ...], float]]:
    """Return the best sum of completion times of every order of completions among all arrivals."""
    arrivals = [-1] * (len(instance.arrivals) - 1)
    for order in sorted(set(permutations([*arrivals, *range(len(instance))]))):
        plan = best_plan(instance, order)
        if plan is not None:
            yield order, plan.total


def test_some_best_schedule_has_all_the_orders() -> None:
    """Of the orders of events, those in which all pairs complete as given reach the optimum of all of them."""
    found = fair = 0
    for seed in range(cases(30)):
        problem = _alike(seed)
        instance = Instance.of(problem)
        pairs = exchange_orders(instance)
        every = dict(_totals(instance)) if pairs else {}
        if not every:
            continue
        kept = [
            total for order, total in every.items() if all(order.index(a) < order.index(b) for a, b in pairs)
        ]
        assert min(kept) == pytest.approx(min(every.values()), rel=1e-7), problem.name
        found += len(pairs)
        fair += problem.fairness is not None
    assert found >= cases(20)
    assert fair >= cases(6)


def _job(name: str, *, release: float = 0, work: float = 2, **rates: float) -> ElasticJob:
    menu = {int(count.removeprefix("on_")): rate for count, rate in rates.items()} or {1: 1.0, 2: 1.5}
    return ElasticJob(name=name, release=release, work=work, rates=menu)


BASE = _job("base")
PAIRS = [
    ("a copy", _job("other"), True, False),
    ("less work", _job("other", work=1.9), False, True),
    ("more work", _job("other", work=2.1), True, False),
    ("later", _job("other", release=0.5), True, False),
    ("later but shorter", _job("other", release=0.5, work=1), False, False),
    ("thrice as fast, as long", _job("other", work=6, on_1=3.0, on_2=4.5), True, False),
    ("thrice as fast, shorter", _job("other", work=5.9, on_1=3.0, on_2=4.5), False, True),
    ("thrice as fast, longer", _job("other", work=6.1, on_1=3.0, on_2=4.5), True, False),
    ("no such speed-up", _job("other", work=1, on_1=1.0, on_2=1.4), False, False),
    ("no such speed-up, longer", _job("other", work=3, on_1=1.0, on_2=1.4), False, False),
    ("more speed-up", _job("other", work=1, on_1=1.0, on_2=1.6), False, False),
    ("more speed-up, longer", _job("other", work=3, on_1=1.0, on_2=1.6), False, False),
    ("one count more", _job("other", work=1, on_1=1.0, on_2=1.5, on_3=1.6), False, False),
    ("one count less", _job("other", work=1, on_1=1.0), False, False),
    ("nearly that speed-up", _job("other", on_1=1.0, on_2=1.5000000001), False, False),
    ("another count", _job("other", work=1, on_1=1.0, on_3=1.5), False, False),
]


@pytest.mark.parametrize(("other", "first", "second"), [each[1:] for each in PAIRS], ids=[p[0] for p in PAIRS])
def test_one_precedes_the_other(other: ElasticJob, first: bool, second: bool) -> None:
    """With rates in proportion, the one released no later and with no more work is first, else neither."""
    instance = Instance.of(Scheduling(gpus=3, jobs=[BASE, other]))
    expected = {(0, 1): first, (1, 0): second}

    assert exchange_orders(instance) == {pair for pair, holds in expected.items() if holds}


def test_decimals_are_taken_as_they_are_written() -> None:
    """Rates of 0.1 and 0.7, and 0.3 and 2.1, are in proportion, though their doubles are not."""
    one, other = _job("one", work=0.1, on_1=0.1, on_2=0.7), _job("other", work=0.3, on_1=0.3, on_2=2.1)
    assert 0.1 * 2.1 != 0.7 * 0.3

    assert exchange_orders(Instance.of(Scheduling(gpus=2, jobs=[one, other]))) == {(0, 1)}


def test_a_later_deadline_keeps_a_job_from_being_first() -> None:
    """The shorter job that has to wait longer for its fair share, and so has more time, is not put first."""
    jobs = [
        ElasticJob(name="long", release=0, work=4, rates={1: 1.0}),
        ElasticJob(name="short", release=0, work=3, rates={1: 1.0}, gpus=1),
    ]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs, fairness=1))
    assert instance.deadline[1] < instance.deadline[0]
    assert exchange_orders(instance) == {(1, 0)}

    swapped = replace(instance, deadline=(instance.deadline[1], instance.deadline[0]))
    assert exchange_orders(swapped) == frozenset()
