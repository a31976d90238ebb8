"""Clusters go to graphs and back, exactly, and graphs that are none get one line that names the place."""

import io
import json
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Rack, Switch
from tests.effort import cases
from tests.refusals import refused
from tests.strategies.topology import trees


def _same(one: Any, other: Any) -> bool:
    """Check whether two graphs have the same nodes, edges and data in the same order."""
    return (
        one.graph == other.graph
        and list(one.nodes(data=True)) == list(other.nodes(data=True))
        and list(one.edges(data=True)) == list(other.edges(data=True))
    )


@settings(max_examples=cases(30, least=10), deadline=None)
@given(trees())
def test_round_trip(cluster: Cluster) -> None:
    """A cluster comes back from its graph as it was, and the graph from it, with GPUs as nodes or not."""
    for gpus in (True, False):
        tree = cluster.graph(gpus=gpus)
        assert Cluster.from_graph(tree) == cluster
        assert _same(Cluster.from_graph(tree).graph(gpus=gpus), tree)
        downward = nx.bfs_tree(tree, tree.graph["root"])
        downward.add_nodes_from(tree.nodes(data=True))
        downward.add_edges_from((one, other, tree.edges[one, other]) for one, other in list(downward.edges))
        assert Cluster.from_graph(downward, levels=json.loads(tree.graph.get("levels", "null"))) == cluster
    assert Cluster.model_validate_json(cluster.model_dump_json()) == cluster


@settings(max_examples=20, deadline=None)
@given(trees())
def test_round_trip_through_files(cluster: Cluster) -> None:
    """GraphML, whose nodes are texts, and node-link JSON give the cluster back."""
    file = io.BytesIO()
    nx.write_graphml(cluster.graph(), file)
    file.seek(0)
    assert Cluster.from_graph(nx.read_graphml(file)) == cluster
    data = json.loads(json.dumps(nx.node_link_data(cluster.graph(), edges="edges")))
    assert Cluster.from_graph(nx.node_link_graph(data, edges="edges")) == cluster


def test_plain_clusters() -> None:
    """GPUs below no machine are a plain cluster without links; a multigraph may be a tree."""
    for gpus in (True, False):
        tree = Cluster.plain(5).graph(gpus=gpus)
        assert Cluster.from_graph(tree) == Cluster.plain(5)
        assert _same(Cluster.from_graph(tree).graph(gpus=gpus), tree)
    graph = Cluster.plain(2).graph()
    graph.edges["datacenter", 1]["bandwidth"] = 1.0
    with pytest.raises(InvalidInput, match=r"^edge 'datacenter' - 1: bandwidth: 1\.0: must not be given"):
        Cluster.from_graph(graph)
    cluster = Cluster.uniform(machines=2, gpus=2)
    assert Cluster.from_graph(nx.MultiGraph(cluster.graph())) == cluster


def test_levels_of_other_names() -> None:
    """A graph of a cluster names the levels that are not in common use, so that it can be read again."""
    switch = Switch(name="c", level="chassis", machines=[Machine(name="m", gpus=2)])
    for cluster in (
        Cluster(network=Switch(name="top", level="network", switches=[switch])),
        Cluster(racks=[Rack(name="r", switches=[switch])]),
    ):
        assert Cluster.from_graph(cluster.graph()) == cluster
        assert "chassis" in cluster.levels


def _by_hand(**machine: Any) -> Any:
    """Make a graph as a user would: two machines of two GPUs below two racks."""
    graph = nx.Graph()
    graph.add_node("dc", kind="datacenter")
    for number in range(2):
        graph.add_node(("r", number), kind="rack")
        graph.add_edge("dc", ("r", number), bandwidth=10)
        graph.add_node(("m", number), kind="machine", **machine)
        graph.add_edge(("r", number), ("m", number), bandwidth=20, latency=1e-6)
        for gpu in range(2):
            graph.add_node(("g", number, gpu), kind="gpu", colour="green")
            graph.add_edge(("m", number), ("g", number, gpu), bandwidth=np.float64(300))
    return graph


def test_a_graph_made_by_hand() -> None:
    """Nodes may be anything; numbers of other libraries are numbers; what is not ours is left alone."""
    cluster = Cluster.from_graph(_by_hand(memory=np.int64(80), gpu_type="A100", label="left"))
    assert cluster.levels == ("machine", "rack", "network")
    assert cluster.machines[1] == Machine(
        name="('m', 1)",
        gpus=2,
        gpu_type="A100",
        memory=80,
        gpu_link=Link(bandwidth=300.0),
        uplink=Link(bandwidth=20.0, latency=1e-6),
    )
    assert cluster.bottleneck([0, 2]) == Link(bandwidth=10.0, latency=2e-6)


def _add(graph: Any, above: str, kind: str, *nodes: Any) -> None:
    """Add nodes of one kind below a node."""
    graph.add_nodes_from(nodes, kind=kind)
    graph.add_edges_from((above, node) for node in nodes)


