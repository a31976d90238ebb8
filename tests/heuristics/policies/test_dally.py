"""Dally: Algorithms 1 and 2 by hand, with every place that can be read in several ways."""

from collections.abc import Iterable
from math import inf
from random import Random
from statistics import fmean, pstdev, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Island, Machine, Switch
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import dally
from heuristics.policies.dally.plots import tuned_timers
from heuristics.policies.dally.tuner import TunedTimer, WaitList
from tests.gsopt.simulation.plots.samples import legend
from tests.gsopt.simulation.scenarios import bundle


def test_an_empty_list_says_nothing() -> None:
    """There is no average of nothing, be it that all has become too old."""
    waits = WaitList(history=10)
    assert waits.timer(0) is None
    waits.add(0, 5.0)
    assert waits.timer(10) == 5
    assert waits.timer(10.5) is None


def test_age_may_be_the_wait_itself() -> None:
    """As printed, what is dropped are long waits, however recent, and no others, however old."""
    waits = WaitList(history=10, history_on="wait")
    waits.add(0, 4.0)
    waits.add(100, 40.0)
    assert waits.timer(1e9) == 4


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e9)), min_size=1, max_size=12),
    st.sampled_from([inf, 1e5, 1.0]),
    st.sampled_from([0, 1]),
    st.sampled_from([None, 1, 4]),
)
def test_timers_are_their_definition(
    steps: list[tuple[float, float]], history: float, ddof: int, max_len: int | None
) -> None:
    """At every time the timer is what the waits say that are not too old."""
    waits = WaitList(history=history, ddof=ddof, max_len=max_len)
    recorded: list[tuple[float, float]] = []
    now = 0.0
    for gap, wait in steps:
        now += gap
        waits.add(now, wait)
        recorded.append((now, wait))
        kept = recorded if max_len is None else recorded[-max_len:]
        fresh = [each for time, each in kept if now - time <= history]
        deviation = 0.0 if len(fresh) < 2 else (stdev if ddof else pstdev)(fresh)
        assert waits.timer(now) == pytest.approx(fmean(fresh) + 2 * deviation)


#: Machines of three GPUs, on which a third pair of GPUs is split: over two racks, or within one.
TWO_RACKS = Cluster.uniform(racks=2, machines=1, gpus=3)
ONE_RACK = Cluster.uniform(machines=2, gpus=3)

SPEED = Speed(
    tiers={
        "tame": TierPenalty(machine=0.0, rack=0.5, network=1.0),
        "wild": TierPenalty(machine=1.0, rack=3.0, network=7.0),
    }
)


def made(*sizes: tuple[float, float, int], models: Iterable[str] = ()) -> Workload:
    """Make jobs of (release date, duration, GPUs)."""
    names = [*models, *[""] * len(sizes)]
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=g, model=names[i])
        for i, (r, d, g) in enumerate(sizes)
    )


#: Two pairs of GPUs that are held for long, and a third.
PAIRS = made((0, 100, 2), (0, 50, 2), (0, 1, 2))


def run(workload: Workload, cluster: Cluster = TWO_RACKS, **options: Any) -> Replay:
    """Simulate with given timers and without leases, unless the options say otherwise."""
    return simulate(
        workload, dally, cluster=cluster, record=True, **{"timers": "manual", "lease": None, **options}
    )


def spans(replay: Replay, job: str) -> list[tuple[float, float]]:
    """Return from when to when a job ran."""
    assert replay.schedule is not None
    return [(each.start, each.end) for each in replay.schedule.segments if each.job == job]


def observed(workload: Workload, cluster: Cluster = TWO_RACKS, **options: Any) -> list[TunedTimer]:
    """Return the timers that were found."""
    seen: list[TunedTimer] = []
    run(workload, cluster, timers="auto", observe=seen.append, **options)
    return seen


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({"timers": "none"}, 0),  # one GPU of each rack, at once
        ({"delays": [10, 20]}, 20),  # when both timers have run out
        ({"delays": [10, 200]}, 50),  # a machine is free before that
        ({"delays": [20, 10]}, 20),  # the rack timer ends no earlier than the machine timer
        ({"delays": [10]}, 20),  # as much longer again
        ({"timers": "consolidated"}, 50),
        ({}, 50),  # the timers are 12 and 24 hours
    ],
)
def test_timers(options: dict[str, Any], start: float) -> None:
    """A job takes GPUs of two racks when both timers have run out, and GPUs of one machine at once."""
    assert run(PAIRS, **options).start_times == (0, 0, start)


def test_a_rack_opens_when_the_machine_timer_has_run_out() -> None:
    """Within a rack the rack timer is not waited for."""
    assert run(PAIRS, ONE_RACK, delays=[5, 10]).start_times == (0, 0, 5)


