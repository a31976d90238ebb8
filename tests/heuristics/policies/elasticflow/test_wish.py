"""Request: levels that help."""

from typing import Any

from gsopt.scenario.job import Job
from gsopt.simulation import State, simulate
from heuristics.policies import fifo
from heuristics.policies.elasticflow.profile import levels_of
from tests.gsopt.simulation.scenarios import bundle


def test_levels_that_are_no_faster_are_left_out() -> None:
    """More GPUs count only where they make a job faster than all fewer ones."""
    found: list[Any] = []

    def watched(state: State) -> Any:
        decider = fifo(state)

        class Watching:
            preemptive = False

            def decide(self, state: State) -> Any:
                found.extend(levels_of(state, job) for job in state.arrived)
                return decider.decide(state)

        return Watching()

    menu = [(1, 1.0), (2, 1.5), (4, 1.4), (8, 1.5), (16, 1.6), (32, 9.0)]
    simulate(bundle([Job(name="a", release_date=0, duration=1, gpus=1, menu=menu)]), watched, cluster=16)
    assert found == [((1, 2, 16), (1.0, 1.5, 1.6))]
