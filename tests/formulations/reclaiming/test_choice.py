"""Servers to return, and what each of them would change."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming.choice import Hosting, ServerChoice
from formulations.reclaiming.reduction import Reduction, ServerGroup, reduce
from gsopt.core.errors import Unsupported
from gsopt.problems.reclaiming import Reclaiming
from tests.effort import cases
from tests.strategies.reclaiming import WHOLE, figure_5, reclaiming_problems


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(costs=WHOLE), st.lists(st.integers(0, 5), max_size=20))
def test_every_change_is_what_the_reduction_says(problem: Reclaiming, moves: list[int]) -> None:
    """After any moves, the cost and the change by each server are differences between values of choices."""
    try:
        reduction = reduce(problem)
    except Unsupported:
        return
    hosting = Hosting.of(reduction)
    choice = ServerChoice(hosting)
    for move in moves:
        server = move % reduction.servers
        (choice.keep if choice.returned[server] else choice.give)(server)
    returned = np.flatnonzero(choice.returned).tolist()
    value = reduction.value(hosting.counts(returned))

    assert value == choice.cost
    for server in range(reduction.servers):
        other = sorted({server}.symmetric_difference(returned))
        change = reduction.value(hosting.counts(other)) - value

        assert choice.change[server] == (-change if choice.returned[server] else change)


def test_costs_beyond_doubles_are_rounded_to_their_digits() -> None:
    """Costs of any size become whole doubles whose sums are exact, as near to the truth as doubles are."""
    reduction = Reduction(
        1, (3 * 10**40, 10**40), (ServerGroup((0,), 0, (0,)), ServerGroup((1, 2), 5 * 10**39, (1,)))
    )
    hosting = Hosting.of(reduction)
    least, _, weight = sorted([hosting.own[1], hosting.weights[0], hosting.weights[1]])

    assert sum(hosting.weights) + sum(hosting.own) <= 2**53
    assert abs(weight / least - 6) < 1e-12


def test_counts_and_servers_are_two_views_of_a_choice() -> None:
    """The first servers of each group are counted as they were asked for."""
    hosting = Hosting.of(reduce(figure_5()))

    assert hosting.first([1, 0, 1, 0, 1]) == [0, 3, 5]
    assert hosting.counts([0, 3, 5]) == [1, 0, 1, 0, 1]
    assert hosting.counts([]) == [0, 0, 0, 0, 0]
