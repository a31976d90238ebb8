"""The true course of a training."""

import pytest

from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.placement import Placement, Spread
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.validation import Epoch, Validation
from tests.strategies.applications import application

SETTINGS = [
    Agents(whole_seconds=False),
    Agents(whole_seconds=False, progress="samples"),
    Agents(memory="placement"),
]


def _shapes(course: Course, gpus: int) -> list[tuple[int, ...]]:
    """Return a placement of every kind on which something is known of the steps with a batch of 32."""
    own = course.application
    return [each for each in own.shapes(gpus) if own.step_time(each, -(-32 // gpus)) is not None]


def _trainee(agents: Agents, shape: tuple[int, ...], batch: int | None) -> Trainee:
    trainee = Trainee(application(), agents, 32, 0.0)
    trainee.place(shape, 0.0, 0.0, batch_size=batch)
    return trainee


@pytest.mark.parametrize("agents", SETTINGS[:2], ids=["statistical", "samples"])
def test_a_training_takes_as_long_as_it_says(agents: Agents) -> None:
    """On the best placement of some GPUs a job completes after the given seconds, elsewhere not before."""
    course = Course(application(), agents, 32)
    for gpus in (1, 3, 6):
        seconds = course.seconds(gpus, 32)
        ends = []
        for shape in _shapes(course, gpus):
            trainee = _trainee(agents, shape, 32)
            trainee.advance(1e6)
            ends.append(trainee.completed_at)
        assert min(end for end in ends if end is not None) == pytest.approx(seconds, rel=SUM)
    assert course.seconds(16, 32) is None


@pytest.mark.parametrize("agents", SETTINGS, ids=["statistical", "samples", "placement"])
@pytest.mark.parametrize("batch", [16, 32, 128, None])
def test_no_job_is_ever_faster(agents: Agents, batch: int | None) -> None:
    """On no placement and at no time a job is faster than the highest rate, and with a fixed batch one is."""
    course = Course(application(), agents, 32)
    for gpus in (1, 4):
        highest, reached = course.highest_rate(gpus, batch), 0.0
        for shape in _shapes(course, gpus):
            trainee = _trainee(agents, shape, batch)
            while trainee.completed_at is None:
                trainee.advance(trainee.next_change())
                reached = max(reached, trainee.rate(shape, batch))
        assert reached <= highest * (1 + SUM)
        assert batch is None or reached == pytest.approx(highest, rel=SUM)
    assert course.highest_rate(16, 32) == 0


def test_every_kind_of_placement_is_looked_at() -> None:
    """The placements that were measured are listed, and one other on every number of nodes that counts."""
    small = application()
    assert small.shapes(1) == [(1,)]
    assert sorted(small.shapes(3)) == [(1, 1, 1), (1, 2)]
    assert sorted(small.shapes(3, largest=3)) == [(1, 1, 1), (1, 2), (3,)]
    assert sorted(small.shapes(4)) == [(1, 1, 1, 1), (1, 1, 2), (2, 2)]
    assert small.shapes(8) == [(2, 2, 2, 2)]
    assert small.shapes(9) == [(1, 2, 2, 2, 2)]


def _measured(shape: list[int], seconds: float, *locals_: int) -> Placement:
    return Placement(shape=shape, points=[(local, seconds, 0.0) for local in locals_])


@pytest.mark.parametrize(
    ("spread", "shape"),
    [([Spread(nodes=1, gpus=4, points=[(8, 0.1, 0.0), (64, 0.1, 0.0)])], (4,)), ([], (1, 1, 2))],
    ids=["on a larger node", "on more nodes"],
)
def test_the_highest_rate_holds_for_nodes_that_were_not_measured(
    spread: list[Spread], shape: tuple[int, ...]
) -> None:
    """Steps that are fast by their numbers alone count, whatever is slow on placements that were measured."""
    slow = [_measured([1], 0.5, 8, 64), _measured([1, 1], 0.5, 8, 64), _measured([2, 2], 0.5, 8, 64)]
    epochs = [Epoch(progress=1000, iterations=1000, sqr=1, var=3)]
    given = Application(
        name="uneven",
        placements=[*slow, _measured([1, 3], 0.1, 8)],
        spread=spread,
        validations=[Validation(batch=batch, epochs=epochs) for batch in (8, 256)],
        limits=Limits(initial_batch=8, most_batch=256, least_local=8, most_local=64),
        epochs=1,
    )
    course = Course(given, Agents(), 64)
    rate = course.speed(shape, Batch(local=16, steps=0), 0) / course.work
    assert rate > course.speed((2, 2), Batch(local=16, steps=0), 0) / course.work
    assert rate <= course.highest_rate(4, 64, largest=4) * (1 + SUM)
