"""The best lists known, and the search from them."""

import numpy as np
import pytest

from formulations.scheduling import incumbents as module
from formulations.scheduling.best import Best
from formulations.scheduling.incumbents import Incumbents
from formulations.scheduling.instance import Instance
from formulations.scheduling.listing import serve_list
from gsopt.core.budget import Budget
from gsopt.problems.scheduling import ElasticJob, Scheduling
from heuristics.scheduling import efq, elastic_srtf, srtf
from instances.scheduling import elastic_jobs


def _of(problem: Scheduling, budget: Budget | None = None) -> Incumbents:
    return Incumbents(Best(problem, Instance.of(problem), budget or Budget(), "exact"))


def test_lists_without_search_beat_the_papers() -> None:
    """On a busy cluster the first lists are better than elastic fair queuing and shortest remaining time."""
    problem = elastic_jobs(jobs=100, gpus=16, load=1.2, seed=2)
    found = _of(problem)
    found.serve()

    policies = [float(policy(problem).objective or 0) for policy in (efq, elastic_srtf, srtf)]
    assert found.best.instance.mean_jct(found.best.total) < min(policies)


def test_the_order_by_time_is_tried_too() -> None:
    """Many short wide jobs are better served before a long narrow one, which has less area than any."""
    jobs = [ElasticJob(name=f"w{i}", release=0, work=8, rates={8: 8.0}) for i in range(5)]
    jobs.append(ElasticJob(name="long", release=0, work=7, rates={1: 1.0}))
    found = _of(Scheduling(gpus=8, jobs=jobs))
    found.serve()

    assert found.best.total == 1 + 2 + 3 + 4 + 5 + 12


def test_in_no_time_many_jobs_get_one_list() -> None:
    """With a limit of 0 a thousand jobs are served by area alone."""
    problem = elastic_jobs(jobs=1_000, gpus=64, load=0.7, seed=1)
    found = _of(problem, Budget(time_limit=0.0))
    found.serve()
    segments = found.segments

    naive = serve_list(found.best.instance, segments, segments.by_size(segments.areas).tolist())
    assert found.best.completions == naive.completions


def test_dual_values_make_a_list() -> None:
    """What is worth most is served first."""
    jobs = [ElasticJob(name=name, release=0, work=2, rates={1: 1.0}) for name in "ab"]
    found = _of(Scheduling(gpus=1, jobs=jobs))
    found.serve_by(np.array([1.0, 2.0]))

    assert found.best.completions == (4, 2)


def test_rounds_begin_where_the_last_one_ended() -> None:
    """Each round is no worse than the one before, goes on from lists that came between, and is longer."""
    problem = elastic_jobs(jobs=15, gpus=8, load=1.5, seed=4)
    found, again = _of(problem), _of(problem)
    totals = []
    for each in (found, again):
        each.serve()
        for _ in range(2):
            each.search()
            each.serve_by(np.ones(15))
            totals.append(each.best.total)

    assert totals[:2] == totals[2:]
    assert totals[1] <= totals[0] < _first(problem)


def _first(problem: Scheduling) -> float:
    found = _of(problem)
    found.serve()
    return found.best.total


def test_a_callback_may_end_the_search() -> None:
    """Better lists are told while the search runs, and it stops when that is enough."""
    problem = elastic_jobs(jobs=40, gpus=8, load=1.5, seed=2)
    heard: list[float] = []

    def stop(result: object) -> bool:
        heard.append(getattr(result, "objective", 0.0))
        return len(heard) == 4

    found = _of(problem, Budget(on_incumbent=stop))
    found.serve()
    found.search()
    assert len(heard) == 4
    assert heard == sorted(heard, reverse=True)


def test_in_seconds_no_kernel_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a kernel that is not loaded annealing waits for a longer limit; local search does not."""
    asked: list[tuple[str, str]] = []

    def is_ready(name: str, kernel: str, left: float | None) -> bool:
        asked.append((name, kernel))
        return left is None

    monkeypatch.setattr(module, "is_ready", is_ready)
    problem = elastic_jobs(jobs=6, gpus=8, load=1.5, seed=4)
    assert _of(problem).is_ready
    found = _of(problem, Budget(time_limit=5.0))
    assert not found.is_ready
    assert asked == [("formulations.scheduling.moving", "anneal")] * 2
    found.descend()
    assert found.best.completions is not None
