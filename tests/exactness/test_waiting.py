"""Waiting on times that are hard on floats: exact against brute force, and the same on any clock and scale."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import pytest

from formulations.waiting import exact, intervals, time_indexed
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.simple_bounds import simple_bound
from gsopt.core.numbers.grid import decimal
from gsopt.core.result import Result, Status
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.speed import TierPenalty
from gsopt.schedule.bounds import mean_jct_bound
from heuristics.waiting import best_tier
from tests.effort import cases
from tests.exactness import waiting as oracle
from tests.exactness.trial import ORACLES, attack

Change = Callable[[Waiting], Waiting]


def test_no_proof_is_beaten_whatever_the_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """From nanoseconds to decades, far apart or tied: values are exact, all optima proven."""
    hard = ORACLES["waiting"]._replace(draw=oracle.draw_hard)
    monkeypatch.setitem(ORACLES, "waiting", hard)
    tally = attack("waiting", range(cases(200)), turns=0)

    assert tally.failures == []
    assert tally.rate("exact") == 1


@pytest.mark.parametrize("method", [intervals, time_indexed])
def test_bounds_hold_where_slots_are_rounded(method: Callable[..., Result[Any]]) -> None:
    """Where solvers get longer slots, value and bound are on either side of the optimum."""
    for seed in range(cases(6)):
        problem = oracle.draw_hard(Random(f"rounded {seed}"))
        optimum = oracle.optimum(problem)
        result = method(problem, time_limit=0.3)
        assert result.objective is not None
        assert result.bound is not None
        assert result.bound <= optimum <= result.objective, problem.name
        assert (result.status is Status.OPTIMAL) == (result.bound == result.objective), problem.name


def _changed(problem: Waiting, change: Callable[[Job], dict[str, Any]], **fields: Any) -> Waiting:
    jobs = [job.model_copy(update=change(job)) for job in problem.jobs]
    return Waiting.model_validate(dict(problem) | {"jobs": jobs} | fields)


def _later(problem: Waiting) -> Waiting:
    """Begin today."""
    return _changed(problem, lambda job: {"release_date": float(decimal(job.release_date) + 1_700_000_000)})


def _scaled(problem: Waiting, power: int) -> Waiting:
    """Measure time in other units."""

    def scale(time: float) -> float:
        return float(decimal(time) * Fraction(10) ** power)

    def change(job: Job) -> dict[str, Any]:
        return {"release_date": scale(job.release_date), "duration": scale(job.duration)}

    return _changed(problem, change, slot=None if problem.slot is None else scale(problem.slot))


def _mixed(problem: Waiting) -> Waiting:
    """Return the jobs other names and places in the list."""
    jobs = [job.model_copy(update={"name": f"x{index}"}) for index, job in enumerate(problem.jobs)]
    return Waiting.model_validate(dict(problem) | {"jobs": Random(1).sample(jobs, len(jobs))})


def _split(problem: Waiting) -> Waiting:
    """Put every machine into a rack of its own, where racks make no difference."""
    machines = [machine for rack in problem.cluster.racks for machine in rack.machines]
    racks = [Rack(name=f"of {m.name}", machines=[Machine(name=m.name, gpus=m.gpus)]) for m in machines]
    return Waiting.model_validate(dict(problem) | {"cluster": Cluster(racks=racks)})


CHANGES: dict[str, tuple[Change, Fraction]] = {
    "later": (_later, Fraction(1)),
    "a million times shorter": (partial(_scaled, power=-6), Fraction(1, 10**6)),
    "a million times longer": (partial(_scaled, power=6), Fraction(10**6)),
    "in another order": (_mixed, Fraction(1)),
    "in racks": (_split, Fraction(1)),
}


def _flat(seed: int) -> Waiting:
    """Draw an instance in which being far apart costs as much in a rack as across racks."""
    problem = oracle.draw(Random(f"flat {seed}"))
    flat = {
        model: TierPenalty(machine=own.machine, rack=own.rack, network=own.rack)
        for model, own in problem.penalties.items()
    }
    dates = Random(seed)
    return _changed(
        problem, lambda job: {"release_date": round(dates.uniform(0, 9) * job.duration, 2)}, penalties=flat
    )


def _value(result: Result[Any]) -> Fraction:
    assert result.objective is not None
    return Fraction(result.objective)


def _bound(problem: Waiting) -> float:
    found = mean_jct_bound(problem.scenario)
    assert found is not None
    return found.mean_jct


@pytest.mark.parametrize("change", CHANGES)
def test_what_makes_no_difference_makes_none(change: str) -> None:
    """Status, value and bounds follow clock, unit, order, names and racks exactly."""
    changed, factor = CHANGES[change]
    for seed in range(cases(40)):
        problem = _flat(seed)
        other = changed(problem)
        first, second = exact(problem), exact(other)
        assert first.status is second.status is Status.OPTIMAL
        assert _value(second) == second.bound == _value(first) * factor, problem.name
        bounds = [simple_bound(SlottedInstance.of(each)) for each in (problem, other)]
        assert bounds[1] == bounds[0] * factor
        if change != "in another order":  # which breaks ties
            lists = [_value(best_tier(each)) for each in (problem, other)]
            assert lists[1] == lists[0] * factor
        means = [_bound(each) for each in (problem, other)]
        assert means[1] == pytest.approx(means[0] * float(factor), rel=1e-15)


@pytest.mark.parametrize("seconds", [-1e9, 1e9])
def test_a_job_far_away_adds_its_own_part(seconds: float) -> None:
    """One more job of 3 s, thirty years before or after all others, adds 3 s to totals and bounds."""
    for seed in range(cases(40)):
        problem = _flat(seed).model_copy(update={"minimize": "mean_jct"})
        alone = Job(name="far", release_date=max(seconds, 0), duration=3, gpus=1)
        moved = _changed(problem, lambda job: {"release_date": job.release_date + max(-seconds, 0)})
        whole = Waiting.model_validate(dict(moved) | {"jobs": [*moved.jobs, alone], "slot": None})
        without = Waiting.model_validate(dict(moved) | {"slot": None})
        count = len(without.jobs)
        first, second = exact(without), exact(whole)
        assert second.status is first.status is Status.OPTIMAL
        assert _value(second) * (count + 1) == _value(first) * count + 3
        bounds = [_bound(each) for each in (without, whole)]
        assert bounds[1] * (count + 1) == pytest.approx(bounds[0] * count + 3, rel=1e-12)
