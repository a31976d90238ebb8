"""The best schedule for an order of starts and completions."""

import pytest

from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.resizing.order import Event, best_steps
from gsopt.problems.scheduling import Scheduling
from tests.exactness.resizing import elastic


def _jobs(*dates: float) -> Resizable:
    """Return jobs of 4 GPU-seconds on 1 to 4 GPUs each, by their release dates."""
    jobs = [elastic(f"j{date}", 4, 1, 4).model_copy(update={"release": date}) for date in dates]
    return Resizable.of(Scheduling(gpus=4, jobs=jobs, preemptive=False))


def _order(*jobs: int) -> list[Event]:
    """Start and complete jobs one after the other."""
    return [Event(job, starts=starts) for job in jobs for starts in (True, False)]


def test_nothing_starts_before_its_release_date() -> None:
    """Where the job of 3 s goes first, GPUs wait for it; else they wait between the two."""
    for order, expected in (
        (_order(1, 0), [(3, {}), (1, {1: 4}), (1, {0: 4})]),
        (_order(0, 1), [(1, {0: 4}), (2, {}), (1, {1: 4})]),
    ):
        found = best_steps(_jobs(0.0, 3.0), order)
        assert found is not None
        assert [step.gpus for step in found] == [gpus for _, gpus in expected]
        assert [step.duration for step in found] == pytest.approx([seconds for seconds, _ in expected])


def test_a_release_date_within_the_first_second_counts() -> None:
    """A job that comes after half a second, and goes first, lets the GPUs stand still for as long."""
    found = best_steps(_jobs(0.0, 0.5), _order(1, 0))
    assert found is not None
    assert [step.duration for step in found] == pytest.approx([0.5, 1, 1])


def test_an_order_may_have_no_schedule() -> None:
    """A job that needs all GPUs cannot run within the time of another one that does."""
    whole = [elastic(name, 4, 4, 4) for name in "ab"]
    jobs = Resizable.of(Scheduling(gpus=4, jobs=whole, preemptive=False))
    (start, end), (begin, stop) = _order(0), _order(1)
    assert best_steps(jobs, [start, begin, stop, end]) is None
    assert best_steps(jobs, [start, begin, end, stop]) is not None
