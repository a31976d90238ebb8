"""Whole scenarios, made up and from the public traces."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.simulation import simulate
from heuristics.policies import fifo
from heuristics.policies.elasticflow.guaranteeing import DeadlineDecision
from heuristics.policies.elasticflow.policy import elasticflow as policy
from instances.scenarios import elasticflow, pollux, sia
from instances.scenarios.adaptive import ADAPTIVE, Menus, Setting, SubmittedJob, orders
from instances.traces.applications import FOLDER, read_application
from tests.instances.traces.samples import adaptive_folder


def _menus(folder: Path, agents: Agents, model: str = "bert") -> Menus:
    application = read_application(adaptive_folder(folder) / FOLDER / "bert")
    return Menus({model: application}, agents, most_gpus=8)


def test_rows_are_orders(tmp_path: Path) -> None:
    """The rows of a workload are read in order, or the first of them."""
    folder = adaptive_folder(tmp_path)
    first, second = orders(folder, "pollux", 1, None)
    assert first == SubmittedJob(name="bert-0", time=30.0, model="bert", gpus=2, batch_size=24)
    assert orders(folder, "philly", 1, 1) == [first]
    assert second.name == "bert-1"


@pytest.mark.parametrize("row", ["bert-2,x,bert,1,12", "bert-2,1,bert,one,12", "bert-2,1,bert,1"])
def test_bad_rows_are_refused(tmp_path: Path, row: str) -> None:
    """A row that cannot be used is one line: no job is passed over."""
    folder = adaptive_folder(tmp_path)
    path = folder / "pollux_osdi21" / "workloads" / "workload-1.csv"
    path.write_text(path.read_text() + row + "\n")
    with pytest.raises(InvalidInput, match=r"^workload-1.csv: row 4: "):
        orders(folder, "pollux", 1, None)


@pytest.mark.parametrize("agents", [Agents(), Agents(progress="samples")], ids=["statistical", "samples"])
def test_menus_are_what_can_be(tmp_path: Path, agents: Agents) -> None:
    """Duration and menus follow from the course of the training; its own batch is best where it is free."""
    job = _menus(tmp_path, agents).job(SubmittedJob("a", 0.0, "bert", 2, 24), tunes=True)
    course = Course(read_application(tmp_path / FOLDER / "bert"), agents, 24)

    assert job.duration == course.seconds(2, 24)
    assert job.speed(2) == 1.0
    assert job.counts == (1, 2, 3, 4, 5, 6, 7)
    for gpus in job.counts:
        expected = course.highest_rate(gpus, 24) / course.highest_rate(2, 24)
        assert job.speed(gpus) == pytest.approx(expected, rel=SUM)
        assert job.speed(gpus, ADAPTIVE) >= job.speed(gpus) * (1 - SUM)
    assert job.modes[0].tunes


def test_a_demand_beyond_the_cluster_stays(tmp_path: Path) -> None:
    """A job that demands more GPUs than any job may have keeps its demand, which its other speeds refer to."""
    job = _menus(tmp_path, Agents()).job(SubmittedJob("a", 0.0, "bert", 16, 96), tunes=False)
    assert job.counts[-2:] == (8, 16)
    assert job.modes == ()


def test_ncf_has_one_gpu(tmp_path: Path) -> None:
    """A job of NCF has one GPU and its batch in either mode."""
    job = _menus(tmp_path, Agents(), "ncf").job(SubmittedJob("a", 0.0, "ncf", 1, 12), tunes=True)
    assert job.menu == ((1, 1.0),)
    assert (job.modes[0].menu, job.modes[0].tunes) == (((1, 1.0),), False)


def test_what_was_not_measured_is_refused(tmp_path: Path) -> None:
    """A demand on which the model was not measured is one line."""
    with pytest.raises(InvalidInput, match=r"^num_replicas of a: 40: must be a number on"):
        _menus(tmp_path, Agents()).job(SubmittedJob("a", 0.0, "bert", 40, 96), tunes=True)


def test_pollux_the_published_setting(tmp_path: Path) -> None:
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


def test_a_job_runs_as_its_training_goes(tmp_path: Path) -> None:
    """Alone from the first round on, after 30 s, a job takes its duration, rounded to seconds by epoch."""
    scenario = pollux(adaptive_folder(tmp_path), jobs=1)
    run = simulate(scenario, fifo, round_length=60)
    job = scenario.workload.jobs[0]
    assert run.metrics.mean_jct == pytest.approx(60 - job.release_date + 30 + job.duration, abs=1)


def test_the_real_workloads(traces: Path) -> None:
    """The first job of a public workload has the length that follows from its application."""
    (job,) = pollux(traces, number=3, nodes=1, jobs=1).workload.jobs
    assert (job.name, job.gpus, round(job.duration), job.counts) == ("ncf-0", 1, 46, (1,))


def test_sia_the_published_setting(tmp_path: Path) -> None:
    """Jobs are those of Pollux but slower, and restarts take as long as the model needs."""
    folder = adaptive_folder(tmp_path)
    scenario = sia(folder, nodes=2)

    assert scenario.overheads == {"bert": Overhead(start=120.0, resize=120.0)}
    assert scenario.applications["bert"].slowdown == 1.2
    assert (scenario.agents.memory, scenario.restarts) == ("placement", "shape")
    assert {machine.gpu_type for machine in scenario.cluster.machines} == {"aws"}
    for ours, other in zip(scenario.workload.jobs, pollux(folder, nodes=2).workload.jobs, strict=True):
        assert ours.duration == pytest.approx(1.2 * other.duration, rel=SUM)


@pytest.mark.parametrize("setting", ["published", "ares"])
def test_demands_are_halved(tmp_path: Path, setting: Setting) -> None:
    """A job of half the demand is as fast on every number of GPUs, and never demands less than one."""
    folder = adaptive_folder(tmp_path)
    whole, half, least = (
        sia(folder, nodes=2, setting=setting, halvings=times).workload.jobs for times in (None, 1, 9)
    )

    assert [job.gpus for job in half] == [max(1, job.gpus // 2) for job in whole]
    assert {job.gpus for job in least} == {1}
    for ours, other in zip(half, whole, strict=True):
        speeds = [ours.speed(gpus) / other.speed(gpus) for gpus in set(ours.counts) & set(other.counts)]
        assert speeds == pytest.approx([1 / other.speed(ours.gpus)] * len(speeds), rel=SUM)


@pytest.mark.parametrize(("halvings", "gpus"), [(0, [4, 2]), (1, [2, 2]), (2, [2, 2]), (99, [2, 2])])
def test_demands_are_powers_of_two_on_which_jobs_can_run(
    tmp_path: Path, halvings: int, gpus: list[int]
) -> None:
    """7 counts as 4 and 3 as 2; where nothing was measured on one GPU the demand is the next number."""
    folder = adaptive_folder(tmp_path)
    measured = folder / "sia/profiles/bert/placements-aws.csv"
    lines = measured.read_text().splitlines()
    measured.write_text("\n".join(line for line in lines if not line.startswith("1,")) + "\n")
    rows = ["name,time,application,num_replicas,batch_size", "bert-0,30,bert,7,24", "bert-1,70,bert,3,12"]
    (folder / "sia/workloads/philly/workload-1.csv").write_text("\n".join(rows) + "\n")
    assert [job.gpus for job in sia(folder, halvings=halvings).workload.jobs] == gpus


def test_another_gpu(traces: Path) -> None:
    """On nodes of eight GPUs of another type other times and limits hold."""
    scenario = sia(traces, trace="newtrace", gpu="rtx", nodes=1, jobs=1)
    assert scenario.cluster.gpus == 8
    assert scenario.applications["deepspeech2"].limits.most_local == 57


def _two_types(path: Path) -> Path:
    """Write the measurements of a model on another type of GPU too, which is a fifth faster."""
    folder = adaptive_folder(path)
    for name in ("placements", "scalability"):
        for model in ("bert", "ncf"):
            measured = folder / f"sia/profiles/{model}/{name}-aws.csv"
            if measured.exists():
                head, *rows = measured.read_text().splitlines()
                column = head.split(",").index("step_time")
                changed = []
                for cells in (row.split(",") for row in rows):
                    cells[column] = str(float(cells[column]) * 0.8)
                    changed.append(",".join(cells))
                measured.with_name(f"{name}-rtx.csv").write_text("\n".join([head, *changed]) + "\n")
    return folder


def test_several_types(tmp_path: Path) -> None:
    """Each type has its nodes and measurements; duration and menus are those of the best type that is there."""
    path = _two_types(tmp_path)
    aws, rtx, both = (sia(path, nodes=nodes) for nodes in ({"aws": 1}, {"rtx": 1}, {"aws": 1, "rtx": 1}))

    assert [(machine.gpu_type, machine.gpus) for machine in both.cluster.machines] == [("aws", 4), ("rtx", 8)]
    given = both.applications["bert"]
    assert given.on("rtx").placements == rtx.applications["bert"].placements
    assert given.on("rtx").limits == rtx.applications["bert"].limits
    assert given.on("aws").placements == aws.applications["bert"].placements
    assert aws.applications["bert"].gpu_types == {}
    for ours, slow, fast in zip(both.workload.jobs, aws.workload.jobs, rtx.workload.jobs, strict=True):
        assert ours.duration == fast.duration < slow.duration
        assert max(slow.counts) <= max(ours.counts) == max(fast.counts)
        assert ours.menu == fast.menu


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


def test_a_job_that_was_not_profiled_is_refused(tmp_path: Path) -> None:
    """A job whose number of GPUs is in no profile is named with its model and batch."""
    with pytest.raises(InvalidInput, match="num_gpu: 8: must have been profiled for bert-64"):
        elasticflow(folder(tmp_path, gpus=8), trace="philly_103959")


def test_the_published_jobs(traces: Path) -> None:
    """Without overheads every job that is admitted keeps its deadline."""
    scenario = elasticflow(traces, jobs=40)
    told: list[DeadlineDecision] = []
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


@pytest.mark.parametrize("maker", [pollux, sia])
def test_the_setting_of_ares(tmp_path: Path, maker: Callable[..., Scenario]) -> None:
    """Batches are fixed, samples count, rounds are longer and a restart is a change of the nodes."""
    scenario = maker(adaptive_folder(tmp_path), setting="ares", nodes=2)
    agents = scenario.agents
    assert all(not job.modes for job in scenario.workload.jobs)
    assert (agents.interval, agents.progress, scenario.restarts) == (360, "samples", "machines")


@pytest.mark.parametrize(
    ("maker", "options", "line"),
    [
        (elasticflow, {"trace": "philly"}, "trace: 'philly': must be one of"),
        (elasticflow, {"jobs": 0}, "jobs: 0: must be at least 1"),
        (elasticflow, {"nodes": 0}, "nodes: 0: must be at least 1"),
        (elasticflow, {"gpus_per_node": 0}, "gpus_per_node: 0: must be at least 1"),
        (pollux, {"setting": "paper"}, "setting: 'paper': must be one of published, ares"),
        (pollux, {"gpus_per_node": 5}, "gpus_per_node: 5: must be between 1 and 4"),
        (pollux, {"nodes": 0}, "nodes: 0: must be at least 1"),
        (pollux, {"jobs": 0}, "jobs: 0: must be at least 1"),
        (pollux, {"number": 9}, "must be a file, or a folder with workloads/workload-9.csv"),
        (sia, {"setting": "paper"}, "setting: 'paper': must be one of published, ares"),
        (sia, {"gpu": "tpu"}, "gpu: 'tpu': must be one of aws"),
        (sia, {"gpus_per_node": 5}, "gpus_per_node: 5: must be between 1 and 4"),
        (sia, {"gpus_per_node": 0}, "gpus_per_node: 0: must be between 1 and 4"),
        (sia, {"nodes": {}}, "nodes: {}: must have a number for a GPU type"),
        (sia, {"nodes": {"aws": 1, "tpu": 1}}, "nodes: 'tpu': must be one of aws"),
        (sia, {"nodes": {"aws": 1, "rtx": 0}}, "nodes: 0: must be at least 1"),
        (sia, {"nodes": {"aws": 1, "rtx": 1}, "gpus_per_node": 5}, "gpus_per_node: 5: must be between 1 and 4"),
        (sia, {"halvings": -1}, "halvings: -1: must be a whole number, at least 0, or None"),
        (sia, {"halvings": 0.5}, "halvings: 0.5: must be a whole number, at least 0, or None"),
    ],
)
def test_options_out_of_range_are_refused(
    tmp_path: Path, maker: Callable[..., Scenario], options: dict[str, Any], line: str
) -> None:
    """Each is one line, and nothing is made up without the folder of public traces."""
    path = folder(tmp_path) if maker is elasticflow else adaptive_folder(tmp_path)
    with pytest.raises(InvalidInput, match=line):
        maker(path, **({"trace": "philly_103959", **options} if maker is elasticflow else options))
    with pytest.raises(InvalidInput, match=r"^path: is required"):
        maker()
