"""The view: the truth of now, and nothing of the future."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack, Switch, Tier
from gsopt.scenario.events import Leave, Return
from gsopt.scenario.job import Job, Mode, Phase
from gsopt.scenario.scenario import Overhead
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.scenario.training import Training
from gsopt.simulation import (
    Action,
    Decider,
    IllegalDecision,
    NotReleased,
    Policy,
    Resize,
    Start,
    State,
    Stop,
    Wake,
    simulate,
)
from heuristics import policies
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing, workload

POLICIES = [getattr(policies, name) for name in policies.__all__]


def test_jobs_that_are_not_released_cannot_be_seen() -> None:
    """Their number may be asked for and nothing else: not the job, its work, its room, speed or GPUs."""
    asked = 0

    def look(state: State) -> Iterable[Action]:
        nonlocal asked
        assert len(state.jobs) == 3
        for job in (2, 3, -1):
            for question in (
                state.jobs.__getitem__,
                state.remaining,
                state.fits,
                lambda j: state.rate(j, 1),
                state.service,
                state.mode,
                state.ready,
                state.placement,
            ):
                if state.now < 5:
                    asked += 1
                    with pytest.raises((NotReleased, IndexError), match=r"not released yet|out of range"):
                        question(job)
        if state.now < 5:
            with pytest.raises(NotReleased, match="job 2 is not released yet"):
                list(state.jobs)
        else:
            assert [job.name for job in state.jobs] == ["j0", "j1", "j2"]
        return map(Start, state.arrived)

    simulate(workload((0, 1, 1), (0, 2, 1), (5, 1, 1)), doing(look), cluster=2)
    assert asked == 3 * 24


def test_the_beginning_shows_no_job() -> None:
    """A policy that is made sees how many jobs there will be, and none of them."""

    def make(state: State) -> Decider:
        assert len(state.jobs) == 1
        with pytest.raises(NotReleased):
            state.jobs[0]
        return policies.fifo(state)

    assert simulate(workload((0, 1, 1)), make, cluster=1).completion_times == (1,)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_the_future_changes_nothing(policy: Policy) -> None:
    """Until a job is released everything goes as if it did not exist, under every policy."""
    sizes = [(0.0, 4.0, 2), (1.0, 2.0, 1), (2.0, 7.0, 3), (2.5, 1.0, 1), (6.0, 3.0, 2)]
    run, longer = (
        simulate(workload(*jobs), policy, cluster=4, record=True, exact=True)
        for jobs in (sizes, [*sizes, (9.0, 0.5, 1)])
    )
    before = [
        {(each.job, each.start, min(each.end, 9), each.gpus) for each in schedule.segments if each.start < 9}
        for schedule in (schedule_of(run), schedule_of(longer))
    ]
    assert before[0] == before[1]


_CLUSTER = Cluster(
    racks=[
        Rack(name="r", machines=[Machine(name="m", gpus=2, gpu_type="old", memory=8)]),
        Rack(name="s", machines=[Machine(name="n", gpus=2, gpu_type="new", memory=16)]),
    ]
)
_SPEED = Speed(
    tiers={"cnn": TierPenalty(machine=0.25, rack=0.5, network=1.0)}, interference={"cnn": {"cnn": 2.0}}
)


def test_speeds_tiers_and_memory() -> None:
    """What a job would do on GPUs is what it does there: tier, partner, mode and the phase of now."""
    half = Mode(name="half", menu=[(1, 0.5), (2, 0.75)], memory=2)
    phases = [Phase(until=0.5, slowdown=2, modes={"half": 4}), Phase(until=1)]
    jobs = bundle(
        Job(
            name=name,
            release_date=0,
            duration=8,
            gpus=2,
            menu=[(1, 0.5), (2, 1.0)],
            model="cnn",
            memory=6,
            modes=[half],
            phases=phases if name == "a" else [],
        )
        for name in "ab"
    )
    seen: dict[float, list[Any]] = {}

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0, (0, 1))
            yield Start(1, (1, 2), "half")
            yield Wake(10.0)
        seen[float(state.now)] = [
            [float(state.rate(0, gpus)) for gpus in (1, 2, (0, 1), (1, 2))],
            [float(state.rate(0, 1, "half")), float(state.rate(0, (0, 1), "half", [1]))],
            [state.memory(gpu) for gpu in range(4)],
            [state.mode(job) for job in state.running],
            (state.free_gpus(), state.free_gpus("old"), state.users(1), state.fits(0)),
            float(state.remaining(0)),
        ]
        if state.now == 0:
            assert (state.cluster, state.share_limit) == (_CLUSTER, 2)
            assert [state.tier(gpus) for gpus in ((0, 1), (1, 2))] == [Tier.MACHINE, Tier.NETWORK]

    simulate(jobs, doing(decide), cluster=_CLUSTER, speed=_SPEED, share_limit=2, exact=True)
    rates = [[0.25, 0.4, 0.4, 0.25], [0.125, 0.75 / 1.25 / 2 / 4]]
    assert seen[0.0] == [*rates, [2, 0, 14, 16], ["", "half"], ((3,), (), (0, 1), False), 8]
    assert seen[10.0][5] == 8 - 10 / 1.25 / 2 / 2
    last = seen[max(seen)]
    assert last[0] == [0.5, 0.8, 0.8, 0.5]
    assert last[4][3] is True


def test_an_offer_is_what_a_start_would_get() -> None:
    """A job is offered what the placer of the run, or another one, would choose, and nothing when too few."""
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0, (1,))
            seen.extend(
                [state.offer(1), state.offer(1, lambda free, count: free.on(1)[:count]), state.offer(2)]
            )
            with pytest.raises(IllegalDecision, match="a placer must choose 1 free GPUs"):
                state.offer(1, lambda _free, _count: (1,))
            with pytest.raises(NotReleased):
                state.offer(3)
            yield Start(1)
            seen.append(state.placement(1))

    jobs = workload((0, 1, 1), (0, 1, 1), (0, 1, 4), (9, 1, 1))
    simulate(jobs, doing(decide), cluster=Cluster.uniform(machines=2, gpus=2))
    assert seen == [(0,), (2,), None, (0,)]


def test_an_offer_spares_memory_but_not_at_the_price_of_distance() -> None:
    """Of equally close GPUs those of the least memory are offered, and closer ones of more before those."""
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        seen.extend(state.offer(job) for job in state.arrived)
        return ()

    jobs = bundle(Job(name=str(gpus), release_date=0, duration=1, gpus=gpus) for gpus in (1, 2, 3))
    machines = [Machine(name=f"m{m}", gpus=gpus, memory=m) for m, gpus in [(80, 2), (16, 1), (8, 1)]]
    simulate(jobs, doing(decide), cluster=Cluster(racks=[Rack(name="r", machines=machines)]))
    assert seen == [(3,), (0, 1), (0, 1, 2)]


def test_an_offer_on_a_plain_cluster_has_no_numbers() -> None:
    """It only says whether enough GPUs are free."""
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        seen.extend(state.offer(job) for job in state.arrived)
        return map(Start, state.arrived[:1])

    simulate(workload((0, 1, 2), (0, 1, 1), (0, 1, 2)), doing(decide), cluster=2)
    assert seen == [(), (), ()]


def test_service_counts_until_now() -> None:
    """GPU-seconds of what a job held and holds, while it runs, when it waits and in the midst of a decision."""
    seen: list[float] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0)
            yield Wake(1.0)
        elif state.now == 1:
            seen.append(state.service(0))
            yield Stop(0)
            seen.append(state.service(0))
            yield Wake(2.0)
        elif state.now == 2:
            seen.append(state.service(0))
            yield Start(0)

    simulate(workload((0, 4, 2)), doing(decide), cluster=2)
    assert seen == [2, 2, 2]


def test_what_a_tier_would_give() -> None:
    """A policy may ask for the speed on GPUs that some tier joins, without naming any."""
    rack = Rack(name="r", machines=[Machine(name="m", gpus=2), Machine(name="n", gpus=2)])
    pods = [
        Switch(name="p", level="pod", switches=[rack, Rack(name="s", machines=[Machine(name="o", gpus=2)])])
    ]
    cluster = Cluster(network=Switch(name="top", level="network", switches=pods))
    jobs = bundle([Job(name="a", release_date=0, duration=8, gpus=4, model="cnn")])
    speed = Speed(tiers={"cnn": TierPenalty(machine=0.25, rack=1.0, network=7.0, pod=3.0)})
    seen: list[float] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            seen.extend(float(state.rate(0, 4, tier=tier)) for tier in cluster.levels)
            seen.append(float(state.rate(0, (0, 1, 4, 5))))
            seen.append(float(state.rate(0, (0, 1, 4, 5), tier="rack")))
            with pytest.raises(InvalidInput, match="tier: 'pods': must be one of machine, rack, pod, network"):
                state.rate(0, 4, tier="pods")
            yield Start(0, (0, 1, 4, 5))

    run = simulate(jobs, doing(decide), cluster=cluster, speed=speed)
    assert seen == [0.8, 0.5, 0.25, 0.125, 0.25, 0.5]
    assert run.completion_times == (32.0,)


def test_what_a_type_would_give() -> None:
    """GPUs by number have their types; a mere number stands for the only type of the mode, or the fastest."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("T4", "V100")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    slow = Mode(name="slow", menu=[(2, 1.0)], gpu_type="T4")
    jobs = bundle([Job(name="a", release_date=0, duration=8, gpus=2, modes=[slow])])
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            seen.extend(state.rate(0, gpus) for gpus in ((0, 1), (1, 2), (2, 3), 2))
            seen.append(state.rate(0, 2, "slow"))
            yield Start(0, (1, 2))
            yield Wake(3)
        elif state.now == 3:
            yield Resize(0, (0, 1), "slow")

    speed = Speed(gpu_types={"T4": 4.0}, mixed=1.25)
    run = simulate(jobs, doing(decide), cluster=cluster, speed=speed, exact=True)
    assert seen == [Fraction(1, 4), Fraction(1, 2), 1, 1, Fraction(1, 4)]
    assert run.completion_times == (3 + Fraction(13, 2) * 4,)


