"""Nodes: which GPUs numbers of them stand for."""

from collections.abc import Callable, Iterable
from typing import Any

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange
from gsopt.simulation import simulate
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.pollux.nodes import Nodes
from tests.gsopt.simulation.scenarios import bundle

#: Jobs that may run on any number of GPUs.
JOBS = bundle(
    Job(name=n, release_date=0, duration=90, gpus=1, menu=[(count, 1.0) for count in range(1, 7)])
    for n in "abc"
)

#: The nodes of the jobs that are to run, by second.
Plans = list[dict[int, tuple[int, ...]]]


def seen(cluster: Cluster, plans: Plans, **physics: Any) -> list[Any]:
    """Let jobs run on the nodes that a list of plans names, one per second, and give where each stands."""
    found: list[Any] = []

    class Planned:
        preemptive = True

        def decide(self, state: State) -> Iterable[Action]:
            nodes = Nodes(state)
            if len(found) < len(plans):
                plan = plans[len(found)]
                places = nodes.places(state, plan)
                yield Assign(places)
                found.append((nodes.sizes, places, {job: nodes.vector(state, job) for job in plan}))
                yield Wake(state.now + 1)
            elif left := [job for job in range(len(state.jobs)) if state.remaining(job) > 0]:
                yield Assign({left[0]: 1})

    simulate(JOBS, _made(Planned), cluster=cluster, bound=False, **physics)
    return found


def _made(decider: Callable[[], Any]) -> Callable[[State], Any]:
    return lambda _: decider()


def test_jobs_stand_where_their_vectors_say() -> None:
    """Every job has so many GPUs of each node, and no GPU has two jobs."""
    [(sizes, places, vectors)] = seen(Cluster.uniform(machines=2, gpus=4), [{0: (2, 1), 1: (2, 0), 2: (0, 3)}])

    assert sizes == [4, 4]
    assert vectors == {0: (2, 1), 1: (2, 0), 2: (0, 3)}
    assert sorted(gpu for gpus in places.values() for gpu in gpus) == list(range(8))


def test_an_unchanged_vector_keeps_its_gpus() -> None:
    """Whoever else moves, a job with the same numbers on the same nodes stays on the same GPUs."""
    plans: Plans = [{0: (1, 0), 1: (2, 0)}, {1: (2, 0), 2: (2, 4)}, {2: (2, 4), 0: (2, 0)}]
    first, second, third = seen(Cluster.uniform(machines=2, gpus=4), plans)

    assert first[1][1] == second[1][1]
    assert second[1][2] == third[1][2]
    assert set(third[1][0]).isdisjoint(third[1][2])


def test_gpus_that_have_gone_are_not_given() -> None:
    """Of machines with GPUs that are not there only the others count; those without any are no nodes."""
    changes = [CapacityChange(time=0, gpus=3), CapacityChange(time=0.5, gpus=8)]
    cluster = Cluster.uniform(machines=2, gpus=4)
    less, more = seen(cluster, [{0: (3,)}, {0: (3, 0)}], capacity_changes=changes)

    assert (less[0], more[0]) == ([3], [4, 4])
    assert len(less[1][0]) == 3


def test_a_plain_cluster_is_one_node() -> None:
    """Its GPUs have no numbers, so places are counts."""
    [(sizes, places, vectors)] = seen(Cluster.plain(5), [{0: (2,), 1: (3,)}])

    assert (sizes, places) == ([5], {0: 2, 1: 3})
    assert vectors == {0: (2,), 1: (3,)}
