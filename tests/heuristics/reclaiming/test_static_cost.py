"""Tests of preemption costs without updates."""

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from heuristics.reclaiming import greedy, static_cost
from heuristics.reclaiming.preemption_cost import preemption_costs
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_no_server_left_out_costs_less(problem: Reclaiming) -> None:
    """The servers with the lowest costs at the start are returned, in order of their costs."""
    costs = preemption_costs(problem)
    solution = static_cost(problem).solution

    assert solution is not None
    assert sorted(costs.values())[: problem.demand] == [costs[name] for name in solution.servers]


def test_updates_are_what_greedy_adds() -> None:
    """Once server 1 is returned server 3 is free, which static costs do not see."""
    problem = Reclaiming(
        demand=2,
        servers=tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3")),
        jobs=(
            Job(name="a", workers={"s1": 1, "s3": 1}),
            Job(name="b", workers={"s1": 1, "s3": 1}),
            Job(name="c", workers={"s2": 1}),
        ),
    )

    assert static_cost(problem).solution == ReclaimingSolution(servers=("s1", "s2"))
    assert static_cost(problem).objective == 3
    assert greedy(problem).objective == 2


def test_ties_decide_the_example_of_figure_5() -> None:
    """In Figure 5 two servers of equal costs cost one preemption or two, depending on ties."""
    assert {static_cost(figure_5(), tie="random", seed=seed).objective for seed in range(20)} == {1, 2}
    assert static_cost(figure_5()).objective == 1


def test_an_unknown_tie_break_is_refused() -> None:
    """A word that is no tie-break raises."""
    with pytest.raises(InvalidInput, match="tie: 'luck'"):
        static_cost(figure_5(), tie="luck")  # type: ignore[arg-type]
