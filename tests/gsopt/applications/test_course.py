"""The true course of a training."""

import pytest

from gsopt.applications.agents import Agents
from gsopt.applications.course import Course
from gsopt.applications.trainee import Trainee
from gsopt.tolerances import SUM
from tests.strategies.applications import application

SETTINGS = [
    Agents(whole_seconds=False),
    Agents(whole_seconds=False, progress="samples"),
    Agents(memory="placement"),
]


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
        for shape in course.application.shapes(gpus):
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
        for shape in course.application.shapes(gpus):
            trainee = _trainee(agents, shape, batch)
            while trainee.completed_at is None:
                trainee.advance(trainee.next_change())
                reached = max(reached, trainee.rate(shape, batch))
        assert reached <= highest * (1 + SUM)
        assert batch is None or reached == pytest.approx(highest, rel=SUM)
    assert course.highest_rate(16, 32) == 0


def test_every_kind_of_placement_is_looked_at() -> None:
    """The placements that were measured are listed, with one more for each other pair of nodes and GPUs."""
    small = application()
    assert small.shapes(1) == [(1,)]
    assert sorted(small.shapes(3)) == [(1, 1, 1), (1, 2)]
    assert sorted(small.shapes(4)) == [(1, 1, 1, 1), (1, 1, 2), (2, 2)]
    assert sorted(small.shapes(8)) == [(2, 2, 2, 2)]
    assert small.shapes(9) == []
