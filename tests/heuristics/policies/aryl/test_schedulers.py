"""The schedulers beside the two phases, alone and in runs."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.testing import check_policy
from heuristics.allocation import marginal_greedy
from heuristics.policies.aryl import schedulers
from heuristics.policies.aryl.policy import aryl
from heuristics.policies.aryl.scheduler import FlexibleJob, Scheduler, WaitingJob
from heuristics.policies.aryl.schedulers import afs, fifo, gandiva, goodput_search, marginal, max_first, optimus
from heuristics.policies.aryl.schedulers.afs import Gain
from heuristics.policies.aryl.schedulers.evolving import SearchEffort, evolve, repaired
from heuristics.policies.aryl.schedulers.fitness import Counts, Fitness
from heuristics.policies.aryl.schedulers.goodput_search import How
from heuristics.policies.aryl.schedulers.growing import Pools, area, grow, least_area
from heuristics.policies.aryl.schedulers.starting import in_order
from heuristics.policies.aryl.settings import scheduler_named
from tests.effort import cases
from tests.gsopt.simulation.scenarios import rich_scenarios
from tests.heuristics.policies.aryl.builders import (
    assert_always_legal,
    assert_legal,
    calm,
    crowded,
    drawn,
    job,
    linear,
    machines_of,
    pools,
    run,
)


def test_a_step_that_does_not_fit_ends_a_job_and_nobody_else() -> None:
    """Of 3 GPUs the first job, whose workers need 2, gets one, and the second the rest."""
    snapshot = calm(linear(0, 9, gpus=2), linear(1, 9), training=3)
    assert grow(snapshot, lambda job, *_: float(job.job)) == {0: 1, 1: 1}


def test_gaps_are_stepped_over() -> None:
    """A job that may have one or three workers goes from one to three, or stays."""
    gap = FlexibleJob(0, 9.0, 1, 1, 3, 0, "training", (1.0, 0.0, 3.0))
    assert [grow(calm(gap, training=gpus), lambda *_: 0.0) for gpus in (1, 2)] == [{0: 0}, {0: 2}]


def test_no_rank_ends_a_job() -> None:
    """A job whose next step has no rank keeps the steps before it."""
    rank = {0: 1.0, 1: None, 2: 1.0}
    assert grow(calm(linear(0, 9), training=9), lambda _, before, __: rank[before]) == {0: 1}


def test_pools_are_apart() -> None:
    """Idle GPUs of one pool are of no use to a job of the other, but to one that runs on any mixture."""
    jobs = [linear(0, 9, pool="training"), linear(1, 9, pool="inference"), linear(2, 9, pool="mixed")]
    assert grow(calm(*jobs, training=1, inference=3), lambda job, *_: float(job.job)) == {0: 1, 1: 3, 2: 0}
    assert grow(calm(*jobs, training=1, inference=3), lambda job, *_: -float(job.job)) == {0: 0, 1: 1, 2: 3}


def test_what_flexible_workers_hold_is_there() -> None:
    """A pool has its idle GPUs and those of flexible workers of jobs that are confined to it."""
    pools = Pools(
        calm(linear(0, 9, gpus=2, extra=3), linear(1, 9, extra=1, pool="mixed"), training=1, inference=4)
    )
    assert [pools.left("training"), pools.left("inference"), pools.left("mixed")] == [7, 4, 12]


def test_what_is_taken_of_all_pools_may_lie_in_each() -> None:
    """After a job on any mixture has taken GPUs no pool has more than is left of all."""
    pools = Pools(calm(training=3, inference=4))
    assert pools.take(5, "mixed")
    assert [pools.left("training"), pools.left("inference"), pools.left("mixed")] == [2, 2, 2]


def test_linear_jobs_rank_by_their_area() -> None:
    """Every worker of a job that scales linearly ranks by its GPU-seconds, 2 workers of 3 GPUs for 10 s."""
    job = linear(0, 10.0, base=2, gpus=3)
    assert area(job) == 60
    assert [least_area(4)(job, before, before + 1) for before in range(2)] == [60, 60]


def test_bad_scaling_ranks_later() -> None:
    """A worker that adds half as much counts as twice, or to the power, as much time."""
    job = FlexibleJob(0, 10.0, 1, 1, 3, 0, "training", (1.0, 1.5, 1.5))
    assert [least_area(exponent)(job, 0, 1) for exponent in (1, 3)] == [20, 80]
    assert least_area(1)(job, 1, 2) is None


def test_bad_scaling_waits() -> None:
    """A worker that adds half as much counts as 16 times the GPU time by default, twice with exponent 1."""
    half = linear(0, 20.0, most=2)._replace(speeds=(1.0, 1.5))
    snapshot = crowded([WaitingJob(1, 0.0, 100.0, 1)], half, training=1)
    assert marginal().order(snapshot) == [1]
    assert marginal(exponent=1).order(snapshot) == []


def test_ties_go_by_release() -> None:
    """Jobs that are as long, or as large, start in the order of their release."""
    snapshot = crowded([WaitingJob(2, 0.0, 6.0, 2), WaitingJob(1, 1.0, 6.0, 2), WaitingJob(0, 2.0, 4.0, 3)])
    for order, expected in (("release", [2, 1, 0]), ("time", [0, 2, 1]), ("area", [2, 1, 0])):
        assert [job.job for job in in_order(snapshot, order)] == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(set(schedulers.__all__) - {"gandiva"}))
def test_every_scheduler(name: str) -> None:
    """Each listed scheduler is found, and is new each time."""
    assert_legal(drawn(5), scheduler_named(name))
    assert scheduler_named(name) is not scheduler_named(name)


def test_the_first_that_started_grows_first() -> None:
    """Of 4 idle GPUs the job that started first gets all 3 workers that it can have, the next the last one."""
    assert gandiva(own_servers_only=False).extras(calm(linear(7, 9), linear(3, 1), training=4)) == {7: 3, 3: 1}


def test_gains_count_per_gpu() -> None:
    """A worker of two GPUs has to gain twice as much."""
    assert afs().extras(calm(linear(0, 9, gpus=2), linear(1, 9, base=3, most=4), training=2)) == {0: 1, 1: 0}
    assert afs().extras(calm(linear(0, 9, gpus=4), linear(1, 9, base=3, most=4), training=4)) == {0: 0, 1: 1}


def test_present_throughput_spreads_workers() -> None:
    """In shares of the present throughput a job of one worker gains 1, 1/2, 1/3, one of two 1/2."""
    snapshot = calm(linear(0, 9), linear(1, 9, base=2, most=5), training=3)
    assert afs().extras(snapshot) == {0: 3, 1: 0}
    assert afs(gain="present").extras(snapshot) == {0: 2, 1: 1}


def test_pairs_by_hand() -> None:
    """Job 1, the shorter, gains 1/2, 1/2, 1/3; job 0, by its later throughput, 1/2, 1/3, 1/3, and wins ties."""
    snapshot = [calm(linear(0, 200.0), linear(1, 60.0, base=2, most=5), training=gpus) for gpus in range(4)]
    served = [afs(gain="pairs").extras(each) for each in snapshot]
    assert served == [{0: 0, 1: 0}, {0: 1, 1: 0}, {0: 1, 1: 1}, {0: 2, 1: 1}]


def test_pairs_depend_on_the_order() -> None:
    """The rule of pairs is not transitive: each of these three jobs wins in some order."""
    a, b, c = (
        FlexibleJob(job, time, 1, 1, 2, 0, "training", (1.0, speed))
        for job, (time, speed) in enumerate([(2.0, 1.3), (5.0, 1.4), (10.0, 1.6)])
    )
    served = [afs(gain="pairs").extras(calm(*jobs, training=1)) for jobs in ((a, b, c), (b, c, a), (c, a, b))]
    winners = [next(job for job, extra in extras.items() if extra) for extras in served]
    assert sorted(winners) == [0, 1, 2]


def test_nothing_is_given_for_nothing() -> None:
    """A worker that gains no throughput is not given."""
    flat = FlexibleJob(0, 9.0, 1, 1, 3, 0, "training", (1.0, 1.0, 0.5))
    for gain in get_args(Gain):
        assert afs(gain=gain).extras(calm(flat, training=2)) == {0: 0}


def test_starts_by_afs() -> None:
    """Nobody is blocked; jobs start by release, or the shortest first."""
    snapshot = crowded([WaitingJob(0, 0.0, 9.0, 8), WaitingJob(1, 1.0, 2.0, 1)])
    assert not afs().blocks
    assert [list(afs(order=order).order(snapshot)) for order in ("release", "time")] == [[0, 1], [1, 0]]


def test_savings_count_per_gpu() -> None:
    """A worker of three GPUs that saves 50 s goes after one of one GPU that saves 20 s."""
    a, b = linear(0, 150.0, base=2, most=3, gpus=3), linear(1, 60.0, base=2, most=3)
    assert optimus().extras(calm(a, b, training=3)) == {0: 0, 1: 1}


def test_it_is_the_greedy_of_allocation() -> None:
    """In one pool the flexible workers are those that the library's greedy by marginal value gives."""
    for seed in range(cases(100)):
        jobs = [job._replace(pool="training") for job in drawn(seed).elastic]
        snapshot = calm(*jobs, training=seed % 13)
        capacity = seed % 13 + sum(job.extra * job.worker_gpus for job in jobs)
        solution = marginal_greedy(
            Allocation(capacity=capacity, jobs=[_problem_job(job) for job in jobs])
        ).solution
        assert solution is not None
        given = {job: extra for job, extra in optimus().extras(snapshot).items() if extra}
        assert given == {int(name): extra for name, extra in solution.extra.items() if extra}


