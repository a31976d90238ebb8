"""Bounds hold for every policy and are ordered as proven."""

from fractions import Fraction
from itertools import permutations
from math import ulp
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.bounds import (
    area,
    height,
    height_bound,
    lower_bound,
    mean_busy_time_bound,
    mean_jct,
    moore_hodgson_bound,
    moore_hodgson_positions,
    position_bound,
    srpt_bound,
)
from gsopt.schedule.bounds.work import options
from gsopt.schedule.judge import judged
from gsopt.simulation import replay, simulate
from gsopt.simulation.parts.greedy import Greedy
from heuristics import policies
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, workloads

BOUNDS = [height_bound, srpt_bound, position_bound, mean_busy_time_bound, moore_hodgson_bound, lower_bound]
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def _together(*jobs: tuple[float, float, int]) -> Workload:
    return bundle([Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(jobs)])


@settings(calm, max_examples=cases(300))
@given(scenario=plain_scenarios(elastic=True))
def test_every_bound_is_below_every_policy(scenario: Scenario) -> None:
    """No policy's completion times add up to less than any bound, with overheads and drops of capacity."""
    bounds = [bound(scenario.workload, scenario.cluster.gpus) for bound in BOUNDS]
    totals = [sum(replay(scenario, getattr(policies, name)).completion_times) for name in policies.__all__]
    assert max(bounds) <= min(totals) * (1 + 1e-9)


@settings(calm, max_examples=cases(100))
@given(data=st.data(), gpus=st.integers(1, 6))
def test_bounds_are_ordered(data: st.DataObject, gpus: int) -> None:
    """Positions are at least as good as SRPT and height, and Moore-Hodgson at least as good as positions."""
    jobs = data.draw(workloads(gpus, elastic=True))
    position = position_bound(jobs, gpus)
    assert max(srpt_bound(jobs, gpus), height_bound(jobs, gpus)) <= position * (1 + 1e-12)
    assert position <= moore_hodgson_bound(jobs, gpus) * (1 + 1e-12)
    assert lower_bound(jobs, gpus) >= max(position, mean_busy_time_bound(jobs, gpus))


@settings(calm, max_examples=cases(30, least=10))
@given(data=st.data())
def test_bounds_are_below_the_best_list_schedule(data: st.DataObject) -> None:
    """No preemptive priority order of few rigid jobs beats a bound."""
    gpus = data.draw(st.integers(1, 3))
    jobs = data.draw(workloads(gpus, most=4))

    def total(order: tuple[int, ...]) -> float:
        run = simulate(jobs, lambda state: Greedy(state, order.index), cluster=gpus, bound=False)
        return float(sum(run.completion_times))

    best = min(total(order) for order in permutations(range(len(jobs.jobs))))
    assert max(bound(jobs, gpus) for bound in BOUNDS) <= best * (1 + 1e-9)


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (height_bound, 4 + 3),
        (srpt_bound, 2 + 3),
        (position_bound, 3 + 4),
        (mean_busy_time_bound, 1.5 + 2 + 1.5 + 1),
        (moore_hodgson_bound, 3 + 4),
    ],
)
def test_bounds_by_hand(bound: object, expected: float) -> None:
    """Two GPUs; a job of 4 s on one GPU at 0 s and a job of 2 s on one GPU at 1 s."""
    jobs = _together((0, 4, 1), (1, 2, 1))
    assert callable(bound)
    assert bound(jobs, 2) == pytest.approx(expected, rel=1e-12)


