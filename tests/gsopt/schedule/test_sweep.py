"""The sweep finds who holds what, and how much each job has done by the time."""

from fractions import Fraction
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave, Reclaim, Return
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.judge import judge

_HALVES = Mode(name="halves", menu=[(1, 0.25), (2, 0.5)], memory=4, steps=2)
_PHASES = [Phase(until=0.25, slowdown=2, modes={"halves": 1}), Phase(until=0.5), Phase(until=1, slowdown=4)]


def _scenario(*jobs: Job, cluster: Cluster | None = None, **fields: Any) -> Scenario:
    racks = cluster or Cluster.uniform(machines=2, gpus=2, memory=10)
    return Scenario(workload=Workload(jobs=jobs), cluster=racks, **fields)


def _job(name: str = "a", **fields: Any) -> Job:
    given: dict[str, Any] = {"release_date": 0, "duration": 4, "gpus": 1, **fields}
    return Job(name=name, **given)


def _violations(scenario: Scenario, *segments: Segment, **options: Any) -> tuple[str, ...]:
    return judge(Schedule(segments, **options), scenario, exact=True).violations


@pytest.mark.parametrize(
    ("segments", "rule"),
    [
        ([Segment("a", 0, 8, 2, (0, 1), "halves")], None),
        ([Segment("a", 0, 16, 1, (0,), "halves")], None),
        ([Segment("a", 0, 4, 1, (0,))], None),
        ([Segment("a", 0, 2, 1, (0,)), Segment("a", 2, 6, 2, (0, 1), "halves")], None),
        ([Segment("a", 0, 4, 1, (0,), "halves")], "does not complete: 1 s of 4 s"),
        ([Segment("a", 0, 8, 2, (0, 1))], "GPU count 2 of job 'a' is not one of (1,)"),
        ([Segment("a", 0, 8, 3, (0, 1, 2), "halves")], "GPU count 3 of job 'a' is not one of (1, 2)"),
        ([Segment("a", 0, 8, 2, (0, 1), "whole")], "'whole' is no mode of job 'a'"),
    ],
)
def test_modes_have_menus(segments: list[Segment], rule: str | None) -> None:
    """A segment runs on a count and at a speed of its mode's menu."""
    found = _violations(_scenario(_job(modes=[_HALVES])), *segments)
    assert found == () if rule is None else rule in found[0]


def test_modes_take_memory() -> None:
    """Two jobs of 7 and of 4 or 3 bytes share a GPU of 10 where the first runs in halves."""
    jobs = [_job(memory=7, modes=[_HALVES]), _job("b", memory=4, duration=16)]
    scenario = _scenario(*jobs, share_limit=2)
    beside = Segment("b", 0, 16, 1, (0,))
    assert _violations(scenario, Segment("a", 0, 16, 1, (0,), "halves"), beside) == ()
    assert "do not fit its memory" in _violations(scenario, Segment("a", 0, 4, 1, (0,)), beside)[0]


def test_another_mode_is_a_resize() -> None:
    """It takes the overhead of a resize, once, and a cut within a mode takes none."""
    scenario = _scenario(_job(modes=[_HALVES]), overheads={"": Overhead(resize=1)})
    begin, middle = Segment("a", 0, 2, 1, (0,)), Segment("a", 2, 3, 2, (0, 1), "halves")
    assert _violations(scenario, begin, middle, Segment("a", 3, 7, 2, (0, 1), "halves")) == ()
    same = Segment("a", 3, 7, 2, (1, 2), "halves")
    assert "does not complete" in _violations(scenario, begin, middle, same)[0]


def test_phases_by_mode() -> None:
    """In its first quarter a job is twice as slow but in halves, in its second half four times in any mode."""
    scenario = _scenario(_job(modes=[_HALVES], phases=_PHASES))
    assert _violations(scenario, Segment("a", 0, 2 + 1 + 8, 1, (0,))) == ()
    halves = Segment("a", 0, 2 + 2 + 16, 2, (0, 1), "halves")
    assert _violations(scenario, halves) == ()
    mixed = (Segment("a", 0, 2, 2, (0, 1), "halves"), Segment("a", 2, 11, 1, (0,)))
    assert _violations(scenario, *mixed) == ()
    assert "runs for" in _violations(scenario, halves._replace(end=21))[0]


@pytest.mark.parametrize(
    ("lost", "segments", "legal"),
    [
        (0, [(0, 1, 0), (1, 4, 2)], True),
        (0.5, [(0, 1, 0), (1, 4.5, 2)], True),
        (0.5, [(0, 1, 0), (1, 4, 2)], False),
        (9, [(0, 1, 0), (1, 5, 2)], True),  # no more than was done
        (9, [(0, 1, 0), (3, 7, 2)], True),
        (9, [(0, 0.5, 0), (0.5, 4, 2)], True),  # it had gone before
        (9, [(0, 0.5, 0), (0.5, 1, 2), (3, 6, 2)], True),
        (9, [(0, 4, 0)], False),  # the machine is away
        (9, [(0, 1, 0), (1, 5, 1)], False),
        (9, [(0, 1, 0), (3, 7, 0)], True),  # it is back
        (9, [(0, 1, 0), (2.75, 6.75, 0)], False),
    ],
)
def test_machines_that_leave(lost: float, segments: list[tuple[float, float, int]], legal: bool) -> None:
    """A job on a machine that leaves loses work, and holds no GPU of it until it is back."""
    first, _ = _RACK.machines
    events = [Leave(time=1, servers=[first.name], lost_work=lost), Return(time=3, servers=[first.name])]
    scenario = _scenario(_job(), cluster=_RACK, events=events)
    pieces = [Segment("a", start, end, 1, (gpu,)) for start, end, gpu in segments]
    assert (_violations(scenario, *pieces) == ()) == legal
    rounded = judge(Schedule(tuple(pieces)), scenario).violations
    assert (rounded == ()) == legal


