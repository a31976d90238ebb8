"""Scenarios of Aryl, small and made up, and at the paper's scale from the public traces."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.events import Leave, Loan, Reclaim
from gsopt.scenario.scenario import Scenario
from instances.scenarios import aryl
from instances.scenarios.aryl import inference_demand
from instances.scenarios.kinds import INFERENCE, TRAINING
from instances.traces.inference import DUTY_CYCLES, INSTANCES
from instances.traces.itp import FILE
from tests.instances.traces.samples import packed


def small(**options: Any) -> Scenario:
    """Return two clusters of eight servers for a day."""
    return aryl(**{"days": 1, "servers": 8, "inference_servers": 8, **options})


def away(scenario: Scenario) -> tuple[str, ...]:
    """Return the machines that are away at the beginning."""
    first = scenario.events[0]
    assert isinstance(first, Leave)
    return tuple(first.servers)


def test_inference_servers_come_last() -> None:
    """The cluster has a rack of each type, and only servers of the inference cluster are ever away."""
    scenario = small()
    later = scenario.events[1:]

    assert [machine.gpu_type for machine in scenario.cluster.machines] == [TRAINING] * 8 + [INFERENCE] * 8
    assert set(away(scenario)) <= {machine.name for machine in scenario.cluster.machines[8:]}
    assert all(isinstance(event, Loan | Reclaim) and event.gpu_type == INFERENCE for event in later)
    assert scenario.speed.gpu_types == {INFERENCE: 3.0}
    assert scenario.overheads[""].stop == 63


def test_without_loaning_there_is_one_cluster() -> None:
    """Nothing happens then, and the jobs are those of the scenario with loaning."""
    alone, both = small(loaning=False), small()

    assert {machine.gpu_type for machine in alone.cluster.machines} == {TRAINING}
    assert alone.events == ()
    assert [(job.name, job.duration, job.menu) for job in alone.workload.jobs] == [
        (job.name, job.duration, job.menu) for job in both.workload.jobs
    ]


@pytest.mark.parametrize(
    ("support", "elastic", "heterogeneous", "mixed"),
    [("basic", 0.05, 0.0, 1.0), ("advanced", 0.05, 0.1, 1 / 0.7), ("ideal", 1.0, 1.0, 1.0)],
)
def test_support_says_which_jobs_are_flexible(
    support: Any, elastic: float, heterogeneous: float, mixed: float
) -> None:
    """The shares of elastic and heterogeneous jobs, and the loss of the latter, are the paper's."""
    scenario = small(support=support)
    jobs = scenario.workload.jobs

    assert sum(bool(job.menu) for job in jobs) == round(elastic * len(jobs))
    assert sum(not job.gpu_type for job in jobs) == round(heterogeneous * len(jobs))
    assert scenario.speed.mixed == mixed


def test_options_go_before_the_support() -> None:
    """Shares and loss can be given; the demand of the inference cluster is that of its own maker."""
    scenario = small(support="advanced", elastic=0.5, heterogeneous=0.2, mixed=1.0, slower=4.0)
    jobs = scenario.workload.jobs

    assert sum(bool(job.menu) for job in jobs) == round(0.5 * len(jobs))
    assert sum(not job.gpu_type for job in jobs) == round(0.2 * len(jobs))
    assert (scenario.speed.mixed, scenario.speed.gpu_types[INFERENCE]) == (1.0, 4.0)
    assert inference_demand(days=1, inference_servers=8).gpus == 64


def test_headroom_is_kept() -> None:
    """One server more is away at the beginning."""
    assert len(away(small(headroom=1))) == len(away(small())) + 1


def test_the_testbed_of_the_paper() -> None:
    """Four servers of each kind, 180 jobs for 8 hours with 10 elastic ones, none larger than 16 GPUs."""
    testbed: dict[str, Any] = {"days": 8 / 24, "servers": 4, "inference_servers": 4, "begin": 20.0}
    scenario = aryl(jobs=180, elastic=10 / 180, load=None, shortest=120, longest=7200, **testbed)
    jobs = scenario.workload.jobs

    assert (len(jobs), sum(bool(job.menu) for job in jobs)) == (180, 10)
    assert max(job.gpus for job in jobs) <= 16
    assert all(120 <= job.duration <= 7200 and job.release_date <= 8 * 3600 for job in jobs)


def test_jobs_and_demand_come_of_the_public_traces(tmp_path: Path) -> None:
    """A folder of all traces gives the jobs and the demand, and its files are those that are read."""
    for place, data in [
        (FILE, packed(cluster01_csv="job_id,submission_time,duration,num_gpu\na,0,600,1\nb,1000000,600,2\n")),
        (INSTANCES, b"instance_sn,gpu_request\ni1,5\n"),
        (DUTY_CYCLES, packed(duty_csv="value,timestamp_anon\n1,0\n9,40000\n")),
    ]:
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_bytes(gzip.compress(data))

    scenario = small(path=tmp_path, inference_servers=4)
    assert [job.name for job in scenario.workload.jobs] == ["a-b"]
    assert {event.event for event in scenario.events} == {"leave", "loan", "reclaim"}
    assert inference_demand(tmp_path, days=2, inference_servers=4).peak == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"support": "none"}, "support: 'none': must be one of basic, advanced, ideal"),
        ({"servers": 0}, "servers: 0: must be at least 1"),
        ({"inference_servers": 0}, "inference_servers: 0: must be at least 1"),
        ({"servers": 10**9}, "servers: 1000000000: must be at least 1 and at most 100,000"),
        ({"inference_servers": 10**9}, "inference_servers: 1000000000: must be at least 1 and at most 100,000"),
        ({"slower": 0.5}, "slower: 0.5: must be at least 1 and at most 1,000,000"),
        ({"overhead": -1.0}, "overhead: -1.0: must be at least 0"),
        ({"normalised": True, "slower": 2.5}, "slower: 2.5: must be a whole number where demands are normal"),
        ({"elastic": 2.0}, "elastic: 2.0: must be between 0 and 1"),
        ({"load": -1.0}, "load: -1.0: must be between 0.001 and 1000"),
        ({"mean": 0.99}, "mean: 0.99: must be between 0.4"),
        ({"interval": 0}, "interval: 0: must be at least 1 second"),
    ],
)
def test_an_option_out_of_its_range_is_one_line(options: dict[str, Any], line: str) -> None:
    """Every option is refused by name, value and rule."""
    with pytest.raises(InvalidInput) as refused:
        small(**options)
    assert line in str(refused.value)
