"""Presence and loans: which GPUs are there when, and which requests and loans are possible."""

from fractions import Fraction
from math import nextafter
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.loans import Giving, Loans, Times
from gsopt.schedule.presence import Presence
from gsopt.simulation.run import replay
from heuristics.policies import fifo
from instances.scenarios import aryl
from tests.gsopt.simulation.recorded import schedule_of

#: Four machines, a to d, of two GPUs each.
_RACKS = Cluster.uniform(racks=2, machines=2, gpus=2)
_A, _B, _C, _D = (machine.name for machine in _RACKS.machines)


#: Machines a to d of 1, 2, 4 and 8 GPUs, every other one of the same type.
_TYPES = Cluster(
    racks=[
        Rack(
            name="rack",
            machines=[
                Machine(name=name, gpus=2**place, gpu_type=("T4", "V100")[place % 2])
                for place, name in enumerate("abcd")
            ],
        )
    ]
)


def _presence(
    *events: Event,
    cluster: Cluster = _RACKS,
    changes: tuple[tuple[float, int], ...] = (),
    vacated: tuple[tuple[Any, str], ...] = (),
    number: Any = Fraction,
) -> Presence:
    capacities = tuple(CapacityChange(time=time, gpus=gpus) for time, gpus in changes)
    scenario = Scenario(workload=Workload(jobs=()), cluster=cluster, capacity_changes=capacities, events=events)
    return Presence(scenario, tuple(Vacated(*each) for each in vacated), number)


def _rows(presence: Presence) -> list[tuple[Any, int, int]]:
    return [(step.time, step.limit, step.gpus) for step in presence.steps]


def test_nothing_changes() -> None:
    """Without changes, events and machines given up there are no steps, and no rule is broken."""
    presence = _presence()
    assert (presence.steps, presence.found) == ([], [])


def test_machines_and_limits_together() -> None:
    """A GPU is there when its number is below the limit and its machine is there."""
    presence = _presence(
        Leave(time=1, servers=[_A, _D], lost_work=3), Return(time=4, servers=[_D, _A]), changes=((2, 5), (3, 8))
    )
    assert _rows(presence) == [(1, 8, 4), (2, 5, 3), (3, 8, 4), (4, 8, 8)]
    first, second, third, fourth = presence.steps
    assert (first.gone, first.lost) == ((range(2), range(6, 8)), ((range(2), 3), (range(6, 8), 3)))
    assert [step.cut for step in presence.steps] == [range(0), range(5, 8), range(0), range(0)]
    assert not any(step.fell for step in presence.steps)
    assert (second.gone, third.back, sorted(fourth.back, key=lambda gpus: gpus.start)) == (
        (),
        (),
        [*first.gone],
    )


def test_loans_bring_the_first_that_are_away() -> None:
    """Of their type or their names, whether they left or were given up; fewer where fewer are away."""
    presence = _presence(
        Leave(time=0, servers=["d", "b", "c"]),
        Reclaim(time=0, deadline=2, servers=1, gpu_type="T4"),
        Loan(time=3, servers=1, gpu_type="V100"),
        Loan(time=3, servers=1, gpu_type="T4"),
        Loan(time=4, servers=1, among=["d"]),
        Loan(time=5, servers=4),
        cluster=_TYPES,
        vacated=((1, "a"),),
    )
    assert presence.found == []
    assert _rows(presence) == [(0, 15, 1), (1, 15, 0), (2, 15, 0), (3, 15, 3), (4, 15, 11), (5, 15, 15)]
    assert [len(step.back) for step in presence.steps] == [0, 0, 0, 2, 1, 1]


