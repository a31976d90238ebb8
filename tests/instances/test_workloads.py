"""The generators of workloads and the facts they are drawn from."""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from instances.scheduling import elastic_jobs
from instances.traces.reading import Reading
from instances.workloads import batch, elastic, ones, poisson
from instances.workloads.distributions import ITP, PHILLY, PROBABILITIES, JobDistribution
from instances.workloads.ones_tasks import TASKS, TrainedModel
from instances.workloads.resampled import resampled
from tests.unwrap import unwrap


def test_all_jobs_are_released_at_once() -> None:
    """Every job is released at second 0, under its own name."""
    workload = batch(jobs=300, gpus=8, shape=ITP)

    assert [job.name for job in workload.jobs] == [f"j{number}" for number in range(1, 301)]
    assert {job.release_date for job in workload.jobs} == {0}
    assert {job.gpus for job in workload.jobs} == {1, 2, 4, 8}
    assert workload.source == "300 jobs in a batch, shaped like: Microsoft ITP trace, spring 2021; seed 0"


def test_gaps_are_exponentially_distributed() -> None:
    """Gaps have the mean that the load asks for, and exceed it with probability 1/e."""
    jobs = poisson(jobs=20_000, gpus=64, load=0.8, exact_load=False, seed=1).jobs
    gaps = [after.release_date - before.release_date for before, after in pairwise(jobs)]
    mean = PHILLY.mean_gpu_seconds(64) / (0.8 * 64)

    assert sum(gaps) / len(gaps) == pytest.approx(mean, rel=0.05)
    assert sum(gap > mean for gap in gaps) / len(gaps) == pytest.approx(exp(-1), rel=0.05)


def test_poisson_the_load_is_submitted() -> None:
    """Jobs submit the load that is asked for; if only their distribution has it, many submit about as much."""
    for seed in range(100):
        workload = poisson(jobs=60, gpus=16, seed=seed, load=1.0)
        assert Scenario.of(workload, 16).offered_load == pytest.approx(1, rel=1e-6)
    many = poisson(jobs=50_000, gpus=64, load=1.2, exact_load=False, shape=ITP, seed=3)
    assert Scenario.of(many, 64).offered_load == pytest.approx(1.2, rel=0.1)
    assert poisson(jobs=1).jobs[0].release_date == 0


def test_loads_and_batches_share_their_jobs() -> None:
    """GPUs and durations do not depend on the load, nor on whether the jobs arrive at once."""
    kinds = [
        [(job.name, job.gpus, job.duration) for job in workload.jobs]
        for workload in (poisson(load=0.3, seed=6), poisson(load=3, seed=6), batch(seed=6))
    ]

    assert kinds[0] == kinds[1] == kinds[2]


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_the_first_job_is_released_at_once(jobs: int) -> None:
    """There are as many jobs as asked for, the first at second 0."""
    workload = poisson(jobs=jobs)

    assert len(workload.jobs) == jobs
    assert workload.jobs[0].release_date == 0
    assert workload.name == f"poisson-{jobs}"


def test_the_jobs_are_those_of_the_problem() -> None:
    """Names, release dates, work and menus are those of the scheduling problem with the same arguments."""
    workload = elastic(jobs=30, gpus=8, load=1.5, scaling="linear", seed=3)
    problem = elastic_jobs(jobs=30, gpus=8, load=1.5, scaling="linear", seed=3)

    assert workload.jobs == problem.workload.jobs
    assert workload.name == "elastic-30"
    assert any(len(job.counts) > 1 for job in workload.jobs)


POOL = [
    Workload(
        source=f"pool {first}",
        jobs=[Job(name=f"p{first + k}", release_date=k, duration=60 + first + k, gpus=1) for k in range(5)],
    )
    for first in (0, 10)
]


def test_jobs_are_drawn_with_return() -> None:
    """More jobs than there are in the pool, each one of the pool's, under names of their own."""
    workload = resampled(POOL, jobs=200, seconds=3600, seed=1)

    assert len(workload.jobs) == len({job.name for job in workload.jobs}) == 200
    assert {job.duration for job in workload.jobs} == {job.duration for one in POOL for job in one.jobs}
    assert all(job.name.endswith(f"-p{round(job.duration) - 60}") for job in workload.jobs)
    assert workload.source == "200 jobs over 3600 s drawn with seed 1 from: pool 0; pool 10"


def test_release_dates_spread_over_the_time() -> None:
    """All are within the time, ascending, and each quarter has about its share."""
    dates = [job.release_date for job in resampled(POOL, jobs=2000, seconds=400).jobs]

    assert dates == sorted(dates)
    assert dates[0] >= 0
    assert dates[-1] <= 400
    assert all(400 < sum(start <= date < start + 100 for date in dates) < 600 for start in (0, 100, 200, 300))


