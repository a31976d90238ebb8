"""The model of intervals bounds every schedule."""

from random import Random

import pytest

from formulations.common.prover import Prover
from formulations.scheduling.resizing import resizing
from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.resizing.model import COST, soonest_completions
from gsopt.core.numbers.tolerances import CONTINUOUS
from gsopt.core.result import Status
from gsopt.problems.scheduling import Scheduling
from gsopt.solvers.standard_form import StandardForm
from tests.exactness.resizing import draw, elastic, optimum


@pytest.mark.parametrize("latest", [0, 1, 5])
def test_no_schedule_is_better_than_its_optimum(latest: int) -> None:
    """Whatever the release dates, the model has a solution, and none above the optimum over all orders."""
    for seed in range(3):
        problem = draw(Random(seed), 3, latest=latest)
        assert _bound(problem) <= _least(problem) * (1 + 1e-6)


def test_a_job_may_wait_until_later_periods() -> None:
    """The second of two jobs starts when a third one has come, and completes before it: 2, 5 and 15 s."""
    sizes = {"a": (8, 0.0), "b": (12, 0.0), "c": (40, 1.0)}
    jobs = [
        elastic(name, work, 4, 4).model_copy(update={"release": date}) for name, (work, date) in sizes.items()
    ]
    problem = Scheduling(gpus=4, jobs=jobs, preemptive=False)
    assert _bound(problem) == pytest.approx(2 + 5 + 15)
    assert _least(problem) == pytest.approx(2 + 5 + 15)


def test_jobs_of_less_than_a_nanosecond() -> None:
    """A job that takes a nanosecond on its fewest GPUs, and less on more, is bounded as all others are."""
    jobs = [elastic(name, work, 1, 4) for name, work in (("a", 2e-9), ("b", 4e-9))]
    problem = Scheduling(gpus=4, jobs=jobs, preemptive=False)
    assert soonest_completions(Resizable.of(problem)) == pytest.approx([0.5e-9, 1.5e-9])
    assert _bound(problem) == pytest.approx(_least(problem)) == pytest.approx(2e-9)


def _bound(problem: Scheduling) -> float:
    """Return the optimum of the model in seconds after the first release date."""
    outcome = Prover().solve(StandardForm.from_pyomo(resizing.build(problem)), time_limit=None, gap=CONTINUOUS)
    assert outcome.status is Status.OPTIMAL
    return (outcome.bound or 0) / COST * Resizable.of(problem).unit


def _least(problem: Scheduling) -> float:
    """Return the least sum of completion times over all orders of events, likewise."""
    released = [job.release for job in problem.jobs]
    return len(released) * (optimum(problem) - min(released)) + sum(released)