def _problem_job(job: FlexibleJob) -> ElasticJob:
    values = [job.time - job.time_with(extra) for extra in job.extras]
    name = str(job.job)
    return ElasticJob(
        name=name, min_workers=job.base, counts=job.extras, gpus_per_worker=job.worker_gpus, values=values
    )


def test_who_starts_leaves_running_jobs_their_most() -> None:
    """The running job wants 3 of 5 GPUs; the shorter waiting one needs 1 of the rest and wants both."""
    short = WaitingJob(1, 1.0, 5.0, 1, linear(1, 5.0, most=3))
    snapshot = crowded([WaitingJob(2, 0.0, 9.0, 1), short], linear(0, 60.0), training=5)
    assert max_first().order(snapshot) == [1]
    assert max_first(order="release").order(snapshot) == [2, 1]


def test_what_flexible_workers_hold_counts_as_theirs() -> None:
    """A job at its most leaves what is idle to those that wait."""
    snapshot = crowded([WaitingJob(1, 0.0, 9.0, 2)], linear(0, 60.0, extra=3), training=2)
    assert max_first().order(snapshot) == [1]


def test_blocking_by_max_first() -> None:
    """A job that does not fit is passed over, or blocks those behind it."""
    snapshot = crowded([WaitingJob(1, 0.0, 1.0, 4), WaitingJob(2, 0.0, 9.0, 1)], training=2)
    assert max_first().order(snapshot) == [2]
    assert max_first(blocks=True).order(snapshot) == []