def test_a_loan_sees_what_happened_before_it() -> None:
    """At an instant events go in their order, and what is given up goes after them."""
    goes, comes = Leave(time=1, servers=["a"], lost_work=2), Loan(time=1, servers=1, gpu_type="T4")
    first = _presence(goes, comes, cluster=_TYPES).steps[0]
    assert (first.gpus, first.gone, first.back) == (15, (range(1),), (range(1),))
    assert (first.lost, first.takes((0, 1)), first.takes((1, 2))) == (((range(1), 2),), True, False)
    assert _presence(comes, goes, cluster=_TYPES).steps[0].gpus == 14
    asked = Reclaim(time=0, deadline=1, servers=1, gpu_type="T4")
    last = _presence(asked, comes, cluster=_TYPES, vacated=((1, "a"),)).steps[-1]
    assert (last.gpus, last.gone, last.back) == (14, (range(1),), ())
    away = Leave(time=0, servers=["a"])
    back = _presence(away, comes, goes, cluster=_TYPES).steps[-1]
    assert (back.gpus, back.gone, back.back) == (14, (), ())


def test_gpus_of_a_plain_cluster_go_at_the_deadline() -> None:
    """They are there until then and come back on their own; a capacity change counts beside them, down to 0."""
    presence = _presence(
        Reclaim(time=0, deadline=2, gpus=3),
        Return(time=4, gpus=1),
        cluster=Cluster.plain(6),
        changes=((3, 4), (5, 1), (6, 6)),
    )
    assert _rows(presence) == [(0, 6, 6), (2, 3, 3), (3, 1, 1), (4, 2, 2), (5, 0, 0), (6, 4, 4)]
    assert [step.fell for step in presence.steps] == [False, True, True, False, True, False]


def test_a_fall_counts_though_a_rise_follows_at_once() -> None:
    """Jobs have to stop when the capacity falls, before GPUs return in the same instant."""
    presence = _presence(
        Reclaim(time=0, deadline=2, gpus=3), Return(time=4, gpus=3), cluster=Cluster.plain(6), changes=((4, 5),)
    )
    assert _rows(presence) == [(0, 6, 6), (2, 3, 3), (4, 5, 5)]
    assert [step.fell for step in presence.steps] == [False, True, True]


def _asked(time: float, deadline: float, *, servers: int = 1, **fields: Any) -> Reclaim:
    return Reclaim(time=time, deadline=deadline, servers=servers, **fields)


@pytest.mark.parametrize(
    ("events", "vacated", "rule"),
    [
        ([_asked(0, 2, servers=2)], [(1, _A), (2, _B)], None),
        ([_asked(0, 2, servers=2)], [(1, _A)], "at 2: events[0] is owed 1 more machines, and"),
        ([_asked(0, 2)], [(3, _A)], "at 2: events[0] is owed 1 more"),
        ([_asked(0, 2)], [(1, _A), (1, _B)], "is given up, but no request takes it"),
        ([_asked(1, 2)], [(0, _A), (1, _B)], "at 0: machine 'machine 0.0' is given up"),
        ([_asked(0, 2, servers=2)], [(1, _A), (1, _A)], "is given up but not available"),
        ([_asked(0, 2, among=[_A])], [(1, _B), (1, _A)], "no request takes it"),
        ([_asked(0, 2, among=[_A])], [(1, "m")], "vacated[0]: 'm' is not a machine"),
        ([], [(float("nan"), _A)], "vacated[0]: a machine must be given up at a finite time"),
        ([_asked(0, 2, gpu_type="T4")], [(1, "a")], None),
        ([_asked(0, 2, gpu_type="T4")], [(1, "b")], "no request takes it"),
        (
            [_asked(0, 2, servers=2, gpu_type="T4")],
            [(1, "c")],
            "at 2: events[0] is owed 1 more machines, and 'a' is available",
        ),
        ([_asked(0, 2, gpu_type="V100"), Leave(time=1, servers=["b", "d"])], [], None),
        # whatever has left is not there to be given up, and is not asked for
        ([_asked(0, 2, among=[_A]), Leave(time=1, servers=[_A])], [], None),
        ([_asked(0, 2, among=[_A]), Leave(time=1, servers=[_A])], [(1, _A)], "not available"),
        # a machine that comes back at the deadline is there
        (
            [Leave(time=0, servers=[_A]), _asked(1, 2, among=[_A]), Return(time=2, servers=[_A])],
            [],
            "owed 1 more",
        ),
        # the most urgent request that takes a machine gets it, the first one of those that are as urgent
        ([_asked(0, 4), _asked(1, 2, among=[_A])], [(1, _A)], "at 4: events[0] is owed 1"),
        ([_asked(0, 4), _asked(1, 2, among=[_A])], [(1, _B)], "at 2: events[1] is owed 1"),
        ([_asked(0, 4, among=[_A, _B]), _asked(1, 4)], [(4, _B), (4, _C)], None),
        ([_asked(0, 4), _asked(1, 4, among=[_A, _B])], [(4, _B), (4, _C)], "no request takes it"),
        # and once it is back it may be given up again
        (
            [_asked(0, 2, among=[_A]), Return(time=3, servers=[_A]), _asked(3, 4, among=[_A])],
            [(1, _A), (4, _A)],
            None,
        ),
    ],
)
def test_requests(events: list[Event], vacated: list[tuple[Any, str]], rule: str | None) -> None:
    """Machines are given up once, while they are there, on request and in time."""
    typed = any(isinstance(event, Reclaim) and event.gpu_type for event in events)
    found = _presence(*events, vacated=tuple(vacated), cluster=_TYPES if typed else _RACKS).found
    if rule is None:
        assert found == []
    else:
        assert rule in found[0]


