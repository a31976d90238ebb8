"""Lifted policies: what they start is taken over on the exact clock of the problem."""

from random import Random

import pytest

from gsopt.core.numbers.clock import clock_error
from gsopt.core.result import Result, Status
from gsopt.evaluation import catalogue
from gsopt.evaluation.lift import lift_sharing
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.scenario.job import Job
from gsopt.simulation import replay
from gsopt.testing import check_heuristic
from heuristics.policies import srtf
from tests.effort import cases
from tests.exactness import sharing as oracle

LIFTED = catalogue.heuristics("sharing")


@pytest.mark.parametrize("name", LIFTED)
def test_every_policy_finds_what_the_simulator_books(name: str) -> None:
    """On tiny instances every policy's schedule is legal and no better than the best; its mean is booked."""
    problems = [oracle.draw(Random(seed)) for seed in range(cases(12, least=4))]

    assert check_heuristic(LIFTED[name], problems) == len(problems)
    for problem in problems:
        result: Result[SharingSolution] = LIFTED[name](problem)
        booked = replay(problem.scenario, catalogue.policies()[name]).metrics.mean_jct
        assert result.objective is not None
        assert result.solution is not None
        assert booked is not None
        last = max(float(end - problem.origin) for _, end in problem.spans(result.solution))
        assert abs(float(result.objective) - booked) <= clock_error(last, last), problem.name


def test_a_policy_that_interrupts_has_no_solution() -> None:
    """Shortest remaining time first stops the long job for the short one, and the message names it."""
    jobs = [
        Job(name=name, release_date=release, duration=seconds, gpus=2)
        for name, release, seconds in [("long", 0, 10), ("short", 1, 2)]
    ]
    result = lift_sharing(srtf)(Sharing(gpus=2, jobs=jobs))

    assert (result.status, result.solution) == (Status.UNKNOWN, None)
    assert "'long'" in result.message