def test_the_least_left_grows_first_by_max_first() -> None:
    """The job with less GPU time left gets its most, the other what remains."""
    assert max_first().extras(calm(linear(0, 60.0), linear(1, 59.0), training=4)) == {0: 1, 1: 3}


def test_who_is_shorter_than_what_it_displaces_starts() -> None:
    """Flexible workers of a job with 60 GPU-seconds left make way for one of 59 GPU-seconds, not of 61."""
    waiting = [WaitingJob(1, 0.0, 61.0, 1), WaitingJob(2, 0.0, 59.0, 1)]
    assert marginal().order(crowded(waiting, linear(0, 60.0, extra=3))) == [2]


def test_who_would_start_grows_before_longer_ones_start() -> None:
    """Of 3 GPUs a waiting job that scales linearly takes all before a longer one starts."""
    elastic = WaitingJob(1, 0.0, 5.0, 1, linear(1, 5.0, most=3))
    snapshot = [crowded([elastic, WaitingJob(2, 0.0, 9.0, 1)], training=gpus) for gpus in (3, 4)]
    assert [marginal().order(each) for each in snapshot] == [[1], [1, 2]]


def test_all_may_start() -> None:
    """As in Aryl's first phase all jobs are named, the shortest first."""
    waiting = [WaitingJob(1, 0.0, 61.0, 1), WaitingJob(2, 0.0, 59.0, 1)]
    assert marginal(starts="all").order(crowded(waiting, linear(0, 60.0, extra=3))) == [2, 1]


