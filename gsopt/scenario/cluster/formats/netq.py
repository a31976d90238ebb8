"""NetQ: topology graphs of switches in tiers, with hosts below them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats.assembly import Told, cluster_of
from gsopt.scenario.cluster.formats.branches import Branch, tree_of


def read_netq(source: str, text: str, told: Told, notes: list[str]) -> Cluster:
    """Read a cluster from a topology graph.

    Devices on tiers above 0 are switches, and all others are machines. Every link must join devices on
    different tiers.
    """
    devices, links = _graph(source, text)
    branches: dict[str, list[str]] = {key: [] for key, (_, tier) in devices.items() if tier > 0}
    machines: dict[str, list[str]] = {key: [] for key in branches}
    for place, ends in links:
        low, high = sorted(ends, key=lambda end: devices[end][1])
        if devices[low][1] == devices[high][1]:
            raise InvalidInput(place, shorten(" - ".join(ends)), "must join two tiers", source=source)
        (branches if low in branches else machines)[high].append(devices[low][0])
    stated = [
        Branch(devices[key][0], f"device {key}", tuple(branches[key]), tuple(machines[key])) for key in branches
    ]
    tree = tree_of(source, stated, notes)
    return cluster_of(source, told.levelled(source, tree), told.about(source, tree, {}), notes)


_Devices = Mapping[str, tuple[str, int]]


def _graph(source: str, text: str) -> tuple[_Devices, list[tuple[str, tuple[str, str]]]]:
    """Return the name and tier of every device, and the location and both ends of every link."""
    graphs = _parsed(source, text)
    devices: dict[str, tuple[str, int]] = {}
    links: list[tuple[str, tuple[str, str]]] = []
    for index, graph in enumerate(graphs):
        for place, device in _rows(source, graph, f"[{index}]", "nodes", "compounded_nodes"):
            if device["id"] in devices:
                raise InvalidInput(
                    f"{place}.id", shorten(device["id"]), "must name one device only", source=source
                )
            devices[device["id"]] = device["name"], device["tier"]
        for place, link in _rows(source, graph, f"[{index}]", "links"):
            for end in ("src", "target"):
                if link[end] not in devices:
                    raise InvalidInput(f"{place}.{end}", shorten(link[end]), "must be a device", source=source)
            links.append((place, (link["src"], link["target"])))
    return devices, links


def _parsed(source: str, text: str) -> list[Any]:
    try:
        graphs = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("", shorten(text), "must be JSON", source=source) from None
    if not isinstance(graphs, list):
        raise InvalidInput("", shorten(graphs), "must be a list of graphs", source=source)
    return graphs


#: Required keys of every row, with their types.
_FIELDS: Mapping[str, Mapping[str, type]] = {
    "compounded_nodes": {"id": str, "name": str, "tier": int},
    "links": {"src": str, "target": str},
}


def _rows(source: str, owner: Any, place: str, *fields: str) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a field, or of the innermost of several nested fields, with their locations."""
    field, *inner = fields
    rows = owner.get(field) if isinstance(owner, dict) else owner
    if not isinstance(owner, dict) or not isinstance(rows, list):
        raise InvalidInput(f"{place}.{field}", shorten(rows), "must be a list", source=source)
    for index, row in enumerate(rows):
        at = f"{place}.{field}[{index}]"
        if inner:
            yield from _rows(source, row, at, *inner)
        else:
            _require(source, row, at, _FIELDS[field])
            yield at, row


def _require(source: str, row: Any, place: str, fields: Mapping[str, type]) -> None:
    for name, kind in fields.items():
        value = row.get(name) if isinstance(row, dict) else None
        if not isinstance(value, kind):
            raise InvalidInput(
                f"{place}.{name}", shorten(value), f"must be of type {kind.__name__}", source=source
            )
