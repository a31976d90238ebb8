"""Maximum flows of any size."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming.flow import Network
from tests.effort import cases

Pairs = set[tuple[int, int]]


def laid_out(pairs: Pairs, sources: int, sinks: int) -> Network:
    """Return the network of some pairs."""
    ordered = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return Network(sources, sinks, ordered[:, 0], ordered[:, 1])


def reference(pairs: Pairs, supply: list[int], capacity: list[int]) -> int:
    """Return the value of the maximum flow by networkx, whose numbers have any size."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for index, most in enumerate(supply):
        graph.add_edge("source", ("from", index), capacity=most)
    for index, most in enumerate(capacity):
        graph.add_edge(("to", index), "sink", capacity=most)
    graph.add_edges_from((("from", one), ("to", other)) for one, other in pairs)
    return int(nx.maximum_flow_value(graph, "source", "sink"))


SIZES = st.sampled_from([3, 10**4, 2**30 - 1, 2**31, 10**13, 10**40])


@settings(deadline=None, max_examples=cases(200))
@given(st.data(), SIZES)
def test_the_flow_is_as_large_as_can_be(data: st.DataObject, size: int) -> None:
    """Within all limits the flow has the value that networkx finds, however many digits it has."""
    sources, sinks = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    pairs = data.draw(st.sets(st.tuples(st.integers(0, sources - 1), st.integers(0, sinks - 1)), max_size=12))
    amounts = st.integers(0, size) | st.just(size)
    supply = data.draw(st.lists(amounts, min_size=sources, max_size=sources))
    capacity = data.draw(st.lists(amounts, min_size=sinks, max_size=sinks))
    kind = np.int64 if size < 2**62 // 10 else object
    network = laid_out(pairs, sources, sinks)

    flow = network.maximum_flow(np.array(supply, dtype=kind), np.array(capacity, dtype=kind))

    assert all(part >= 0 for part in flow.tolist())
    assert all(sent <= most for sent, most in zip(network.sent(flow).tolist(), supply, strict=True))
    assert all(most >= got for got, most in zip(network.received(flow).tolist(), capacity, strict=True))
    assert reference(pairs, supply, capacity) == sum(flow.tolist())


FOUR = st.lists(st.integers(0, 9), min_size=4, max_size=4)


@settings(deadline=None, max_examples=cases(100))
@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), FOUR, FOUR)
def test_what_is_reached_is_one_side_of_a_minimum_cut(
    pairs: Pairs, supply: list[int], capacity: list[int]
) -> None:
    """The supply beyond reach and the capacity within reach add up to the flow: a cut of the same value."""
    network = laid_out(pairs, len(supply), len(capacity))
    given_supply, given_capacity = np.array(supply), np.array(capacity)
    flow = network.maximum_flow(given_supply, given_capacity)

    sources, sinks = network.reached(given_supply, flow)

    assert given_supply[~sources].sum() + given_capacity[sinks].sum() == flow.sum()
    assert not any(sources[one] and not sinks[other] for one, other in pairs)


def test_a_flow_is_rerouted_across_scales() -> None:
    """A flow that the first, coarse scale sends the wrong way is turned round in the finer ones."""
    big = 2**70
    network = laid_out({(0, 0), (0, 1), (1, 0)}, 2, 2)
    supply, capacity = np.array([big + 1, big - 1], dtype=object), np.array([big, big], dtype=object)

    assert sum(network.maximum_flow(supply, capacity).tolist()) == 2 * big


@pytest.mark.parametrize("kind", [np.int64, object])
def test_without_pairs_nothing_flows(kind: type) -> None:
    """A network without pairs carries nothing."""
    network = laid_out(set(), 1, 1)

    assert network.maximum_flow(np.array([3], dtype=kind), np.array([3], dtype=kind)).tolist() == []
