"""GraphML and node-link JSON."""

import json
from collections.abc import Callable

import networkx as nx
import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Switch
from gsopt.scenario.cluster.formats.assembly import Told
from gsopt.scenario.cluster.formats.graph_files import (
    read_graphml,
    read_node_link,
    write_graphml,
    write_node_link,
)

_READ_WRITE = [(read_graphml, write_graphml), (read_node_link, write_node_link)]


def _linked() -> Cluster:
    """Return a cluster of all that there is: islands, links, types, memory and levels of its own."""
    fast, slow = (
        Link(bandwidth=450e9, latency=1e-7),
        Link(bandwidth=50e9, latency=2.5e-6, capacity=1 / 3 * 1e11),
    )
    machines = [
        Machine(
            name=f"näme <{number}> & co",
            gpus=4,
            gpu_type="H100",
            memory=80 * 2**30,
            islands=[Island(name=f"i{number}.{part}", gpus=2, uplink=fast) for part in range(2)],
            gpu_link=fast,
            uplink=slow,
        )
        for number in range(4)
    ]
    rows = [
        Switch(name=f"row {row}", level="row 1", machines=machines[2 * row :][:2], uplink=slow)
        for row in (0, 1)
    ]
    return Cluster(network=Switch(name="0", level="all", switches=rows))


@pytest.mark.parametrize(("read", "write"), _READ_WRITE)
@pytest.mark.parametrize(
    "cluster",
    [Cluster.plain(64), Cluster.uniform(racks=2, machines=2, gpus=8, memory=80), _linked()],
    ids=["plain", "racks", "everything"],
)
def test_round_trips(
    cluster: Cluster,
    read: Callable[[str, str, Told, list[str]], Cluster],
    write: Callable[[Cluster, list[str]], str],
) -> None:
    """Every cluster is read as it was written, to the last digit."""
    assert read("t", write(cluster, []), Told(), []) == cluster


def test_graphs_of_others() -> None:
    """A directed graph with GPUs as nodes, whose numbers are texts in GraphML, is a cluster too."""
    cluster = Cluster.uniform(racks=2, machines=2, gpus=11)
    tree = nx.bfs_tree(cluster.graph(), "datacenter")
    tree.add_nodes_from((node, {"kind": data["kind"]}) for node, data in cluster.graph().nodes(data=True))
    assert read_graphml("t", "\n".join(nx.generate_graphml(tree)), Told(), []) == cluster
    for edges in ("links", "edges"):
        assert read_node_link("t", json.dumps(nx.node_link_data(tree, edges=edges)), Told(), []) == cluster


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<", "t: must be GraphML: ParseError"),
        ("<graphml/>", "t: must be GraphML: "),
        ("<html><body/></html>", "t: must be GraphML: "),
        ('<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY a "b">]><a/>', "t: line 2: <!DOCTYPE: must not stand"),
        (write_graphml(Cluster.plain(8), []).replace(">8<", ">x<"), "t: must be GraphML: ValueError"),
        (write_graphml(Cluster.plain(8), []).replace("datacenter", "palace"), "node 'palace': kind: 'palace'"),
    ],
)
def test_bad_graphml(text: str, message: str) -> None:
    """What is no GraphML, and what is no cluster, gives one line; entities are not expanded."""
    with pytest.raises(InvalidInput) as error:
        read_graphml("t", text, Told(), [])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "t: line 1 column 2: must be JSON"),
        ("{}", "t: nodes: must be a list of objects"),
        ('{"nodes": [1], "edges": []}', "t: nodes: must be a list of objects"),
        ('{"nodes": [], "edges": 1}', "t: edges: must be a list of objects"),
        (
            '{"nodes": [{"kind": "gpu"}], "edges": [{"source": 1}]}',
            "t: 'target': is required of every node or edge",
        ),
        ('{"nodes": [{"id": {}}], "edges": []}', "t: must be node-link JSON: TypeError"),
        ('{"nodes": [], "edges": []}', "graph: must have a node"),
        ('{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 1}]}', "root: must be named"),
    ],
)
def test_bad_node_link(text: str, message: str) -> None:
    """What is no such JSON, and what is no tree, gives one line."""
    with pytest.raises(InvalidInput) as error:
        read_node_link("t", text, Told(), [])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_levels_that_are_not_in_common_use() -> None:
    """Graphs of others may have any levels once these are told; GPUs are not told, as the graph has them."""
    graph = nx.Graph([("core", "a"), ("a", "m")], root="core")
    nx.set_node_attributes(graph, {"core": "network", "a": "aisle", "m": "machine"}, "kind")
    graph.nodes["m"]["gpus"] = 4
    text = json.dumps(nx.node_link_data(graph, edges="edges"))
    with pytest.raises(InvalidInput, match="node 'a': kind: 'aisle': must be one of"):
        read_node_link("t", text, Told(), [])
    assert read_node_link("t", text, Told(levels=["aisle"]), []).levels == ("machine", "aisle", "network")
    with pytest.raises(InvalidInput, match="t: gpus: 4: must not be told, as the file says it"):
        read_node_link("t", text, Told(gpus=4, levels=["aisle"]), [])