def test_what_never_fits_is_not_waited_for() -> None:
    """A job that is larger than a machine, or a rack, has no timer for it; what is free does not matter."""
    larger_than_a_rack = made((0, 5, 4))
    assert run(larger_than_a_rack, timers="consolidated").start_times == (0,)
    larger_than_a_machine = made((0, 100, 4), (0, 100, 4), (0, 1, 4))
    racks = Cluster.uniform(racks=2, machines=2, gpus=3)
    assert run(larger_than_a_machine, racks, delays=[20, 10]).start_times == (0, 0, 10)


def test_the_clock_begins_when_the_gpus_are_lost() -> None:
    """A job that is preempted has waited since then, not since its arrival or its last start."""
    replay = run(made(*[(0, 100, 2)] * 3), delays=[5, 15], lease=10, order="round_robin")
    assert spans(replay, "j1")[:2] == [(0, 10), (20, 30)]  # by its last start it would take the network at 15
    assert spans(replay, "j2")[0] == (10, 20)


@pytest.mark.parametrize(("clock", "start"), [("starvation", 30), ("offer", 50)])
def test_clocks(clock: str, start: float) -> None:
    """The clock counts the time in which nothing was free, or begins with the first declined offer."""
    full = made((0, 30, 6), (0, 100, 2), (0, 100, 2), (0, 1, 2))
    assert run(full, delays=[10, 20], clock=clock).start_times == (0, 30, 30, start)


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({}, 20),  # the machine list holds two waits of 0, the rack list nothing
        ({"empty": []}, 0),
        ({"empty": [7]}, 14),
        ({"empty": [7, 9]}, 9),
        ({"floors": [0, 30]}, 30),
        ({"empty": [], "floors": [6, 12]}, 12),
        ({"caps": [50, 4]}, 4),
    ],
)
def test_empty_lists(options: dict[str, Any], start: float) -> None:
    """Where nothing has been learnt the given timers hold, or others; tuned timers have floors and caps."""
    assert run(PAIRS, timers="auto", delays=[10, 20], **options).start_times == (0, 0, start)


@pytest.mark.parametrize(
    ("options", "timers"),
    [
        ({}, [0, 9.571, 15]),
        ({"ddof": 0}, [0, 7.5, 13.165]),
        ({"max_len": 1}, [0, 5, 10]),
        ({"history": 6}, [0, 9.571, 14.571]),
        ({"history": 6, "history_on": "wait"}, [0, 9.571]),
        ({"least_wait": 1}, [5, 14.571]),
    ],
)
def test_timers_are_tuned(options: dict[str, Any], timers: list[float]) -> None:
    """The waits 0, 5 and 10 give the mean plus two standard deviations of those that are kept."""
    machine = Cluster.uniform(machines=1, gpus=2)
    seen = observed(made((0, 5, 2), (0, 5, 2), (0, 5, 2)), machine, **options)
    assert [timer.seconds for timer in seen] == pytest.approx(timers, abs=5e-4)
    assert {(timer.tier, timer.gpus) for timer in seen} == {("machine", 2)}


def test_waits_of_zero_are_recorded() -> None:
    """As printed, jobs that did not wait pull a timer to 0; with a least wait they do not."""
    start = [run(PAIRS, ONE_RACK, timers="auto", delays=[10, 20], least_wait=w).start_times[2] for w in (0, 1)]
    assert start == [0, 10]


@pytest.mark.parametrize(("censored", "timers"), [(False, [0]), (True, [0, 10.416])])
def test_waits_for_the_network_are_not_recorded(censored: bool, timers: list[float]) -> None:
    """As printed, a job that gives up leaves no trace; if asked for, its wait counts for what it gave up."""
    seen = observed(PAIRS, empty=[5, 7], censored=censored)  # the third job takes the network after 7 s
    assert [each.seconds for each in seen if each.tier == "machine"] == pytest.approx(timers, abs=5e-4)


def test_each_demand_has_its_lists() -> None:
    """Demands of any size learn from their own waits only; they need not be powers of 2."""
    seen = observed(made((0, 4, 3), (0, 4, 3), (0, 4, 3), (0, 1, 5)), empty=[])
    assert {timer.gpus for timer in seen} == {3}  # 5 GPUs fit no rack, so there is nothing to wait for
    assert [timer.seconds for timer in seen][:1] == [0]


def test_the_tier_is_that_of_the_gpus() -> None:
    """A rack of one machine is a machine."""
    assert {timer.tier for timer in observed(made((0, 1, 3)))} == {"machine"}


