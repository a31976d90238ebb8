"""The fair share is as computed by hand, and the bounds on delays hold or fail as claimed."""

from fractions import Fraction
from math import ulp
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput, InvalidSolution, Unsupported
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.fairness import (
    VirtualTime,
    capped_gps_finish_times,
    fair_finish_times,
    finish_time_fairness,
    gps_finish_times,
    usable_gpus,
)
from gsopt.schedule.judge import fluid_finish_times, judge
from gsopt.simulation import Start, replay, simulate
from heuristics.policies import efq, fifo
from heuristics.policies.efq.delays import LateJob, delay_bound, delay_report, longest_busy_period
from tests.effort import cases
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle, workloads
from tests.gsopt.simulation.scripts import scripted
from tests.strategies.theorem import KINDS, late

Menu = tuple[tuple[int, float], ...]

#: The numbers of instances of each class; the bounds are compared on all of them.
INSTANCES = cases(1500)

_PAPER = [f"paper, {busy}, {fluid}" for fluid in ("GPS", "capped GPS") for busy in ("GPUs", "jobs", "GPS")]


def _together(*jobs: tuple[float, float, int]) -> Workload:
    return bundle([Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(jobs)])


def _elastic(gpus: int, *jobs: tuple[float, float, Menu]) -> Scenario:
    """Make a scenario of jobs that demand one GPU, given by release date, GPU-seconds and menu."""
    return Scenario(
        workload=bundle(
            [
                Job(name=f"j{i}", release_date=r, duration=work, gpus=1, menu=menu)
                for i, (r, work, menu) in enumerate(jobs)
            ]
        ),
        cluster=Cluster.plain(gpus),
    )


def _linear(*counts: int) -> Menu:
    return tuple((count, float(count)) for count in counts)


def _fair_queue(scenario: Scenario, alpha: float) -> Schedule:
    schedule = replay(scenario, efq, alpha=alpha, record=True, exact=True).schedule
    assert schedule is not None
    return schedule


def test_gps_stands_still_while_idle() -> None:
    """A job that arrives after a pause has the cluster for itself, and a later virtual finish time."""
    assert gps_finish_times(_together((0, 1, 2), (10, 1, 2)), 2) == [1.0, 11.0]
    clock = VirtualTime(2)
    assert clock.arrive(0, 2.0) == 2.0
    assert clock.advance(10.0) == [(0, 1.0)]
    assert (clock.value, clock.arrive(1, 2.0)) == (2.0, 4.0)


@settings(deadline=None, max_examples=cases(200))
@given(gpus=st.integers(1, 6), data=st.data())
def test_gps_is_that_of_the_judge(gpus: int, data: st.DataObject) -> None:
    """The judge, which shares no code with it, finds the same fluid finish times in fractions."""
    jobs = data.draw(workloads(gpus))
    everything = [Fraction(gpus)] * len(jobs.jobs)
    assert gps_finish_times(jobs, gpus, exact=True) == fluid_finish_times(jobs.jobs, gpus, everything, Fraction)


def water_filling(jobs: Workload, gpus: int, caps: list[Fraction]) -> list[Fraction | None]:
    """Return the finish times by the definition: at every event shares are found anew, the small caps first."""
    left = [Fraction(job.duration) * job.gpus for job in jobs.jobs]
    finish: list[Fraction | None] = [None] * len(left)
    now, arrived = Fraction(0), 0
    while None in finish:
        active = [job for job in range(arrived) if finish[job] is None]
        arrival = Fraction(jobs.jobs[arrived].release_date) if arrived < len(left) else None
        if arrival is not None and (not active or arrival <= now):
            now, arrived = max(now, arrival), arrived + 1
            continue
        free, shares = Fraction(gpus), {}
        for place, job in enumerate(sorted(active, key=caps.__getitem__)):
            shares[job] = min(free / (len(active) - place), caps[job])
            free -= shares[job]
        step = min(left[job] / share for job, share in shares.items())
        step = step if arrival is None else min(step, arrival - now)
        now += step
        for job, share in shares.items():
            left[job] -= share * step
            finish[job] = now if left[job] == 0 else None
    return finish


@settings(deadline=None, max_examples=cases(300))
@given(gpus=st.integers(1, 8), data=st.data())
def test_capped_gps_is_water_filling(gpus: int, data: st.DataObject) -> None:
    """The definition, the fast way and the judge's own find the same times in fractions; floats agree."""
    jobs = data.draw(workloads(gpus, most=10))
    cap = st.sampled_from(
        [Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(gpus), Fraction(99)]
    )
    caps = [data.draw(cap) for _ in jobs.jobs]
    expected = water_filling(jobs, gpus, caps)
    assert capped_gps_finish_times(jobs, gpus, caps, exact=True) == expected
    assert fluid_finish_times(jobs.jobs, gpus, caps, Fraction) == expected
    floats = [float(time) for time in expected if time is not None]
    assert capped_gps_finish_times(jobs, gpus, caps) == pytest.approx(floats, rel=1e-9)
    assert fluid_finish_times(jobs.jobs, gpus, [float(cap) for cap in caps], float) == pytest.approx(
        floats, rel=1e-9
    )


