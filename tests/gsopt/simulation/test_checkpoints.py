"""Jobs without checkpoints lose their progress; phases and modes change its speed."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job, Phase
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.training import Training
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.judge import judge
from gsopt.simulation import (
    Action,
    IllegalDecision,
    Move,
    Policy,
    Replay,
    Resize,
    Start,
    Stop,
    Vacate,
    Wake,
    engine,
    replay,
    simulate,
)
from gsopt.simulation.progress import Stretch, stretches
from gsopt.testing import check_policy
from heuristics import policies
from heuristics.policies import fifo
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import scripted

_RACKS = Cluster.uniform(machines=2, gpus=2)
A, B = (machine.name for machine in _RACKS.machines)

_MENU = [(1, 0.5), (2, 1.0)]


def run(policy: Policy, cluster: Cluster = _RACKS, job: Any = None, **physics: Any) -> Replay:
    """Record a run of a job of 8 s on 2 GPUs without checkpoints, in fractions, that the judge finds legal."""
    fields = {"duration": 8, "gpus": 2, "menu": _MENU, "checkpoints": False, **(job or {})}
    jobs = bundle([Job(name="a", release_date=0, **fields)])
    scenario = Scenario(workload=jobs, cluster=cluster, **physics)
    done = replay(scenario, policy, record=True, exact=True)
    verdict = judge(schedule_of(done), scenario, exact=True)
    assert (verdict.violations, verdict.completion_times) == ((), done.completion_times)
    assert verdict.preemptions == done.metrics.preemptions
    assert verdict.lost_gpu_seconds == done.metrics.lost_gpu_seconds
    return done


@pytest.mark.parametrize(
    ("steps", "completion"),
    [
        ([[Stop(0), Wake(5)], [Start(0)]], 13),
        ([[Stop(0), Start(0)]], 8),
        ([[Stop(0), Start(0, (2, 3))]], 8),
        ([[Move(0, (2, 3))]], 8),
        ([[Resize(0, 1)]], 13),  # 3 s of work, then 5 s at half the speed
        ([[Resize(0, 1), Wake(4)], [Stop(0), Wake(5)], [Start(0)]], 13),
        ([[Stop(0), Wake(4)], [Start(0), Wake(5)], [Stop(0), Wake(6)], [Start(0)]], 14),
    ],
)
def test_a_stop_costs_all_progress(steps: list[list[Action]], completion: int) -> None:
    """After a pause it begins anew; what stops and starts in one instant is resized or moved."""
    done = run(scripted([Start(0, (0, 1)), Wake(3)], *steps))
    assert done.completion_times == (completion,)


@pytest.mark.parametrize(
    ("events", "steps", "completion"),
    [
        # machines that leave take everything, even if the job goes on at once
        ([Leave(time=3, servers=[A])], [[Start(0, (2, 3))]], 11),
        ([Leave(time=3, servers=[A], lost_work=1)], [[Start(0, (2, 3))]], 11),
        ([Leave(time=3, servers=[A]), Return(time=5, servers=[A])], [[], [Start(0, (0, 1))]], 13),
        ([Leave(time=3, servers=[A]), Loan(time=3, servers=1)], [[Start(0, (0, 1))]], 11),
        ([Leave(time=3, servers=[B])], [], 8),  # of the other machine
        ([Leave(time=8, servers=[A])], [], 8),  # when it is complete
        # those that are given up have been asked for
        ([Reclaim(time=1, deadline=3, servers=1, among=[A])], [[], [Start(0, (2, 3))]], 8),
        ([Reclaim(time=1, deadline=3, servers=1, among=[A])], [[], [Wake(5)], [Start(0)]], 13),
        ([Reclaim(time=3, deadline=4, servers=1)], [[Vacate([A]), Start(0, (2, 3))]], 8),
        ([Reclaim(time=3, deadline=4, servers=1)], [[Move(0, (2, 3)), Vacate([A])]], 8),
        ([Reclaim(time=3, deadline=4, servers=1)], [[Vacate([A]), Wake(5)], [Start(0)]], 13),
    ],
)
def test_machines_that_go(events: Sequence[Any], steps: list[list[Action]], completion: int) -> None:
    """Without notice the job loses all that it has done; on request only if it does not go on at once."""
    assert run(scripted([Start(0, (0, 1))], *steps), events=events).completion_times == (completion,)


@pytest.mark.parametrize(
    ("interval", "time", "steps", "completion"),
    [
        (0, 3, [[Start(0, (2, 3))]], 8),  # all progress is saved
        (2, 3, [[Start(0, (2, 3))]], 9),  # a second since the checkpoint at 2 s
        (2, 4, [[Start(0, (2, 3))]], 8),  # at a checkpoint
        (9, 3, [[Start(0, (2, 3))]], 11),  # before the first checkpoint
        (2, 8, [], 8),  # when it is complete
        (4, 3, [[], [Start(0, (0, 1))]], 13),  # the wait, too, until the machine is back at 5 s
        (4, 3, [[Stop(0), Wake(2)], [Start(0, (0, 1))], [Start(0, (2, 3))]], 10),  # stopped at 1 s, saved
        (4, 3, [[Move(0, (0, 2))], [Start(0, (2, 3))]], 10),  # 1 s in a checkpoint by a move
    ],
)
def test_checkpoints_at_intervals(interval: float, time: float, steps: list[Any], completion: int) -> None:
    """A job falls back to its last checkpoint, which a stop or a move writes as well as its interval."""
    events = [Leave(time=time, servers=[A]), Return(time=time + 2, servers=[A])]
    first: list[Action] = [Start(0, (0, 1))]
    if len(steps) > 1 and steps[0]:
        first.append(Wake(1))
    checkpoints = {"checkpoints": True}
    done = run(scripted(first, *steps), job=checkpoints, events=events, checkpoint_interval=interval)
    assert done.completion_times == (completion,)


def test_progress_is_lost_once() -> None:
    """It does not matter in how many events of one instant a job's machines leave, nor on how many it runs."""
    fields = {"duration": 8, "gpus": 4, "menu": (), "checkpoints": True}
    back = Return(time=5, servers=[A, B])
    for leaves in (
        [Leave(time=3, servers=[A, B])],
        [Leave(time=3, servers=[A]), Leave(time=3, servers=[B])],
        [Leave(time=3, servers=[A]), Leave(time=4, servers=[B])],
    ):
        events = [*leaves, back]
        waits: list[list[Action]] = [[]] * len({event.time for event in leaves})
        steps = scripted([Start(0)], *waits, [Start(0)])
        done = run(steps, job=fields, events=events, checkpoint_interval=2)
        assert done.completion_times == (11,)
        assert done.metrics.lost_gpu_hours == Fraction(4, 3600)


