"""Applications, and the batches, placements and trainings of which they consist."""

import json
from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.files import validated
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import split
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measured_type import MeasuredType
from gsopt.scenario.adaptive.measurements import MeasuredPlacement, Spread
from gsopt.scenario.adaptive.validation import Epoch, Validation
from tests.effort import cases
from tests.strategies.applications import BATCHES, LOCALS, application

# The truth about an application


def test_times_of_placements() -> None:
    """Measured times are given as they are, are linear in between, and beyond four nodes are as on four."""
    small = application()
    for placement in small.placements:
        shape = tuple(placement.shape)
        for local, *times in placement.points:
            assert small.step_time(shape, local) == tuple(times)
            assert small.step_time((*shape[1:], 0, shape[0]), local) == tuple(times)
    for shape, local in [((2, 1), 5), ((2, 2, 1), 8), ((2, 2, 2), 11), ((2, 2, 2, 2), 31), ((1, 1, 1, 1), 7)]:
        sync = 0.01 * len(shape) + 0.002 * sum(shape)
        assert small.step_time(shape, local) == pytest.approx((0.05 + 0.004 * local + sync, sync), rel=SUM)
    assert small.step_time((1,) * 6, 8) == small.step_time((2, 2, 1, 1), 8)


@pytest.mark.parametrize(("shape", "local"), [((1,), 3), ((1,), 33), ((2, 2), 64), ((2,) * 5, 8), ((9, 9), 8)])
def test_beyond_what_was_measured_nothing_is_known(shape: tuple[int, ...], local: int) -> None:
    """There is no time for smaller and larger local batches, or for more GPUs."""
    assert application().step_time(shape, local) is None


def test_few_measurements() -> None:
    """Placements may be turned around the ring, and what was not measured is not known."""
    small = application()
    flat = small.model_copy(update={"placements": small.placements[:2], "spread": ()})
    assert flat.step_time((2,), 8) == small.step_time((2,), 8)
    assert flat.step_time((1, 1), 8) is None
    turned = small.placements[3].model_copy(update={"shape": (2, 1)})
    other = small.model_copy(update={"placements": (*small.placements[:3], turned, *small.placements[4:])})
    assert other.step_time((1, 2), 7) == other.step_time((2, 1), 7) == small.step_time((2, 1), 7)
    assert small.most_local((2, 1)) == small.most_local((2, 2, 1)) == LOCALS[-1]
    assert small.most_local((2,) * 5) == 0


def test_trainings_are_interpolated() -> None:
    """Iterations and gradients of a batch lie between those of the next smaller and the next larger one."""
    small = application()
    low, high = small.validations[0].epochs[2], small.validations[1].epochs[2]
    assert small.iterations(BATCHES[0], 2) == low.iterations
    assert small.iterations(14, 2) == pytest.approx(0.75 * low.iterations + 0.25 * high.iterations, rel=SUM)
    assert small.gradient(14, 2) == pytest.approx((low.sqr, 0.75 * low.var + 0.25 * high.var), rel=SUM)
    assert small.completion_epoch(14) == 5
    for method in (small.iterations, small.gradient):
        with pytest.raises(InvalidInput, match=r"^batch: 129: must be between 8 and 128, as valid"):
            method(129, 0)


def test_progress_is_the_least_of_all_trainings() -> None:
    """Progress is the least that any training has at an epoch; JSON gives an equal application."""
    small = application()
    assert [small.progress_at(epoch) for epoch in range(7)] == pytest.approx(
        [epoch * 400 * (1 + 8 / 1e5) for epoch in range(7)], rel=SUM
    )
    assert small.work == small.progress_at(6)
    small.step_time((2, 2, 1), 8)
    again = Application.model_validate_json(small.model_dump_json())
    assert again == small == Application.model_validate(json.loads(small.model_dump_json()), strict=False)
    assert again.step_time((2, 2, 1), 8) == small.step_time((2, 2, 1), 8)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"epochs": 7}, "epochs: 7: must be at most the 6 of the shortest training"),
        (
            {"limits": Limits(initial_batch=4, most_batch=128, least_local=4, most_local=32)},
            "limits.initial_batch: 4: must be between 8 and 128, as validated",
        ),
        (
            {
                "placements": [
                    *application().placements,
                    MeasuredPlacement(shape=[2, 1], points=[(8, 1.0, 0.5)]),
                ]
            },
            r"placements\[6\].shape: \[2, 1\]: must differ from every other, and from its rotations",
        ),
        ({"validations": application().validations[::-1]}, r"validations\[1\].batch: 32: must rise"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], line: str) -> None:
    """More epochs than were trained, batches that were not, and unsorted ones are refused in one line."""
    with pytest.raises(ValidationError, match=line):
        Application(**{**dict(application()), **change})


# How batches are processed


LIMITS = Limits(initial_batch=32, most_batch=2048, least_local=8, most_local=64)