def test_samples_follow_the_mode() -> None:
    """Samples are counted at the throughput of the mode, and loss and accuracy follow the share of the work."""
    large = Mode(name="large", menu=[(1, 2.0)], batch_size=64, samples=30)
    training = Training(epoch=10, samples=20, initial_loss=3, loss=1, accuracy=0.5, curvature=0)
    job = Job(name="a", release_date=0, duration=8, gpus=1, modes=[large], training=training)
    seen = []

    def look(state: State) -> Iterable[Action]:
        seen.append((state.samples(0), state.observed(0)))
        yield from map(Start, state.arrived)
        if state.now == 0:
            yield Wake(2)
        if state.now == 2:
            yield Resize(0, 1, "large")
            yield Wake(4)
        if state.now == 4:
            yield Stop(0)
            yield Wake(5)
        if state.now == 5:
            yield Start(0, 1)

    run = simulate(bundle([job]), doing(look), cluster=1, record=True, exact=True)
    assert run.completion_times == (7,)
    assert [samples for samples, _ in seen] == [0, 5, 20, 20, 25]
    assert [one.epochs for _, one in seen if one] == [0, Fraction(1, 2), 2, 2, Fraction(5, 2)]
    assert [one.loss for _, one in seen if one] == [3, 2.5, 1.5, 1.5, 1]
    assert [one.accuracy for _, one in seen if one] == [0, 0.125, 0.375, 0.375, 0.5]
    assert run.metrics.mean_epochs == 2.5