def test_machines_given_up_are_away_until_they_return() -> None:
    """They go when they are given up, not at the deadline, and lose no work, though they would leave later."""
    presence = _presence(
        Reclaim(time=0, deadline=3, servers=1),
        Leave(time=4, servers=[_B], lost_work=1),
        Return(time=5, servers=[_A, _B]),
        vacated=((2, _B),),
    )
    assert _rows(presence) == [(0, 8, 8), (2, 8, 6), (3, 8, 6), (4, 8, 6), (5, 8, 8)]
    assert [step.gone for step in presence.steps] == [(), (range(2, 4),), (), (), ()]
    assert [step.lost for step in presence.steps] == [()] * 5


@pytest.mark.parametrize("late", [True, False])
def test_a_tick_beside_the_deadline_is_in_time(late: bool) -> None:
    """Floats cannot tell a few ticks; fractions can."""
    events = (Reclaim(time=1.7e9, deadline=1.7e9 + 60, servers=1),)
    time = 1.7e9 + 60 + 2.0**-20 if late else 1.7e9 - 2.0**-20
    assert _presence(*events, vacated=((time, _A),), number=float).found == []
    assert _presence(*events, vacated=((time, _A),)).found != []
    hour = time + 3600 if late else time - 3600
    assert _presence(*events, vacated=((hour, _A),), number=float).found != []


@pytest.mark.parametrize("given_up", [nextafter(2, 0), 2, nextafter(2, 3)])
def test_what_is_lent_at_a_deadline_comes_back(given_up: float) -> None:
    """A machine given up a tick before a deadline is lent again at that date, one given up at it is not."""
    presence = _presence(
        Reclaim(time=1, deadline=2, servers=1), Loan(time=2, servers=1), vacated=((given_up, _A),), number=float
    )
    assert presence.found == []
    assert presence.steps[-1].gpus == (8 if given_up < 2 else 6)


def test_a_tick_before_the_request_is_at_the_request() -> None:
    """What is given up a tick before it is asked for answers the request."""
    presence = _presence(Reclaim(time=1, deadline=2, servers=1), vacated=((nextafter(1, 0), _A),), number=float)
    assert presence.found == []


def test_who_had_to_stop() -> None:
    """Those on machines that go, and those beyond the limit; on a plain cluster, all when the limit falls."""
    changes = (2, 7), (3, 8)
    presence = _presence(Leave(time=1, servers=[_B]), changes=changes)
    takes = [[step.takes(placement) for placement in ((0, 1), (1, 2), (5, 7))] for step in presence.steps]
    assert takes == [[False, True, False], [False, False, True], [False, False, False]]
    plain = _presence(changes=changes, cluster=Cluster.plain(8))
    assert [[step.takes(placement) for placement in ((0, 1), ())] for step in plain.steps] == [
        [True, True],
        [False, False],
    ]
    assert [step.time for step in presence.around(2.5, 0.5)] == [2, 3]
    assert list(presence.around(2.5, 0.25)) == []