def test_caps_are_what_jobs_can_use() -> None:
    """A rigid job can use its demand; an elastic one its demand times its highest speed in the cluster."""
    rigid = Job(name="a", release_date=0, duration=1, gpus=3)
    elastic = Job(name="b", release_date=0, duration=1, gpus=2, menu=[(1, 0.7), (2, 1.0), (4, 1.5), (8, 1.25)])
    assert [usable_gpus(rigid, 8), usable_gpus(elastic, 8), usable_gpus(elastic, 3)] == [3, 3, 2]
    modes = [Mode(name="fast", menu=[(2, 1.5), (8, 3.0)])]
    bimodal = Job(name="c", release_date=0, duration=6, gpus=2, modes=modes)
    assert [usable_gpus(bimodal, 8), usable_gpus(bimodal, 4), usable_gpus(bimodal, 1)] == [6, 3, 2]


@pytest.mark.parametrize(("gpus", "share"), [(4, 4), (8, 2)])
def test_ratios_look_at_modes_and_at_what_fits(gpus: int, share: int) -> None:
    """A job without a menu of its own is as fast as its fastest mode on GPUs that the cluster has."""
    modes = [Mode(name="fast", menu=[(2, 1.5), (8, 3.0)])]
    job = Job(name="c", release_date=0, duration=6, gpus=2, modes=modes)
    scenario = Scenario(workload=bundle([job]), cluster=Cluster.plain(gpus))
    run = simulate(scenario, scripted([Start(0, 2, "fast")]), record=True)
    assert judge(schedule_of(run), scenario).fairness == run.metrics.fairness == (4 / share,)


@settings(deadline=None, max_examples=cases(100))
@given(data=st.data())
def test_where_jobs_do_not_meet_the_fair_share_is_what_they_can_do_alone(data: st.DataObject) -> None:
    """In a cluster that has all GPUs that its jobs can use, each job's fair time is its duration."""
    jobs = data.draw(workloads(4, most=6))
    alone = [Fraction(job.release_date) + Fraction(job.duration) for job in jobs.jobs]
    assert fair_finish_times(jobs, 24, exact=True) == alone


@pytest.mark.parametrize("date", [0.0, 1.7e9])
def test_an_idle_cluster_treats_no_job_unfairly(date: float) -> None:
    """Where jobs never wait, floats find nobody unfair, at dates of today either."""
    random = Random(1)
    dates = sorted(random.uniform(0, 1e6) for _ in range(2000))
    jobs = _together(*((date + each, random.lognormvariate(4, 2), random.choice([1, 2, 4])) for each in dates))
    run = replay(Scenario(workload=jobs, cluster=Cluster.plain(4000)), fifo, record=True)
    figures = (run.metrics, judge(schedule_of(run), run.scenario))
    assert [(each.unfair_fraction, each.worst_fairness) for each in figures] == [(0, 1), (0, 1)]
    assert run.metrics.gps_unfair_fraction == 1


@settings(deadline=None, max_examples=cases(200))
@given(gpus=st.integers(1, 6), data=st.data())
def test_capped_gps_without_caps_is_gps(gpus: int, data: st.DataObject) -> None:
    """Caps that hold nobody back change nothing, and floats agree with fractions."""
    jobs = data.draw(workloads(gpus))
    loose = capped_gps_finish_times(jobs, gpus, [gpus] * len(jobs.jobs), exact=True)
    assert loose == gps_finish_times(jobs, gpus, exact=True)
    assert capped_gps_finish_times(jobs, gpus, [gpus] * len(jobs.jobs)) == pytest.approx(
        [float(time) for time in loose], rel=1e-9
    )


def test_fairness_figures() -> None:
    """Ratios count from the release date, skip jobs that do not complete, and excuse rounding above 1."""
    jobs = _together((1, 1, 1), (1, 1, 1), (1, 1, 1))
    ratios = finish_time_fairness([3.0, None, 2 + 1e-12], [2.0, 2.0, 2.0], jobs)
    assert ratios[:2] == [2.0, None]
    assert ratios[2] == 1.0


