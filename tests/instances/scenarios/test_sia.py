"""Scenarios of Sia, made up and from the public traces."""

from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.scenario import Overhead
from instances.scenarios import pollux, sia
from instances.scenarios.adaptive import Setting
from tests.instances.traces.samples import adaptive_folder


def test_the_published_setting(tmp_path: Path) -> None:
    """Jobs are those of Pollux but slower, and restarts take as long as the model needs."""
    folder = adaptive_folder(tmp_path)
    scenario = sia(folder, nodes=2)

    assert scenario.overheads == {"bert": Overhead(start=120.0, resize=120.0)}
    assert scenario.applications["bert"].slowdown == 1.2
    assert (scenario.agents.memory, scenario.restarts) == ("placement", "shape")
    assert {machine.gpu_type for machine in scenario.cluster.machines} == {"aws"}
    for ours, other in zip(scenario.workload.jobs, pollux(folder, nodes=2).workload.jobs, strict=True):
        assert ours.duration == pytest.approx(1.2 * other.duration, rel=SUM)


def test_the_setting_of_ares(tmp_path: Path) -> None:
    """Batches are fixed, samples count, rounds are longer and a restart is a change of the nodes."""
    scenario = sia(adaptive_folder(tmp_path), setting="ares", nodes=2)

    assert all(not job.modes for job in scenario.workload.jobs)
    assert (scenario.agents.interval, scenario.agents.progress, scenario.restarts) == (
        360,
        "samples",
        "machines",
    )


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


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"setting": "paper"}, "setting: 'paper': must be one of published, ares"),
        ({"gpu": "tpu"}, "gpu: 'tpu': must be one of aws"),
        ({"gpus_per_node": 5}, "gpus_per_node: 5: must be between 1 and 4"),
        ({"halvings": -1}, "halvings: -1: must be a whole number, at least 0, or None"),
        ({"halvings": 0.5}, "halvings: 0.5: must be a whole number, at least 0, or None"),
    ],
)
def test_what_is_out_of_range_is_refused(tmp_path: Path, options: dict[str, Any], line: str) -> None:
    """Options out of their range are one line."""
    with pytest.raises(InvalidInput, match=line):
        sia(adaptive_folder(tmp_path), **options)


def test_it_needs_the_data() -> None:
    """Nothing is made up without the folder of public traces."""
    with pytest.raises(InvalidInput, match=r"^path: is required"):
        sia()


def test_another_gpu(traces: Path) -> None:
    """On nodes of eight GPUs of another type other times and limits hold."""
    scenario = sia(traces, trace="newtrace", gpu="rtx", nodes=1, jobs=1)
    assert scenario.cluster.gpus == 8
    assert scenario.applications["deepspeech2"].limits.most_local == 57