def test_the_least_left_grows_first_by_marginal() -> None:
    """The job with less GPU time left gets its most, the other what remains."""
    assert marginal().extras(calm(linear(0, 60.0), linear(1, 59.0), training=4)) == {0: 1, 1: 3}


@pytest.mark.parametrize(("power", "mean"), [(-1, 3 / 4), (0, 0.75**0.5), (1, 1), (2, 1.25**0.5)])
def test_means_by_hand(power: float, mean: float) -> None:
    """On 2 of 4 GPUs each the fair speed is 2; with 3 and 1 workers speedups are 3/2 and 1/2."""
    fitness = Fitness.of(calm(linear(0, 9), linear(1, 9), training=2), power=power)
    assert fitness.mean(np.array([2, 0])) == pytest.approx(mean, rel=SUM)


def test_more_is_better_for_every_power() -> None:
    """The worth of rows rises with the power mean, whatever the sign of the power."""
    snapshot = calm(linear(0, 9), linear(1, 9, base=2), training=4)
    rows = np.array([[a, b] for a in range(4) for b in range(3)])
    for power in (-2.0, -1.0, 0.0, 1.0, 3.0):
        fitness = Fitness.of(snapshot, power=power)
        means = np.array([fitness.mean(row) for row in rows])
        assert (np.diff(means[np.argsort(fitness.of_rows(rows))]) > -SUM).all()


def test_gaps_and_doubling() -> None:
    """Numbers that are not allowed count as the next smaller one, and nobody more than doubles."""
    gap = FlexibleJob(0, 9.0, 1, 2, 8, 1, "training", (2.0, 3.0, 0.0, 5.0, 0.0, 0.0, 8.0))
    assert Fitness.of(calm(gap, training=9), power=-1).allowed.tolist() == [[0, 1, 1, 3, 3, 3, 6]]
    assert Fitness.of(calm(gap, training=9), power=-1, doubling=True).allowed.tolist() == [[0, 1, 1, 3, 3]]


def _fits(fitness: Fitness, row: Counts) -> bool:
    return all((row * fitness.worker_gpus)[confined].sum() <= gpus for confined, gpus in fitness.limits)


def test_repairs_fit_and_take_no_more_than_they_must() -> None:
    """What is repaired fits in all pools, grows nowhere, and stays as it was where it fitted."""
    for seed in range(cases(100)):
        random = np.random.default_rng(seed)
        fitness = Fitness.of(drawn(seed), power=-1)
        if not fitness.jobs:
            continue
        rows = fitness.allowed[
            np.arange(len(fitness.jobs)), random.integers(0, fitness.most + 1, (6, len(fitness.jobs)))
        ]
        after = repaired(fitness, rows, random)
        for row, mended in zip(rows, after, strict=True):
            assert _fits(fitness, mended)
            assert (mended <= row).all()
            assert not _fits(fitness, row) or (mended == row).all()


