"""Topology graphs of NetQ."""

import json
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster.formats.assembly import Told
from gsopt.scenario.cluster.formats.netq import read_netq

_TIERS = {"spine": 2, "leaf1": 1, "leaf2": 1, "host1": -1, "host2": -1, "host3": -1}
_LINKS = ["spine leaf1", "leaf2 spine", "host1 leaf1", "leaf2 host2", "leaf1 host3"]


def _graph(links: list[str], **tiers: Any) -> str:
    nodes = [{"id": f"id-{name}", "name": name, "tier": tier} for name, tier in (_TIERS | tiers).items()]
    ends = [{"src": f"id-{one}", "target": f"id-{other}"} for one, other in map(str.split, links)]
    return json.dumps([{"nodes": [{"compounded_nodes": nodes}], "links": ends}])


def test_tiers_make_a_tree() -> None:
    """Whichever end a link is written from, hosts are below leaves and leaves below the spine."""
    cluster = read_netq("t", _graph(_LINKS), Told(gpus=8), [])
    assert [each.name for each in cluster.machines] == ["host1", "host3", "host2"]
    assert (cluster.levels, cluster.rack_of) == (("machine", "rack", "network"), (0, 0, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "t: '[': must be JSON"),
        ("{}", "t: {}: must be a list of graphs"),
        ("[1]", "t: [0].nodes: 1: must be a list"),
        ('[{"nodes": [{"compounded_nodes": 1}]}]', "t: [0].nodes[0].compounded_nodes: 1: must be a list"),
        (_graph(_LINKS, spine="x"), "t: [0].nodes[0].compounded_nodes[0].tier: 'x': must be of type int"),
        (_graph([*_LINKS, "leaf1 nobody"]), "t: [0].links[5].target: 'id-nobody': must be a device"),
        (_graph([*_LINKS, "leaf1 leaf2"]), "t: [0].links[5]: 'id-leaf1 - id-leaf2': must join two tiers"),
        (_graph([*_LINKS, "host1 leaf2"]), "t: device id-leaf2: nodes: 'host1': must be below one switch only"),
        (_graph(_LINKS[1:]), "must be below another switch, as only one can be the root"),
        ("[" * 100_000, "must be JSON"),
    ],
    ids=lambda text: text[:40],
)
def test_bad_graphs(text: str, message: str) -> None:
    """File, place, value and rule are told in one line."""
    with pytest.raises(InvalidInput) as error:
        read_netq("t", text, Told(gpus=8), [])
    assert message in str(error.value)
    assert "\n" not in str(error.value)
