"""Linear programs from level to level."""

import pytest

from formulations.shares import climb as module
from formulations.shares.best import Best
from formulations.shares.climb import climb
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import StoppedBy
from gsopt.problems.shares import Criterion
from instances.shares import typed_jobs


@pytest.mark.parametrize(
    ("criterion", "most"), [("max_min", 2), ("makespan", 2), ("fifo", 1), ("finish_time", 8)]
)
def test_few_programs_are_solved(criterion: Criterion, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where needs are multiples of each other the first level is enough, and finish times need a few."""
    levels: list[Exact] = []
    step = module._step  # noqa: SLF001 - counted

    def counted(best: Best, level: Exact) -> bool:
        levels.append(level)
        return step(best, level)

    monkeypatch.setattr(module, "_step", counted)
    best = Best(typed_jobs(jobs=30, criterion=criterion, seed=4), Budget(), "climb")
    climb(best)

    assert best.finished is StoppedBy.FINISHED
    assert 1 <= len(levels) <= most


def test_without_time_nothing_is_better() -> None:
    """Out of time the shares and the bound stay as they were."""
    best = Best(typed_jobs(jobs=30, seed=4), Budget(time_limit=0.0), "climb")
    before = best.value, best.bound
    climb(best)
    assert (best.value, best.bound) == before