def test_one_job_is_not_cut_where_others_can_be() -> None:
    """Of 2 GPUs too much exactly 2 are taken away where workers have one GPU."""
    fitness = Fitness.of(calm(*(linear(job, 9) for job in range(5)), training=10), power=-1)
    rows = np.full((20, 5), [3, 3, 3, 2, 1])
    assert (repaired(fitness, rows, np.random.default_rng(0)).sum(axis=1) == 10).all()


def test_small_searches_find_the_optimum() -> None:
    """With 3 jobs the search finds the best of all numbers of workers."""
    for seed in range(cases(20)):
        random = np.random.default_rng(seed)
        jobs = [linear(job, 9, base=int(random.integers(1, 4)), most=6) for job in range(3)]
        fitness = Fitness.of(calm(*jobs, training=int(random.integers(1, 8))), power=-1)
        every = np.stack(np.meshgrid(*(np.arange(most + 1) for most in fitness.most)), axis=-1).reshape(-1, 3)
        best = max(float(fitness.of_rows(row[None])[0]) for row in every if _fits(fitness, row))
        found = evolve(fitness, np.zeros(3, dtype=np.int64), SearchEffort(), random)
        assert float(fitness.of_rows(found[None])[0]) == pytest.approx(best, rel=SUM)


def test_never_worse_than_its_start() -> None:
    """After one generation of two candidates the result is at least as good as what it began with."""
    for seed in range(cases(50)):
        fitness = Fitness.of(drawn(seed), power=-1)
        if not fitness.jobs:
            continue
        start = repaired(fitness, np.array([[job.extra for job in fitness.jobs]]), np.random.default_rng(0))[0]
        found = evolve(fitness, start, SearchEffort(2, 1, 1), np.random.default_rng(seed))
        assert fitness.of_rows(found[None]) >= fitness.of_rows(start[None])


def test_what_is_best_for_each_needs_no_search() -> None:
    """Where all can have what is best for each alone, they get it."""
    fitness = Fitness.of(calm(*(linear(job, 9) for job in range(50)), training=150), power=-1)
    assert (
        evolve(fitness, fitness.most * 0, SearchEffort(2, 1, 1), np.random.default_rng(0)).tolist() == [3] * 50
    )


def test_harmonic_mean_by_hand() -> None:
    """With speeds 1+w and 2+w relative to 3, three workers are best as 2 and 1: 3/3 + 3/3."""
    snapshot = calm(linear(0, 9), linear(1, 9, base=2, most=5), training=3)
    for search in get_args(How):
        assert goodput_search(search=search, doubling=False).extras(snapshot) == {0: 2, 1: 1}


def test_nobody_more_than_doubles() -> None:
    """A job of one worker gets one more, then two more, unless that is lifted."""
    snapshot = [calm(linear(0, 9, most=9, extra=extra), training=9) for extra in (0, 1)]
    assert [goodput_search().extras(each) for each in snapshot] == [{0: 1}, {0: 3}]
    assert goodput_search(doubling=False).extras(snapshot[0]) == {0: 8}


def test_between_searches_jobs_keep_what_they_have() -> None:
    """Until the next search is due nobody grows or shrinks, though GPUs are idle."""
    scheduler = goodput_search(interval=60)
    epochs = [replace(calm(linear(0, 9, extra=1), training=2), now=now) for now in (0.0, 59.0, 60.0)]
    assert [scheduler.extras(snapshot) for snapshot in epochs] == [{0: 3}, {0: 1}, {0: 3}]


