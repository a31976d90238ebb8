"""Greedy: the incremental decisions are those of a scan of all jobs in key order."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import efficient_counts
from gsopt.schedule.fairness import VirtualTime
from gsopt.schedule.judge import fluid_finish_times
from gsopt.simulation import Action, Decider, Policy, Resize, Start, State, Stop, replay
from gsopt.simulation.parts.waiting import WaitingQueue
from heuristics.policies import efq, elastic_las, elastic_srtf, fifo_skipping, las, sjf, srsf, srtf, ssf
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
ALPHAS = st.sampled_from([0.5, 0.75, 1.0])


class Scan:
    """Looks at every job at every event."""

    def __init__(
        self,
        key: Callable[[int], Any],
        counts: Sequence[tuple[int, ...]],
        *,
        skip: bool = True,
        preemptive: bool = True,
    ) -> None:
        self._key, self._counts, self._skip, self.preemptive = key, counts, skip, preemptive
        self._active: set[int] = set()

    def decide(self, state: State) -> Iterable[Action]:
        """Scan all jobs, and change what differs from the result."""
        self._active |= set(state.arrived)
        self._active -= set(state.completed)
        kept = set() if self.preemptive else set(state.running)
        free = state.capacity - sum(state.running[job] for job in kept)
        shrink: list[Action] = []
        grow: list[Action] = []
        for job in sorted(self._active - kept, key=lambda job: (self._key(job), job)):
            count = max((count for count in self._counts[job] if count <= free), default=0)
            free = free - count if count or self._skip else 0
            held = state.running.get(job, 0)
            if count > held:
                grow.append(Resize(job, count) if held else Start(job, count))
            elif count < held:
                shrink.append(Resize(job, count) if count else Stop(job))
        return shrink + grow


def _counts(jobs: Sequence[Job], alpha: float) -> list[tuple[int, ...]]:
    return [efficient_counts(job, alpha) for job in jobs]


def scan_fair(state: State, *, jobs: Sequence[Job], alpha: float = 0.75, skip: bool = True) -> Decider:
    """Scan in the order of the exact fluid finish times, with the judge's own fluid."""
    fair = fluid_finish_times(jobs, state.capacity, [Fraction(state.capacity)] * len(jobs), Fraction)
    return Scan(fair.__getitem__, _counts(jobs, alpha), skip=skip)


def scan_virtual(state: State, *, jobs: Sequence[Job], alpha: float = 0.75, skip: bool = True) -> Decider:
    """Scan in the order of virtual finish times as floats."""
    clock, finish = VirtualTime(state.capacity), []
    for number, job in enumerate(jobs):
        clock.advance(job.release_date)
        finish.append(clock.arrive(number, job.duration * job.gpus))
    return Scan(finish.__getitem__, _counts(jobs, alpha), skip=skip)


def scan_remaining(state: State, *, jobs: Sequence[Job], alpha: float = 0.75) -> Decider:
    """Scan in the order of the remaining times on the largest allowed counts."""
    counts, number = _counts(jobs, alpha), type(state.now)
    return Scan(
        lambda job: max(state.remaining(job), number(0)) / number(jobs[job].speed(counts[job][-1])), counts
    )


def scan_service(state: State, *, jobs: Sequence[Job], alpha: float = 0.75) -> Decider:
    """Scan in the order of the service attained."""
    return Scan(state.service, _counts(jobs, alpha))


def assert_equal(
    fast: Policy, slow: Policy, scenario: Scenario, *, round_length: float | None = None, **options: Any
) -> None:
    """Both policies run the same pieces; the slow one knows all jobs."""
    slow = partial(slow, jobs=scenario.workload.jobs)
    runs = [
        replay(scenario, policy, record=True, round_length=round_length, **options) for policy in (fast, slow)
    ]
    pieces = [set(run.schedule.segments) if run.schedule else None for run in runs]
    assert pieces[0] == pieces[1]
    assert runs[0].completion_times == runs[1].completion_times


