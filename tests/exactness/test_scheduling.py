"""Scheduling: what must not matter does not, and no rule that rules something out touches the optimum."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from importlib import import_module
from random import Random
from typing import Any

import pytest

from formulations.scheduling import event_orders, exact, milp, resizing
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.windows import Windows
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result, Status
from gsopt.problems.scheduling import ElasticJob, Scheduling
from heuristics.scheduling import elastic_srtf, two_phase
from tests.effort import cases
from tests.exactness import orders
from tests.exactness.resizing import draw_any
from tests.exactness.scheduling import draw
from tests.strategies.scheduling import one_by_one, tiny

METHODS = (exact, milp, event_orders, resizing, two_phase, elastic_srtf)


def drawn(seed: int) -> Scheduling:
    """Draw an instance, every third of them without preemption."""
    return (draw_any if seed % 3 == 0 else draw)(Random(f"metamorphic {seed}"))


def changed(problem: Scheduling, change: Callable[[ElasticJob], dict[str, Any]], **others: Any) -> Scheduling:
    """Change every job of a problem."""
    jobs = tuple(job.model_copy(update=change(job)) for job in problem.jobs)
    return problem.model_copy(update={"jobs": jobs, **others})


def scaled(problem: Scheduling, factor: float) -> Scheduling:
    """Multiply release dates, work and fairness by a number."""
    late = None if problem.fairness is None else problem.fairness * factor
    return changed(
        problem, lambda job: {"release": job.release * factor, "work": job.work * factor}, fairness=late
    )


def with_another(problem: Scheduling, release: float, shift: float) -> Scheduling:
    """Add a job of a second that runs on one GPU, and move the others."""
    moved = changed(problem, lambda job: {"release": job.release + shift})
    job = ElasticJob(name="far", release=release, work=1, rates={1: 1.0})
    return moved.model_copy(update={"jobs": (*moved.jobs, job)})


def solved(problem: Scheduling) -> list[Result[Any] | None]:
    """Return what each method says; None where it does not handle the problem."""
    found: list[Result[Any] | None] = []
    for method in METHODS:
        try:
            found.append(method(problem))
        except Unsupported:
            found.append(None)
    return found


def assert_alike(problem: Scheduling, other: Scheduling, value: Callable[[float], float]) -> None:
    """Require the same statuses of two problems, and values and bounds as a function says, to a millionth."""
    for one, two in zip(solved(problem), solved(other), strict=True):
        assert (one is None) == (two is None)
        if one is None or two is None:
            continue
        assert one.status is two.status, (problem, one, two)
        for name in ("objective", "bound"):
            mine, theirs = getattr(one, name), getattr(two, name)
            assert (mine is None) == (theirs is None)
            if mine is not None:
                assert theirs == pytest.approx(value(float(mine)), rel=2e-6), name


def _since(first: float, job: ElasticJob) -> dict[str, Any]:
    return {"release": round(job.release - first, 3)}


def _beside_one(jobs: int, value: float) -> float:
    return (value * jobs + 1) / (jobs + 1)


def test_only_differences_of_times_matter() -> None:
    """Seconds since 1970, jobs in another order and under other names leave every result as it is."""
    for seed in range(cases(30)):
        problem = scaled(drawn(seed), 1.0)
        first = min(job.release for job in problem.jobs)
        early = changed(problem, partial(_since, first))
        moved = changed(early, lambda job: {"release": 1.7e9 + job.release, "name": f"x{job.name}"})
        assert_alike(early, moved, lambda value: value)
        permuted = early.model_copy(update={"jobs": tuple(reversed(early.jobs))})
        for one, two in zip(solved(early)[:4], solved(permuted)[:4], strict=True):  # ties go by place elsewhere
            assert (one and one.status) == (two and two.status)
            assert one is None or one.objective == pytest.approx(two and two.objective, rel=2e-6)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_time_does_not_matter(factor: float) -> None:
    """All times a million times as long or short give the same status, and values in proportion."""
    for seed in range(cases(30)):
        problem = tiny(seed, jobs=(2, 3), fair=seed % 3 == 1).model_copy(update={"preemptive": True})
        assert_alike(problem, scaled(problem, factor), lambda value: value * factor)


@pytest.mark.parametrize(("release", "shift"), [(0.0, 1e9), (1e9, 0.0)])
def test_a_job_far_away_does_not_matter(release: float, shift: float) -> None:
    """A job decades before or after adds its second to the mean, and leaves the status as it is."""
    for seed in range(cases(30)):
        problem = tiny(seed, jobs=(2, 3), fair=seed % 3 == 1, halves=True)
        if 1 + (problem.fairness or 0) < problem.gpus:  # a job alone would be later than its fair share
            problem = problem.model_copy(update={"fairness": None})
        jobs = len(problem.jobs)
        wide = with_another(problem, release, shift)
        assert_alike(problem, wide, partial(_beside_one, jobs))


def _poor(self: LocalSearch, *_: object, **__: object) -> Iterator[Any]:
    yield one_by_one(self.instance)


def _as_they_are(self: Windows, *_: object, **__: object) -> Windows:
    return self


#: What rules something out, and what is in its place where it is switched off.
RULES: dict[str, tuple[str, str, Any]] = {
    "none": ("exact", "_FURTHER_SHARE", 0.05),
    "orders by exchange": ("exact", "exchange_orders", lambda _: frozenset()),
    "windows that are narrowed": ("windows", "Windows.narrowed", _as_they_are),
    "groups in buckets": ("bucket", "groups", lambda *_: []),
    "groups in cells": ("cells", "groups", lambda *_: []),
    "mixtures in the root": ("search", "_ROOT_ROUNDS", 0),
    "latest positions": ("positions", "_latest", lambda lower, total: [total - sum(lower[1:])] * len(lower)),
    "earliest positions": (
        "positions",
        "moore_hodgson_positions",
        lambda workload, _: [0.0] * len(workload.jobs),
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_touches_the_optimum(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a poor schedule and with any one rule switched off, the optimum is that of all orders of events."""
    module, name, off = RULES[rule]
    owner: Any = import_module(f"formulations.scheduling.{module}")
    *within, last = name.split(".")
    for part in within:
        owner = getattr(owner, part)
    monkeypatch.setattr(owner, last, off)
    monkeypatch.setattr(LocalSearch, "begin", _poor)
    monkeypatch.setattr(import_module("formulations.scheduling.incumbents").Incumbents, "serve", lambda _: None)
    for seed in (3, 4, 11, 17):
        problem = tiny(seed, jobs=(3, 4), gpus=(2, 3, 4))
        optimum = orders.optimum(problem)
        result = exact(problem)
        assert optimum is not None
        assert result.status is Status.OPTIMAL
        assert result.bound is not None
        assert abs(Fraction(result.objective or 0) - optimum) <= optimum / 10**6
        assert Fraction(result.bound) <= optimum * (1 + Fraction(1, 10**9))
