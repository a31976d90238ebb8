"""Where a first result is the end."""

from dataclasses import replace
from typing import Any

import gsopt
from formulations.common.first import ends
from gsopt.core.budget import Budget
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.reclaiming import ReclaimingSolution


def first(bound: float) -> Result[Any]:
    """Return a result of value 2 with a bound."""
    problem = gsopt.load("reclaiming/aryl-figure-5")
    chosen = ReclaimingSolution(servers=("s1", "s3"))
    found = Result.judged(problem, method="by hand", solution=chosen, runtime=0.0)
    return replace(found, objective=2, bound=bound)


def test_value_and_bound_that_meet_are_the_end() -> None:
    """A bound that is the value ends the search as finished, one within the asked gap as close enough."""
    assert ends(first(2), Budget()) == (first(2), True)
    result, ended = ends(first(1.5), Budget(gap=0.5))
    assert (result.stopped_by, ended) == (StoppedBy.GAP, True)
    assert ends(first(1.5), Budget(gap=0.1)) == (first(1.5), False)


def test_callers_hear_of_it_and_may_stop() -> None:
    """The caller is told in any case; only True is the end."""
    heard: list[Any] = []

    def hear(result: Result[Any]) -> bool:
        heard.append(result)
        return len(heard) > 1

    assert not ends(first(1), Budget(on_incumbent=hear))[1]
    result, ended = ends(first(1), Budget(on_incumbent=hear))
    assert (result.stopped_by, ended, len(heard)) == (StoppedBy.INTERRUPT, True, 2)


def test_no_time_is_the_end() -> None:
    """Where time is over the result says so."""
    result, ended = ends(first(1), Budget(time_limit=0.0))
    assert (result.stopped_by, ended) == (StoppedBy.TIME_LIMIT, True)
