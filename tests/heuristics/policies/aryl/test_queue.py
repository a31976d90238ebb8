"""Jobs that wait."""

from collections.abc import Iterator
from typing import Any

from gsopt.simulation import simulate
from gsopt.simulation.policy import Action, Start, State
from heuristics.policies.aryl.machines import Machines
from heuristics.policies.aryl.queue import Queue
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.aryl.scenes import job, pools


def test_who_waits() -> None:
    """Jobs wait by number; those that have lost their GPUs from a later look on."""
    told: list[Any] = []

    class Watching:
        preemptive = False

        def decide(self, state: State) -> Iterator[Action]:
            queue = Queue(Machines(state.cluster, "T4"), training_first=False)
            queue.arrive(state, [0, 2, 1])
            told.append([(each.job, each.time, each.gpus) for each in queue.waiting])
            told.append(queue.waiting[1].elastic)
            queue.start([2, 0])
            queue.rest([2])
            told.append(([each.job for each in queue.waiting], len(queue), queue.rests))
            queue.wake(state)
            told.append(([each.job for each in queue.waiting], queue.rests))
            yield from map(Start, state.arrived)

    jobs = [job("a", 0, 9, 4), job("b", 0, 6, 4, menu=[(2, 0.5), (4, 1.0)]), job("c", 0, 3, 1)]

    def watching(state: State) -> Watching:
        del state
        return Watching()

    simulate(bundle(jobs), watching, cluster=pools(2, 0), bound=False)
    assert told[0] == [(0, 9.0, 4), (1, 12.0, 2), (2, 3.0, 1)]
    assert (told[1].base, told[1].most, told[1].extra, told[1].speeds) == (1, 2, 0, (0.5, 1.0))
    assert told[2:4] == [([1], 2, True), ([1, 2], False)]
