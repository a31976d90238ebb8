"""What a policy sees of an adaptive job."""

import pytest

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.view import TraineeView
from tests.strategies.applications import application

_SHOWN = ("application", "model", "gradient", "most_gpus", "restarts", "epoch", "share", "batch", "batch_size")


def test_a_view_shows_the_job_and_changes_nothing() -> None:
    """Every answer is that of the job, and none of its fields can be set."""
    trainee = Trainee(application(), Agents(), None, now=0.0)
    trainee.place([2], now=0.0, works_from=0.0)
    trainee.advance(10.0)
    view = TraineeView(trainee)
    for name in _SHOWN:
        assert getattr(view, name) == getattr(trainee, name)
        with pytest.raises(AttributeError):
            setattr(view, name, None)
    assert view.rate([2]) == trainee.rate([2])
    assert view.rate([1, 1], 8) == trainee.rate([1, 1], 8)
    assert view.goodput(1, 2) == trainee.goodput(1, 2)
