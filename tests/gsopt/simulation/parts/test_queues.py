"""The incremental queues decide what a full scan of all jobs would."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Action, Decider, Policy, Start, State, Stop, replay
from gsopt.simulation.parts.waiting import Waiting
from heuristics.policies import fifo_skipping, las, sjf, srsf, srtf, ssf
from tests.effort import cases
from tests.gsopt.simulation.scenarios import plain_scenarios

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


class Scan:
    """Looks at every job at every event: the definition of the queues, and slow."""

    def __init__(self, key: Callable[[State, int], Any], *, preemptive: bool) -> None:
        self.preemptive = preemptive
        self._key = key
        self._there: set[int] = set()

    def decide(self, state: State) -> Iterable[Action]:
        """Choose by a scan in key order; running jobs that may not be stopped come first."""
        self._there |= set(state.arrived)
        self._there -= set(state.completed)
        kept = set() if self.preemptive else set(state.running)
        free = state.capacity - sum(state.jobs[job].gpus for job in kept)
        chosen = []
        for job in sorted(self._there - kept, key=lambda job: (self._key(state, job), job)):
            if state.jobs[job].gpus <= free:
                free -= state.jobs[job].gpus
                chosen.append(job)
        if self.preemptive:
            yield from [Stop(job) for job in state.running if job not in chosen]
        yield from [Start(job) for job in chosen if job not in state.running]


def scan(key: Callable[[State, int], Any], *, preemptive: bool) -> Policy:
    """Make a scanning policy."""

    def policy(state: State) -> Decider:
        del state
        return Scan(key, preemptive=preemptive)

    return policy


@pytest.mark.parametrize(
    ("policy", "reference"),
    [
        (fifo_skipping, scan(lambda _, job: job, preemptive=False)),
        (sjf, scan(lambda state, job: state.jobs[job].duration, preemptive=False)),
        (ssf, scan(lambda state, job: state.jobs[job].gpu_seconds, preemptive=False)),
        (srtf, scan(lambda state, job: state.remaining(job), preemptive=True)),
        (srsf, scan(lambda state, job: state.remaining(job) * state.jobs[job].gpus, preemptive=True)),
        (las, scan(lambda state, job: state.service(job), preemptive=True)),
    ],
    ids=["fifo_skipping", "sjf", "ssf", "srtf", "srsf", "las"],
)
@settings(calm, max_examples=cases(60))
@given(scenario=plain_scenarios())
def test_queues_equal_the_scan(policy: Policy, reference: Policy, scenario: Scenario) -> None:
    """Every job completes when it does under the scan, with overheads and changes of capacity."""
    fast, slow = (replay(scenario, each, exact=True) for each in (policy, reference))
    assert fast.completion_times == slow.completion_times


def test_waiting_jobs_change_their_keys() -> None:
    """A job that is added again counts under its new key only, and a removed one not at all."""
    waiting = Waiting()
    for job, key in [(0, 1), (1, 2), (2, 3), (0, 4)]:
        waiting.add(job, key, queue=1)
    waiting.remove(2)
    assert len(waiting) == 2
    order = []
    while (first := waiting.first(bool)) is not None:
        order.append(first)
        waiting.remove(first[1])
    assert order == [(2, 1), (4, 0)]
