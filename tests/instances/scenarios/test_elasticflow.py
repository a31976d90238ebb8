"""Scenarios of ElasticFlow, from two made-up rows and from the published ones."""

from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.scenario import Overhead
from gsopt.simulation import simulate
from heuristics.policies.elasticflow.guaranteeing import Admission
from heuristics.policies.elasticflow.policy import elasticflow as policy
from instances import data_folder
from instances.scenarios import elasticflow


def folder(path: Path, gpus: int = 2) -> Path:
    """Write a workload of two jobs and the profile of their model."""
    workloads = path / "elasticflow_profiles" / "traces_for_ElasticFlow"
    profiles = path / "elasticflow_profiles" / "scheduler" / "throughputs_A100"
    workloads.mkdir(parents=True)
    profiles.mkdir(parents=True)
    (profiles / "bert.csv").write_text("global_batch_size,1,2,4,8\n64,2.0,4.0,5.0,\n")
    (workloads / "philly_103959.csv").write_text(
        "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu\n"
        f"a,100,400,bert,300,64,{gpus}\nb,160,400,bert,500,64,1\n"
    )
    return path


def test_by_hand(tmp_path: Path) -> None:
    """Durations and menus follow from the profile, and times begin with the first job."""
    scenario = elasticflow(folder(tmp_path), trace="philly_103959", nodes=1)
    one, other = scenario.workload.jobs

    assert (one.release_date, one.duration, one.gpus, one.deadline) == (0, 100, 2, 200)
    assert (other.release_date, other.duration, other.gpus, other.deadline) == (60, 200, 1, 400)
    assert one.menu == ((1, 0.5), (2, 1.0), (4, 1.25))
    assert scenario.overheads == {"": Overhead(start=10.0, resize=10.0)}
    assert scenario.cluster.gpus == 8


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"trace": "philly"}, "trace: 'philly': must be one of"),
        ({"jobs": 0}, "jobs: 0: must be at least 1"),
        ({"nodes": 0}, "nodes: 0: must be at least 1"),
        ({"gpus_per_node": 0}, "gpus_per_node: 0: must be at least 1"),
    ],
)
def test_bad_arguments(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    """An argument out of its range is refused, and so is a job whose GPUs were not profiled."""
    with pytest.raises(InvalidInput, match=reason):
        elasticflow(folder(tmp_path), **{"trace": "philly_103959", **options})
    with pytest.raises(InvalidInput, match="num_gpu: 8: must have been profiled for bert-64"):
        elasticflow(folder(tmp_path / "eight", gpus=8), trace="philly_103959")
    with pytest.raises(InvalidInput, match="path: is required"):
        elasticflow()


def test_the_published_jobs() -> None:
    """Without overheads every job that is admitted keeps its deadline."""
    public = data_folder()
    if public is None:
        pytest.skip("GSOPT_DATA is unset or holds no elasticflow_profiles")
    scenario = elasticflow(public, jobs=40)
    told: list[Admission] = []
    calm = simulate(
        scenario.model_copy(update={"overheads": {}}), policy, bound=False, on_admission=told.append
    )
    late = [
        job.name
        for job, time in zip(scenario.workload.jobs, calm.completion_times, strict=True)
        if time > (job.deadline or time)
    ]
    admitted = {scenario.workload.jobs[each.job].name for each in told if each.admitted}
    assert len(told) == 40
    assert admitted.isdisjoint(late)
