"""What the default method of each decision makes of limits of time and gap, callbacks and starts."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from formulations import batching, colocation, configuration, consolidation, goodput, sequencing, shares
from formulations.configuration.case import current_configurations
from gsopt.core.numbers.grid import Number
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.goodput import GoodputSolution
from heuristics.sequencing import earliest_end
from instances.batching import elastic_jobs
from instances.colocation import full_cluster
from instances.configuration import growing_jobs
from instances.consolidation import half_busy
from instances.goodput import running_jobs
from instances.sequencing import unit_jobs
from instances.shares import typed_jobs
from tests.unwrap import unwrap


class Default(NamedTuple):
    """A default method, and a problem that it takes some time for."""

    method: Callable[..., Result[Any]]
    problem: Any
    gap: float  # that its first solution meets
    message: str  # what it says then
    first: Any = None  # the first solution, where it is known from elsewhere
    improves: bool = True  # whether callers hear of better ones too


def _current(problem: Any) -> GoodputSolution:
    """Return what jobs have."""
    return GoodputSolution(gpus={job.name: job.current for job in problem.jobs if job.current})


_GOODPUT, _SHARES = running_jobs(jobs=15, seed=1), typed_jobs(jobs=20, criterion="finish_time", seed=3)
_SEQUENCING, _CONFIGURATION = unit_jobs(jobs=40, seed=3), growing_jobs(jobs=15, seed=1)

DEFAULTS = {
    "batching": Default(
        batching.exact,
        elastic_jobs(gpus=64, jobs=60, criterion="rate", seed=1),
        0.05,
        "greedy, not proven",
        improves=False,
    ),
    "colocation": Default(
        colocation.exact, full_cluster(running=20, pending=20, seed=1), 0.9, "greedy", improves=False
    ),
    "configuration": Default(
        configuration.exact,
        _CONFIGURATION,
        0.9,
        "current configurations",
        current_configurations(_CONFIGURATION),
    ),
    "consolidation": Default(consolidation.exact, half_busy(racks=4, jobs=80, seed=1), 0.9, "knapsack"),
    "goodput": Default(goodput.exact, _GOODPUT, 0.2, "packed counts", _current(_GOODPUT)),
    "sequencing": Default(
        sequencing.exact, _SEQUENCING, 0.9, "shortest first", earliest_end(_SEQUENCING).solution
    ),
    "shares": Default(shares.exact, _SHARES, 10.0, "isolated shares", _SHARES.fitted(_SHARES.isolated_shares)),
}

every_default = pytest.mark.parametrize("default", DEFAULTS.values(), ids=DEFAULTS.keys())


@every_default
def test_out_of_time_there_is_a_first_solution_and_a_bound(default: Default) -> None:
    """Without any time the solution that costs nothing is returned, with a bound."""
    result = default.method(default.problem, time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.bound is not None
    assert default.first in (None, result.solution)


@every_default
def test_the_asked_gap_is_enough(default: Default) -> None:
    """With a gap that the first solution meets neither solver nor table is needed."""
    result = default.method(default.problem, gap=default.gap)
    assert (result.stopped_by, result.message, result.solver) == (StoppedBy.GAP, default.message, "")


@every_default
def test_callers_hear_of_better_solutions_and_may_stop(default: Default) -> None:
    """The first solution is told at once, each further one is better, and True ends the method."""
    heard: list[Result[Any]] = []
    best = default.method(default.problem, on_incumbent=heard.append)
    values: list[Number] = [unwrap(result.objective) for result in heard]
    assert values == sorted(values, reverse=default.problem.sense.better(0, 1))
    assert (len(values) > 1 and values[-1] == best.objective) is default.improves
    assert heard[0].method == "exact"
    stopped = default.method(default.problem, on_incumbent=lambda _result: True)
    assert (stopped.stopped_by, stopped.objective) == (StoppedBy.INTERRUPT, values[0])


@every_default
def test_a_start_is_never_lost(default: Default) -> None:
    """An optimum that is given comes back, also without time."""
    best = default.method(default.problem)
    again = default.method(default.problem, start=best.solution, time_limit=0.0)
    assert again.objective == best.objective