def test_a_nanosecond_on_an_epoch_clock() -> None:
    """A fair share that is shorter than the clock can tell counts as one of its ticks.

    The judge counts from the first release date, where nothing is too short.
    """
    clock = 1.7e9
    jobs = bundle([Job(name="a", release_date=clock, duration=1e-9, gpus=1)])
    assert finish_time_fairness([clock], [clock], jobs) == [1.0]
    late = clock + 1000 * ulp(clock)
    assert finish_time_fairness([late], [clock], jobs) == [1000.0]
    judged = judge(Schedule((Segment("a", clock, late, 1),)), Scenario(workload=jobs, cluster=Cluster.plain(1)))
    assert judged.fairness == (pytest.approx(238400),)  # 0.0002384 s, as the late end is written


def test_busy_periods_by_hand() -> None:
    """Two GPUs, of which both are held in [1, 2] and [4, 5]; jobs are there in [0, 3] and [4, 5]."""
    scenario = Scenario(workload=_together((0, 3, 1), (1, 1, 1), (4, 1, 2)), cluster=Cluster.plain(2))
    schedule = Schedule((Segment("j0", 0, 3, 1), Segment("j1", 1, 2, 1), Segment("j2", 4, 5, 2)))
    assert longest_busy_period(schedule, scenario, "GPUs", exact=True) == 1
    assert longest_busy_period(schedule, scenario, "jobs", exact=True) == 3
    assert longest_busy_period(schedule, scenario, "GPS", exact=True) == 2


#: Theorem 1 of Ares as printed is false; instances that can be checked by hand. Readings of the busy period,
#: completions under elastic fair queuing and under the fluid, and who is late.
_HALF = ((1, 1.0), (2, 1.0))
_THREE_QUARTERS = ((1, 1.0), (2, 1.5))
_COUNTEREXAMPLES = {
    "CE1": (_elastic(2, (0, 1, _HALF)), 0.75, (1,), (Fraction(1, 2),), {"GPUs", "jobs", "GPS"}),
    "CE2": (
        _elastic(2, (0, 1, ()), (0, 1, ()), (0, 2, ())),
        1.0,
        (1, 1, 3),
        (Fraction(3, 2), Fraction(3, 2), 2),
        {"GPUs", "jobs", "GPS"},
    ),
    "CE3": (
        _elastic(8, (0, 1, ()), (0, 1, ()), (0, 2, _linear(1, 2)), (0, 4, _linear(1, 2, 4))),
        0.75,
        (1, 1, 1, 1),
        (Fraction(1, 2), Fraction(1, 2), Fraction(3, 4), 1),
        {"GPUs", "jobs", "GPS"},
    ),
    "CE4": (
        _elastic(2, (0, 2, _THREE_QUARTERS), (1.25, 2, _THREE_QUARTERS)),
        0.75,
        (Fraction(4, 3), Fraction(8, 3)),
        (1, Fraction(9, 4)),
        {"GPS"},
    ),
}


@pytest.mark.parametrize("name", _COUNTEREXAMPLES)
def test_theorem_1_as_printed_is_false(name: str) -> None:
    """Each counterexample to Ares, Theorem 1, breaks it under the readings of the busy period named."""
    scenario, alpha, completions, fluid, broken = _COUNTEREXAMPLES[name]
    schedule = _fair_queue(scenario, alpha)
    for busy in ("GPUs", "jobs", "GPS"):
        report = delay_report(schedule, scenario, alpha=alpha, busy=busy, exact=True)
        assert bool(report.violations) == (busy in broken)
        assert report.delays == tuple(a - b for a, b in zip(completions, fluid, strict=True))
    assert not delay_report(schedule, scenario, alpha=alpha, kind="capped", exact=True).violations


def test_capped_fair_share_does_not_save_theorem_1() -> None:
    """CE2: against the fluid share that respects the caps the last job is still half a second late, not 0."""
    scenario = _COUNTEREXAMPLES["CE2"][0]
    fair = capped_gps_finish_times(scenario.workload, 2, [1, 1, 1], exact=True)
    report = delay_report(_fair_queue(scenario, 1.0), scenario, alpha=1.0, fair_times=fair, exact=True)
    assert fair == [Fraction(3, 2), Fraction(3, 2), Fraction(5, 2)]
    assert report.violations == (LateJob("j2", Fraction(1, 2), 0),)
    assert report.worst_delay == Fraction(1, 2)


def test_corrected_bound_is_tight() -> None:
    """A lone job whose efficiency on all GPUs is alpha is late by exactly (1 - alpha) times its busy period."""
    scenario = _elastic(2, (0, 2, _THREE_QUARTERS))
    report = delay_report(_fair_queue(scenario, 0.75), scenario, kind="uncapped", exact=True)
    assert report.delays == report.bounds == (Fraction(1, 3),)
    assert report.violations == ()


