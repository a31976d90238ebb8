"""The scenario of failures, generated and from public traces."""

from pathlib import Path
from typing import Any

import pytest

from gsopt.scenario.events import Leave, Return
from gsopt.schedule.judge import judge
from gsopt.simulation import Policy, replay
from heuristics.policies import fifo, srsf
from instances.scenarios import failures
from tests.gsopt.simulation.recorded import schedule_of
from tests.refusals import refused

_SMALL: dict[str, Any] = {"nodes": 16, "jobs": 60, "seed": 1}


def test_a_seed_is_a_scenario() -> None:
    """Equal seeds give equal scenarios and others do not; jobs do not depend on faults, nor these on jobs."""
    one = failures(rate=20, **_SMALL)
    assert one == failures(rate=20, **_SMALL)
    assert one.events != failures(rate=20, **_SMALL | {"seed": 2}).events
    assert one.workload == failures(rate=0, **_SMALL).workload
    assert one.events == failures(rate=20, **_SMALL | {"jobs": 70}).events


@pytest.mark.parametrize("policy", [fifo, srsf])
def test_without_faults_checkpoints_change_nothing(policy: Policy) -> None:
    """Without faults a run is the same to the last digit, however rarely jobs write checkpoints."""
    never, often = (failures(rate=0, checkpoint_interval=each, **_SMALL) for each in (1e9, 0.0))
    assert never.events == ()
    runs = [replay(each, policy, record=True) for each in (never, often)]
    assert (runs[0].metrics, schedule_of(runs[0])) == (runs[1].metrics, schedule_of(runs[1]))
    assert runs[0].metrics.lost_gpu_hours == 0


def test_faults_cost_progress_that_is_judged_alike() -> None:
    """The judge finds the same completion times and the same loss, which grows with the interval."""
    lost = []
    for interval in (0.0, 600.0, 3600.0, 1e9):
        scenario = failures(nodes=64, jobs=150, rate=50, checkpoint_interval=interval, seed=1)
        run = replay(scenario, fifo, record=True)
        verdict = judge(schedule_of(run), scenario)
        assert (verdict.violations, verdict.completion_times) == ((), run.completion_times)
        assert verdict.lost_gpu_hours == pytest.approx(run.metrics.lost_gpu_hours, rel=1e-9, abs=1e-9)
        lost.append(run.metrics.lost_gpu_hours)
    assert lost[0] == 0 < lost[1] < lost[2] < lost[3]


def test_more_faults_are_more_outages() -> None:
    """At ten times the rate departures are up to ten times as many, as some join; every machine comes back."""
    counts = []
    for rate in (1, 10):
        events = failures(nodes=128, jobs=5, rate=rate, days=60, seed=2).events
        gone = [server for event in events if isinstance(event, Leave) for server in event.servers]
        back = [server for event in events if isinstance(event, Return) for server in event.servers]
        assert sorted(gone) == sorted(back)
        counts.append(len(gone))
    assert 20 < counts[0] < 60
    assert 5 < counts[1] / counts[0] < 10


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"nodes": 0}, "nodes: 0: must be at least 1 and at most 10,000"),
        ({"rate": -1}, "rate: -1: must be at least 0 and at most 1,000"),
        ({"days": 0}, "days: 0: must be more than 0"),
        ({"jobs": 0}, "jobs: 0: must be at least 1"),
        ({"restart": -1}, "restart: -1: must be at least 0"),
        ({"checkpoint_interval": -1.0}, "scenario: checkpoint_interval: -1.0"),
    ],
)
def test_bad_arguments(change: dict[str, float], line: str) -> None:
    """Arguments out of range are refused in one line."""
    with refused(line, start=line):
        failures(**{**_SMALL, **change})


def test_the_real_scenario(traces: Path) -> None:
    """On 128 hosts of Crux all its jobs run, and machines fail about 0.4 % of their days."""
    scenario = failures(traces, seed=1)
    assert (scenario.cluster.gpus, len(scenario.workload.jobs)) == (1024, 2257)
    assert scenario.cluster.levels == ("machine", "rack", "pod", "network")
    gone = sum(len(event.servers) for event in scenario.events if isinstance(event, Leave))
    assert 10 < gone < 60
    assert failures(traces, seed=1) == scenario
