"""Orders in which jobs are eliminated."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming.elimination import min_degree


def width(cliques: list[tuple[int, ...]], order: list[int]) -> int:
    """Eliminate the vertices with sets of edges, and give the most neighbours of one."""
    edges = {frozenset(pair) for clique in cliques for pair in combinations(clique, 2)}
    widest = 0
    for vertex in order:
        near = {other for edge in edges if vertex in edge for other in edge - {vertex}}
        widest = max(widest, len(near))
        edges = {edge for edge in edges if vertex not in edge} | {
            frozenset(pair) for pair in combinations(near, 2)
        }
    return widest


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 7), max_size=4, unique=True).map(tuple), max_size=10), st.integers(-1, 5)
)
def test_an_order_has_every_vertex_once_and_keeps_the_limit(cliques: list[tuple[int, ...]], limit: int) -> None:
    """An order that is given eliminates every vertex once and is no wider than asked."""
    order = min_degree(cliques, limit)

    if order is not None:
        assert sorted(order) == sorted({vertex for clique in cliques for vertex in clique})
        assert width(cliques, order) <= limit or not order


@pytest.mark.parametrize(
    ("cliques", "treewidth"),
    [
        ([(0,), (1,)], 0),
        ([(0, 1), (1, 2), (1, 3), (3, 4)], 1),  # a tree
        ([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], 2),  # a cycle
        ([(0, 1, 2), (2, 3), (2, 3, 4)], 2),
        ([(0, 1, 2, 3, 4)], 4),
    ],
)
def test_the_order_of_simple_graphs_is_as_narrow_as_can_be(
    cliques: list[tuple[int, ...]], treewidth: int
) -> None:
    """Trees, cycles and cliques get an order of their treewidth, and none below it."""
    assert min_degree(cliques, treewidth) is not None
    assert min_degree(cliques, treewidth - 1) is None
