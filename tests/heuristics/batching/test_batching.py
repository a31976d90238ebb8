"""The rules that divide GPUs among jobs with elastic batch sizes."""

import sys
from heapq import heappop
from random import Random
from typing import Any

import pytest

from formulations.batching import dp
from gsopt.core.budget import Budget
from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from gsopt.problems.batching import Batching, Grant
from heuristics.batching import equal_share, marginal, srpt
from heuristics.batching.menus import granted, nearest, shortest_first, started
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.strategies.batching import CRITERIA, THREE, gpus_of, linear, tiny


def test_the_nearest_division_uses_all_gpus() -> None:
    """With doublings the division of nine GPUs next to four each takes from one job what the other needs."""
    problem = Batching(gpus=9, jobs=[linear("a", 9, 5), linear("b", 9, 5)], menu="doublings")
    assert sorted(nearest(problem, [4, 4]) or ()) == [1, 8]


@pytest.mark.parametrize("method", [marginal, equal_share, srpt])
def test_gaps_are_made_up_for(method: Method) -> None:
    """Every rule uses all nine GPUs, though its own steps leave one."""
    problem = Batching(gpus=9, jobs=[linear("a", 9, 5), linear("b", 9, 5)], menu="doublings")
    assert sum(gpus_of(method(problem)).values()) == 9


def test_orders_and_beginnings_by_hand() -> None:
    """Jobs are ordered by their time on their fewest GPUs, and only those begin that must run."""
    jobs = [*THREE, linear("wide", 4, 20, min_gpus=4)]
    assert shortest_first(Batching(gpus=4, jobs=jobs)) == [3, 1, 2, 0]
    assert started(Batching(gpus=2, jobs=jobs)) == [0, 1, 1, 0]


def test_what_uses_all_gpus_is_looked_for_while_there_is_time() -> None:
    """Out of time the shorter jobs have what fits; where GPUs are left over then, there is no solution."""
    problem = Batching(gpus=9, jobs=[linear("a", 9, 5), linear("b", 9, 5)], menu="doublings")
    assert nearest(problem, [4, 4], Budget(time_limit=0)) is None
    found = equal_share(problem, budget=Budget(time_limit=0))
    assert gpus_of(found) == {"a": 8, "b": 1}
    gaps = [linear("a", 4, 1, min_gpus=4), linear("b", 5, 5, min_gpus=5), linear("c", 5, 5, min_gpus=5)]
    late = equal_share(Batching(gpus=10, jobs=gaps, forced="none"), budget=Budget(time_limit=0))
    assert late.solution is None
    assert late.message == "the time limit expired before numbers of GPUs were found that use all GPUs"


def one_by_one(problem: Batching) -> list[int]:
    """Grant one step after the other, each to the job that has fewest: the rule as it is said."""
    counts, order = started(problem), shortest_first(problem)
    left, racing = problem.gpus - sum(counts), list(range(len(order)))
    while racing and left:
        rank = min(racing, key=lambda rank: (counts[order[rank]], rank))
        place = order[rank]
        has = counts[place]
        more = next((count - has for count in problem.counts[place] if count > has), left + 1)
        if more > left:
            racing.remove(rank)
        else:
            counts[place] += more
            left -= more
    return counts


def drawn(random: Random) -> Batching:
    """Draw jobs with caps, fewest GPUs and gaps of all sizes."""
    jobs = [
        linear(f"j{each}", random.randint(1, 30), random.randint(1, 9), min_gpus=random.choice((1, 1, 1, 2, 5)))
        for each in range(random.randint(0, 8))
    ]
    menu: Any = random.choice(("every", "every", "every", "doublings"))
    forced: Any = random.choice(("none", "all"))
    return Batching(gpus=random.randint(0, 90), jobs=jobs, menu=menu, forced=forced, use="any")


def test_steps_taken_together_are_those_taken_one_by_one() -> None:
    """Jobs rise together as far as they would one after the other."""
    for seed in range(cases(300)):
        problem = drawn(Random(seed))
        counts = gpus_of(equal_share(problem))
        assert [counts.get(job.name, 0) for job in problem.jobs] == one_by_one(problem), seed