def test_greedy_is_what_a_search_can_find_at_best() -> None:
    """For workers of one GPU that scale linearly no search has a better fitness."""
    for seed in range(cases(20)):
        random = np.random.default_rng(seed)
        jobs = [linear(job, 9, base=int(random.integers(1, 4)), most=8) for job in range(8)]
        snapshot = calm(*jobs, training=int(random.integers(1, 20)))
        fitness = Fitness.of(snapshot, power=-1)
        worth = []
        for search in get_args(How):
            extras = goodput_search(search=search, doubling=False, seed=seed).extras(snapshot)
            worth.append(float(fitness.of_rows(np.array([[extras[job.job] for job in jobs]]))[0]))
        assert worth[0] <= worth[1] + SUM


_SECONDS: dict[str, Any] = {"interval": 1, "orchestrator_interval": 1}

#: Two elastic jobs on 8 GPUs, and one that comes and needs 4 of them.
_GROWING = job("a", 0, 60, 2, 6)
_COMING = job("c", 2, 4, 4)


def _times(scheduler: Any, *jobs: Any, machines: int = 1, **options: Any) -> tuple[Any, ...]:
    return run(
        aryl, pools(machines, 0), *jobs, scheduler=scheduler, scheduler_options=options or None, **_SECONDS
    ).completion_times


def test_fifo_does_not_scale() -> None:
    """Job a stays on its two GPUs for a minute, though six are idle."""
    assert _times("fifo", _GROWING) == (60,)
    assert _times("gandiva", _GROWING) == (20,)
    for scheduler in (schedulers.gandiva, schedulers.gandiva()):  # one that makes it, and one made
        assert _times(scheduler, _GROWING) == (20,)


def test_gandiva_shrinks_for_whoever_waits() -> None:
    """Job a has 6 GPUs for 2 s, when c comes and takes 4; as nobody waits then, a goes on with 4."""
    assert _times("gandiva", _GROWING, _COMING) == (6 + Fraction(60 - 6 - 8, 3), 6)
    everything = job("c", 2, 4, 8)
    assert _times("gandiva", _GROWING, everything) == (2 + (60 - 6), 2 + 54 + 4)


def test_gandiva_grows_beside_its_own_workers() -> None:
    """Job a leaves the second machine alone, unless it may grow anywhere."""
    wide = job("a", 0, 60, 2, 12)
    for own, held in ((True, {"v0": 8}), (False, {"v0": 8, "v1": 4})):
        options = {"own_servers_only": own}
        ran = run(aryl, pools(2, 0), wide, scheduler="gandiva", scheduler_options=options, **_SECONDS)
        assert machines_of(ran, pools(2, 0), "a", 1) == held


def test_max_first_keeps_others_waiting() -> None:
    """With 6 GPUs for b and a at a time c, which needs 4, waits until b, which wants 4, is done."""
    jobs = (job("a", 0, 60, 2, 8), _COMING)
    assert _times("max_first", *jobs) == (15, 19)
    assert _times("two_phase", *jobs)[1] == 6


def test_afs_grows_whom_the_knapsack_does_not() -> None:
    """Of four GPUs beside the base workers AFS gives two to the first, the knapsack to who saves more time."""
    jobs = (job("a", 0, 20, 2, 6), job("b", 0, 60, 2, 6))
    afs, two_phase = (_times(scheduler, *jobs) for scheduler in ("afs", "two_phase"))
    assert afs[0] < two_phase[0]
    assert afs[1] > two_phase[1]


def test_tables_3_and_4() -> None:
    """The least GPU time first is optimal in Table 3, where the knapsack is not, and is not in Table 4."""
    b = job("B", 0, 60, 2, menu=linear_menu(2, range(2, 7)))
    wide, narrow = (job("A", 0, 150, 2, menu=linear_menu(2, range(2, most + 1))) for most in (6, 3))
    totals = [[sum(_times(scheduler, a, b)) for scheduler in ("marginal", "two_phase")] for a in (wide, narrow)]
    assert totals == [[Fraction(250, 3), Fraction(290, 3)], [Fraction(380, 3), 124]]


