"""GPUs by marginal gains."""

import sys

import pytest

from formulations.batching import dp
from gsopt.core.budget import Budget
from gsopt.problems.batching import Batching, Grant
from heuristics.batching import marginal
from heuristics.batching.menus import granted
from instances.batching import elastic_jobs
from tests.strategies.batching import CRITERIA, THREE, gpus_of


def test_seven_gpus_by_hand() -> None:
    """After one each the next ones save 50, 20, 17, and 8 s; the short job would save 5 s."""
    found = marginal(Batching(gpus=7, jobs=THREE, criterion="sum_time"))
    assert gpus_of(found) == {"long": 4, "short": 1, "middle": 2}


def test_fewer_gpus_than_jobs_go_to_the_shortest() -> None:
    """On two GPUs the two shortest jobs have one each."""
    assert gpus_of(marginal(Batching(gpus=2, jobs=THREE))) == {"short": 1, "middle": 1}


def test_idle_gpus_are_left_where_nothing_gains() -> None:
    """Where any number may be used, GPUs that gain nothing stay idle."""
    assert gpus_of(marginal(Batching(gpus=7, jobs=THREE, use="any"))) == {"long": 1, "short": 1, "middle": 1}


def test_gains_that_fall_make_it_optimal() -> None:
    """With linear speeds, where each further GPU saves less time, marginal gains are optimal."""
    for gpus in range(3, 15):
        problem = Batching(gpus=gpus, jobs=THREE, criterion="sum_time")
        assert marginal(problem).objective == dp(problem).objective


def test_it_comes_close() -> None:
    """On 64 GPUs and 60 jobs marginal gains are within three per cent of the optimum by every criterion."""
    for criterion in CRITERIA:
        problem = elastic_jobs(gpus=64, jobs=60, criterion=criterion, seed=1)
        best, found = dp(problem).objective, marginal(problem).objective
        assert best is not None
        assert found is not None
        assert abs(float(found / best) - 1) < 0.03


def test_each_step_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a job costs is computed once for each number of GPUs that it gets or is offered."""
    asked: list[int] = []

    def noted(problem: Batching, place: int, gpus: int) -> Grant:
        asked.append(gpus)
        return granted(problem, place, gpus)

    monkeypatch.setattr(sys.modules["heuristics.batching.marginal"], "granted", noted)
    counts = gpus_of(marginal(Batching(gpus=400, jobs=THREE, criterion="sum_time")))
    assert sum(counts.values()) == 14
    assert len(asked) <= 14 + len(THREE)


def test_without_time_the_shorter_jobs_have_what_is_left() -> None:
    """All GPUs are used, whenever it stops."""
    found = marginal(Batching(gpus=9, jobs=THREE), budget=Budget(time_limit=0))
    assert gpus_of(found) == {"long": 1, "short": 2, "middle": 6}