def test_only_rounding_before_a_checkpoint_loses_nothing() -> None:
    """A job that floats put just below 0.3 s falls back to that checkpoint, for the judge as well."""
    job = Job(name="a", release_date=0, duration=8, gpus=2)
    events = [Leave(time=0.3, servers=[A])]
    scenario = Scenario(workload=bundle([job]), cluster=_RACKS, events=events, checkpoint_interval=0.1)
    done = replay(scenario, scripted([Start(0, (0, 1))], [Start(0, (2, 3))]), record=True)
    assert done.completion_times == (8,)
    verdict = judge(schedule_of(done), scenario)
    assert (verdict.violations, verdict.lost_gpu_hours, done.metrics.lost_gpu_hours) == ((), 0, 0)


def test_a_segment_in_two_parts_writes_no_checkpoint() -> None:
    """The judge sees one start where a schedule names the same GPUs twice in a row."""
    job = Job(name="a", release_date=0, duration=8, gpus=2)
    events = [Leave(time=3, servers=[A])]
    scenario = Scenario(workload=bundle([job]), cluster=_RACKS, events=events, checkpoint_interval=4)
    parts = [Segment("a", 0, 1, 2, (0, 1)), Segment("a", 1, 3, 2, (0, 1)), Segment("a", 3, 11, 2, (2, 3))]
    assert judge(Schedule(tuple(parts)), scenario, exact=True).violations == ()
    early = [*parts[:2], Segment("a", 3, 10, 2, (2, 3))]
    (rule,) = judge(Schedule(tuple(early)), scenario, exact=True).violations
    assert rule.startswith("job 'a' does not complete: 7 s of 8 s")


def test_what_is_lost_besides_lowers_the_checkpoint() -> None:
    """Work lost beyond the checkpoint is in none any more, so that the next loss may take it again."""
    lent = [Leave(time=3, servers=[A], lost_work=1.5), Loan(time=3, servers=1)]
    events = [*lent, Leave(time=3.25, servers=[A]), Return(time=5, servers=[A])]
    steps: list[list[Action]] = [[Move(0, (0, 2))], [Start(0, (0, 2))], [Start(0, (2, 3))]]
    done = run(
        scripted([Start(0, (0, 1)), Wake(1)], *steps),
        job={"checkpoints": True},
        events=events,
        checkpoint_interval=2,
    )
    # At 3 s, 2.5 s of 3 s, in spite of the move at 1 s; then the quarter of a second since.
    assert done.completion_times == (Fraction(43, 4),)
    assert done.metrics.lost_gpu_hours == Fraction(11, 2) / 3600


