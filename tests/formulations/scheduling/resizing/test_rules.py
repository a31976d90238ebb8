"""Simple rules of who starts and who is resized."""

import pytest

from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.resizing.rules import launched
from gsopt.problems.scheduling import Scheduling
from tests.exactness.resizing import elastic


def test_jobs_start_when_they_are_there() -> None:
    """A job has all GPUs until another one comes, which shares them; the last one comes when all is done."""
    sizes = {"a": (12, 0.0), "b": (8, 2.0), "c": (4, 9.0)}
    drawn = [
        elastic(name, work, 1, 4).model_copy(update={"release": date}) for name, (work, date) in sizes.items()
    ]
    jobs = Resizable.of(Scheduling(gpus=4, jobs=drawn, preemptive=False))
    steps = launched(jobs, [2, 1, 0], jobs.least)

    assert [dict(step.gpus) for step in steps] == [{0: 4}, {0: 3, 1: 1}, {1: 4}, {}, {2: 4}]
    assert [step.duration for step in steps] == pytest.approx([2, 4 / 3, 5 / 3, 4, 1])