_RACK = Cluster.uniform(machines=2, gpus=2)


def test_a_job_that_completes_when_its_machine_leaves_loses_nothing() -> None:
    """Completions come first, in fractions and where floats round."""
    for scale, exact in [(1.0, True), (0.1, False), (1 / 3, False)]:
        leaves = Leave(time=4 * scale, servers=["machine 0.0"], lost_work=1)
        scenario = _scenario(_job(duration=4 * scale), cluster=_RACK, events=[leaves])
        schedule = Schedule(tuple(Segment("a", k * scale, (k + 1) * scale, 1, (0,)) for k in range(4)))
        assert judge(schedule, scenario, exact=exact).violations == ()


def test_only_jobs_on_the_machine_lose_work() -> None:
    """One beside it, one that has just lost its GPU to the capacity, and one of the past keep theirs."""
    leaves = Leave(time=2, servers=["machine 0.1"], lost_work=1)
    jobs = [_job("a"), _job("b"), _job("c")]
    changes = [CapacityChange(time=2, gpus=3), CapacityChange(time=3, gpus=4)]
    scenario = _scenario(*jobs, cluster=_RACK, events=[leaves], capacity_changes=changes)
    assert (
        _violations(
            scenario,
            Segment("a", 0, 4, 1, (0,)),
            Segment("b", 0, 2, 1, (3,)),
            Segment("b", 2, 4, 1, (1,)),
            Segment("c", 0, 2, 1, (2,)),
            Segment("c", 4, 7, 1, (1,)),
        )
        == ()
    )


def test_machines_given_up_hold_no_job() -> None:
    """From the time on at which a machine is given up, and with its work kept."""
    scenario = _scenario(_job(), cluster=_RACK, events=[Reclaim(time=0, deadline=2, servers=1)])
    moved = (Segment("a", 0, 1, 1, (0,)), Segment("a", 1, 4, 1, (2,)))
    given_up = (Vacated(1, "machine 0.0"),)
    assert _violations(scenario, *moved, vacated=given_up) == ()
    stayed = _violations(scenario, Segment("a", 0, 4, 1, (0,)), vacated=given_up)
    assert stayed[0] == "at 1: GPU 0 is held and not there"
    assert "owed" in _violations(scenario, *moved)[0]


def test_who_promised_not_to_preempt_may_give_machines_up() -> None:
    """Jobs on them pause and no others do; so do those on machines that leave."""
    jobs = [_job("a"), _job("b")]
    segments = [Segment("a", 0, 1, 1, (0,)), Segment("a", 2, 5, 1, (2,)), Segment("b", 0, 4, 1, (3,))]
    pausing = [Segment("b", 0, 1, 1, (3,)), Segment("b", 2, 5, 1, (3,))]
    asked = _scenario(*jobs, cluster=_RACK, events=[Reclaim(time=0, deadline=2, servers=1)])
    left = _scenario(*jobs, cluster=_RACK, events=[Leave(time=1, servers=["machine 0.0"])])
    for scenario, vacated in [(asked, (Vacated(1, "machine 0.0"),)), (left, ())]:
        assert _violations(scenario, *segments, preemptive=False, vacated=vacated) == ()
        found = _violations(scenario, *segments[:2], *pausing, preemptive=False, vacated=vacated)
        assert found == ("job 'b' is preempted at 1",)


def test_utilisation_counts_machines_that_are_away() -> None:
    """Of 4 GPUs two are away for 2 of 4 seconds."""
    events = [Leave(time=1, servers=["machine 0.1"]), Return(time=3, servers=["machine 0.1"])]
    scenario = _scenario(_job(), cluster=_RACK, events=events)
    verdict = judge(Schedule((Segment("a", 0, 4, 1, (0,)),)), scenario, exact=True)
    assert (verdict.violations, verdict.utilisation) == ((), Fraction(4, 16 - 4))


def test_gpus_beyond_the_capacity_are_not_there() -> None:
    """A job on one of them breaks the rule, though fewer GPUs are held than there are."""
    drop = (CapacityChange(time=2, gpus=3),)
    scenario = _scenario(_job(), cluster=_RACK, capacity_changes=drop)
    assert _violations(scenario, Segment("a", 0, 4, 1, (2,))) == ()
    assert _violations(scenario, Segment("a", 0, 4, 1, (3,))) == ("at 2: GPU 3 is held and not there",)


def test_types_of_gpus() -> None:
    """A job that names a type runs on no other, in any mode."""
    machines = [Machine(name="m", gpus=2, gpu_type="old"), Machine(name="n", gpus=2, gpu_type="new")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    scenario = _scenario(_job(gpu_type="new", modes=[_HALVES]), cluster=cluster)
    assert _violations(scenario, Segment("a", 0, 8, 2, (2, 3), "halves")) == ()
    assert "must run on new GPUs" in _violations(scenario, Segment("a", 0, 8, 2, (1, 2), "halves"))[0]