@pytest.mark.parametrize(("placement", "gpus"), [("best", (6, 7)), ("first", (0, 1))])
def test_placement(placement: str, gpus: tuple[int, ...]) -> None:
    """The tightest machine is offered, or the first one."""
    machines = Cluster.uniform(machines=2, gpus=4)
    replay = run(made((0, 1, 4), (0, 9, 2), (1, 1, 2)), machines, placement=placement)
    assert replay.schedule is not None
    last = next(each for each in replay.schedule.segments if each.job == "j2")
    assert last.placement == gpus


def test_what_is_rejected_passes_to_the_next() -> None:
    """A job that waits does not keep the GPUs from those behind it."""
    one_more = made((0, 100, 2), (0, 50, 2), (0, 1, 2), (0, 3, 1))
    assert run(one_more, timers="consolidated").start_times == (0, 0, 50, 0)


def test_too_few_gpus_are_never_accepted() -> None:
    """The network is accepted only where it has the GPUs, which line 21 does not ask."""
    assert run(made((0, 30, 2), (0, 1, 6)), timers="none").start_times == (0, 30)


@pytest.mark.parametrize(
    ("order", "starts"),
    [
        ("network_sensitive", [0, 16]),  # 1/8 is less than 1/2, so it keeps its GPUs from then on
        ("relative", [0, 16, 32]),  # both run as well as they ever could, so they take turns
        ("round_robin", [0, 16, 32]),
        ("fifo", [0]),
    ],
)
def test_orders(order: str, starts: list[float]) -> None:
    """Who has been slowed down most is offered GPUs first, a newcomer before all; other orders are options."""
    racks = Cluster.uniform(racks=2, machines=1, gpus=2)
    workload = made((0, 3, 4), (1, 12, 4), models=["wild", "tame"])
    replay = run(workload, racks, order=order, lease=8, speed=SPEED)
    assert [start for start, _ in spans(replay, "j0")] == starts


@pytest.mark.parametrize(("renew", "end"), [("same", 24), ("best", 28), ("never", 28)])
def test_a_bad_placement_lasts_for_a_lease(renew: str, end: float) -> None:
    """A job waits again for a place in a rack, unless it may renew what is not its best tier."""
    replay = run(made((0, 100, 2), (0, 100, 2), (0, 20, 2)), ONE_RACK, delays=[4], lease=10, renew=renew)
    assert replay.completion_times[2] == end
    assert replay.metrics.preemptions == (0 if renew == "same" else 1)


@pytest.mark.parametrize(("renew", "timers"), [("best", [0, 9.571]), ("never", [0, 9.571, 7.440])])
def test_a_renewal_is_no_accepted_offer(renew: str, timers: list[float]) -> None:
    """Its wait of 0 is recorded only where every lease is a new offer."""
    machine = Cluster.uniform(machines=1, gpus=2)
    seen = observed(made((0, 5, 2), (0, 15, 2)), machine, lease=8, renew=renew)
    assert [timer.seconds for timer in seen] == pytest.approx(timers, abs=5e-4)


def test_equal_slowdowns_tie() -> None:
    """Jobs that have run on one tier only tie, in floats too, so that who has waited longer comes first."""
    random = Random(5)
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    for _ in range(4):
        sizes = [(0, random.randint(20, 200), random.choice([2, 4, 8])) for _ in range(10)]
        workload = made(*sizes, models=random.choices(["third", "tame"], k=10))
        third = TierPenalty(machine=0.1, rack=1 / 3, network=0.7)
        speed = Speed(tiers={**SPEED.tiers, "third": third})
        floats, exact = (
            run(workload, cluster, timers="none", lease=12, speed=speed, exact=fractions)
            for fractions in (False, True)
        )
        assert floats.completion_times == pytest.approx([float(time) for time in exact.completion_times])


def test_a_renewed_lease_may_bring_jobs_together() -> None:
    """When its lease ends a job gets a better tier that has become free."""
    replay = run(made((0, 5, 2), (0, 50, 2), (0, 20, 2)), timers="none", lease=10)
    assert replay.schedule is not None
    assert [each.placement for each in replay.schedule.segments if each.job == "j2"] == [(2, 5), (0, 1)]


def test_without_leases_nobody_is_stopped() -> None:
    """Then the policy does not preempt at all."""
    replay = run(made((0, 100, 6), (1, 1, 6)))
    assert replay.metrics.preemptions == 0
    assert replay.schedule is not None
    assert not replay.schedule.preemptive