def test_the_seed_decides() -> None:
    """The same seed gives the same workload, another one another."""
    assert resampled(POOL, jobs=9, seconds=60) == resampled(POOL, jobs=9, seconds=60, seed=0)
    assert resampled(POOL, jobs=9, seconds=60).jobs != resampled(POOL, jobs=9, seconds=60, seed=1).jobs


def test_arguments_are_checked() -> None:
    """No jobs, no time and nothing to draw from are refused in one line."""
    with pytest.raises(InvalidInput, match="jobs: 0: must be at least 1"):
        resampled(POOL, jobs=0, seconds=60)
    for seconds in (0, inf):
        with pytest.raises(InvalidInput, match=r"seconds: .*: must be a finite number above 0"):
            resampled(POOL, jobs=1, seconds=seconds)
    with pytest.raises(InvalidInput, match="workloads: 1: must hold at least one job"):
        resampled([Workload(jobs=[])], jobs=1, seconds=60)


SHAPES = {"philly": PHILLY, "itp": ITP}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_quantiles_ascend(shape: JobDistribution) -> None:
    """A duration that is exceeded less often is longer."""
    for _, quantiles in shape.durations:
        assert list(quantiles) == sorted(quantiles)
    assert list(PROBABILITIES) == sorted(PROBABILITIES)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_mean_is_that_of_the_draws(shape: JobDistribution) -> None:
    """The closed form agrees with the mean over many draws, within 5 % for jobs of one GPU."""
    drawn = [duration for _, duration in shape.draw(200_000, 1, Random(1))]

    assert np.mean(drawn) == pytest.approx(shape.mean_gpu_seconds(1), rel=0.05)


def test_draws_have_the_quantiles_of_the_trace() -> None:
    """Half, a tenth and a hundredth of the draws lie above the quantiles; demands come in their proportions."""
    drawn = list(PHILLY.draw(100_000, 128, Random(2)))
    single = sorted(duration for gpus, duration in drawn if gpus == 1)
    demands = Counter(gpus for gpus, _ in drawn)

    for probability, quantile in zip(PROBABILITIES[3:-2], PHILLY.durations[0][1][3:-2], strict=True):
        above = sum(duration > quantile for duration in single) / len(single)
        assert above == pytest.approx(1 - probability, rel=0.1, abs=0.003)
    assert demands[1] / 100_000 == pytest.approx(71_355 / 76_531, rel=0.01)
    assert demands[8] / 100_000 == pytest.approx(1_502 / 76_531, rel=0.1)


@settings(deadline=None)
@given(gpus=st.integers(1, 200), seed=st.integers(0, 100), shape=st.sampled_from([PHILLY, ITP]))
def test_no_draw_is_outside_of_the_facts(gpus: int, seed: int, shape: JobDistribution) -> None:
    """No job demands more than the cluster has, and none is shorter or longer than any of the trace."""
    shortest = min(quantiles[0] for _, quantiles in shape.durations)
    longest = max(quantiles[-1] for _, quantiles in shape.durations)

    for demand, duration in shape.draw(50, gpus, Random(seed)):
        assert 1 <= demand <= gpus
        assert shortest <= duration <= longest


def test_a_cluster_too_small_for_every_demand_is_refused() -> None:
    """With fewer GPUs than the smallest demand there is nothing to draw."""
    with pytest.raises(InvalidInput, match=r"^gpus: 0: must be at least 1, the smallest demand$"):
        list(PHILLY.draw(1, 0, Random(0)))


def test_durations_above_the_last_class_are_those_of_it() -> None:
    """A demand between two classes has the durations of the lower one, and one below all those of the first."""
    shape = JobDistribution(
        demands=((1, 1), (5, 1), (99, 1)), durations=((2, (60.0,) * 12), (4, (70.0,) * 12), (8, (80.0,) * 12))
    )

    assert set(shape.draw(99, 99, Random(0))) == {(1, 60), (5, 70), (99, 80)}


def measured(jobs: Sequence[Job], shape: JobDistribution) -> JobDistribution:
    """Measure the facts of a shape on a trace."""
    least = [demand for demand, _ in shape.durations]
    classes = np.searchsorted(least, [job.gpus for job in jobs], side="right") - 1
    durations = np.array([job.duration for job in jobs])
    return JobDistribution(
        source=shape.source,
        demands=tuple(sorted(Counter(job.gpus for job in jobs).items())),
        durations=tuple(
            (demand, tuple(float(round(q)) for q in np.quantile(durations[classes == number], PROBABILITIES)))
            for number, demand in enumerate(least)
        ),
    )