def test_moore_hodgson_by_hand() -> None:
    """A job of 5 s on one GPU or 3.75 s on two, and one of 1 s on two from 1 s on, are both done at 4.25 s.

    To be complete at a time t the first needs 5 + 2 (5 - t) GPU-seconds, the second 2, of the 2 t that there
    are. The other bounds do not see that haste costs GPU-seconds, so this one is taken.
    """
    hasty = Job(name="a", release_date=0, duration=5, gpus=1, menu=[(1, 1.0), (2, 4 / 3)])
    jobs = bundle([hasty, Job(name="b", release_date=1, duration=1, gpus=2)])
    assert moore_hodgson_positions(jobs, 2) == pytest.approx([2, 4.25], rel=1e-10)
    assert moore_hodgson_bound(jobs, 2) == pytest.approx(6.25, rel=1e-10)
    assert max(position_bound(jobs, 2), mean_busy_time_bound(jobs, 2)) == pytest.approx(5.75, rel=1e-12)
    assert lower_bound(jobs, 2) == moore_hodgson_bound(jobs, 2)


@settings(calm, max_examples=cases(50, least=17))
@given(data=st.data(), gpus=st.integers(1, 6), date=st.sampled_from([1.7e9, 2.0**31, 1e6]))
def test_late_dates_cost_no_digits(data: st.DataObject, gpus: int, date: float) -> None:
    """With all jobs at a later date the bounds on the mean job completion time are the same but for a tick."""
    jobs = data.draw(workloads(gpus, elastic=True))
    later = bundle([job.model_copy(update={"release_date": job.release_date + date}) for job in jobs.jobs])
    for bound in BOUNDS:
        before, after = (mean_jct(bound(each, gpus), each) for each in (jobs, later))
        assert abs(after - before) <= ulp(date + 1e3) + 1e-12 * before
    pairs = zip(moore_hodgson_positions(jobs, gpus), moore_hodgson_positions(later, gpus), strict=True)
    assert all(abs(after - date - before) <= 2 * ulp(date + 1e3) for before, after in pairs)


def test_bounds_look_at_all_modes_and_phases() -> None:
    """Whatever a job can do best in each phase, by hand: 2 s of work on 2 GPUs, then 6 s in its better mode.

    In the first quarter the mode is 4 times slower, hence no better than the default; in the rest it takes half
    the seconds on one GPU.
    """
    mode = Mode(name="m", menu=[(1, 2.0)])
    phases = [Phase(until=0.25, modes={"m": 4.0}), Phase(until=1)]
    job = Job(name="a", release_date=1, duration=8, gpus=2, modes=[mode], phases=phases)
    assert (height(job), area(job)) == (2 / 1 + 6 / 2, min(2 * 2 / 1, 2 * 4 / 2) + 6 / 2)
    steady = job.model_copy(update={"phases": ()})
    assert (height(steady), area(steady)) == (4, 4)
    assert moore_hodgson_positions(bundle([steady]), 1) == pytest.approx([5])
    assert height_bound(bundle([job]), 2) == moore_hodgson_bound(bundle([job]), 2) == 6
    assert srpt_bound(bundle([job]), 1) == 1 + area(job)


def test_an_empty_workload() -> None:
    """Without jobs every bound is 0."""
    assert [bound(bundle(()), 1) for bound in BOUNDS] == [0.0] * len(BOUNDS)


def test_a_job_may_change_its_number_of_gpus() -> None:
    """Two jobs that swap four GPUs and one are both complete before either could be on two GPUs alone."""
    menu = [(1, 1.0), (2, 1.25), (4, 2.0)]
    jobs = bundle([Job(name=name, release_date=0, duration=10, gpus=1, menu=menu) for name in "ab"])
    half, end = 10 / 3, 20 / 3
    swap = Schedule(
        (
            Segment("a", 0, half, 4),
            Segment("b", 0, half, 1),
            Segment("a", half, end, 1),
            Segment("b", half, end, 4),
        )
    )
    latest = max(judged(swap, Scenario(workload=jobs, cluster=Cluster.plain(5))).completion_times)
    assert moore_hodgson_positions(jobs, 5)[1] <= latest * (1 + 1e-12)