def large(seed: int) -> Scenario:
    """Generate a crowded scenario in which GPUs come and go."""
    random = Random(seed)
    gpus = random.choice([12, 32])
    jobs = []
    for index in range(60):
        demand = random.choice([1, 1, 1, 2, 2, 3, 4, 8])
        efficiencies = [1.0, *sorted((random.uniform(0.6, 1) for _ in range(3)), reverse=True)]
        menu = [(demand << i, efficiency * 2**i) for i, efficiency in enumerate(efficiencies)]
        jobs.append(
            Job(
                name=str(index),
                release_date=random.choice([random.randint(0, 40), random.uniform(0, 40)]),
                duration=random.choice([random.randint(1, 9), random.expovariate(0.1) + 0.01]),
                gpus=demand,
                menu=menu if random.random() < 0.7 else (),
            )
        )
    changes = sorted(random.sample(range(60), random.choice([0, 0, 4])))
    sizes = [random.randint(1, gpus) for _ in changes]
    return Scenario(
        workload=bundle(jobs),
        cluster=Cluster.plain(gpus),
        overheads={"": Overhead(stop=random.choice([0.0, 0.25]), resize=random.choice([0.0, 0.5]))},
        capacity_changes=(
            *(CapacityChange(time=float(t), gpus=size) for t, size in zip(changes, sizes, strict=True)),
            CapacityChange(time=100.0, gpus=gpus),
        ),
    )


@settings(calm, max_examples=cases(250))
@given(scenario=plain_scenarios(elastic=True), alpha=ALPHAS, skip=st.booleans())
def test_fair_order_in_fractions(scenario: Scenario, alpha: float, *, skip: bool) -> None:
    """In fractions elastic fair queuing is the scan in the order of the judge's fluid finish times."""
    assert_equal(efq, scan_fair, scenario, exact=True, alpha=alpha, skip=skip)


@pytest.mark.parametrize(
    ("fast", "slow"), [(elastic_srtf, scan_remaining), (elastic_las, scan_service)], ids=["srtf", "las"]
)
@settings(calm, max_examples=cases(120))
@given(scenario=plain_scenarios(elastic=True), alpha=ALPHAS)
def test_moving_orders_in_fractions(fast: Policy, slow: Policy, scenario: Scenario, alpha: float) -> None:
    """In fractions the policies whose keys move are the scans in the order of their keys."""
    assert_equal(fast, slow, scenario, exact=True, alpha=alpha)


@pytest.mark.parametrize("seed", range(cases(80)))
def test_large(seed: int) -> None:
    """In a crowd, in floats and in rounds, every policy still decides what a scan decides."""
    scenario = large(seed)
    assert_equal(efq, scan_virtual, scenario, skip=bool(seed % 3))
    assert_equal(efq, scan_virtual, scenario, round_length=1.75)
    assert_equal(elastic_srtf, scan_remaining, scenario)
    assert_equal(elastic_las, scan_service, scenario)


def _scan(key: Callable[[State, int], Any], *, preemptive: bool) -> Policy:
    """Scan in the order of keys, each job on the GPUs that it demands."""
    return lambda state, *, jobs: Scan(
        lambda job: key(state, job), [(job.gpus,) for job in jobs], preemptive=preemptive
    )


@pytest.mark.parametrize(
    ("policy", "reference"),
    [
        (fifo_skipping, _scan(lambda _, job: job, preemptive=False)),
        (sjf, _scan(lambda state, job: state.jobs[job].duration, preemptive=False)),
        (ssf, _scan(lambda state, job: state.jobs[job].gpu_seconds, preemptive=False)),
        (srtf, _scan(lambda state, job: state.remaining(job), preemptive=True)),
        (srsf, _scan(lambda state, job: state.remaining(job) * state.jobs[job].gpus, preemptive=True)),
        (las, _scan(lambda state, job: state.service(job), preemptive=True)),
    ],
    ids=["fifo_skipping", "sjf", "ssf", "srtf", "srsf", "las"],
)
@settings(calm, max_examples=cases(60))
@given(scenario=plain_scenarios())
def test_queues_equal_the_scan(policy: Policy, reference: Policy, scenario: Scenario) -> None:
    """Every job runs when it does under the scan, with overheads and changes of capacity."""
    assert_equal(policy, reference, scenario, exact=True)


def test_waiting_jobs_change_their_keys() -> None:
    """A job that is added again counts under its new key only, and a removed one not at all."""
    waiting = WaitingQueue()
    for job, key in [(0, 1), (1, 2), (2, 3), (0, 4)]:
        waiting.add(job, key, queue=1)
    waiting.remove(2)
    assert len(waiting) == 2
    order = []
    while (first := waiting.first(bool)) is not None:
        order.append(first)
        waiting.remove(first[1])
    assert order == [(2, 1), (4, 0)]
