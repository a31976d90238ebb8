"""Graph files: clusters stored as networkx graphs, in GraphML or node-link JSON."""

import io
import json
import re
import warnings
from typing import Any

from gsopt.core.errors import InvalidInput, one_line
from gsopt.core.files import parse_json
from gsopt.scenario.cluster import Cluster, Tier
from gsopt.scenario.cluster.formats.assembly import Told

#: Declarations that are rejected, as XML data does not need them and entities may expand a thousandfold.
_DECLARATION = re.compile(r"<!(DOCTYPE|ENTITY)")


def read_graphml(source: str, text: str, told: Told, _notes: list[str]) -> Cluster:
    """Read a cluster from GraphML."""
    import networkx as nx

    if declared := _DECLARATION.search(text):
        line = text.count("\n", 0, declared.start()) + 1
        raise InvalidInput(f"line {line}", declared[0], "must not occur in a GraphML file", source=source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a key without a type is text, and refused where that matters
            graph = nx.read_graphml(io.BytesIO(text.encode()))
    except (nx.NetworkXError, SyntaxError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInput("", "", f"must be GraphML: {one_line(error)}", source=source) from None
    return _cluster_of(source, graph, told)


def write_graphml(cluster: Cluster, _notes: list[str]) -> str:
    """Write a cluster as GraphML, with numbers of GPUs instead of a node for each GPU."""
    import networkx as nx

    written = io.BytesIO()
    nx.write_graphml_xml(cluster.graph(gpus=False), written)
    return written.getvalue().decode()


def read_node_link(source: str, text: str, told: Told, _notes: list[str]) -> Cluster:
    """Read a cluster from networkx's node-link JSON, which lists the edges under ``edges`` or ``links``."""
    import networkx as nx

    data = parse_json(source, text)
    edges = "edges" if "edges" in data else "links"
    for field in ("nodes", edges):
        rows = data.get(field)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InvalidInput(field, "", "must be a list of objects", source=source)
    try:
        graph = nx.node_link_graph(data, edges=edges)
    except KeyError as error:
        raise InvalidInput("", str(error), "is required of every node or edge", source=source) from None
    except (nx.NetworkXError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInput("", "", f"must be node-link JSON: {one_line(error)}", source=source) from None
    return _cluster_of(source, graph, told)


def write_node_link(cluster: Cluster, _notes: list[str]) -> str:
    """Write a cluster as node-link JSON, one node or edge per line, with numbers of GPUs, not GPU nodes."""
    import networkx as nx

    data = nx.node_link_data(cluster.graph(gpus=False), edges="edges")
    blocks = [f"{json.dumps(key)}: {_rows(value)}" for key, value in data.items()]
    return "{" + ",\n ".join(blocks) + "}\n"


def _rows(value: Any) -> str:
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"


def _cluster_of(source: str, graph: Any, told: Told) -> Cluster:
    """Build a cluster from a graph. The level of the root is added to the given levels."""
    told.refuse(source, "gpus")
    levels = None if told.levels is None else tuple(dict.fromkeys((*told.levels, Tier.NETWORK)))
    return Cluster.from_graph(graph, levels=levels)