#: Two machines of 2 GPUs for training, 0 to 3, and two that are lent at 10 s and asked back by 40 s, 4 to 7.
CLUSTER = Cluster(
    racks=[
        Rack(
            name="r",
            machines=[
                Machine(name=f"{kind}{each}", gpus=2, gpu_type=kind)
                for kind in ("V100", "T4")
                for each in (1, 2)
            ],
        )
    ]
)
EVENTS: tuple[Event, ...] = (
    Leave(time=0, servers=["T41", "T42"]),
    Loan(time=10, servers=2, gpu_type="T4"),
    Reclaim(time=30, deadline=40, servers=2, gpu_type="T4"),
)


def loans(
    segments: list[Segment], vacated: tuple[Vacated, ...] = (), *, duration: float = 18, **changed: Any
) -> Loans:
    """Return the loans of jobs that are released at time 0."""
    names = dict.fromkeys(segment.job for segment in segments)
    jobs = [Job(name=name, release_date=0, duration=duration, gpus=1) for name in names]
    physics = {"events": EVENTS, **changed}
    scenario = Scenario(workload=Workload(jobs=jobs), cluster=CLUSTER, **physics)
    return Loans(Schedule(tuple(segments), vacated=vacated), scenario)


GONE = (Vacated(30.0, "T42"), Vacated(30.0, "T41"))


def test_usage_by_hand() -> None:
    """Training GPUs count all the time, those on loan while they are, and the others as busy elsewhere."""
    ran = [Segment("a", 0.0, 20.0, 4, (0, 1, 2, 3)), Segment("b", 10.0, 30.0, 3, (3, 4, 5))]
    usage = loans(ran, GONE).usage(40)

    assert usage.training == (20 * 4 + 20) / (4 * 40)
    assert usage.loaned == (20 * 2) / (4 * 20)
    assert usage.overall == (20 * 4 + 20 * 3 + 4 * 20) / (8 * 40)


def test_usage_step_by_step() -> None:
    """Each step has its own shares, and none of machines on loan where there are none."""
    hours = loans([Segment("a", 5.0, 25.0, 3, (0, 4, 5))], GONE).usages(10, 35)

    assert [(each.begin, each.end) for each in hours] == [(0, 10), (10, 20), (20, 30), (30, 35)]
    assert [each.training for each in hours] == [0.125, 0.25, 0.125, 0]
    assert [each.loaned for each in hours] == [None, 0.5, 0.25, None]
    assert hours[3].overall == 0.5


def test_usage_is_the_sum_over_gpus() -> None:
    """On a simulated day, usage is what single GPUs did, second by second of what was there."""
    scenario = aryl(days=1, servers=2, inference_servers=2, load=1.5, seed=3)
    anywhere = [
        job.model_copy(update={"gpu_type": "", "menu": (), "modes": ()}) for job in scenario.workload.jobs
    ]
    mixed = scenario.model_copy(update={"workload": Workload(jobs=anywhere)})
    schedule = schedule_of(replay(mixed, fifo, record=True))
    usage = Loans(schedule, mixed).usage(86_400)
    used = [
        sum(max(0, min(s.end, 86_400) - s.start) * (gpu in s.placement) for s in schedule.segments)
        for gpu in range(32)
    ]

    assert usage.training == pytest.approx(sum(used[:16]) / 16 / 86_400)
    assert usage.loaned is not None
    assert 0 < usage.loaned <= 1
    there = sum(used[16:]) / usage.loaned
    assert usage.overall == pytest.approx((sum(used) + 16 * 86_400 - there) / 32 / 86_400)