def deep() -> Cluster:
    """Make two pods of two racks of two machines of two islands of two GPUs."""

    def switch(name: str, level: str) -> Switch:
        if level == "rack":
            islands = [[Island(name=f"{name}.{n}.{i}", gpus=2) for i in range(2)] for n in range(2)]
            machines = [Machine(name=f"{name}.{n}", gpus=4, islands=islands[n]) for n in range(2)]
            return Switch(name=name, level=level, machines=machines)
        below = {"network": "pod", "pod": "rack"}[level]
        return Switch(name=name, level=level, switches=[switch(f"{name}.{n}", below) for n in range(2)])

    return Cluster(network=switch("spine", "network"))


@pytest.mark.parametrize(
    ("tier", "held"),
    [
        ("island", [*[(9.0, 4)] * 7, (9.0, 2)]),
        ("machine", [(1.0, 1), (9.0, 1), (1.0, 1), (9.0, 1), *[(9.0, 4)] * 7]),
        ("rack", [(9.0, 3), (9.0, 3), *[(9.0, 4)] * 6]),
        ("pod", [(9.0, 3), (9.0, 4), (9.0, 3), *[(9.0, 4)] * 5]),
        ("network", [(9.0, 3), *[(9.0, 4)] * 3, (9.0, 3), *[(9.0, 4)] * 3]),
    ],
)
def test_every_level_has_its_timer(tier: str, held: list[tuple[float, int]]) -> None:
    """In a deeper cluster GPUs of a level are accepted when the timers of all inner ones have run out."""
    cluster = deep()
    workload = made(*[(0, duration, gpus) for duration, gpus in held], (1, 1, 2))
    replay = run(workload, cluster, delays=[0.5, 1])
    assert replay.schedule is not None
    last = next(each for each in replay.schedule.segments if each.job == f"j{len(held)}")
    assert cluster.tier(last.placement) == tier
    assert last.start == 1 + 0.5 * cluster.levels.index(tier)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, with all kinds of timers."""
    sizes = [(0, 5, 2), (0, 9, 4), (1, 6, 3), (1, 2, 1), (2, 8, 5), (9, 3, 2), (9, 7, 6)]
    workload = made(*sizes, models=["wild", "tame", "wild", "", "tame", "wild", "tame"])
    calm = Scenario(workload=workload, cluster=Cluster.uniform(racks=2, machines=2, gpus=2), speed=SPEED)
    changes = (CapacityChange(time=3, gpus=3), CapacityChange(time=12, gpus=8))
    rough = calm.model_copy(
        update={"capacity_changes": changes, "overheads": {"": Overhead(start=0.5, stop=1)}}
    )
    plain = Scenario(workload=workload, cluster=Cluster.plain(8))
    for kind, lease in [("auto", 4), ("manual", 2.5), ("none", None), ("consolidated", 3)]:
        assert check_policy(dally, [calm, rough, plain], timers=kind, lease=lease, delays=[1, 3]) == 6


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("timers", "tuned"),
        ("clock", "wall"),
        ("order", "lifo"),
        ("placement", "worst"),
        ("history_on", "both"),
        ("renew", True),
        ("lease", 0),
        ("lease", float("inf")),
        ("delays", []),
        ("delays", [-1]),
        ("empty", [float("nan")]),
        ("floors", [float("inf")]),
        ("history", 0),
        ("max_len", 0),
        ("ddof", 2),
        ("least_wait", -1),
    ],
)
def test_bad_options(option: str, value: Any) -> None:
    """An option out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{option}: ") as error:
        run(PAIRS, **{option: value})
    assert "\n" not in str(error.value)


def test_a_line_has_the_timers_of_one_tier_and_demand() -> None:
    """What a run told of one tier and demand is its line; the axis of waits has a unit."""
    seen: list[TunedTimer] = []
    jobs = [Job(name=str(n), release_date=0, duration=7200 * (1 + n % 3), gpus=2 + n % 2) for n in range(24)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    simulate(bundle(jobs), dally, cluster=cluster, observe=seen.append)
    mine = [(each.time, each.seconds) for each in seen if (each.tier, each.gpus) == ("machine", 3)]
    axes = tuned_timers({"all": seen, "none": []}, tier="machine", gpus=3)
    lines = list[Any](axes.lines)

    assert len(mine) > 1
    assert {each.gpus for each in seen if each.tier == "machine"} == {2, 3}
    assert [tuple(point) for point in lines[0].get_xydata().tolist()] == mine
    assert lines[1].get_xydata().tolist() == []
    assert legend(axes) == ["all", "none"]
    assert axes.get_ylabel() == "wait for the tier machine, 3 GPUs [h]"


def test_nothing_tuned_is_an_empty_picture() -> None:
    """Where no timer was tuned the axes still have an extent."""
    axes = tuned_timers({}, tier="rack", gpus=8)

    assert not axes.lines
    assert axes.get_ylim() == (0, 1)
    assert axes.get_xlim() == (0, 1)
