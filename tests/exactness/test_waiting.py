"""Waiting on times that are hard on floats: exact against brute force, and the same on any clock and scale."""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from formulations.waiting import intervals, time_indexed
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.simple_bounds import simple_bound
from gsopt.core.problem import Problem
from gsopt.core.result import Result, Status
from gsopt.problems.waiting import Waiting
from gsopt.scenario.speed import TierPenalty
from gsopt.schedule.bounds import mean_jct_bound
from tests.effort import cases
from tests.exactness import waiting as oracle
from tests.exactness.changes import pairs
from tests.exactness.trial import ORACLES, attack
from tests.unwrap import unwrap


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
        bound, value = unwrap(result.bound), unwrap(result.objective)
        assert bound <= optimum <= value, problem.name
        assert (result.status is Status.OPTIMAL) == (bound == value), problem.name


def _bound(problem: Any) -> float:
    return unwrap(mean_jct_bound(problem.scenario)).mean_jct


def _flat(seed: int) -> Waiting:
    """Draw an instance in which being far apart costs as much in a rack as across racks."""
    problem, dates = oracle.draw(Random(f"flat {seed}")), Random(seed)
    flat = {
        model: TierPenalty(machine=own.machine, rack=own.rack, network=own.rack)
        for model, own in problem.penalties.items()
    }
    jobs = [
        job.model_copy(update={"release_date": round(dates.uniform(0, 9) * job.duration, 2)})
        for job in problem.jobs
    ]
    return Waiting.model_validate(dict(problem) | {"jobs": jobs, "penalties": flat})


def _simple(problem: Problem[Any]) -> Fraction:
    """Return the bound that needs no search."""
    assert isinstance(problem, Waiting)
    return Fraction(simple_bound(SlottedInstance.of(problem)))


def test_bounds_follow_every_change() -> None:
    """The bounds of an instance that is written differently are what the change makes of them."""
    for seed in range(cases(40)):
        for change, pair in pairs("waiting", _flat(seed), Random(seed)):
            means = [Fraction(_bound(each)) for each in (pair.first, pair.second)]
            assert means[1] == pytest.approx(pair.value(means[0]), rel=1e-12), change.name
            if "far" not in change.name:
                first, second = (_simple(each) for each in (pair.first, pair.second))
                assert second == pair.value(first), change.name