@pytest.mark.parametrize("cluster", [_RACKS, Cluster.plain(4)], ids=["racks", "plain"])
@pytest.mark.parametrize(("steps", "completion"), [([[Start(0, 1)]], 13), ([[Wake(5)], [Start(0, 1)]], 21)])
def test_a_drop_of_capacity(cluster: Cluster, steps: list[list[Action]], completion: int) -> None:
    """A job that goes on in that instant was resized; else it begins anew."""
    gpus = (0, 1) if cluster.racks else 2
    done = run(scripted([Start(0, gpus)], *steps), cluster, capacity_changes=[CapacityChange(time=3, gpus=1)])
    assert done.completion_times == (completion,)


def test_overheads_phases_and_samples_begin_anew() -> None:
    """The stop is paid at the next start, the first phase comes again, and samples count twice."""
    phases = [Phase(until=0.25, slowdown=2), Phase(until=1)]
    job = {"phases": phases, "training": Training(epoch=4, samples=16)}
    overheads = Overhead(start=0.5, stop=0.25, resize=9)
    policy = scripted([Start(0), Wake(5.5)], [Stop(0), Wake(6)], [Start(0)])
    done = run(policy, job=job, overheads=overheads)
    assert done.completion_times == (6 + Fraction(3, 4) + 4 + 6,)
    assert done.metrics.mean_epochs == 4 * (1 + 3 / 8)  # after 4 s a quarter of the work, then 1 s more


def test_stopping_for_ever_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes turns of less than the work completes nothing, and is told so."""
    monkeypatch.setattr(engine, "_FRUITLESS_CHANGES", 50)
    jobs = bundle(Job(name=name, release_date=0, duration=4, gpus=1, checkpoints=False) for name in ("a", "b"))
    with pytest.raises(IllegalDecision, match="jobs without checkpoints must be stopped so rarely"):
        simulate(jobs, policies.las, cluster=1, round_length=1.0)


def test_stopping_now_and_then_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops are counted from one completion to the next, and evictions are not."""
    monkeypatch.setattr(engine, "_FRUITLESS_CHANGES", 1)
    jobs = bundle(
        Job(name=name, release_date=release, duration=3, gpus=1, checkpoints=False)
        for name, release in [("a", 0), ("b", 0)]
    )
    policy = scripted(
        [Start(0), Wake(1)], [Stop(0), Start(1)], [], [Start(0), Wake(7)], [Stop(0), Wake(9)], [Start(0)]
    )
    changes = [CapacityChange(time=2, gpus=2), CapacityChange(time=6, gpus=1)]
    assert simulate(jobs, policy, cluster=2, capacity_changes=changes).completion_times == (12, 4)
    drops = [CapacityChange(time=time, gpus=(time + 1) % 2) for time in range(1, 9)]
    assert simulate(jobs, policies.fifo, cluster=1, capacity_changes=drops[2:]).completion_times == (3, 11)


@pytest.mark.parametrize("policy", [policies.srtf, policies.marginal], ids=lambda policy: policy.__name__)
@pytest.mark.parametrize(("checkpoints", "order"), [(True, (15, 9, 23)), (False, (27, 9, 17))])
def test_policies_know_what_is_lost(policy: Policy, checkpoints: bool, order: tuple[int, ...]) -> None:
    """A job of 10 s that was stopped with 6 s left has 10 s left, and stands behind one of 8 s."""
    jobs = bundle(
        Job(name=name, release_date=release, duration=duration, gpus=1, checkpoints=checkpoints)
        for name, release, duration in [("a", 0, 10), ("b", 4, 5), ("c", 5, 8)]
    )
    scenario = Scenario(workload=jobs, cluster=Cluster.plain(1))
    assert replay(scenario, policy).completion_times == order
    assert check_policy(policy, [scenario]) == 2


def test_phases_without_slowdown_change_nothing() -> None:
    """A job whose phases are all at full speed completes like one without phases."""
    phases = [Phase(until=0.3), Phase(until=1)]
    jobs = bundle(
        Job(name=str(i), release_date=0, duration=7, gpus=1, phases=p) for i, p in enumerate([(), phases])
    )
    first, second = simulate(jobs, fifo, cluster=2, exact=True).completion_times
    assert first == second == 7


def test_modes_have_their_own_slowdowns() -> None:
    """The slowdown of a phase in a mode counts instead of that of the phase."""
    phase = Phase(until=1, slowdown=2, modes={"": 3.0})
    job = Job(name="a", release_date=0, duration=6, gpus=1, phases=[phase])
    assert stretches(job, "", Fraction) == (Stretch(0, 3),)
    assert simulate(bundle([job]), fifo, cluster=1).completion_times == (18,)