@pytest.mark.parametrize("name", KINDS)
def test_bounds_on_random_instances(name: str) -> None:
    """Corrected bounds always hold; the paper's does for linear doublings, and fails with caps (C, Dc, E).

    With concave speed and no caps (B) it fails only where the busy period is that of the fluid.
    """
    found = [late(KINDS[name], seed) for seed in range(INSTANCES)]
    broken = {bound: sum(each.get(bound, False) for each in found) for bound in _PAPER}
    assert not any(each["capped"] or each.get("uncapped", False) for each in found)
    assert all("uncapped" in each for each in found) or name in {"C", "Dc", "E"}
    if name in {"A", "D"}:
        assert set(broken.values()) == {0}
    elif name == "B":
        assert broken["paper, GPUs, GPS"] == broken["paper, jobs, GPS"] == 0
        assert 0 < broken["paper, GPS, GPS"] < INSTANCES / 20
    else:
        assert min(broken[bound] for bound in _PAPER[:3]) > INSTANCES / 10
        assert min(broken[bound] for bound in _PAPER[3:]) > 0


def test_theorem_without_caps_wants_none() -> None:
    """The corrected bound without caps says nothing about a job that may not use all GPUs."""
    with pytest.raises(Unsupported, match="'j0' may not use all 2 GPUs"):
        delay_bound(_elastic(2, (0, 1, _HALF)), 1.0, kind="uncapped")


@pytest.mark.parametrize("alpha", [0, -0.5, 1.5, float("nan"), "1"])
def test_bad_alpha(alpha: Any) -> None:
    """A threshold that is no number above 0 and at most 1 is refused."""
    with pytest.raises(InvalidInput, match=r"alpha: .* must be a number above 0 and at most 1"):
        delay_bound(_elastic(2, (0, 1, _HALF)), 1.0, alpha=alpha)


@pytest.mark.parametrize("field", ["kind", "busy"])
def test_bad_names(field: str) -> None:
    """A theorem or a busy period that there is not is refused."""
    scenario = _elastic(2, (0, 1, _HALF))
    options: dict[str, Any] = {field: "Themis"}
    with pytest.raises(InvalidInput, match=f"^{field}: 'Themis': must be one of "):
        delay_report(_fair_queue(scenario, 0.75), scenario, **options)


def test_illegal_schedules_have_no_report() -> None:
    """The schedule is judged before its delays are."""
    with pytest.raises(InvalidSolution, match="does not complete"):
        delay_report(Schedule(()), _elastic(2, (0, 1, _HALF)))


def test_floats_excuse_rounding() -> None:
    """In floats a delay above its bound by rounding is no violation: here three jobs of 0.1 s at alpha 1."""
    scenario = _elastic(1, (0, 0.1, ()), (0, 0.1, ()), (0, 0.1, ()))
    run = replay(scenario, efq, alpha=1.0, record=True)
    assert delay_report(schedule_of(run), scenario, alpha=1.0).violations == ()


@pytest.mark.parametrize("release", [0.0, 1.7e9])
def test_delays_are_excused_by_ticks(release: float) -> None:
    """A job that may not be late at all is late by ten microseconds and not by a tick, whatever the date."""
    scenario = Scenario(workload=_together((release, 1, 1)), cluster=Cluster.plain(1))

    def late(seconds: float | Fraction, *, exact: bool = False) -> bool:
        start = (Fraction(release) if exact else release) + seconds
        schedule = Schedule((Segment("j0", start, start + 1, 1),))
        return bool(delay_report(schedule, scenario, alpha=1.0, exact=exact).violations)

    assert not late(0)
    assert not late(ulp(release + 1))
    assert late(1e-5)
    assert late(Fraction(1, 2**20), exact=True)


@pytest.mark.parametrize("release", [0.0, 1.7e9])
def test_ratios_are_excused_by_ticks(release: float) -> None:
    """A ratio that differs from 1 by a tick of the clock is 1, and one that differs by 1e-5 is what it is."""
    jobs, fair = _together((release, 1, 1)), release + 1
    for seconds, ratio in [(ulp(fair), 1.0), (-ulp(fair), 1.0), (1e-5, 1 + 1e-5), (-1e-5, 1 - 1e-5)]:
        (found,) = finish_time_fairness([fair + seconds], [fair], jobs)
        assert found == pytest.approx(ratio, abs=ulp(fair))
        assert (found == 1) == (ratio == 1)
    exact = finish_time_fairness([Fraction(fair) + Fraction(1, 2**60)], [Fraction(fair)], jobs)
    assert exact[0] > 1


def test_no_jobs() -> None:
    """Without jobs nothing is late."""
    empty = Scenario(workload=bundle(()), cluster=Cluster.plain(1))
    for kind in ("paper", "uncapped", "capped"):
        report = delay_report(Schedule(()), empty, kind=kind)
        assert (report.bounds, report.worst_delay, report.busy_period) == ((), None, 0)