def test_the_facts_of_philly(late_philly: Reading) -> None:
    """The constants are what is measured on the real trace from October on."""
    jobs = late_philly.workload.jobs
    mean = sum(job.gpu_seconds for job in jobs) / len(jobs)

    assert measured(jobs, PHILLY) == PHILLY
    assert PHILLY.mean_gpu_seconds(128) == pytest.approx(38_939, abs=1) == pytest.approx(1.07 * mean, rel=0.01)


def test_the_facts_of_itp(whole_itp: Reading) -> None:
    """The constants are what is measured on the real trace."""
    workload = whole_itp.workload
    mean = workload.gpu_hours * 3600 / len(workload.jobs)

    assert measured(workload.jobs, ITP) == ITP
    assert ITP.mean_gpu_seconds(64) == pytest.approx(87_425, abs=1) == pytest.approx(1.03 * mean, rel=0.01)


_WIDTHS: tuple[Literal["equal", "drawn"], ...] = ("equal", "drawn")
_MODELS = {task.model.name: task.model for task in TASKS}


@pytest.mark.parametrize("convergence", ["measured", "equal"])
def test_throughput_is_that_of_the_model(convergence: Any) -> None:
    """In every mode and on every number of GPUs samples per second are those of the model of a step."""
    checked = 0
    for job in ones(jobs=12, gpus=16, convergence=convergence, seed=2).jobs:
        model = _MODELS[job.model]
        sizes = {"": job.batch_size} | {mode.name: mode.batch_size for mode in job.modes}
        for mode, menu in job.speeds.items():
            size = int(unwrap(sizes[mode]))
            assert all(count * model.local >= size for count in menu)
            for count in menu:
                assert job.throughput(count, mode) == pytest.approx(model.throughput(size, count))
                checked += 1
    assert checked > 2000


def test_larger_batches_need_more_samples_unless_they_are_equal() -> None:
    """Samples rise with the batch size as measured, and are the training's own where they are equal."""
    measured, equal = (ones(jobs=5, convergence=each, seed=3).jobs for each in ("measured", "equal"))
    for one, other in zip(measured, equal, strict=True):
        assert one.training == other.training
        needed = [
            one.samples_in(mode.name) for mode in sorted(one.modes, key=lambda mode: mode.batch_size or 0)
        ]
        assert needed == sorted(set(needed))
        assert {other.samples_in(mode) for mode in other.speeds} == {other.samples_in()}


def test_jobs_are_those_of_the_paper() -> None:
    """All jobs finish within two hours alone, most of them in much less, ten epochs after their target."""
    jobs = ones(jobs=400, seed=4).jobs
    durations = sorted(job.duration for job in jobs)
    assert durations[-1] < 7200
    assert 60 < durations[len(jobs) // 2] < 1800
    assert {job.gpus for job in jobs} == {1, 2, 4}
    for job in jobs:
        low, high = _MODELS[job.model].epochs
        assert low + 10 <= unwrap(job.training).samples / unwrap(job.training).epoch <= high + 10


def test_ones_the_load_is_submitted() -> None:
    """Many jobs submit the GPU time that the load says, on one GPU each."""
    workload = ones(jobs=3000, gpus=32, load=0.7, largest=1, seed=5)
    work = sum(job.training.samples / job.throughput(1) for job in workload.jobs if job.training)
    assert work / (32 * workload.jobs[-1].release_date) == pytest.approx(0.7, rel=0.06)


def test_loads_share_their_jobs() -> None:
    """All but release dates is the same for every load."""
    calm, busy = ([job.duration for job in ones(jobs=9, load=load, seed=6).jobs] for load in (0.5, 1.3))
    assert calm == busy


def test_small_clusters_have_small_batches() -> None:
    """No batch size needs more GPUs than there are, and users ask for none that are not there."""
    for job in ones(jobs=20, gpus=2, seed=7).jobs:
        assert max(max(menu) for menu in job.speeds.values()) == 2
        assert max(mode.batch_size or 0 for mode in job.modes) == 2 * (job.batch_size or 0)


def test_drawn_widths_are_powers_of_two_and_all_else_is_equal() -> None:
    """Each job scales to a drawn power of two, and tasks, samples and arrivals are those of equal widths."""
    equal, drawn = (ones(jobs=60, gpus=24, largest=20, widths=each, seed=8).jobs for each in _WIDTHS)
    widest = [max(max(menu) for menu in job.speeds.values()) for job in drawn]
    assert set(widest) == {1, 2, 4, 8, 16}
    for one, other, width in zip(equal, drawn, widest, strict=True):
        assert (one.name, one.release_date, one.training) == (other.name, other.release_date, other.training)
        assert other.gpus == min(one.gpus, width)
        sizes = [mode.batch_size or 0 for mode in other.modes] + [other.batch_size or 0]
        assert max(sizes) == width * (other.batch_size or 0)


def _model(name: str) -> TrainedModel:
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
