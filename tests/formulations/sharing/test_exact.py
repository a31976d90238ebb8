"""Exact methods for sharing: searches, and linear programs for starts at any time."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from formulations.sharing import exact, orders, slots
from formulations.sharing.best import BestSharing, IndependentPart, Parts
from formulations.sharing.listing import in_turn
from formulations.sharing.orders import Orders, Prefix
from formulations.sharing.program import least
from formulations.sharing.root import raise_to_root
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction, Unsupported
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.evaluation.catalogue import heuristics
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.scenario.job import Job
from gsopt.testing import check_formulation
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events
from tests.effort import cases
from tests.exactness import sharing as oracle
from tests.unwrap import unwrap


def test_brute_force_is_proven() -> None:
    """The optima of tiny instances are those of trying everything."""
    assert check_formulation(exact, [oracle.draw(Random(seed)) for seed in range(100, 140)]) == 40


def test_jobs_of_the_same_size_are_told_apart() -> None:
    """Jobs of equal durations and GPUs, but unlike slowdowns, are no less proven than others."""
    for seed in range(cases(50)):
        random = Random(seed)
        names = ["a", "b", "c"]
        gpus = random.choice((1, 2, 2))
        jobs = [
            Job(name=n, release_date=random.choice((0, 1)), duration=4.5, gpus=g, model=n)
            for n, g in zip(names, (gpus, gpus, 1), strict=True)
        ]
        jobs[2] = jobs[2].model_copy(update={"duration": random.choice((2.0, 4.5))})
        table = {one: {other: random.choice((1.0, 1.5, 2.0, 3.0)) for other in names} for one in names}
        problem = Sharing(gpus=2, jobs=jobs, interference=table)
        result = exact(problem)

        assert result.status is Status.OPTIMAL
        assert result.objective == result.bound == oracle.optimum(problem)


def test_a_job_that_runs_is_not_taken_for_one_that_waits() -> None:
    """Of two jobs of the same size the one that minds its partner less goes first, which is 97 / 18 s."""
    slowdowns = {"a": {"b": 1.5, "c": 3.0}, "c": {"a": 2.0, "b": 1.5}}
    sizes = [("a", 0, 4.5, 2), ("b", 0, 4.5, 2), ("c", 1, 2, 1)]
    jobs = [Job(name=n, release_date=r, duration=d, gpus=g, model=n) for n, r, d, g in sizes]
    result = exact(Sharing(gpus=2, jobs=jobs, interference=slowdowns))
    assert (result.status, result.objective) == (Status.OPTIMAL, Fraction(97, 18))


def test_each_model_has_its_own_proof() -> None:
    """The optimum of starts at events, 26 s, is no bound where starts at any time reach 25 s."""
    at_events = exact(between_events())
    anywhere = exact(between_events(starts="any"))

    assert (at_events.status, at_events.objective) == (Status.OPTIMAL, Fraction(26 - 10, 4))
    assert at_events.message.startswith("Model E")
    assert anywhere.status is Status.OPTIMAL
    assert anywhere.message.startswith("Model C")
    assert anywhere.objective == Fraction(25 - 10, 4)


@pytest.mark.parametrize("gpus", [4, 8])
def test_eight_jobs_are_proven(gpus: int) -> None:
    """Eight jobs are proven at events; at any time there is a bracket, its bound within a third of that."""
    problem = interfering_jobs(jobs=8, gpus=gpus, seed=0)
    proven = exact(problem)
    bracketed = exact(problem.model_copy(update={"starts": "any"}))

    assert proven.status is Status.OPTIMAL
    assert bracketed.status is Status.FEASIBLE
    assert proven.objective == bracketed.objective
    assert proven.objective is not None
    assert proven.objective * Fraction(2, 3) <= unwrap(bracketed.bound) <= proven.objective


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_magnitudes(scale: float) -> None:
    """Run times of 17 digits at any magnitude, released at one moment of today, are proven to rounding."""
    release = 1.7e9 if scale >= 1 else 0.0
    jobs = [Job(name=str(i), release_date=release, duration=scale * (1 + i / 7), gpus=2) for i in range(4)]
    assert exact(Sharing(gpus=3, jobs=jobs, default_interference=1.3)).status is Status.OPTIMAL


def test_many_jobs_get_a_schedule_and_a_bound() -> None:
    """Where there are too many jobs for a search, shortest jobs first is known, and prices are the bound."""
    jobs = [Job(name=str(i), release_date=0, duration=1, gpus=1) for i in range(100)]
    proven = exact(Sharing(gpus=1, jobs=jobs, default_interference=2.0))
    bracketed = exact(Sharing(gpus=1, jobs=jobs, default_interference=1.5, starts="any"))

    assert (proven.status, proven.objective) == (Status.OPTIMAL, Fraction(101, 2))
    assert (bracketed.status, bracketed.objective) == (Status.FEASIBLE, Fraction(153, 4))
    assert 37 < unwrap(bracketed.bound) < Fraction(153, 4)


def test_without_time_there_is_a_schedule_and_a_bound() -> None:
    """A budget that has passed leaves a schedule and a bound all the same."""
    result = exact(interfering_jobs(jobs=8), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert unwrap(result.bound) > 0


def test_a_search_without_time_proves_nothing() -> None:
    """If there is no time to search the orders of events, the first schedule is not called optimal."""
    sizes = [("a", 4, 1), ("b", 1, 1), ("c", 2.5, 2)]
    jobs = [Job(name=name, release_date=0, duration=seconds, gpus=gpus) for name, seconds, gpus in sizes]
    problem = Sharing(gpus=2, jobs=jobs, default_interference=1.2, starts="any")

    late, settled = exact(problem, time_limit=0.0), exact(problem)

    assert late.status is Status.FEASIBLE
    assert unwrap(late.bound) <= unwrap(settled.objective) < unwrap(late.objective)


def test_it_stops_when_asked() -> None:
    """A callback that returns True ends the search with the schedule that it was told of."""
    result = exact(interfering_jobs(jobs=6), on_incumbent=lambda found: found.objective is not None)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.INTERRUPT)


@pytest.mark.parametrize("method", [exact, orders], ids=["exact", "orders"])
def test_it_stops_at_the_gap(method: Callable[..., Result[SharingSolution]]) -> None:
    """Within the gap that is asked for, no proof is sought, and the gap is not called unused."""
    jobs = [
        Job(name=name, release_date=0, duration=long, gpus=1)
        for name, long in zip("abc", (4, 3, 5), strict=True)
    ]
    problem = Sharing(gpus=2, jobs=jobs, default_interference=1.3, starts="any")
    close, closer = method(problem, gap=0.5), method(problem, gap=0.1)

    assert (close.status, close.stopped_by) == (Status.FEASIBLE, StoppedBy.GAP)
    assert unwrap(close.gap) <= 0.5
    assert "gap" not in close.message
    assert (closer.status, closer.objective) == (Status.OPTIMAL, Fraction(23, 5))


def test_the_first_bound_is_that_of_jobs_alone() -> None:
    """No job ends sooner than alone and at once, so the mean is bounded by that of durations, and no higher."""
    jobs = [Job(name=name, release_date=5, duration=seconds, gpus=1) for name, seconds in [("a", 1), ("b", 4)]]
    assert BestSharing(Sharing(gpus=1, jobs=jobs), Budget(), "test").bound == Fraction(5, 2)


def test_a_bound_holds_for_all_schedules_or_for_better_ones() -> None:
    """A bound above the best value known is wrong, or holds only for better schedules and proves it."""
    jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    best = BestSharing(Sharing(gpus=1, jobs=jobs, default_interference=3.0), Budget(), "test")
    best.take(in_turn(best.problem))
    assert (best.value, best.bound, best.finished) == (3, 2, None)

    with pytest.raises(Contradiction):
        best.raise_bound(4)
    best.raise_bound(4, of_better=True)
    assert (best.bound, best.finished) == (3, StoppedBy.FINISHED)


FAR = 1e9


def drawn(seed: int) -> Sharing:
    """Draw up to four jobs whose dates and seconds have few digits."""
    random = Random(seed)
    names = "abcd"[: random.randint(2, 4)]
    gpus = random.randint(1, 3)
    jobs = [
        Job(
            name=name,
            release_date=random.choice((0, 0, random.randint(0, 20) / 4)),
            duration=random.randint(1, 30) / 2,
            gpus=random.randint(1, gpus),
            model=name,
        )
        for name in names
    ]
    table = {one: {other: round(random.uniform(1, 3), 2) for other in names} for one in names}
    return Sharing(gpus=gpus, jobs=jobs, interference=table, share_limit=random.choice((1, 2, 2)))


def timed(problem: Sharing, scale: float, later: float) -> Sharing:
    """Return the same jobs in another unit of time, and later."""
    unit = decimal(scale)
    jobs = [
        job.model_copy(
            update={
                "release_date": float(decimal(job.release_date) * unit + decimal(later)),
                "duration": float(decimal(job.duration) * unit),
            }
        )
        for job in problem.jobs
    ]
    return problem.model_copy(update={"jobs": tuple(jobs)})


def joined(problem: Sharing, jobs: Sequence[Job]) -> Sharing:
    """Return a problem with more jobs."""
    return problem.model_copy(update={"jobs": (*problem.jobs, *jobs)})


def renamed(problem: Sharing) -> Sharing:
    """Return the same jobs with other names, the last first."""
    jobs = [job.model_copy(update={"name": f"job {index}"}) for index, job in enumerate(problem.jobs)]
    return problem.model_copy(update={"jobs": tuple(reversed(jobs))})


def moved(problem: Sharing) -> Iterator[tuple[Sharing, Callable[[Fraction], Fraction]]]:
    """Return what makes no difference, and what becomes of the value."""
    count, far = len(problem.jobs), Job(name="far", release_date=FAR, duration=10, gpus=1)
    yield timed(problem, 1.0, 1.7e9), lambda value: value
    yield timed(problem, 1e-6, 0.0), lambda value: value / 10**6
    yield timed(problem, 1e6, 0.0), lambda value: value * 10**6
    yield renamed(problem), lambda value: value
    company = lambda value: (value * count + 10) / (count + 1)  # noqa: E731
    yield joined(problem, [far]), company
    yield joined(timed(problem, 1.0, FAR), [far.model_copy(update={"release_date": 0.0})]), company


@pytest.mark.parametrize("method", [exact, orders], ids=["exact", "orders"])
def test_proofs_follow(method: Callable[[Sharing], Result[SharingSolution]]) -> None:
    """Value and bound are the same but for what was done to the jobs, and each is proven."""
    for seed in range(cases(30)):
        starts = "any" if method is orders else "events"
        problem = drawn(seed).model_copy(update={"starts": starts})
        known = method(problem)
        assert known.status is Status.OPTIMAL
        for other, value in moved(problem):
            found = method(other)
            assert found.status is Status.OPTIMAL
            assert found.objective == found.bound == value(Fraction(known.objective or 0))


@pytest.mark.parametrize("name", heuristics("sharing"))
def test_policies_follow(name: str) -> None:
    """A policy finds the same schedule on another clock and in another company, named in another order."""
    method = heuristics("sharing")[name]
    for seed in range(cases(30)):
        problem = drawn(seed)
        known = method(problem)
        for other, value in moved(problem):
            if other.jobs[0].name == problem.jobs[0].name:  # the order of names decides ties
                assert method(other).objective == value(Fraction(known.objective or 0))


def test_plans_in_slots_follow() -> None:
    """CP-SAT's plan is as good on another clock, and the bound is the same."""
    problem = drawn(5)
    known = slots(problem)
    later = slots(timed(problem, 1.0, 1.7e9))
    assert (later.objective, later.bound) == (known.objective, known.bound)


