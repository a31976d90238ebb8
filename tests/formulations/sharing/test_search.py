"""The search over starts at events, and its rules."""

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from math import prod
from random import Random
from typing import Any

import numpy as np
import pytest

from formulations.sharing import exact, jobs
from formulations.sharing import table as states
from formulations.sharing.areas import area_bound, serve
from formulations.sharing.best import BestSharing, Parts
from formulations.sharing.insertion import cover, insertion, insertion_bound
from formulations.sharing.jobs import Jobs, arrays_of, in_floats
from formulations.sharing.listing import in_turn, shortest_first
from formulations.sharing.lower import lower, run_out, wait_for_room
from formulations.sharing.search import DOUBT, NO, is_better, is_now, nothing_found, search
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack, new_stack
from formulations.sharing.table import is_new, new_table, table_within
from gsopt.core.budget import Budget
from gsopt.core.numbers.compiled import twin
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.core.result import Status
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from instances.sharing import interfering_jobs
from tests.effort import cases
from tests.exactness import sharing as oracle
from tests.formulations.sharing.searching import alone_from, floats_of, least_in_fractions, search_all
from tests.formulations.sharing.tiny import CLOSE, NODES, TINY


@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_plain_search_are_the_same(seed: int) -> None:
    """Machine code and plain functions visit the same nodes and find the same schedule."""
    jobs = floats_of(interfering_jobs(jobs=4, gpus=4, seed=seed))
    ways = []
    for step in (search, twin(search)):
        stack, found, table, nodes = new_stack(jobs), nothing_found(jobs), new_table(jobs, 1024), [0]
        while nodes[-1] < 100_000 and stack.depth[0] >= 0:
            nodes.append(nodes[-1] + int(step(jobs, stack, table, found, 100_000)))
        ways.append((nodes, stack.depth[0], found))

    assert ways[0][:2] == ways[1][:2]
    assert ways[0][1] == -1
    assert all(np.array_equal(one, other) for one, other in zip(ways[0][2], ways[1][2], strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_floats_and_fractions_find_the_same(seed: int) -> None:
    """The search in floats ends with the schedule whose exact value the search in fractions finds."""
    exact, units = arrays_of(interfering_jobs(jobs=4, gpus=4, seed=seed))
    rounded = search_all(in_floats(exact), new_stack(in_floats(exact)), search)
    found = search_all(exact, new_stack(exact), twin(search))
    assert list(rounded.rest) == list(found.rest) == list(units.rests(found.value[0]))
    assert rounded.value[0] == pytest.approx(float(found.value[0]), rel=1e-12)


@pytest.mark.parametrize("places", [1, 2**16])
def test_a_table_that_forgets_changes_no_optimum(places: int) -> None:
    """With a single place for states seen, the search takes longer and finds the same."""
    jobs = floats_of(interfering_jobs(jobs=5, gpus=4, seed=1))
    known, forgetful = (
        search_all(jobs, new_stack(jobs), twin(search), new_table(jobs, size)) for size in (2**16, places)
    )
    assert known.value[0] == forgetful.value[0]


def test_no_bound_at_the_root_is_above_the_optimum() -> None:
    """At the root the bound is no more than the optimum, in floats, and more than half of it."""
    for seed in range(6):
        jobs = floats_of(interfering_jobs(jobs=5, gpus=4, seed=seed))
        best = search_all(jobs, new_stack(jobs), search).value[0]
        root = twin(lower)(jobs, new_stack(jobs), 0, np.inf)
        assert 0.5 * best < root <= best * (1 + 1e-9)


@pytest.mark.parametrize(("near", "better", "now"), [(1.0, NO, True), (0.0, DOUBT, False)])
def test_remainders_count_only_where_they_prove_something(near: float, better: int, now: bool) -> None:
    """Within rounding, the same remainders mean the same number only if rounding is less than what is near."""
    jobs = floats_of(interfering_jobs(jobs=2))._replace(near=np.array([near]))
    stack, found = new_stack(jobs), nothing_found(jobs, 2.0)
    stack.cost[0], stack.slip[0] = 2.0, 1e-15
    found.rest[:] = stack.cost_rest[0]

    assert twin(is_better)(jobs, stack, 0, found) == better
    assert twin(is_now)(jobs, stack, 0, stack.time_rest[0]) == now


def test_areas_by_hand() -> None:
    """A long area that a short one interrupts ends last; alone each job ends no sooner than it can."""
    release, area = np.array([0.0, 1.0]), np.array([4.0, 1.0])

    ends = np.array([1.0, 6.0])
    twin(serve)(release, area, 0.0, ends, True)
    assert list(ends) == [2, 6]
    assert twin(serve)(release, area, 0.0, ends, False) == (0.5 * 1 + 3.5 * 3) / 4 + 1.5
    assert twin(area_bound)(release, area, area[None], np.array([4.0, 1.0]), 0.0) == 2 + 5
    assert twin(area_bound)(release, 2 * area, area[None], np.array([4.0, 1.0]), 0.0) == 4.25 + 5
    assert twin(area_bound)(release, area, np.array([area / 2, area]), np.array([4.0, 1.0]), 0.0) == 2 + 5


def at_release(jobs: Jobs, stack: Stack, depth: int, ends: Any, begins: Any) -> None:
    """Let every pending job begin at its release, whatever room there is."""
    del ends
    for job in range(len(begins)):
        begins[job] = max(stack.time[depth], jobs.release[job] * (stack.state[depth, job] == PENDING).item())


#: Rules by the names of what they are asked, and an answer that leaves out nothing.
OFF: dict[str, Callable[..., Any]] = {
    "search.lower": lambda *_: 0,
    "search.is_new": lambda *_: True,
    "search.is_least": lambda *_: True,
    "lower.insertion_bound": lambda *_: 0,
    "lower.area_bound": lambda *_: 0,
    "lower.wait_for_room": at_release,
    "lower.weigh": lambda *_: None,
    "insertion.cover": lambda *_: 0,
    "insertion.beside": lambda *_: 0,
}


def switch_off(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a rule of the plain search leave out nothing."""
    module, name = rule.split(".")
    monkeypatch.setattr(import_module(f"formulations.sharing.{module}"), name, OFF[rule])


@pytest.mark.parametrize("number", range(len(TINY)))
def test_every_optimum_is_found(number: int) -> None:
    """With all rules on, the search finds the least value of all schedules, in fractions and in floats."""
    problem = TINY[number].problem
    optimum = oracle.optimum(problem)
    jobs, units = arrays_of(problem)
    floats = in_floats(jobs)
    found = search_all(floats, new_stack(floats), twin(search))

    assert least_in_fractions(problem) == optimum
    assert list(found.rest) == list(units.rests(units.total(optimum)))


@pytest.mark.parametrize("number", range(len(CLOSE)))
def test_what_floats_cannot_tell_is_proven(number: int) -> None:
    """Schedules that differ by less than rounding are told apart, and so are two events."""
    problem = CLOSE[number].problem
    result = exact(problem)
    assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem))


@pytest.mark.parametrize("rule", OFF)
def test_no_rule_changes_an_optimum(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one rule off, the search finds the same as with all of them on."""
    problems = [tiny.problem for tiny in TINY if len(tiny.jobs) < 4 or tiny.gpus < 3]
    known = [least_in_fractions(problem) for problem in problems]
    switch_off(rule, monkeypatch)
    assert [least_in_fractions(problem) for problem in problems] == known


def test_no_bound_is_above_the_least_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """At nodes on the way, the bound is a fraction and no more than the least sum of ends behind."""
    bound = twin(lower)
    switch_off("search.lower", monkeypatch)
    step = twin(search)
    for tiny in NODES:
        jobs, _ = arrays_of(tiny.problem)
        stack = new_stack(jobs)
        for _ in range(12):
            step(jobs, stack, new_table(jobs, 1), nothing_found(jobs), 1)
            given = bound(jobs, stack, int(stack.depth[0]), np.inf)
            assert isinstance(given, Fraction)
            assert given <= search_all(jobs, alone_from(jobs, stack), step).value[0]


def test_jobs_that_may_meet_are_not_parted() -> None:
    """A job that ends after the next release only because it has waited is in one part with it, else not."""
    jobs = [
        Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 0, 3), ("c", 6, 1)]
    ]
    for release, parts in ((6, 1), (7, 1), (8, 2)):
        jobs[2] = jobs[2].model_copy(update={"release_date": release})
        problem = Sharing(gpus=1, jobs=jobs, share_limit=1)
        best = BestSharing(problem, Budget(), "parts")
        best.take(in_turn(problem))  # b waits for 4 s, and c for 1 s where it arrives at 6 s
        assert len(Parts(best).every) == parts


def test_parts_change_no_optimum() -> None:
    """Solved part by part, jobs with gaps between them have the optimum of all of them together."""
    for tiny in TINY[:4]:
        early, late = (
            tiny.problem,
            [job.model_copy(update={"name": f"late {job.name}"}) for job in tiny.problem.jobs[:2]],
        )
        late = [job.model_copy(update={"release_date": job.release_date + 1000.0}) for job in late]
        problem = early.model_copy(update={"jobs": (*early.jobs, *late)})
        best = BestSharing(problem, Budget(), "parts")
        best.take(shortest_first(problem, 0))
        parts = Parts(best).every

        assert len(parts) > 1
        total = sum(least_in_fractions(part.problem) * len(part.problem.jobs) for part in parts)
        assert total == oracle.optimum(problem) * len(problem.jobs)


def bounds(jobs: Jobs, stack: Stack) -> tuple[float, float]:
    """Return the bound by delays of the node at hand, and the larger of it and that by areas."""
    depth, count = stack.depth[0], len(jobs.demand)
    ends, begins, extra = np.zeros(count), np.zeros(count), np.zeros(count)
    twin(run_out)(jobs, stack, depth, ends)
    twin(wait_for_room)(jobs, stack, depth, ends, begins)
    delays = twin(insertion_bound)(jobs, stack, depth, ends, begins, extra, np.inf)
    return delays, twin(lower)(jobs, stack, depth, np.inf)


@pytest.mark.parametrize(("slowdown", "least"), [(1.0, 0.0), (2.0, 2.0), (6.0, 4.0)])
def test_two_jobs_by_hand(slowdown: float, least: float) -> None:
    """Beside 4 s of a job, 1 s of another costs each of the two its slowdown, or a wait for the end."""
    given = [Job(name=str(p), release_date=0, duration=p, gpus=1) for p in (1, 4)]
    jobs, units = arrays_of(Sharing(gpus=1, jobs=given, default_interference=slowdown))
    stack = new_stack(jobs)
    stack.state[0, 1], stack.own[0, 1], stack.free[0] = RUNNING, 1, 0
    ends, lone, crowd = np.array([np.inf, Fraction(1)]), np.array([0, 0], dtype=object), np.ones(2, dtype=int)

    assert twin(insertion)(jobs, stack, 0, ends, lone, 0, 0, crowd) * units.unit == least


@pytest.mark.parametrize(("need", "least"), [(0, 0), (1, 1), (3, 3), (4, 4), (5, 7), (6, 10), (7, np.inf)])
def test_further_gpus_are_the_cheapest(need: int, least: float) -> None:
    """GPUs come from the cheapest jobs first, one by one, and from none that delays more than the worst."""
    room, own = np.array([1, 2, 2, 2, 5]), np.array([2.0, 2.0, 1.0, 2.0, 2.5])
    others = np.array([0.0, 2.0, 2.0, 6.0, 0.0])  # a GPU costs 1, 1 and 3
    assert twin(cover)(need, room, 0, own, others) == least


def test_no_bound_is_above_what_follows() -> None:
    """From nodes on the way of a search, neither bound is above the least sum of ends that follows."""
    looked_at = better = 0
    for seed in range(cases(40)):
        random = Random(seed)
        drawn = interfering_jobs(jobs=random.randint(3, 5), gpus=random.choice((2, 4, 8)), seed=seed)
        jobs = floats_of(drawn)
        stack, found = new_stack(jobs), nothing_found(jobs)
        for _ in range(10):
            delays, both = bounds(jobs, stack)
            optimum = search_all(jobs, alone_from(jobs, stack), search).value[0]
            assert delays <= both <= optimum * (1 + SPAN_ERROR)
            looked_at, better = looked_at + 1, better + (delays == both)
            search(jobs, stack, new_table(jobs, 1), found, random.randint(1, 20))
            found.value[0] = np.inf
            if stack.depth[0] < 0:
                break

    assert looked_at >= 3 * cases(40)
    assert better >= looked_at // 4


def test_every_time_is_a_whole_number_of_parts() -> None:
    """In all schedules every start and end is a whole number of parts after the first date."""
    for seed in range(cases(40)):
        problem = oracle.drawn(Random(seed), 2 + seed % 2, 2)
        _, units = arrays_of(problem)
        spans = [span for each in problem.candidates() for span in problem.spans(each)]
        if units.parts:
            assert all((time - problem.origin) * units.parts % 1 == 0 for span in spans for time in span)


def test_times_of_the_same_remainders_are_equal_where_they_are_near() -> None:
    """The product of the primes, in parts of a second, is no less than what is called near."""
    for problem in (*(tiny.problem for tiny in TINY), interfering_jobs(jobs=8)):
        arrays, units = arrays_of(problem)
        assert units.parts > 0
        assert 0 < arrays.near[0] * units.unit * units.parts <= prod(units.primes)
        assert list(arrays.primes) == list(units.primes)
        assert all(units.parts % prime for prime in units.primes)


def test_a_total_between_the_parts_has_no_remainders() -> None:
    """The sum of ends of a schedule that starts between two events may equal no other by its remainders."""
    _, units = arrays_of(TINY[0].problem)
    between = Fraction(1, 2 * units.parts) / units.unit
    assert list(units.rests(2 * between)) == [1 % prime * pow(units.parts, -1, prime) for prime in units.primes]
    assert set(units.rests(between)) == {-1}


def test_without_remainders_the_optimum_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it would take too many primes, whatever floats cannot tell is left to fractions, and proven."""
    monkeypatch.setattr(jobs, "_MOST_PRIMES", 0)
    for tiny in TINY:
        arrays, units = arrays_of(tiny.problem)
        result = exact(tiny.problem)
        assert (arrays.near[0], units.parts) == (0, 0)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(tiny.problem))


def two_alike() -> tuple[Jobs, Stack]:
    """Return two jobs of the same size on two GPUs, both of which each of them demands."""
    given = [Job(name=name, release_date=0, duration=4, gpus=2) for name in "ab"]
    jobs = floats_of(Sharing(gpus=2, jobs=given))
    return jobs, new_stack(jobs)


def run(stack: Stack, job: int) -> None:
    """Let one of the jobs run alone, and the other wait."""
    stack.state[0], stack.own[0], stack.free[0] = PENDING, 0, 0
    stack.state[0, job], stack.own[0, job] = RUNNING, 2


def test_who_runs_and_who_waits_is_told_apart() -> None:
    """Two jobs of the same size, of which the one runs and the other waits, make two states."""
    jobs, stack = two_alike()
    table = new_table(jobs, 64)
    seen = []
    for job in (0, 1, 0, 1):
        run(stack, job)
        seen.append(bool(twin(is_new)(jobs, stack, 0, table)))

    assert seen == [True, True, False, False]


def test_only_a_lower_cost_makes_a_state_new() -> None:
    """A state is left out at no lower a cost, and later; but not at a lower cost, or much earlier."""
    jobs, stack = two_alike()
    table = new_table(jobs, 64)
    run(stack, 0)
    seen = []
    for cost, time in ((5.0, 1.0), (5.0, 1.0), (6.0, 1.0), (5.0, 2.0), (4.0, 1.0), (4.75, 0.5)):
        stack.cost[0], stack.time[0] = cost, time
        stack.cost_rest[0], stack.time_rest[0] = 4 * cost, 4 * time  # in seconds
        stack.due[0, 0], stack.due_rest[0, 0] = time + 1, stack.time_rest[0] + 4
        seen.append(bool(twin(is_new)(jobs, stack, 0, table)))

    assert seen == [True, False, False, False, True, True]


def test_states_of_the_same_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all states have one key, the search still takes none for another."""
    monkeypatch.setattr(states, "remainder", lambda *_: 0)
    assert all(least_in_fractions(tiny.problem) == oracle.optimum(tiny.problem) for tiny in TINY)


@pytest.mark.parametrize(
    ("columns", "where", "change"),
    [
        (["due"], 2, 0.05),
        (["time", "due"], ..., 0.05),
        (["due_rest"], 2, 1),
        (["time_rest", "due_rest"], ..., 1),
        (["own"], 2, 1),
        (["shared"], (2, 1), 1),
        (["state"], 0, ENDED),
    ],
)
def test_every_number_of_a_state_counts(columns: list[str], where: Any, change: float) -> None:
    """A state that differs from one seen in one respect, and has the same key, is new at a higher cost."""
    jobs = floats_of(TINY[0].problem)._replace(near=np.array([0.1]))
    stack, table = new_stack(jobs), new_table(jobs, 1)
    stack.state[0] = PENDING, RUNNING, RUNNING, PENDING
    stack.own[0], stack.shared[0, 1, 2], stack.shared[0, 2, 1] = (0, 1, 2, 0), 1, 1
    stack.time[0], stack.due[0], stack.cost[0] = 0.1, 0.9, 2.0
    assert twin(is_new)(jobs, stack, 0, table)
    assert not twin(is_new)(jobs, stack, 0, table)

    stack.cost[0] += 1
    for column in columns:
        getattr(stack, column)[0, where] += change
    table.keys[:] = twin(states.remainder)(jobs, stack, 0, twin(states.arrives)(jobs, stack, 0))
    assert twin(is_new)(jobs, stack, 0, table)


def test_a_cost_within_rounding_is_higher_only_if_that_is_certain() -> None:
    """At a cost within rounding of the one seen, a state is new unless the remainders are the same."""
    jobs, stack = two_alike()
    seen = []
    for rest, behind in ((0, np.nextafter(5.0, 6.0)), (1, np.nextafter(5.0, 6.0)), (0, 4.0)):
        table = new_table(jobs, 1)
        run(stack, 0)
        for cost in (5.0, behind):
            stack.cost[0], stack.cost_rest[0] = cost, rest * (cost == behind)
            new = bool(twin(is_new)(jobs, stack, 0, table))
        seen.append(new)

    assert seen == [False, True, True]


def test_rounding_may_hide_a_state_but_not_merge_two() -> None:
    """Where floats are too wrong for remainders to prove anything, no state is left out."""
    jobs, stack = two_alike()
    table = new_table(jobs, 64)
    run(stack, 0)
    stack.slip[0] = jobs.near[0] / 16
    assert [bool(twin(is_new)(jobs, stack, 0, table)) for _ in range(2)] == [True, True]


@pytest.mark.parametrize("memory", [0, 10_000, 1_000_000])
def test_a_table_keeps_to_its_memory(memory: int) -> None:
    """A table has as many places as its bytes hold, and never none."""
    table = table_within(floats_of(TINY[0].problem), memory)
    place = sum(column.nbytes // len(table.keys) for column in table)
    assert len(table.keys) == max(1, memory // place)
