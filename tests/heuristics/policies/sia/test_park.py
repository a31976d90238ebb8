"""Nodes by kind, and the configurations that they allow."""

import pytest

from gsopt.problems.configuration import Shape
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave
from gsopt.scenario.job import Job
from gsopt.simulation import Decider, State, simulate
from heuristics.policies import fifo
from heuristics.policies.sia.nodes import NodePool
from tests.gsopt.simulation.scenarios import bundle


def mixed() -> Cluster:
    """Return two nodes of four GPUs and one of two of one type, and one with more memory."""
    sizes = [("a", 4, 16), ("b", 2, 16), ("c", 4, 16), ("d", 2, 80)]
    machines = [Machine(name=name, gpus=gpus, gpu_type="V100", memory=memory) for name, gpus, memory in sizes]
    return Cluster(racks=[Rack(name="rack", machines=machines)])


def test_kinds_are_types_with_their_memory() -> None:
    """A type of which machines have unequal memory is several kinds, named by both."""
    assert list(NodePool(mixed()).kinds) == ["V100 16", "V100 80"]


def test_configurations_are_those_of_the_largest_nodes() -> None:
    """Smaller nodes of a kind hold parts only."""
    listed = [(shape.type, shape.nodes, shape.gpus) for shape in NodePool(mixed()).all_shapes()]
    first = [("V100 16", *each) for each in ((1, 1), (1, 2), (1, 4), (2, 8))]
    assert listed == [*first, ("V100 80", 1, 1), ("V100 80", 1, 2)]


def test_a_plain_cluster_is_one_node() -> None:
    """Its GPUs have no numbers, and all of them are the largest configuration."""
    pool = NodePool(Cluster.plain(6))
    assert [shape.gpus for shape in pool.all_shapes()] == [1, 2, 4, 6]
    assert (pool.is_plain, pool.example(Shape(type="gpu", gpus=2))) == (True, ())
    assert pool.shape("gpu", 7) is None


@pytest.mark.parametrize(
    ("gpus", "nodes"),
    [(1, 1), (4, 1), (5, 2), (10, 3)],
)
def test_any_number_is_a_shape_on_few_nodes(gpus: int, nodes: int) -> None:
    """A number of GPUs that is no configuration stands on as few nodes of the largest size as hold it."""
    pool = NodePool(mixed())
    assert pool.shape("V100 16", gpus) == Shape(type="V100 16", nodes=nodes, gpus=gpus)
    assert pool.shape("V100 16", 11) is None


def test_examples_take_the_largest_nodes_first() -> None:
    """GPUs of a configuration stand as close together as they can."""
    pool = NodePool(mixed())
    assert pool.example(Shape(type="V100 16", nodes=2, gpus=8)) == (0, 1, 2, 3, 6, 7, 8, 9)
    assert pool.example(Shape(type="V100 80", gpus=1)) == (10,)


def test_machines_that_have_left_do_not_count() -> None:
    """Nodes and GPUs are those that are there."""
    seen = []

    def watching(state: State) -> Decider:
        decider, pool = fifo(state), NodePool(state.cluster)

        class Watching:
            preemptive = False

            def decide(self, state: State) -> object:
                available = pool.available(state)
                nodes = {kind: [node.place for node in some] for kind, some in available.nodes.items()}
                seen.append((float(state.now), available.gpus, nodes))
                return decider.decide(state)

        return Watching()  # type: ignore[return-value]

    jobs = bundle([Job(name="x", release_date=0, duration=9, gpus=1)])
    simulate(jobs, watching, cluster=mixed(), events=[Leave(time=3, servers=["c"])])
    assert seen[0] == (0.0, {"V100 16": 10, "V100 80": 2}, {"V100 16": [0, 1, 2], "V100 80": [3]})
    assert (3.0, {"V100 16": 6, "V100 80": 2}, {"V100 16": [0, 1], "V100 80": [3]}) in seen