def test_jobs_on_loan_and_their_times() -> None:
    """A job with one segment on a machine on loan is one of them; others have times when they are named."""
    ran = [
        Segment("a", 12.0, 20.0, 1, (4,)),
        Segment("a", 25.0, 35.0, 1, (0,)),
        Segment("b", 1.0, 9.0, 1, (0,)),
        Segment("c", 10.0, 12.0, 2, (3, 5)),
    ]
    found = loans(ran, GONE)

    assert found.jobs == ("a", "c")
    assert found.times() == Times(2, 13.5, 13.5, 17.0, 23.5, 23.5, 35.0)
    assert found.times(["b"]) == Times(1, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0)
    assert found.times([]) == Times(0, None, None, None, None, None, None)


@pytest.mark.parametrize(
    ("segments", "spare", "preempted", "collateral"),
    [
        ([], 2, 0, 0),
        ([Segment("a", 12, 30, 1, (4,))], 2, 0, 0),  # it has completed
        ([Segment("a", 12, 30, 1, (4,)), Segment("a", 30, 40, 1, (0,))], 2, 0, 0),  # it went on elsewhere
        ([Segment("a", 12, 30, 1, (4,)), Segment("a", 31, 40, 1, (0,))], 1, 1, 0),
        ([Segment("a", 12, 30, 3, (4, 3, 2)), Segment("a", 31, 40, 3, (0, 1, 2))], 1, 1, 2),
        ([Segment("a", 12, 30, 2, (4, 6)), Segment("a", 31, 40, 2, (0, 1))], 0, 1, 0),
        ([Segment("a", 12, 30, 2, (2, 3)), Segment("a", 31, 40, 2, (0, 1))], 2, 0, 0),  # stopped elsewhere
    ],
)
def test_what_giving_machines_up_took(
    segments: list[Segment], spare: int, preempted: int, collateral: int
) -> None:
    """A job that pauses as its machine goes was preempted, and loses its GPUs elsewhere too."""
    found = loans(segments, GONE)

    assert found.givings == (Giving(30.0, 2, spare, preempted, collateral, 4),)
    figures = found.as_dict()
    assert (figures["reclaims"], figures["reclaimed_servers"]) == (1, 2)
    assert (figures["reclaim_preemptions"], figures["preemptions_per_reclaim"]) == (preempted, preempted)
    assert (figures["spare_servers"], figures["collateral"]) == (spare / 2, collateral / 4)


def test_a_job_that_never_runs_again_was_preempted() -> None:
    """A job whose last segment ends as its machine goes was preempted, unless it has completed by then."""
    runs = [Segment("a", 12, 30, 1, (4,)), Segment("b", 12, 30, 1, (0,))]
    assert loans(runs, GONE, duration=19).givings == (Giving(30.0, 2, 1, 1, 0, 4),)
    assert loans(runs, GONE, duration=18).givings == (Giving(30.0, 2, 2, 0, 0, 4),)


def test_nothing_given_up_has_no_shares() -> None:
    """Shares of nothing are None, not 0."""
    figures = loans([]).as_dict()

    assert figures["preemptions_per_reclaim"] is None
    assert figures["spare_servers"] is None
    assert figures["loaned_mean_jct"] is None


def test_without_loans_all_machines_are_for_training() -> None:
    """The usage is then that of the cluster until the last release, and nothing else has a figure."""
    jobs = [Job(name=name, release_date=date, duration=99, gpus=1) for name, date in (("a", 0), ("b", 20))]
    scenario = Scenario(workload=Workload(jobs=jobs), cluster=CLUSTER)
    figures = Loans(Schedule((Segment("a", 10.0, 30.0, 2, (0, 1)),)), scenario).as_dict()

    assert figures["training_usage"] == figures["overall_usage"] == 20 / (8 * 20)
    assert figures["loaned_usage"] is None
    assert (figures["loaned_jobs"], figures["reclaims"]) == (0, 0)


def test_what_has_no_figures_is_refused() -> None:
    """Shared GPUs are, and so is a step that is no time."""
    with pytest.raises(Unsupported, match="share GPUs"):
        loans([], share_limit=2)
    with pytest.raises(InvalidInput, match="step: 0: must be more than 0 and at most the end, 40 s"):
        loans([]).usages(0)
