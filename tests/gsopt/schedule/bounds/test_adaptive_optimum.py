"""Bounds of adaptive jobs: none is above the best of all schedules, nor far below what prices prove by hand."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.schedule.judge import judge
from gsopt.simulation import Replay, replay
from tests.effort import cases
from tests.gsopt.schedule.bounds.dual import dual_value, plain_jobs
from tests.gsopt.schedule.bounds.enumeration import Enumeration, Runner, following
from tests.gsopt.schedule.bounds.tiny import draw_tiny, exact
from tests.gsopt.simulation.recorded import schedule_of
from tests.unwrap import unwrap

#: Parts into which many cases are divided, so that processes can share them.
_PARTS = 8


def _total(scenario: Scenario, run: Replay) -> Fraction:
    """Return the sum of completion times minus release dates of a run."""
    pairs = zip(run.completion_times, scenario.workload.jobs, strict=True)
    return sum((exact(end) - exact(job.release_date) for end, job in pairs), Fraction(0))


def _clock_error(scenario: Scenario) -> Fraction:
    """Return by how much times may be rounded: a few microseconds where seconds count from 1970."""
    return Fraction(SUM) * exact(scenario.workload.jobs[-1].release_date + 1) / 100_000


def _bounds(scenario: Scenario, round_length: float | None, *, in_python: bool) -> list[float]:
    """Return the bound by formulas, and that by prices with constant weights or, compiled, epochs in order."""
    effort: dict[str, Any] = {"evaluations": 30} if in_python else {"evaluations": 160, "cells": 80}
    priced = price_bound(scenario, round_length=round_length, compiled=not in_python, **effort)
    return [unwrap(mean_jct_bound(scenario, round_length=round_length)).mean_jct, priced.mean_jct]


@pytest.mark.parametrize("part", range(_PARTS))
def test_no_bound_is_above_the_best_schedule(part: int) -> None:
    """In rounds, and with decisions at events too, no bound is above the best of all schedules of a few jobs.

    Where seconds are rounded to whole ones, halves may go either way, and the simulator has the last word.
    """
    for seed in range(part, cases(2_000), _PARTS):
        scenario, round_length = draw_tiny(Random(seed))
        jobs = len(scenario.workload.jobs)
        for length in (round_length, None):
            found = Enumeration(scenario, round_length, at_events=length is None)
            for bound in _bounds(scenario, length, in_python=seed % 8 == 0):
                if Fraction(bound) * jobs > found.total:
                    assert scenario.agents.whole_seconds, (seed, bound, float(found.total / jobs))
                    run = replay(
                        scenario, following(Enumeration(scenario, round_length)), round_length=round_length
                    )
                    assert Fraction(bound) * jobs <= _total(scenario, run), seed


@pytest.mark.parametrize("seed", range(cases(200)))
def test_the_best_schedule_is_one_of_the_simulator(seed: int) -> None:
    """The simulator makes the best schedule as it was enumerated, and the judge accepts it.

    Only a job that tunes its batch may take longer than with the fastest batch, and one that is released just
    when a round begins may be a round late, as their times on the clock may differ in the last bit.
    """
    scenario, round_length = draw_tiny(Random(seed), whole_seconds=False)
    best = Enumeration(scenario, round_length)
    run = replay(scenario, following(best), round_length=round_length, record=True)
    tunes = any(job.tunes_in(mode) for job in scenario.workload.jobs for mode in job.speeds)
    error = Fraction(SUM) * best.total + _clock_error(scenario)
    assert best.total - error <= _total(scenario, run)
    assert tunes or _meets_a_round(scenario, round_length) or _total(scenario, run) <= best.total + error
    assert judge(schedule_of(run), scenario).violations == ()


def _meets_a_round(scenario: Scenario, round_length: float) -> bool:
    """Return whether a job is released when a round begins, up to the rounding of the clock."""
    length, origin = exact(round_length), Fraction(scenario.clock.origin)
    since = [exact(job.release_date) - origin for job in scenario.workload.jobs]
    near = (abs(time - round(time / length) * length) <= _clock_error(scenario) for time in since)
    return scenario.clock_start is not None and any(near)


#: GPUs that cost as much as the job's own time, by which the library weighs epochs.
_USUAL = Fraction(8)


def _by_hand(
    scenario: Scenario, found: PriceBound, round_length: float | None, own_gpus: Sequence[Fraction]
) -> Fraction:
    """Return what prices prove of the sum of completion times minus release dates, by the second version."""
    origin, jobs = Fraction(scenario.clock.origin), scenario.workload.jobs
    times = [exact(found.origin) - origin + Fraction(time) for time in found.times]
    own = [plain_jobs(scenario, place, round_length, own_gpus) for place in range(len(jobs))]
    value = dual_value(own, scenario.cluster.gpus, times, [Fraction(price) for price in found.prices])
    return value - sum(exact(job.release_date) - origin for job in jobs)


@pytest.mark.parametrize("seed", range(cases(100)))
def test_a_job_alone_takes_as_long_as_its_bound(seed: int) -> None:
    """Where one job can change its GPUs for nothing, the bound is the best schedule, epoch by epoch."""
    drawn, _ = draw_tiny(Random(seed), whole_seconds=False)
    alone = drawn.workload.model_copy(update={"jobs": drawn.workload.jobs[:1]})
    scenario = drawn.model_copy(update={"workload": alone, "overheads": {}, "clock_start": None})
    goals, best = (runner := Runner(scenario, 0)).goals, runner.best
    seconds = [(end - begin) / rate for (begin, end), rate in zip(pairwise(goals), best, strict=True)]
    assert unwrap(mean_jct_bound(scenario)).mean_jct == pytest.approx(float(sum(seconds)), rel=SUM)
    assert Fraction(unwrap(mean_jct_bound(scenario)).mean_jct) <= sum(seconds)


@pytest.mark.parametrize("seed", range(cases(100)))
def test_prices_prove_what_they_prove_by_hand(seed: int) -> None:
    """At the prices of a bound, a second version with the same weights of epochs proves the same.

    With several weights to choose from, it proves no less.
    """
    scenario, round_length = draw_tiny(Random(seed), whole_seconds=False)
    length = round_length if seed % 2 else None
    found = price_bound(scenario, round_length=length, cells=40, evaluations=30, compiled=bool(seed % 4 < 2))
    by_hand = float(_by_hand(scenario, found, length, [_USUAL]))
    assert found.total_jct == pytest.approx(by_hand, rel=SUM, abs=float(_clock_error(scenario)))
    assert found.total_jct <= _by_hand(scenario, found, length, [Fraction(0), _USUAL, Fraction(10**4)])
