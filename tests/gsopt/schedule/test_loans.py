"""What machines on loan were worth, by hand and against sums over single GPUs."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.schedule.loans import Giving, Loans, Times
from gsopt.simulation.run import replay
from heuristics.policies import fifo
from instances.scenarios import aryl

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


def loans(segments: list[Segment], vacated: tuple[Vacated, ...] = (), **changed: Any) -> Loans:
    """Return the loans of jobs that are released at time 0."""
    names = dict.fromkeys(segment.job for segment in segments)
    jobs = [Job(name=name, release_date=0, duration=99, gpus=1) for name in names]
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
    schedule = replay(mixed, fifo, record=True).schedule
    assert schedule is not None
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