def test_gpus_keep_their_numbers() -> None:
    """Where GPUs are numbers from 0 on, machines stand in their order, whatever that of the graph is."""
    graph = nx.Graph(root="top")
    graph.add_node("top", kind="network")
    for machine, gpus in (("late", (2, 3)), ("early", (1, 0))):
        _add(graph, "top", "machine", machine)
        _add(graph, machine, "gpu", *gpus)
    assert Cluster.from_graph(graph).gpus_of == {"early": range(2), "late": range(2, 4)}


@pytest.mark.parametrize("switch_first", [False, True])
def test_machines_are_numbered_before_switches(switch_first: bool) -> None:
    """GPUs of machines that stand beside switches come first, with numbers of their own or without."""
    for named in (False, True):
        graph = nx.Graph(root="top")
        graph.add_node("top", kind="network")
        places = {"rack": ("inner", (2, 3)), "top": ("outer", (0, 1))}
        for above in ("rack", "top") if switch_first else ("top", "rack"):
            machine, gpus = places[above]
            if above == "rack":
                _add(graph, "top", "rack", "rack")
            _add(graph, above, "machine", machine)
            _add(graph, machine, "gpu", *(f"gpu {gpu}" if named else gpu for gpu in gpus))
        cluster = Cluster.from_graph(graph)
        assert cluster.gpus_of == {"outer": range(2), "inner": range(2, 4)}
        assert Cluster.from_graph(cluster.graph()) == cluster
    permuted = nx.relabel_nodes(cluster.graph(), {0: 2, 1: 3, 2: 0, 3: 1})
    with pytest.raises(InvalidInput, match="numbers follow the tree, machines before switches"):
        Cluster.from_graph(permuted)


def _edit(change: Callable[[Any], object]) -> Any:
    """Change the graph of a linked cluster of two racks, machine 0 of which has islands."""
    link = Link(bandwidth=1e9)
    islands = [[Island(name=f"i{n}", gpus=2, uplink=link) for n in range(2)], []]
    machines = [
        Machine(name=f"m{n}", gpus=4, islands=each, gpu_link=link, uplink=link)
        for n, each in enumerate(islands)
    ]
    racks = [Rack(name=f"r{n}", machines=[each], uplink=link) for n, each in enumerate(machines)]
    graph = Cluster(racks=racks).graph()
    change(graph)
    return graph


def _node(node: Any, **data: Any) -> Callable[[Any], object]:
    """Change what a node carries."""
    return lambda graph: graph.nodes[node].update(data)


def _at(one: Any, other: Any, **data: Any) -> Callable[[Any], object]:
    """Change what an edge carries."""
    return lambda graph: graph.edges[one, other].update(data)


def _cut(one: Any, other: Any) -> Callable[[Any], object]:
    return lambda graph: graph.edges[one, other].clear()


def _grow(one: Any, other: Any, **data: Any) -> Callable[[Any], object]:
    """Add a node below another one."""

    def change(graph: Any) -> None:
        graph.add_node(other, **data)
        graph.add_edge(one, other, bandwidth=1e9)

    return change