@settings(max_examples=cases(200), deadline=None)
@given(batch_size=st.integers(32, 2048), gpus=st.integers(1, 64))
def test_a_batch_is_split_into_parts_that_fit(batch_size: int, gpus: int) -> None:
    """Every part fits on a GPU, parts are as few as may be, and together they are no less than the batch."""
    batch = split(batch_size, gpus, LIMITS)
    assert 1 <= batch.local <= LIMITS.most_local
    assert batch.over(gpus) <= LIMITS.most_batch
    least = 1 if gpus == 1 and batch_size > LIMITS.initial_batch else 0
    assert batch.steps == max(ceil(ceil(batch_size / gpus) / LIMITS.most_local) - 1, least)
    slack = gpus * (batch.steps + 1)
    assert min(batch_size, LIMITS.most_batch - slack) <= batch.over(gpus) < batch_size + slack + gpus


# Limits of batches


LIMITS_of_limits = Limits(initial_batch=64, most_batch=2048, least_local=8, most_local=96)


def test_limits_of_applications() -> None:
    """A job has GPUs for its largest batch; of mean and variance of gradients one may be 0."""
    assert LIMITS_of_limits.most_gpus == 256
    assert LIMITS_of_limits.model_copy(update={"most_batch": 64, "least_local": 96}).most_gpus == 1
    assert Epoch(progress=1, iterations=1, sqr=0, var=1).sqr == 0
    with pytest.raises(ValidationError, match=r"sqr: 0.0: must not be 0 where var is 0 too"):
        Epoch(progress=1, iterations=1, sqr=0, var=0)


@pytest.mark.parametrize(
    ("field", "value"), [("most_batch", 63), ("most_local", 7), ("initial_batch", 0), ("least_local", 1.5)]
)
def test_impossible_limits_are_refused(field: str, value: float) -> None:
    """The most is at least the least, and all are whole samples; the message names the field."""
    with pytest.raises(ValidationError, match=field):
        Limits(**{**LIMITS_of_limits.model_dump(), field: value})


# Measured steps


@pytest.mark.parametrize(
    ("points", "field", "rule"),
    [
        ([(8, 0.1, 0.0), (8, 0.2, 0.0)], r"points\[1\]\[0\]: 8", "must rise"),
        ([(8, 0.1, 0.1)], r"points\[0\]\[2\]: 0.1", "must be below the 0.1 s of the step"),
    ],
)
def test_points_rise_and_compute(points: list[tuple[int, float, float]], field: str, rule: str) -> None:
    """Local batches that do not rise, and steps without any computation, are refused."""
    with pytest.raises(ValidationError, match=f"{field}: {rule}"):
        MeasuredPlacement(shape=[1], points=points)
    with pytest.raises(ValidationError, match=f"{field}: {rule}"):
        Spread(nodes=1, gpus=2, points=points)


# Several types of GPU


def _measured(local: int, seconds: float) -> MeasuredType:
    placements = [MeasuredPlacement(shape=[1], points=[(local, seconds, 0.0)])]
    return MeasuredType(placements=placements, least_local=2, most_local=local)


def test_each_type_has_its_own_measurements() -> None:
    """On a type that was measured its times and memory count, on any other those of the model itself."""
    small = application()
    given = small.model_copy(update={"gpu_types": {"new": _measured(8, 0.01)}})
    assert small.kind("new") == ""
    assert small.on("new") is small
    assert (given.kind("old"), given.on("old")) == ("old", given)
    new = given.on("new")
    assert new is given.on("new")
    assert (new.step_time((1,), 8), new.step_time((1,), 4), new.step_time((2,), 8)) == ((0.01, 0.0), None, None)
    assert (new.limits.least_local, new.limits.most_local, new.limits.most_batch) == (2, 8, 128)
    assert new.work == given.work
    assert Application.model_validate_json(given.model_dump_json()) == given
    course = Course(given, Agents(), 8)
    assert course.on("old") is course
    assert course.on("new").work == course.work
    assert course.on("new").highest_speeds(1, 8).min() > 3 * course.highest_speeds(1, 8).max()


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"most_local": 1}, "gpu_types.new.most_local: 1: must be at least least_local, 2"),
        (
            {"placements": [MeasuredPlacement(shape=s, points=[(8, 0.1, 0.0)]) for s in ([1, 2], [2, 1])]},
            "gpu_types.new.placements[1].shape: [2, 1]: must differ from every other, and from its rotations",
        ),
        ({"placements": []}, "gpu_types.new.placements"),
    ],
)
def test_bad_types_are_one_line(fields: dict[str, Any], line: str) -> None:
    """The line names the type, the field, the value and the rule."""
    given = application().model_copy(
        update={"gpu_types": {"new": _measured(8, 0.01).model_copy(update=fields)}}
    )
    with pytest.raises(InvalidInput) as error:
        validated(Application, "file", given.model_dump_json(warnings=False))
    assert str(error.value).startswith(f"file: {line}")


# The course of trainings


@pytest.mark.parametrize("field", ["progress", "iterations"])
def test_progress_and_iterations_rise(field: str) -> None:
    """An epoch that ends where the one before does is refused."""
    first = Epoch(progress=10, iterations=10, sqr=1, var=1)
    second = Epoch(progress=20, iterations=20, sqr=1, var=1).model_copy(update={field: 10.0})
    with pytest.raises(ValidationError, match=rf"epochs\[1\].{field}: 10.0: must rise"):
        Validation(batch=8, epochs=[first, second])