def test_lost_work_stays_processed() -> None:
    """Samples whose work is lost have been processed, and are processed once more."""
    job = Job(name="a", release_date=0, duration=8, gpus=1, training=Training(epoch=4, samples=16))
    machine = Machine(name="m", gpus=1)
    events = [Leave(time=4, servers=["m"], lost_work=3), Return(time=6, servers=["m"])]
    racks = Cluster(racks=(Rack(name="r", machines=(machine,)),))
    run = simulate(bundle([job]), policies.fifo, cluster=racks, events=events, exact=True)
    assert (run.completion_times, run.metrics.mean_epochs) == ((13,), Fraction(22, 4))


def test_nothing_is_seen_without_a_training() -> None:
    """A job without a training has no samples and no observation."""
    asked = []

    def look(state: State) -> Iterable[Action]:
        asked.append((state.samples(0), state.observed(0)))
        return map(Start, state.arrived)

    run = simulate(workload((0, 1, 1)), doing(look), cluster=1)
    assert (asked, run.metrics.mean_epochs) == ([(0, None), (0, None)], None)


def test_progress_begins_when_overheads_end() -> None:
    """A job that runs is ready when its overhead ends, and one that waits, or is past it, now."""
    seen = []

    def look(state: State) -> Iterable[Action]:
        seen.append((state.now, state.ready(0)))
        yield from map(Start, state.arrived)
        if state.now < 4:
            yield Wake(state.now + 2)

    simulate(workload((0, 3, 1)), doing(look), cluster=1, overheads=Overhead(start=3))
    assert seen == [(0, 0), (2, 3), (4, 4), (6, 6)]