@pytest.mark.parametrize("far", [1e6, 1e7, 1e8, 1e9])
def test_a_job_years_later_hides_nothing(far: float) -> None:
    """Two jobs that change places for a tenth of a second are in the best order, whatever comes years later."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 10.1), ("b", 10.0)]]
    jobs += [Job(name=f"far{i}", release_date=far + 100 * i, duration=10.0, gpus=1) for i in range(4)]
    result = exact(Sharing(gpus=1, jobs=jobs, share_limit=1))
    assert (result.status, result.objective) == (Status.OPTIMAL, Fraction(10 * 5 + 20 * 1, 6) + Fraction(1, 60))


def test_no_schedule_is_below() -> None:
    """Neither a start between two events nor one at an event leads below it."""
    drawn = [interfering_jobs(jobs=3, gpus=2, seed=seed, starts="any") for seed in range(cases(15))]
    for problem in [between_events(starts="any"), *drawn]:
        best = BestSharing(problem, Budget(), "areas")
        best.take(in_turn(problem))
        raise_to_root(best)
        proven = orders(problem)
        assert best.bound <= unwrap(proven.objective)
        assert best.bound >= Fraction(sum(problem.durations), len(problem.jobs))


def test_a_start_between_events_is_found() -> None:
    """The four jobs that end at 26 s together with starts at events end at 25 s, and no sooner."""
    result = orders(between_events(starts="any"))
    assert result.status is Status.OPTIMAL
    assert result.objective == Fraction(25 - 10, 4)
    assert result.message.startswith("Model C")


@pytest.mark.parametrize("seed", range(3))
def test_any_time_is_no_worse_than_events(seed: int) -> None:
    """Whoever may start at any time may start at events; few instances gain by more."""
    anywhere = interfering_jobs(jobs=3, gpus=2, seed=seed, starts="any")
    at_events = anywhere.model_copy(update={"starts": "events"})
    free, bound_to_events = orders(anywhere), exact(at_events)
    assert free.status is bound_to_events.status is Status.OPTIMAL
    assert unwrap(free.objective) <= unwrap(bound_to_events.objective)


@pytest.mark.parametrize("slowdown", [1.0, 1.5, 2.0, 3.0])
def test_two_jobs_are_best_at_an_end_point(slowdown: float) -> None:
    """Two jobs that are there from the beginning share at once, or one waits for the end of the other."""
    for durations in ((1, 1), (4, 1), (3, 2)):
        jobs = [Job(name=str(p), release_date=0, duration=p, gpus=1) for p in durations]
        jobs[1] = jobs[1].model_copy(update={"name": "second"})
        result = orders(Sharing(gpus=1, jobs=jobs, default_interference=slowdown, starts="any"))
        long, short = map(Fraction, durations)
        slow = Fraction(slowdown)
        together = (
            2 * slow * short + long - short
        )  # the short one ends first, having let the long one do as much
        in_turn = 2 * short + long

        assert result.status is Status.OPTIMAL
        assert result.objective == min(together, in_turn) / 2


def test_a_partner_on_any_gpu_counts() -> None:
    """A wide job is as slow as its partner on either GPU makes it: 2/3 done beside b, it ends after 10/3 s."""
    jobs = [Job(name=n, release_date=0, duration=2, gpus=g, model=n) for n, g in [("a", 1), ("b", 1), ("w", 2)]]
    for slow in "ab":
        result = orders(Sharing(gpus=2, jobs=jobs, interference={"w": {slow: 3.0}}, starts="any"))
        assert result.status is Status.OPTIMAL
        assert result.objective == Fraction(22, 9)


def test_memory_keeps_jobs_apart() -> None:
    """Jobs that need more memory together than a GPU has take turns, which takes longer."""
    given = [("a", 0, 3, 2), ("b", 0, 3, 2), ("c", 0.5, 4, 1)]
    jobs = [Job(name=n, release_date=r, duration=d, gpus=1, memory=m) for n, r, d, m in given]
    problem = Sharing(gpus=1, jobs=jobs, memory=3, default_interference=1.3, starts="any")
    assert orders(problem).objective == Fraction(323, 60)
    assert orders(problem.model_copy(update={"memory": 4})).objective == Fraction(76, 15)


def test_what_it_does_not_handle_is_said() -> None:
    """Starts at events, and more than four jobs, are refused."""
    with pytest.raises(Unsupported, match="use exact"):
        orders(between_events())
    with pytest.raises(Unsupported, match="5 jobs may overlap, but at most 4 are allowed"):
        orders(interfering_jobs(jobs=5, starts="any"))


def every_order(search: Orders, prefix: Prefix) -> Iterator[Exact]:
    """Return the least sum of job completion times of every order that begins with a prefix."""
    if len(prefix.ended) == search.count:
        found = search.least(prefix)
        if found is not None:
            yield found[0]
        return
    for longer in search.longer(prefix):
        yield from every_order(search, longer)


@pytest.mark.parametrize("seed", range(4))
def test_no_order_that_is_left_out_is_better(seed: int) -> None:
    """The optimum is the least of all complete orders."""
    problem = oracle.drawn(Random(seed), 2 + seed % 2, 1 + seed % 2).model_copy(update={"starts": "any"})
    best = BestSharing(problem, Budget(), "orders")
    best.take(in_turn(problem))
    search = Orders(IndependentPart(Parts(best), problem, best.known))
    empty = Prefix((frozenset(),) * problem.gpus, {}, {}, {}, {})

    result = orders(problem)
    assert result.objective == result.bound == min(every_order(search, empty)) / len(problem.jobs)


def test_far_jobs_change_no_proof() -> None:
    """Four jobs that may start at any time are proven as well with a fifth one three years later."""
    near = between_events(starts="any")
    far = Job(name="far", release_date=1e8, duration=10, gpus=1)
    result = orders(near.model_copy(update={"jobs": (*near.jobs, far)}))
    assert (result.status, result.objective) == (Status.OPTIMAL, Fraction(25 - 10 + 10, 5))


def by_corners(cost: list[Fraction], rows: list[tuple[list[Fraction], Fraction]]) -> Fraction | None:
    """Return the least cost of all corners of two numbers; None when there is none."""
    every = [*rows, ([Fraction(1), Fraction(0)], Fraction(0)), ([Fraction(0), Fraction(1)], Fraction(0))]
    best = None
    for (one, first), (two, second) in combinations(every, 2):
        area = one[0] * two[1] - one[1] * two[0]
        if area:
            x = (first * two[1] - second * one[1]) / area
            y = (second * one[0] - first * two[0]) / area
            value = cost[0] * x + cost[1] * y
            kept = all(row[0] * x + row[1] * y >= limit for row, limit in every)
            if kept and (best is None or value < best):
                best = value
    return best


def test_no_corner_is_better() -> None:
    """In two numbers, the least is that of the best corner, or there is none."""
    infeasible = 0
    for seed in range(cases(2000)):
        random = Random(seed)
        scale = random.choice((1, 10**9, Fraction(1, 10**9)))
        cost = [Fraction(random.randint(0, 4)) for _ in range(2)]
        rows = [
            (
                [Fraction(random.randint(-3, 3)) * scale, Fraction(random.randint(-3, 3), 2)],
                Fraction(random.randint(-6, 6), 3),
            )
            for _ in range(random.randint(1, 5))
        ]
        found, known = least(cost, rows), by_corners(cost, rows)
        infeasible += known is None
        assert (found and found[0]) == known
        if found:
            assert sum(own * value for own, value in zip(cost, found[1], strict=True)) == known
            assert all(sum(a * x for a, x in zip(row, found[1], strict=True)) >= limit for row, limit in rows)
            assert min(found[1]) >= 0
    assert infeasible > cases(2000) // 20


@pytest.mark.parametrize("seed", range(5))
def test_another_solver_finds_the_same(seed: int) -> None:
    """With many numbers and rows, some of them equal, HiGHS finds the same value to its tolerance."""
    from scipy.optimize import linprog

    random = Random(seed)
    cost = [random.randint(0, 9) for _ in range(8)]
    rows = [([random.randint(-4, 9) for _ in range(8)], random.randint(-5, 20)) for _ in range(8)]
    rows += [([-factor for factor in rows[0][0]], -rows[0][1])]
    found = least(cost, rows)
    known = linprog(cost, A_ub=[[-a for a in row] for row, _ in rows], b_ub=[-limit for _, limit in rows])

    assert (found is None) == (known.status == 2)
    if found is not None:
        assert float(found[0]) == pytest.approx(known.fun)
