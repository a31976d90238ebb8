"""Freest: who keeps GPUs, and where the others go."""

from collections.abc import Iterable, Mapping

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation import Action, Assign, State, simulate
from heuristics.policies.optimus.granting import place_on_emptiest
from tests.gsopt.simulation.scenarios import bundle


class Script:
    """Grants jobs numbers of GPUs, decision by decision."""

    preemptive = True

    def __init__(self, steps: Iterable[Mapping[int, int]]) -> None:
        self.steps, self.found = iter(steps), list[dict[int, tuple[int, ...]]]()

    def decide(self, state: State) -> Iterable[Action]:
        """Follow the script, and its last line from then on."""
        step = next(self.steps, None)
        if step is not None:
            self.found.append(place_on_emptiest(state, step))
            yield Assign(self.found[-1])


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({0: 1, 1: 2, 2: 3}, {0: (0,), 1: (4, 5), 2: (1, 2, 3)}),  # the new one takes the freest machine
        ({0: 2, 1: 2, 2: 1}, {0: (1, 2), 1: (4, 5), 2: (0,)}),  # the fewest GPUs are placed first
        ({0: 4, 1: 2, 2: 2}, {0: (2, 3, 6, 7), 1: (4, 5), 2: (0, 1)}),  # over two machines
        ({1: 2, 2: 4}, {1: (4, 5), 2: (0, 1, 2, 3)}),
    ],
)
def test_by_hand(second: dict[int, int], expected: dict[int, tuple[int, ...]]) -> None:
    """Whose number stays keeps its GPUs; others give theirs back and go where most GPUs are free."""
    menu = [(count, 1.0) for count in range(1, 5)]
    dates = [("a", 0), ("b", 0), ("c", 1)]
    jobs = [Job(name=n, release_date=r, duration=9, gpus=1, menu=menu) for n, r in dates]
    script = Script([{0: 1, 1: 2}, second])
    simulate(bundle(jobs), lambda _: script, cluster=Cluster.uniform(machines=2, gpus=4))
    assert script.found == [{0: (0,), 1: (4, 5)}, expected]