def test_bisection_ends_on_the_safe_side() -> None:
    """By their areas two of the jobs can be complete at 7 s, and the bound says no later time for rounding."""
    jobs = _together((1, 4, 2), (2, 4, 2), (4, 3, 1))
    assert 7 - 1e-9 <= moore_hodgson_positions(jobs, 2)[1] <= 7


def test_phases_that_slow_modes_differently_shorten_the_lag() -> None:
    """If a job does most of its work in a short last phase, no bound is above this schedule by hand."""
    wide = Mode(name="wide", menu=[(3, 3.0)])
    phases = [Phase(until=0.25, modes={"wide": 3.0}), Phase(until=1)]
    jobs = [
        Job(name="a", release_date=0, duration=4, gpus=1, modes=[wide], phases=phases),
        Job(name="b", release_date=0, duration=1, gpus=3),
    ]
    scenario = Scenario.of(Workload(jobs=jobs), 4)
    runs = [Segment("b", 0, 1, 3), Segment("a", 0, 1, 1), Segment("a", 1, 2, 3, mode="wide")]
    verdict = judged(Schedule(tuple(runs)), scenario)

    assert not verdict.violations
    assert verdict.mean_jct == 1.5
    assert mean_busy_time_bound(scenario.workload, 4) == Fraction(23, 8)


def test_no_schedule_that_switches_modes_is_better() -> None:
    """Whatever modes jobs switch between, and however phases slow these down, no bound is above the sum."""
    random = Random("switches")
    for _ in range(cases(500)):
        gpus, jobs = random.randint(2, 4), []
        for name in "abc"[: random.randint(1, 3)]:
            modes = [
                Mode(name=mode, menu=[(random.randint(1, gpus), random.choice([0.5, 1.0, 3.0]))])
                for mode in "mn"
            ]
            slow = [{mode: random.choice([1.0, 2.0, 8.0]) for mode in "mn"} for _ in range(2)]
            phases = [Phase(until=random.choice([0.1, 0.5, 0.9]), modes=slow[0]), Phase(until=1, modes=slow[1])]
            jobs.append(
                Job(
                    name=name,
                    release_date=random.choice([0, 0, 1]),
                    duration=random.choice([1, 4]),
                    gpus=random.randint(1, gpus),
                    modes=modes,
                    phases=phases,
                )
            )
        workload = Workload(jobs=jobs)
        for _ in range(20):
            total = _switching(random, workload, gpus)
            for bound in (mean_busy_time_bound, position_bound, moore_hodgson_bound):
                assert bound(workload, gpus) <= total * (1 + 1e-12), (jobs, bound)


def _switching(random: Random, workload: Workload, gpus: int) -> float:
    """Return the sum of completion times of jobs that choose a mode anew in each phase, one after the other."""
    jobs, now, total = workload.jobs, 0.0, 0.0
    left = dict.fromkeys(range(len(jobs)), (0, 0.0))  # phase, and its completed fraction
    while left:
        there = [number for number in left if jobs[number].release_date <= now]
        free, rates = gpus, {}
        for number in random.sample(there, len(there)):
            job, phase = jobs[number], left[number][0]
            ways = [way for way in options(job) if way[1] <= free]
            if ways:
                mode, held, speed = random.choice(ways)
                free -= held
                begin = job.phases[phase - 1].until if phase else 0.0
                work = job.duration * (job.phases[phase].until - begin)
                rates[number] = speed / job.phases[phase].slowdown_in(mode) / work
        spans = [(1 - left[number][1]) / rate for number, rate in rates.items()]
        spans += [jobs[number].release_date - now for number in left if jobs[number].release_date > now]
        span = min(spans)
        now += span
        for number, rate in rates.items():
            phase, done = left.pop(number)
            done += span * rate
            if done < 1 - 1e-12:
                left[number] = (phase, done)
            elif phase + 1 < len(jobs[number].phases):
                left[number] = (phase + 1, 0.0)
            else:
                total += now
    return total
