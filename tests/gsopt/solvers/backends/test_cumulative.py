"""Activities with optional ways: what CP-SAT finds of them in its worker."""

from typing import Any

import pytest

from gsopt.solvers.backends import CpSat
from gsopt.solvers.backends.cumulative import Activity, Chosen, CumulativeAnswer, Task, Way, solve

PARAMETERS: dict[str, Any] = {"num_workers": 1}


def answer(*activities: Activity, last: bool = True, **fields: Any) -> CumulativeAnswer:
    """Solve activities on two resources of two units, which are also one group."""
    given: dict[str, Any] = {
        "activities": activities,
        "sizes": (2, 2),
        "groups": ((0, 1),),
        "last": last,
        "lower": 0,
        "upper": 100,
        "hint": None,
        "parameters": PARAMETERS,
    }
    reply = CpSat().call(solve, Task(**{**given, **fields}))
    assert isinstance(reply.answer, CumulativeAnswer)
    return reply.answer


def activity(*ways: Way, release: int = 0) -> Activity:
    """Return an activity that may end by 100."""
    return Activity(release, 100, ways)


def test_units_may_come_from_both_resources_and_stay() -> None:
    """Three units of four for 5 periods, then three more for 5: 10 in all."""
    both = activity(Way(5, 3, (0, 1)))
    found = answer(both, both)

    assert (found.status, found.bound) == ("OPTIMAL", 10)
    assert found.chosen is not None
    assert {each.start for each in found.chosen} == {0, 5}
    assert [sum(each.units.values()) for each in found.chosen] == [3, 3]


def test_waiting_for_the_shorter_way_pays() -> None:
    """Behind 4 periods on both resources, 3 periods on one end sooner than 9 across both."""
    near_or_far = activity(Way(3, 2, (0,)), Way(3, 2, (1,)), Way(9, 2, (0, 1)))
    found = answer(activity(Way(4, 1, (0,))), activity(Way(4, 1, (1,))), near_or_far)

    assert found.chosen is not None
    assert (found.bound, found.chosen[2].start, found.chosen[2].way in {0, 1}) == (7, 4, True)


def test_the_sum_of_the_ends() -> None:
    """Periods of 1, 2 and 3 on one resource each time, shortest first: 1 + 2 + 4 with one beside the others."""
    found = answer(*(activity(Way(each, 2, (0,)), Way(each, 2, (1,))) for each in (3, 1, 2)), last=False)

    assert (found.status, found.bound) == ("OPTIMAL", 1 + 2 + 4)


def test_nothing_better_than_a_limit_is_infeasible() -> None:
    """Where the objective must be below the optimum there is no solution, and the bound is beyond the limit."""
    found = answer(activity(Way(5, 1, (0,))), upper=4)

    assert (found.status, found.chosen, found.bound) == ("INFEASIBLE", None, 5)


@pytest.mark.parametrize("length", [0, 3])
def test_a_hint_that_is_a_solution_is_found_again(length: int) -> None:
    """A known solution is no obstacle, nor is an activity that takes no time."""
    both = activity(Way(length, 3, (0, 1)), release=2)
    found = answer(both, hint=(Chosen(2, 0, {0: 2, 1: 1}),))

    assert (found.status, found.bound) == ("OPTIMAL", 2 + length)
