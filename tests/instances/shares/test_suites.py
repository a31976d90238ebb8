"""The committed suites of shares."""

from typing import get_args

from gsopt.problems.shares import Criterion
from instances.shares.suites import committed, production, small


def test_every_suite_has_every_criterion() -> None:
    """Small instances have each criterion on one to three types, larger ones on 63 GPUs."""
    criteria = set(get_args(Criterion))
    assert {(problem.criterion, len(problem.gpus)) for problem in small()} >= {
        (c, t) for c in criteria for t in (1, 2, 3)
    }
    assert {problem.criterion for problem in production()} == criteria
    assert {sum(problem.gpus.values()) for problem in production()} == {63}
    assert len(committed()) == len(small()) + len(production())
