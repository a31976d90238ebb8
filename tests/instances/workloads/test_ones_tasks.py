"""Tasks of ONES: those of Table 2, with speeds like those that were measured."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from instances.workloads.ones_tasks import TASKS, Model


def _model(name: str) -> Model:
    return next(task.model for task in TASKS if task.model.name == name)


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open() as opened:
        return list(csv.DictReader(opened))


def test_the_tasks_are_those_of_table_2() -> None:
    """There are 4 x 6 + 3 x 5 + 4 + 1 + 6 tasks, by data set and number of classes."""
    assert len({task.name for task in TASKS}) == 50
    kinds = Counter(task.name.partition("-")[0] for task in TASKS)
    assert kinds == {"imagenet": 24, "cifar10": 15, "cola": 4, "mrpc": 1, "sst2": 6}
    assert {(task.samples, task.classes) for task in TASKS if task.name.startswith("cifar10")} == {
        (size, 10) for size in (20_000, 25_000, 30_000, 35_000, 40_000)
    }
    assert {(task.samples, task.classes) for task in TASKS if task.name.startswith("imagenet-vgg16")} == {
        (1000 * classes, classes) for classes in (10, 12, 14, 16, 18, 20)
    }


def test_larger_batches_scale_and_fixed_ones_do_not() -> None:
    """On 16 GPUs every model trains faster with 16 times the batch, by more than with the same batch."""
    for model in {task.model for task in TASKS}:
        alone = model.throughput(model.local, 1)
        elastic = model.throughput(16 * model.local, 16) / model.penalty(16 * model.local)
        assert 4 * alone < elastic < 16 * alone
        assert model.throughput(model.local, 16) < 0.55 * elastic


@pytest.mark.parametrize(
    ("name", "network", "samples", "wrong"),
    [("imagenet-resnet50", "imagenet", 1_281_167, 0.02), ("bert", "sentiment140", 1_600_000, 0.18)],
)
def test_steps_on_one_gpu_as_zeus_measured(
    traces: Path, name: str, network: str, samples: int, wrong: float
) -> None:
    """Seconds of a step are those of an epoch on a V100 without power limit, over its steps."""
    model, measured = _model(name), 0
    for row in _rows(traces / "zeus_batchsize/summary_power_v100.csv"):
        if row["dataset"] == network and row["power_limit"] == "250":
            size = int(row["batch_size"])
            step = float(row["time_per_epoch"]) * size / samples
            assert model.seconds(size, 1) == pytest.approx(step, rel=wrong)
            measured += 1
    assert measured >= 5


def test_steps_on_one_gpu_as_gavel_measured(traces: Path) -> None:
    """Seconds of a step of ResNet-18 are the inverse of the throughput on a V100, to a ninth."""
    with gzip.open(traces / "gavel/simulation_throughputs.json.gz") as file:
        table = json.load(file)["v100"]
    for size in (16, 32, 64, 128, 256):
        step = 1 / table[f"('ResNet-18 (batch size {size})', 1)"]["null"]
        assert _model("cifar10-resnet18").seconds(size, 1) == pytest.approx(step, rel=0.115)


@pytest.mark.parametrize(
    ("name", "file"), [("imagenet-vgg16", "vgg16"), ("imagenet-inceptionv3", "inception3")]
)
def test_steps_on_one_gpu_as_elasticflow_measured(traces: Path, name: str, file: str) -> None:
    """Seconds of a step are a third longer than on an A100."""
    rows = _rows(traces / f"elasticflow_profiles/scheduler/throughputs_A100/{file}.csv")
    assert len(rows) >= 2
    for row in rows:
        step = 1.33 / float(row["1"])
        assert _model(name).seconds(int(row["global_batch_size"]), 1) == pytest.approx(step, rel=0.02)


@pytest.mark.parametrize(
    ("name", "application"),
    [("imagenet-resnet50", "imagenet"), ("cifar10-resnet18", "cifar10"), ("bert", "bert")],
)
def test_samples_by_batch_size_as_sia_measured(traces: Path, name: str, application: str) -> None:
    """Relative to the smallest batch measured, larger ones need as many samples as they did, to 3 %."""
    samples = {}
    for file in (traces / "sia/profiles" / application).glob("validation-*.csv"):
        size = int(file.stem.partition("-")[2])
        samples[size] = size * float(_rows(file)[-1]["iteration"])
    least, model = min(samples), _model(name)
    assert len(samples) >= 6
    for size, needed in samples.items():
        more = model.penalty(size) / model.penalty(least)
        assert more == pytest.approx(needed / samples[least], rel=0.03)