def test_the_number_of_gpus_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs share a million GPUs in a few steps."""
    steps: list[object] = []

    def popped(queue: list[Any]) -> Any:
        steps.append(queue)
        return heappop(queue)

    monkeypatch.setattr(sys.modules["heuristics.batching.equal_share"], "heappop", popped)
    counts = gpus_of(equal_share(Batching(gpus=10**6, jobs=[linear("a", 10**6, 9), linear("b", 300_000, 9)])))
    assert counts == {"a": 700_000, "b": 300_000}
    assert len(steps) < 20


def test_idle_gpus_are_left_where_nothing_gains() -> None:
    """Where any number may be used, GPUs that gain nothing stay idle."""
    assert gpus_of(marginal(Batching(gpus=7, jobs=THREE, use="any"))) == {"long": 1, "short": 1, "middle": 1}


def test_gains_that_fall_make_it_optimal() -> None:
    """With linear speeds, where each further GPU saves less time, marginal gains are optimal."""
    for gpus in range(3, 15):
        problem = Batching(gpus=gpus, jobs=THREE, criterion="sum_time")
        assert marginal(problem).objective == dp(problem).objective


def test_it_comes_close() -> None:
    """On 64 GPUs and 60 jobs marginal gains are within three per cent of the optimum by every criterion."""
    for criterion in CRITERIA:
        problem = elastic_jobs(gpus=64, jobs=60, criterion=criterion, seed=1)
        best, found = dp(problem).objective, marginal(problem).objective
        assert best is not None
        assert found is not None
        assert abs(float(found / best) - 1) < 0.03


def test_each_step_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a job costs is computed once for each number of GPUs that it gets or is offered."""
    asked: list[int] = []

    def noted(problem: Batching, place: int, gpus: int) -> Grant:
        asked.append(gpus)
        return granted(problem, place, gpus)

    monkeypatch.setattr(sys.modules["heuristics.batching.marginal"], "granted", noted)
    counts = gpus_of(marginal(Batching(gpus=400, jobs=THREE, criterion="sum_time")))
    assert sum(counts.values()) == 14
    assert len(asked) <= 14 + len(THREE)


def test_without_time_the_shorter_jobs_have_what_is_left() -> None:
    """All GPUs are used, whenever it stops."""
    found = marginal(Batching(gpus=9, jobs=THREE), budget=Budget(time_limit=0))
    assert gpus_of(found) == {"long": 1, "short": 2, "middle": 6}


def test_nobody_forced_the_shortest_has_its_cap() -> None:
    """Where nobody must run the shortest job has its cap, the next one what is left, the others wait."""
    assert gpus_of(srpt(Batching(gpus=7, jobs=THREE, forced="none"))) == {"short": 2, "middle": 5}


HEURISTICS = heuristics("batching")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_divides_the_gpus_of_every_instance(method: Method) -> None:
    """On instances with hard numbers and menus with gaps heuristics break no rule and beat no optimum."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        found, best = method(problem).objective, oracle.optimum(problem)
        assert found is not None, seed
        assert best is not None
        assert not problem.sense.better(found, best), seed


def test_the_best_of_little_time_stands_first() -> None:
    """Whoever has little time begins with marginal gains."""
    assert next(iter(HEURISTICS)) == "marginal"


@pytest.mark.parametrize(
    ("method", "criterion", "expected"),
    [
        (equal_share, "rate", (2, 2, 3)),  # two each are six, and the shorter of the others gets the seventh
        (srpt, "rate", (1, 2, 4)),  # one each, then the short job its cap of two, and the middle one the rest
        (marginal, "sum_time", (4, 1, 2)),  # the next ones save 50, 20, 17, and 8 s; the short job would save 5
    ],
)
def test_gpus_by_hand(method: Method, criterion: Any, expected: tuple[int, ...]) -> None:
    """Seven GPUs are divided as the rule says; on two GPUs the two shortest jobs have one each."""
    found = gpus_of(method(Batching(gpus=7, jobs=THREE, criterion=criterion)))
    assert tuple(found[name] for name in ("long", "short", "middle")) == expected
    assert gpus_of(method(Batching(gpus=2, jobs=THREE))) == {"short": 1, "middle": 1}