@settings(max_examples=cases(20), deadline=None)
@given(
    scenario=rich_scenarios(), name=st.sampled_from(schedulers.__all__), inference=st.sampled_from(["old", ""])
)
def test_runs_are_legal(scenario: Scenario, name: str, inference: str) -> None:
    """Whatever machines come and go, runs by each scheduler are legal and all jobs complete."""
    assume(not scenario.cluster.is_plain)
    check_policy(aryl, [scenario], inference=inference, interval=2, orchestrator_interval=5, scheduler=name)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_search_is_new_in_each_run(seed: int) -> None:
    """Two runs with one seed are the same."""
    jobs = [job(str(number), number, 30 + 7 * number, 2, 8) for number in range(6)]
    runs = [_times("goodput_search", *jobs, machines=2, interval=3, seed=seed) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("make", "number"),
    [
        (fifo, 50),
        (partial(fifo, blocks=False), 50),
        (partial(gandiva, own_servers_only=False), 100),
        *((partial(afs, gain=gain), 200) for gain in get_args(Gain)),
        (optimus, 200),
        (max_first, 100),
        (partial(max_first, blocks=True), 100),
        *((partial(marginal, exponent=exponent), 100) for exponent in (1, 4)),
        *(
            (partial(goodput_search, search=how, population=10, generations=10, seed=3), 50)
            for how in get_args(How)
        ),
    ],
)
def test_always_legal(make: Callable[[], Scheduler], number: int) -> None:
    """Every answer is legal, and the same again for the same seed."""
    assert_always_legal(make, number)


def test_blocks_by_default() -> None:
    """Only some schedulers let a job that does not fit block those behind it, as the option says."""
    assert [make().blocks for make in (fifo, gandiva, optimus, goodput_search)] == [True] * 4
    assert [make().blocks for make in (afs, max_first, marginal)] == [False] * 3
    for make in (fifo, gandiva, afs, optimus, max_first, goodput_search):
        assert [make(blocks=blocks).blocks for blocks in (True, False)] == [True, False]


_EXPONENT = "must be a number above 0 and at most 16"


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        *(
            (name, {"order": "lifo"}, "order: 'lifo': must be one of release, time, area")
            for name in (
                "afs",
                "optimus",
                "max_first",
                "goodput_search",
            )
        ),
        ("afs", {"gain": "none"}, "gain: 'none': must be one of base, present, pairs"),
        *(
            ("marginal", {"exponent": each}, f"exponent: {each!r}: {_EXPONENT}")
            for each in (0, 17, "4", float("nan"))
        ),
        ("marginal", {"starts": "most"}, "starts: 'most': must be one of ranked, all"),
        ("goodput_search", {"search": "random"}, "search: 'random': must be one of genetic, greedy"),
        ("goodput_search", {"population": 1}, "population: 1: must be a whole number from 2 to 10,000"),
        ("goodput_search", {"generations": 1.5}, "generations: 1.5: must be a whole number from 1 to 10,000"),
        ("goodput_search", {"patience": 0}, "patience: 0: must be a whole number from 1 to 10,000"),
        (
            "goodput_search",
            {"interval": float("inf")},
            "interval: inf: must be a number of seconds, at least 0",
        ),
        ("goodput_search", {"power": 11}, "power: 11: must be a number from -10 to 10"),
        ("fifo", {"gain": "base"}, "scheduler_options: 'gain': is not an option of fifo; it has blocks"),
        ("lifo", {}, f"scheduler: 'lifo': must be two_phase, or one of {', '.join(schedulers.__all__)}"),
    ],
)
def test_bad_options(name: str, options: dict[str, Any], line: str) -> None:
    """A scheduler or option that does not exist, or is out of its range, is refused in one line."""
    with pytest.raises(InvalidInput) as refusal:
        scheduler_named(name, options)
    assert str(refusal.value) == line
