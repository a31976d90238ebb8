"""Aryl's example."""

import pytest

from gsopt.testing import brute_force
from instances.reclaiming import figure_5


@pytest.mark.parametrize(("demand", "preemptions"), list(enumerate([0, 1, 1, 2, 3, 3, 4])))
def test_preemptions_for_every_demand(demand: int, preemptions: int) -> None:
    """The fewest preemptions for 0 to 6 servers are those that can be checked by hand."""
    optimum = brute_force(figure_5().model_copy(update={"demand": demand}))

    assert optimum is not None
    assert optimum[0] == preemptions


def test_only_the_first_two_servers_preempt_one_job() -> None:
    """Of all pairs only s1 and s2 preempt a single job."""
    problem = figure_5()

    best = [pick.servers for pick in problem.candidates() if problem.objective(pick) == 1]

    assert best == [("s1", "s2")]
