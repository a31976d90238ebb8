"""Jobs of ONES: modes are batch sizes, and speeds are samples per second over the samples needed."""

from typing import Any, Literal

import pytest

from gsopt.core.errors import InvalidInput
from instances.workloads import ones
from instances.workloads.ones_tasks import TASKS

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
            size = sizes[mode]
            assert size is not None
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
        assert job.training is not None
        low, high = _MODELS[job.model].epochs
        assert low + 10 <= job.training.samples / job.training.epoch <= high + 10


def test_the_load_is_submitted() -> None:
    """Many jobs submit the GPU time that the load says, on one GPU each."""
    workload = ones(jobs=3000, gpus=32, load=0.7, largest=1, seed=5)
    work = sum(job.training.samples / job.throughput(1) for job in workload.jobs if job.training)
    assert work / (32 * workload.jobs[-1].release_date) == pytest.approx(0.7, rel=0.06)


def test_loads_share_their_jobs() -> None:
    """All but release dates is the same for every load, and the seed decides."""
    calm, busy = ([job.duration for job in ones(jobs=9, load=load, seed=6).jobs] for load in (0.5, 1.3))
    assert calm == busy
    assert ones(jobs=3, seed=1) == ones(jobs=3, seed=1) != ones(jobs=3, seed=2)


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


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("jobs", 0),
        ("gpus", 0),
        ("largest", 0),
        ("largest", 65),
        ("load", 0.0),
        ("load", float("nan")),
        ("widths", "any"),
        ("convergence", "any"),
    ],
)
def test_arguments_out_of_range(argument: str, value: Any) -> None:
    """An argument out of its range is refused by name."""
    with pytest.raises(InvalidInput, match=argument):
        ones(**{argument: value})