def _swap(graph: Any) -> None:
    """Swap the numbers of GPUs of two machines."""
    for old, new in ((0, "x"), (7, 0), ("x", 7)):
        nx.relabel_nodes(graph, {old: new}, copy=False)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda g: g.add_edge("m1", "r0"), "edge 'r[01]' - 'm1': closes a cycle: the graph must be a tree"),
        (lambda g: g.add_edge("r0", "r0"), "edge 'r0' - 'r0': closes a cycle"),
        (lambda g: g.remove_edge("datacenter", "r1"), "node 'r1': must be joined to the root 'datacenter'"),
        (lambda g: g.clear(), "graph: must have a node"),
        (lambda g: g.graph.update(root="r9"), "root: 'r9': must be a node of the graph"),
        (lambda g: g.graph.update(levels=3), "levels: 3: must be the names of the levels"),
        (lambda g: g.nodes["r0"].pop("kind"), "node 'r0': kind: is required"),
        (_node("r0", kind="rakc"), "node 'r0': kind: 'rakc': must be one of block, core"),
        (_node("r0", kind=["rack"]), r"node 'r0': kind: \['rack'\]: must be one of"),
        (_node("r0", kind="machine"), "node 'm0': kind: 'machine': must be below a switch"),
        (_node("m0", kind="rack"), "node 'i0': kind: 'island': must be below kind machine"),
        (_node("m1", kind="rack"), "node 4: kind: 'gpu': must be below kind island or machine"),
        (_node("m1", kind="gpu"), "node 'm1': kind: 'gpu': must be below"),
        (_node("datacenter", kind="machine"), "node 'datacenter': kind: 'machine': must be a level"),
        (_node("datacenter", kind="rack"), "switch 'r0': level: 'rack': must not be below 'datacenter'"),
        (_grow(3, "x", kind="gpu"), "node 'x': kind: 'gpu': must (not )?be below"),
        (_grow(3, "x", kind="rack"), "node 'x': kind: 'rack': must not be below node 3, which is a GPU"),
        (_grow("m0", 8, kind="gpu"), "node 8: kind: 'gpu': must be on an island"),
        (_grow("r0", "m2", kind="machine"), "node 'm2': gpus: 0: must be at least 1"),
        (_grow("r0", "m2", kind="machine", gpus=-1), "node 'm2': gpus: -1"),
        (_grow("r0", "m2", kind="machine", gpus="8"), "node 'm2': gpus: '8'"),
        (_grow("r0", "m2", kind="machine", gpus=True), "node 'm2': gpus: True"),
        (_grow("datacenter", "r2", kind="rack"), "node 'r2': machines: .*must not be empty"),
        (_node("m1", gpus=5), "node 'm1': gpus: 5: must be 4, as many as are below it"),
        (_node("m1", memory=0), "node 'm1': memory: 0"),
        (_node("m1", gpu_type=7), "node 'm1': gpu_type: 7"),
        (_node("m1", name="r0"), "node 'm1': name: 'r0': must differ from that of node 'r0'"),
        (_node("m1", name="a\nb"), "node 'm1': name: "),
        (_cut("r0", "m0"), "edge 'r0' - 'm0': bandwidth: is required, as other links have one"),
        (_cut("m1", 5), "edge 'm1' - 5: bandwidth: is required, as other links have one"),
        (_at("r0", "m0", bandwidth=None, latency=1), "edge 'r0' - 'm0': bandwidth: is required"),
        (_at("r0", "m0", bandwidth=0), "edge 'r0' - 'm0': bandwidth: 0: "),
        (_at("r0", "m0", bandwidth=float("nan")), "edge 'r0' - 'm0': bandwidth: nan: "),
        (_at("r0", "m0", bandwidth=float("inf")), "edge 'r0' - 'm0': bandwidth: inf: "),
        (_at("r0", "m0", bandwidth="9"), "edge 'r0' - 'm0': bandwidth: '9': "),
        (_at("r0", "m0", bandwidth=True), "edge 'r0' - 'm0': bandwidth: True: "),
        (_at("r0", "m0", capacity=0), "edge 'r0' - 'm0': capacity: 0: "),
        (_at("r0", "m0", capacity=-1e9), "edge 'r0' - 'm0': capacity: -1000000000.0: "),
        (_at("r0", "m0", latency=-1), "edge 'r0' - 'm0': latency: -1: "),
        (_at("m1", 5, bandwidth=2e9), "edge 'm1' - 5: .*must equal that of GPU 4"),
        (_swap, "node 4: number: 4: must be 1: numbers follow the tree"),
    ],
)
def test_bad_graphs(change: Callable[[Any], object], line: str) -> None:
    """One line names the node or edge, its value and the rule."""
    with pytest.raises(InvalidInput, match=f"^({line})") as caught:
        Cluster.from_graph(_edit(change))
    assert "\n" not in str(caught.value)


def _directed(*edges: str) -> Any:
    """Make a directed graph of nodes with names of one letter."""
    return nx.DiGraph(map(tuple, edges))


@pytest.mark.parametrize(
    ("graph", "line"),
    [
        ({"a": 1}, "graph: a dict: must be a networkx Graph or DiGraph"),
        (_directed("ab", "cb"), "root: 'a', 'c': must be named: there is not one node"),
        (_directed("ab", "ba"), "graph: must be a tree: every node has an edge"),
        (_directed("ab", "bc", "cb"), "edge 'c' - 'b': closes a cycle"),
        (_directed("ab", "ac", "bd", "cd"), "edge 'c' - 'd': closes a cycle"),
        (nx.Graph([("a", "b")]), "root: must be named: there is not one node of kind datacenter or network"),
        (nx.MultiGraph([("a", "b"), ("a", "b")]), "edge 'a' - 'b': must be one edge"),
    ],
)
def test_graphs_that_are_no_trees(graph: Any, line: str) -> None:
    """A graph that is no tree with one root is refused before its nodes are read."""
    with pytest.raises(InvalidInput, match=f"^{line}"):
        Cluster.from_graph(graph)


def test_named_levels() -> None:
    """Levels that are named are all there are, in their order."""
    graph = Cluster.uniform(machines=1, gpus=1).graph()
    assert Cluster.from_graph(graph, levels=["machine", "rack", "network"]).gpus == 1
    cases: dict[str, Any] = {
        "levels: 'rack': must be the names of the levels": "rack",
        "levels: [1]: must be the names of the levels": [1],
        "node 'rack 0': kind: 'rack'": ["machine", "pod"],
        "levels: machine, rack: must be in the given order": ["rack", "machine"],
    }
    for line, levels in cases.items():
        with refused(line, start=line):
            Cluster.from_graph(graph, levels=levels)
