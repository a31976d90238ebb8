"""Rooted: a networkx graph that has been checked to be a tree, with its root."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gsopt.core.errors import InvalidInput, shorten

#: Kinds of nodes that occur only at the root.
_ROOTS = ("datacenter", "network")


@dataclass(frozen=True)
class Rooted:
    """A tree, its root, and the parents and children of its nodes."""

    graph: Any
    root: Hashable
    nodes: Sequence[Hashable]  # each after the one above it
    parent: Mapping[Hashable, Hashable]  # of each node but the root
    children: Mapping[Hashable, Sequence[Hashable]]  # of each node, in the order of the graph

    def data(self, node: Hashable) -> Mapping[str, Any]:
        """Return the attributes of a node in the networkx graph."""
        found: Mapping[str, Any] = self.graph.nodes[node]
        return found

    def edge(self, node: Hashable) -> Mapping[str, Any]:
        """Return the attributes of the edge above a node, or an empty mapping for the root."""
        found: Mapping[str, Any] = self.graph.edges[self.parent[node], node] if node in self.parent else {}
        return found


def show(node: Hashable) -> str:
    """Return a node as one short line of text."""
    return shorten(node)


def root_tree(graph: Any, root: Hashable = None) -> Rooted:
    """Find the root of a networkx graph, and check that the graph is a tree (see `Cluster.from_graph`)."""
    simple = _simple(graph)
    top = _find_root(simple, root)
    nodes, parent, children = [top], dict[Hashable, Hashable](), dict[Hashable, Sequence[Hashable]]()
    reached = {top}
    for node in nodes:  # which grows
        above = parent.get(node, node)
        below = [each for each in simple.adj[node] if simple.is_directed() or each != above or node == top]
        for child in below:
            if child in reached:
                raise InvalidInput(_edge(node, child), "", "closes a cycle: the graph must be a tree")
            reached.add(child)
            parent[child] = node
        nodes += below
        children[node] = tuple(below)
    if len(nodes) < len(simple):
        lost = next(node for node in simple if node not in reached)
        raise InvalidInput(f"node {show(lost)}", "", f"must be joined to the root {show(top)}")
    return Rooted(simple, top, tuple(nodes), parent, children)


def _edge(one: Hashable, other: Hashable) -> str:
    return f"edge {show(one)} - {show(other)}"


def _simple(graph: Any) -> Any:
    """Return the graph with at most one edge between any two nodes."""
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        raise InvalidInput("graph", f"a {type(graph).__name__}", "must be a networkx Graph or DiGraph")
    if not len(graph):
        raise InvalidInput("graph", "", "must have a node")
    if not graph.is_multigraph():
        return graph
    for one, other, _ in graph.edges:
        if graph.number_of_edges(one, other) > 1:
            raise InvalidInput(
                _edge(one, other), "", "must be one edge; a link's capacity says what it carries"
            )
    return nx.DiGraph(graph) if graph.is_directed() else nx.Graph(graph)


def _find_root(graph: Any, root: Hashable) -> Hashable:
    told: Hashable = graph.graph.get("root") if root is None else root
    if told is not None:
        if told not in graph:
            raise InvalidInput("root", shorten(told), "must be a node of the graph")
        return told
    found: list[Hashable]
    if graph.is_directed():
        tops = [node for node, degree in graph.in_degree if degree == 0]
        if not tops:
            raise InvalidInput(
                "graph", "", "must be a tree: every node has an edge that leads to it, in a cycle"
            )
        found, what = tops, "to which no edge leads"
    else:
        found = [node for node, kind in graph.nodes(data="kind") if kind in _ROOTS]
        what = f"of kind {' or '.join(_ROOTS)}"
    if len(found) != 1:
        shown = ", ".join(show(node) for node in found[:2])
        raise InvalidInput("root", shown, f"must be named: there is not one node {what}")
    return found[0]
