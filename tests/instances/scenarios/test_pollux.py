"""Scenarios of Pollux, made up and from the public traces."""

from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.scenario import Overhead
from gsopt.simulation import simulate
from heuristics.policies import fifo
from instances.scenarios import pollux
from instances.scenarios.adaptive import ADAPTIVE
from tests.instances.traces.samples import adaptive_folder


def test_the_published_setting(tmp_path: Path) -> None:
    """Jobs may choose their batches on nodes of four GPUs, and every change takes 30 s."""
    scenario = pollux(adaptive_folder(tmp_path), nodes=2)

    assert [machine.gpus for machine in scenario.cluster.machines] == [4, 4]
    assert scenario.overheads == {"": Overhead(start=30.0, resize=30.0)}
    assert [job.release_date for job in scenario.workload.jobs] == [30.0, 70.0]
    assert all(job.modes[0].name == ADAPTIVE for job in scenario.workload.jobs)
    assert (scenario.agents.interval, scenario.agents.progress, scenario.restarts) == (
        60,
        "statistical",
        "change",
    )


def test_the_setting_of_ares(tmp_path: Path) -> None:
    """Batches are fixed, samples count, rounds are longer and a restart is a change of the nodes."""
    scenario = pollux(adaptive_folder(tmp_path), setting="ares", nodes=2)

    assert all(not job.modes for job in scenario.workload.jobs)
    assert (scenario.agents.interval, scenario.agents.progress, scenario.restarts) == (
        360,
        "samples",
        "machines",
    )


def test_a_job_runs_as_its_training_goes(tmp_path: Path) -> None:
    """Alone from the first round on, after 30 s, a job takes its duration, rounded to seconds by epoch."""
    scenario = pollux(adaptive_folder(tmp_path), jobs=1)
    run = simulate(scenario, fifo, round_length=60)
    job = scenario.workload.jobs[0]
    assert run.metrics.mean_jct == pytest.approx(60 - job.release_date + 30 + job.duration, abs=1)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"setting": "paper"}, "setting: 'paper': must be one of published, ares"),
        ({"gpus_per_node": 5}, "gpus_per_node: 5: must be between 1 and 4"),
        ({"nodes": 0}, "nodes: 0: must be at least 1"),
        ({"jobs": 0}, "jobs: 0: must be at least 1"),
        ({"number": 9}, "must be a file, or a folder with workloads/workload-9.csv"),
    ],
)
def test_what_is_out_of_range_is_refused(tmp_path: Path, options: dict[str, Any], line: str) -> None:
    """Options out of their range are one line."""
    with pytest.raises(InvalidInput, match=line):
        pollux(adaptive_folder(tmp_path), **options)


def test_it_needs_the_data() -> None:
    """Nothing is made up without the folder of public traces."""
    with pytest.raises(InvalidInput, match=r"^path: is required"):
        pollux()


def test_the_real_workloads(traces: Path) -> None:
    """The first job of a public workload has the length that follows from its application."""
    (job,) = pollux(traces, number=3, nodes=1, jobs=1).workload.jobs
    assert (job.name, job.gpus, round(job.duration), job.counts) == ("ncf-0", 1, 46, (1,))
