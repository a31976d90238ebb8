"""What pictures show of a schedule's time."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.simulation import replay
from gsopt.simulation.plots.spans import capacity_steps, span_of, waits_of
from heuristics.policies import fifo
from tests.effort import cases
from tests.gsopt.simulation.plots.samples import large, schedule_of, small
from tests.gsopt.simulation.scenarios import rich_scenarios


@pytest.mark.parametrize("origin", [0.0, 1.7e9])
def test_a_small_picture_shows_everything(origin: float) -> None:
    """It begins at the first release on whatever clock, and ends with the last job."""
    run = small(origin=origin)
    span = span_of(schedule_of(run), run.scenario)
    assert span.begin == origin
    assert span.visible_until == span.end == max(run.completion_times)


def test_a_long_end_in_which_nobody_waits_is_cut_off() -> None:
    """With many jobs the picture ends soon after the last wait; without a long end it shows everything."""
    run = large(last=10_000)
    span = span_of(schedule_of(run), run.scenario)
    last_start = max(float(start) for start in run.start_times)
    assert last_start < span.visible_until < 2 * last_start
    assert span.end == 10_000
    run = large()
    span = span_of(schedule_of(run), run.scenario)
    assert span.visible_until == span.end


def test_nothing_at_all_has_a_span() -> None:
    """Without jobs there is a second to show."""
    scenario = Scenario(workload=Workload(jobs=[]), cluster=Cluster.plain(1))
    assert span_of(Schedule(()), scenario) == (0, 1, 1)


def test_capacity_changes_where_the_scenario_says() -> None:
    """The steps begin with the cluster and go on to the end with the last change."""
    run = small()
    assert capacity_steps(schedule_of(run), run.scenario, 0, 20) == [(0, 4), (7, 3), (20, 3)]


def test_machines_that_go_and_come_back_change_the_capacity() -> None:
    """A machine that leaves, or is given up, is away until it returns; its GPUs are not counted twice."""
    names = ["machine 0.0", "machine 0.1", "machine 0.2"]
    events: list[Event] = [
        Leave(time=1, servers=names[:1]),
        Reclaim(time=2, deadline=4, servers=1),
        Return(time=5, servers=names[:1]),
        Return(time=6, servers=names[1:2]),
    ]
    change = CapacityChange(time=8, gpus=5)
    scenario = Scenario(
        workload=Workload(jobs=[]),
        cluster=Cluster.uniform(machines=3, gpus=2),
        events=events,
        capacity_changes=(change,),
    )
    schedule = Schedule((), vacated=(Vacated(3, names[1]),))
    wanted = [(0, 6), (1, 4), (3, 2), (5, 4), (6, 6), (8, 5), (9, 5)]
    assert capacity_steps(schedule, scenario, 0, 9) == wanted


def test_machines_that_are_lent_change_the_capacity() -> None:
    """The first ones that are away and of the type come, after what left and was given up before."""
    kinds = {"a": ("T4", 1), "b": ("T4", 2), "c": ("V100", 4)}
    machines = [Machine(name=name, gpus=gpus, gpu_type=kind) for name, (kind, gpus) in kinds.items()]
    events: list[Event] = [
        Leave(time=0, servers=["b", "c"]),
        Reclaim(time=0, deadline=1, servers=1, among=["a"]),
        Loan(time=2, servers=1, gpu_type="V100"),
        Loan(time=3, servers=3),
    ]
    cluster = Cluster(racks=[Rack(name="rack", machines=machines)])
    scenario = Scenario(workload=Workload(jobs=[]), cluster=cluster, events=events)
    steps = capacity_steps(Schedule((), vacated=(Vacated(1, "a"),)), scenario, 0, 5)
    assert steps == [(0, 1), (1, 0), (2, 4), (3, 7), (5, 7)]


def test_gpus_given_up_by_a_deadline_change_the_capacity() -> None:
    """In a plain cluster GPUs go at the deadline and come back by number."""
    events: list[Event] = [Reclaim(time=0, deadline=4, gpus=3), Return(time=6, gpus=2)]
    scenario = Scenario(workload=Workload(jobs=[]), cluster=Cluster.plain(4), events=events)
    assert capacity_steps(Schedule(()), scenario, 0, 9) == [(0, 4), (4, 1), (6, 3), (9, 3)]


def test_a_job_that_still_runs_does_not_wait() -> None:
    """Where a job holds GPUs twice, which no judge would accept, it waits when both are gone."""
    scenario = Scenario(
        workload=Workload(jobs=[Job(name="a", release_date=0, duration=9, gpus=1)]), cluster=Cluster.plain(2)
    )
    schedule = Schedule((Segment("a", 0, 10, 1), Segment("a", 2, 3, 1), Segment("a", 12, 13, 1)))
    assert [(start, end) for _, start, end in waits_of(schedule, scenario)] == [(10, 12)]


def test_waits_are_what_remains_between_release_and_last_end() -> None:
    """On random schedules the waits of a job are the seconds of its stay in which it runs nowhere."""
    draw = Random(1)
    for _ in range(200):
        ticks = [[tick for tick in range(5, 15) if draw.random() < 0.5] for _ in range(3)]
        jobs = [
            Job(name=f"j{number}", release_date=draw.randint(0, 5), duration=1, gpus=1) for number in range(3)
        ]
        segments = [
            Segment(job.name, tick, tick + 1, 1) for job, held in zip(jobs, ticks, strict=True) for tick in held
        ]
        draw.shuffle(segments)
        scenario = Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(3))
        waited = {
            (job.name, tick)
            for job, start, end in waits_of(Schedule(tuple(segments)), scenario)
            for tick in range(int(start), int(end))
        }
        assert waited == {
            (job.name, tick)
            for job, held in zip(jobs, ticks, strict=True)
            if held
            for tick in range(int(job.release_date), held[-1])
            if tick not in held
        }


@settings(deadline=None, max_examples=cases(60), suppress_health_check=[HealthCheck.too_slow])
@given(scenario=rich_scenarios())
def test_what_runs_never_needs_more_than_the_capacity(scenario: Scenario) -> None:
    """On random clusters whose machines come and go, never are more GPUs held than there are."""
    schedule = schedule_of(replay(scenario, fifo, record=True))
    steps = capacity_steps(schedule, scenario, 0.0, 1.0)
    moments = sorted({time for time, _ in steps} | {each.start for each in schedule.segments})
    for moment in moments:
        running = [each for each in schedule.segments if each.start <= moment < each.end]
        named = {gpu for each in running for gpu in each.placement}
        held = len(named) + sum(each.gpus for each in running if not each.placement)
        assert held <= [gpus for time, gpus in steps if time <= moment][-1], moment
