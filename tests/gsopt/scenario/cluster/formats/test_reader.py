"""Clusters in the files of others."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Rack, Switch
from gsopt.scenario.cluster.formats import Format, read_cluster, write_cluster
from gsopt.scenario.cluster.formats.assembly import Told
from gsopt.scenario.cluster.formats.graph_files import (
    read_graphml,
    read_node_link,
    write_graphml,
    write_node_link,
)
from gsopt.scenario.cluster.formats.netq import read_netq
from gsopt.scenario.cluster.formats.slurm import read_slurm, write_blocks, write_tree
from gsopt.scenario.cluster.formats.topograph import read_topograph, write_topograph
from tests.effort import cases
from tests.refusals import refused
from tests.strategies.topology import trees
from tests.unwrap import unwrap

# Clusters from and to files of any format


#: Number of machines, levels, and how many groups each level has, of the public models with 4 GPUs a machine.
_MODELS = {
    "dual-xclr-irregular.yaml": {"machine": 255, "rack": 29, "nvlink": 2, "pod": 2, "network": 1},
    "dual-xclr-regular.yaml": {"machine": 96, "rack": 12, "pod": 6, "nvlink": 2, "network": 1},
    "expected.slinky-dra-block.conf": {"machine": 96, "rack": 12, "pod": 6, "zone": 3, "network": 1},
    "expected.slinky-oci-sim-tree.conf": {"machine": 96, "rack": 12, "pod": 6, "network": 1},
    "large.yaml": {"machine": 96, "nvlink": 12, "rack": 12, "pod": 6, "network": 1},
    "medium.yaml": {"machine": 8, "nvlink": 4, "rack": 4, "pod": 2, "network": 1},
    "netq-topologyGraph.json": {"machine": 8, "rack": 2, "network": 1},
    "nvl72.yaml": {"machine": 72, "nvlink": 4, "rack": 4, "pod": 2, "network": 1},
    "small-tree.yaml": {"machine": 6, "nvlink": 2, "rack": 2, "network": 1},
}
_SWITCHES = "SwitchName=core Switches=r[1-2]\nSwitchName=r1 Nodes=n[1-2]\nSwitchName=r2 Nodes=n[3-4]\n"
_RENUMBERED = "machines are in another order when they are read back, and GPUs have other numbers"
_WRITTEN = [each for each in Format if each != Format.NETQ]


@pytest.fixture(params=_MODELS)
def model(request: pytest.FixtureRequest) -> Path:
    """Return a public model, or skip the test where the data are not there."""
    folder = os.environ.get("GSOPT_DATA", "")
    path = Path(folder, "cluster-snapshots", "topology-topograph", request.param)
    if not folder or not path.is_file():
        pytest.skip("GSOPT_DATA is unset or has no network topologies")
    return path


def test_public_models(model: Path, tmp_path: Path) -> None:
    """Every model has its levels and groups, and every format reads what it wrote; most hold all."""
    cluster = read_cluster(model, gpus=4)
    assert {level: len(cluster.groups[level]) for level in cluster.levels} == _MODELS[model.name]
    assert cluster.gpus == 4 * _MODELS[model.name]["machine"]
    for kind in _WRITTEN:
        write_cluster(cluster, tmp_path / "once", format=kind, notes=(notes := list[str]()))
        once = read_cluster(tmp_path / "once")
        write_cluster(once, tmp_path / "twice", format=kind)
        assert read_cluster(tmp_path / "twice") == once
        assert kind in {Format.SLURM_TREE, Format.SLURM_BLOCK} or (once == cluster and not notes)


@pytest.mark.parametrize("kind", _WRITTEN)
def test_round_trips(kind: Format, tmp_path: Path) -> None:
    """Racks of machines of several types are the same in every format, which is found from the file alone."""
    machines = [
        [Machine(name=f"n{n}-{each}", gpus=2 + n, gpu_type="b2") for each in range(4)] for n in range(3)
    ]
    cluster = Cluster(racks=[Rack(name=f"r{n}", machines=below) for n, below in enumerate(machines)])
    notes: list[str] = []
    write_cluster(cluster, tmp_path / "file", format=kind, notes=notes)
    found = read_cluster(tmp_path / "file", notes=notes)
    assert notes == []
    if kind == Format.SLURM_BLOCK:  # which names no root
        racks = unwrap(found.network).switches
        found = Cluster(racks=[Rack(name=each.name, machines=each.machines) for each in racks])
    assert found == cluster
    assert read_cluster(tmp_path / "file", format=kind).gpus == cluster.gpus


@settings(max_examples=cases(60), deadline=None)
@given(trees())
def test_any_cluster_in_any_format(cluster: Cluster) -> None:
    """What a format can hold comes back equal, what it loses is noted, and a second trip loses nothing."""
    mixed = any(switch.machines and switch.switches for switch in cluster.switches)
    with TemporaryDirectory() as folder:
        path = Path(folder, "file")
        for kind in _WRITTEN:
            if mixed and kind in {Format.SLURM_TREE, Format.SLURM_BLOCK}:
                with pytest.raises(InvalidInput, match=r"not both, in topology\.conf"):
                    write_cluster(cluster, path, format=kind)
                continue
            notes: list[str] = []
            write_cluster(cluster, path, format=kind, notes=notes)
            once = read_cluster(path)
            assert notes or once == cluster or kind == Format.SLURM_BLOCK
            gpus, found = ([machine.gpus for machine in each.machines] for each in (cluster, once))
            assert found == gpus or (sorted(found) == sorted(gpus) and _RENUMBERED in notes)
            write_cluster(once, path, format=kind)
            assert read_cluster(path) == once


@pytest.mark.parametrize("name", ["a.json", "a.graphml", "a.xml", "a.conf", "a.yaml", "a.YML"])
def test_the_ending_says_what_is_written(name: str, tmp_path: Path) -> None:
    """Without a format, the file's ending says it."""
    write_cluster(Cluster.uniform(racks=2, machines=2, gpus=8), tmp_path / name)
    assert read_cluster(tmp_path / name).gpus == 32


def test_what_is_told(tmp_path: Path) -> None:
    """GPUs of all machines or of each, and the names of levels, are as they are told."""
    path = tmp_path / "topology.conf"
    path.write_text(f"\ufeff{_SWITCHES}")
    assert read_cluster(path, gpus=8).gpus == 32
    told = {"n1": 1, "n2": 2, "n3": 3, "n4": 0}
    notes: list[str] = []
    assert [machine.gpus for machine in read_cluster(path, gpus=told, notes=notes).machines] == [1, 2, 3]
    assert notes == [f"{path}: line 3: n4: has no GPUs and is left out"]
    with pytest.raises(InvalidInput, match=r"topology\.conf: gpus: 'n5': must be a machine of the file"):
        read_cluster(path, gpus=told | {"n5": 8})
    assert read_cluster(path, gpus=8, levels=["leaf"]).levels == ("machine", "leaf", "network")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be a cluster: JSON, GraphML, topology.conf of Slurm, or YAML of topograph"),
        (b"\x00\x01\x02\x03", "must be a cluster"),
        (b"\xff\xfe\x00", "byte 0: must be UTF-8 text"),
        (b"name,gpus\na,1\n", "must be a cluster"),
        (b"{", "must be JSON"),
        (b"{}", "plain_gpus: 0: must be a positive number"),
        (b'{"racks": [{"name": "r", "machines": [{"name": "r", "gpus": 1}]}]}', "racks: 'r': must name one"),
        (b'{"nodes": [], "links": []}', "graph: must have a node"),
        (b"<graphml/>", "must be GraphML"),
        (b"SwitchName=a Nodes=n", "gpus: 'n': has no number of GPUs in the file"),
        (b"SwitchName=a Nodes=n\n# NodeName=n Gres=gpu:2000000", "gpus: 2000000"),
        (
            b"SwitchName=a Nodes=n[1-3]\n# NodeName=n[1-3] Gres=gpu:400000",
            "must have at most 1,000,000 GPUs in all",
        ),
        (b"switches: 1", "switches: '1': must be a mapping"),
    ],
)
def test_bad_files_are_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    """Whatever is in a file, the line names it and says what is wrong."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with refused(message, start=f"{path}: "):
        read_cluster(path)


def test_bad_options_are_one_line(tmp_path: Path) -> None:
    """Formats that are none, endings that say none, and what a file says itself are refused."""
    cluster = Cluster.uniform(machines=1, gpus=8)
    path = tmp_path / "a.json"
    write_cluster(cluster, path)
    bad: dict[str, dict[str, Any]] = {
        "format: 'dot': must be one of gsopt, node-link": {"format": "dot"},
        "levels: 'rack': must be a list of names": {"levels": "rack"},
        "a.json: gpus: 8: must not be given, as the file states it": {"gpus": 8},
    }
    for line, options in bad.items():
        with refused(line):
            read_cluster(path, **options)
    with pytest.raises(InvalidInput, match=r"a\.dot: must end in \.json, \.graphml"):
        write_cluster(cluster, tmp_path / "a.dot")
    with pytest.raises(InvalidInput, match="format: netq: must be one of gsopt"):
        write_cluster(cluster, path, format="netq")
    with pytest.raises(InvalidInput, match=r"a\.conf: cluster: 8 plain GPUs: has no switches"):
        write_cluster(Cluster.plain(8), tmp_path / "a.conf")
    assert not (tmp_path / "a.conf").exists()


# Slurm's topology.conf


TREE = r"""
# a tree, as somebody's tool wrote it
switchname=core SWITCHES=s[1-2] LinkSpeed=400   # the root
SwitchName=s1 \
   Nodes=n[01-03],\
n07
SwitchName="s2" Nodes="n[08-09]"

# NodeName=n[01-03] Gres=gpu:h100:8(S:0-1) CPUs=96
NodeName=n[07-09] Gres=gpu:a100:4 State=UNKNOWN
"""
BLOCKS = """
BlockName=b1 Nodes=n[1-4]
BlockName=b2 Nodes=n[5-8]
BlockName=b3 Nodes=n[9-13]
BlockSizes=4,8
# NodeName=n[1-13] Gres=gpu:4
"""
ONE = "SwitchName=s1 Nodes=n1\n"


def test_switches() -> None:
    """Comments, continued lines, quotes and letters of any case are read; link speeds are noted."""
    notes: list[str] = []
    cluster = read_slurm("t", TREE, Told(), notes)
    assert [(each.name, each.gpus, each.gpu_type) for each in cluster.machines] == [
        *((f"n0{number}", 8, "h100") for number in (1, 2, 3)),
        *((f"n0{number}", 4, "a100") for number in (7, 8, 9)),
    ]
    assert cluster.levels == ("machine", "rack", "network")
    assert cluster.rack_of == (0, 0, 0, 0, 1, 1)
    assert notes == ["t: LinkSpeed: has no unit and is not read"]


def test_blocks() -> None:
    """Two neighbouring blocks make a group of twice the size; the last group has what is left."""
    cluster = read_slurm("t", BLOCKS, Told(), [])
    assert cluster.levels == ("machine", "rack", "pod", "network")
    assert [len(group.machines) for group in cluster.groups["rack"]] == [4, 4, 5]
    assert [(group.name, len(group.machines)) for group in cluster.groups["pod"]] == [
        ("b1..b2", 8),
        ("b3..b3", 5),
    ]
    alone = read_slurm("t", BLOCKS.replace("4,8", "4"), Told(), [])
    assert alone.levels == ("machine", "rack", "network")
    # One group of all is the root.
    assert read_slurm("t", BLOCKS.replace("4,8", "4,8,16"), Told(), []) == cluster


@pytest.mark.parametrize("text", [TREE, BLOCKS, f"{ONE}NodeName=n1 Gres=gpu:2"])
def test_round_trips_of_slurm(text: str) -> None:
    """A cluster that was read and written again reads as the same cluster."""
    cluster = read_slurm("t", text, Told(), [])
    write = write_blocks if "BlockName" in text else write_tree
    notes: list[str] = []
    assert read_slurm("t", write(cluster, notes), Told(), []) == cluster
    assert notes == []


def test_nodes_without_gpus_are_left_out() -> None:
    """Nodes without GPUs are noted, and a file that has no others is refused."""
    text = ONE.replace("n1", "n[1-2]") + "NodeName=n1 Gres=gpu:2\nNodeName=n2 Gres=nic:1"
    notes: list[str] = []
    assert read_slurm("t", text, Told(), notes).gpus == 2
    assert notes == ["t: line 1: n2: has no GPUs and is left out"]
    with pytest.raises(InvalidInput, match="t: must have at least one machine with GPUs"):
        read_slurm("t", ONE, Told(gpus=0), [])


def _deep() -> Cluster:
    """Return three pods of a block each, with names that topology.conf cannot hold."""
    machines = [Machine(name=f"m {number}", gpus=4, memory=80) for number in range(3)]
    leaves = [Switch(name=f"b {each.name}", level="leaf", machines=[each]) for each in machines]
    pods = [Switch(name=f"pod {each.name[2:]}", level="spine", switches=[each]) for each in leaves]
    return Cluster(network=Switch(name="core", level="network", switches=pods))


def test_what_is_lost_is_noted() -> None:
    """Names are changed so that they fit, and what the format has no place for is told."""
    notes: list[str] = []
    write_tree(_deep(), notes)
    assert notes == [
        "names with spaces or signs are written without: 'pod-m-0' and 8 more",
        "memory cannot be written in this format",
        "level leaf is not written, and read back as rack",
        "level spine is not written, and read back as pod",
    ]
    text = write_blocks(_deep(), notes)
    assert "BlockSizes=1\n" in text
    assert notes[-3:] == [
        "not written: 'core' and 3 more",
        "level leaf is not written, and read back as rack",
        "level spine is not written",
    ]


def test_what_cannot_be_written_is_refused() -> None:
    """A plain cluster, a switch with machines and switches, and names that become one are told."""
    machine = Machine(name="m", gpus=4)
    inner = Switch(name="s", level="rack", machines=[Machine(name="n", gpus=4)])
    mixed = Cluster(network=Switch(name="core", level="network", machines=[machine], switches=[inner]))
    same = Cluster(network=Switch(name="a b", level="network", machines=[Machine(name="a-b", gpus=4)]))
    for cluster, message in [
        (Cluster.plain(8), "has no switches"),
        (mixed, "switch: 'core': must have machines or switches below it, not both"),
        (same, "name: 'a-b': must differ from 'a b' without spaces and signs too"),
    ]:
        for write in (write_tree, write_blocks):
            with pytest.raises(InvalidInput, match=message):
                write(cluster, [])


# Models of topograph


MODEL = """
switches:
  core: {labels: {zone: a}, switches: [spine1, spine2]}
  spine1: {switches: [leaf1, leaf2]}
  spine2: {switches: [leaf3, leaf4, leaf5]}
blocks:
- switch: leaf1
  nodes: ["n[01-02]", n05]
  annotations: {accelerator.x/domain: d1, accelerator.x/sub-domain: leaf1, other.y/domain: z}
- {switch: leaf2, nodes: ["n[03-04]"], annotations: {accelerator.x/domain: d1, accelerator.x/sub-domain: s}}
- {switch: leaf3, nodes: ["0010"], annotations: {gsopt/gpus: '2', gsopt/gpu-type: b200}}
- {switch: leaf3, nodes: [n11], annotations: {accelerator.x/sub-domain: s}}
- {switch: leaf4, nodes: []}
"""
_GPUS = dict.fromkeys(["n01", "n02", "n03", "n04", "n05", "n11"], 4)


def test_switches_blocks_and_domains() -> None:
    """Levels are by height, a domain of two racks is around them, and what is empty or not read is noted."""
    notes: list[str] = []
    cluster = read_topograph("t", MODEL, Told(gpus=_GPUS | {"0010": 1}), notes)
    assert cluster.levels == ("machine", "rack", "nvlink", "pod", "network")
    assert [group.name for group in cluster.groups["nvlink"]] == ["d1", "leaf3"]
    assert [(each.name, each.gpus, each.gpu_type) for each in cluster.machines[-2:]] == [
        ("0010", 1, "b200"),
        ("n11", 4, ""),
    ]
    assert cluster.tier([0, cluster.gpus - 6]) == "nvlink"
    assert notes == [
        "t: blocks[4]: leaf4: has no machines and is left out",
        "t: switches: leaf5: has no machines and is left out",
        "t: sub-domains that are no switches are not read: 's'",
    ]


def test_round_trip() -> None:
    """The written file groups like machines into blocks with their GPUs, and reads as the same cluster."""
    cluster = read_topograph("t", MODEL, Told(gpus=_GPUS | {"0010": 2}), [])
    notes: list[str] = []
    text = write_topograph(cluster, notes)
    assert read_topograph("t", text, Told(), []) == cluster
    assert notes == []
    assert text.count("accelerator.topology.test/domain: d1") == 2


# Topology graphs of NetQ


_TIERS = {"spine": 2, "leaf1": 1, "leaf2": 1, "host1": -1, "host2": -1, "host3": -1}
_LINKS = ["spine leaf1", "leaf2 spine", "host1 leaf1", "leaf2 host2", "leaf1 host3"]


def _graph(links: list[str], **tiers: Any) -> str:
    nodes = [{"id": f"id-{name}", "name": name, "tier": tier} for name, tier in (_TIERS | tiers).items()]
    ends = [{"src": f"id-{one}", "target": f"id-{other}"} for one, other in map(str.split, links)]
    return json.dumps([{"nodes": [{"compounded_nodes": nodes}], "links": ends}])


def test_graphs_of_others() -> None:
    """Links may be written from either end, and GPUs be nodes with numbers as texts."""
    cluster = read_netq("t", _graph(_LINKS), Told(gpus=8), [])
    assert [each.name for each in cluster.machines] == ["host1", "host3", "host2"]
    assert (cluster.levels, cluster.rack_of) == (("machine", "rack", "network"), (0, 0, 1))
    cluster = Cluster.uniform(racks=2, machines=2, gpus=11)
    tree = nx.bfs_tree(cluster.graph(), "datacenter")
    tree.add_nodes_from((node, {"kind": data["kind"]}) for node, data in cluster.graph().nodes(data=True))
    assert read_graphml("t", "\n".join(nx.generate_graphml(tree)), Told(), []) == cluster
    for edges in ("links", "edges"):
        assert read_node_link("t", json.dumps(nx.node_link_data(tree, edges=edges)), Told(), []) == cluster


# GraphML and node-link JSON


_READ_WRITE = [(read_graphml, write_graphml), (read_node_link, write_node_link)]


def _linked() -> Cluster:
    """Return a cluster of all that there is: islands, links, types, memory and levels of its own."""
    fast = Link(bandwidth=450e9, latency=1e-7)
    slow = Link(bandwidth=50e9, latency=2.5e-6, capacity=1 / 3 * 1e11)
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
def test_round_trips_of_graph_files(
    cluster: Cluster,
    read: Callable[[str, str, Told, list[str]], Cluster],
    write: Callable[[Cluster, list[str]], str],
) -> None:
    """Every cluster is read as it was written, to the last digit."""
    assert read("t", write(cluster, []), Told(), []) == cluster


def test_levels_that_are_not_in_common_use() -> None:
    """Graphs of others may have any levels once these are told; GPUs are not told, as the graph has them."""
    graph = nx.Graph([("core", "a"), ("a", "m")], root="core")
    nx.set_node_attributes(graph, {"core": "network", "a": "aisle", "m": "machine"}, "kind")
    graph.nodes["m"]["gpus"] = 4
    text = json.dumps(nx.node_link_data(graph, edges="edges"))
    with pytest.raises(InvalidInput, match="node 'a': kind: 'aisle': must be one of"):
        read_node_link("t", text, Told(), [])
    assert read_node_link("t", text, Told(levels=["aisle"]), []).levels == ("machine", "aisle", "network")
    with pytest.raises(InvalidInput, match="t: gpus: 4: must not be given, as the file states it"):
        read_node_link("t", text, Told(gpus=4, levels=["aisle"]), [])


# What is in no format


_BAD: dict[Callable[..., Cluster], list[tuple[str, str]]] = {
    read_slurm: [
        ("", "t: must name at least one switch"),
        (ONE, "t: gpus: 'n1': has no number of GPUs in the file"),
        ("Switch=s1 Nodes=n1", "t: line 1: 'Switch=s1 Nodes=n1': must begin with SwitchName, BlockName"),
        ("SwitchName=s1 Node=n1", "t: line 1: 'node': must be one of SwitchName, Switches, Nodes, LinkSpeed"),
        ("SwitchName=s1 Nodes=n1 nonsense", "t: line 1: 'nonsense': must be settings such as Nodes=n[1-4]"),
        ("nonsense", "t: line 1: 'nonsense': must be settings"),
        ("SwitchName=s1 Nodes=n1 Nodes=n2", "t: line 1: Nodes: must not occur twice in one line"),
        ("SwitchName= Nodes=n1", "t: line 1: SwitchName: must have a value"),
        ("SwitchName=s1 Nodes=n[1-", "t: line 1: Nodes: 'n[1-': must be names"),
        ("SwitchName=s1 Nodes=n[1-99999999]", "t: line 1: Nodes: 'n[1-99999999]': must have at most"),
        ("SwitchName=s1 Nodes=n1 Switches=s2", "t: line 1: 's1': must have Switches or Nodes, and not both"),
        (f"{ONE}BlockName=b Nodes=n2", "t: line 2: BlockName: must not occur in a file of switches"),
        (f"{BLOCKS}BlockSizes=4", "must be a size of blocks and larger ones"),
        (BLOCKS.replace("4,8", "4,12"), "t: line 5: BlockSizes: '4,12': must be a size of blocks"),
        (BLOCKS.replace("4,8", "4,6"), "BlockSizes: '4,6': must be"),
        (BLOCKS.replace("4,8", "0,8"), "BlockSizes: '0,8': must be"),
        (BLOCKS.replace("4,8", "4,x"), "BlockSizes: '4,x': must be"),
        (BLOCKS.replace("4,8", "8,4"), "BlockSizes: '8,4': must be"),
    ],
    read_topograph: [
        ("", "t: None: must have switches and blocks"),
        ("[1]", "t: ['1']: must have switches and blocks"),
        ("switches: [a]", "t: switches: ['a']: must be a mapping of names to switches"),
        ("switches: {a: {switches: b}}", "t: switches.a.switches: 'b': must be a list of names"),
        ("switches: {a: {switches: [[b]]}}", "t: switches.a.switches[0]: ['b']: must be names such as"),
        ("blocks: {a: b}", "t: blocks: {'a': 'b'}: must be a list of blocks"),
        ("blocks: [a]", "t: blocks[0].switch: 'a': must name the switch of the block"),
        ("blocks: [{switch: a, nodes: b}]", "t: blocks[0].nodes: 'b': must be a list of names"),
        ("blocks: [{switch: a, nodes: ['b[1-']}]", "t: blocks[0].nodes[0]: 'b[1-': must be names such as"),
        ("blocks: [{switch: a, annotations: [b]}]", "t: blocks[0].annotations: ['b']: must be strings by name"),
        (
            "blocks: [{switch: a, nodes: [b], annotations: {gsopt/gpus: x}}]",
            "t: blocks[0].annotations.gsopt/gpus: 'x': must be a number of GPUs",
        ),
        ("blocks: [{switch: a, nodes: [n]}, {switch: a, nodes: [n]}]", "t: blocks[0]: nodes: 'n': must be"),
        ("blocks: [{switch: a, nodes: [n]}, {switch: b, nodes: [m]}]", "t: blocks[1]: 'b': must be below"),
        ("switches: {a: {switches: [b]}, b: {switches: [a]}}", "t: switches.a: 'a': must not be below itself"),
        ("blocks: [{switch: a, nodes: [n]}]", "t: gpus: 'n': has no number of GPUs in the file"),
    ],
    read_netq: [
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
    read_graphml: [
        ("<", "t: must be GraphML: ParseError"),
        ("<graphml/>", "t: must be GraphML: "),
        ("<html><body/></html>", "t: must be GraphML: "),
        ('<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY a "b">]><a/>', "t: line 2: <!DOCTYPE: must not occur"),
        (write_graphml(Cluster.plain(8), []).replace(">8<", ">x<"), "t: must be GraphML: ValueError"),
        (write_graphml(Cluster.plain(8), []).replace("datacenter", "palace"), "node 'palace': kind: 'palace'"),
    ],
    read_node_link: [
        ("{", "t: line 1 column 2: must be JSON"),
        ("{}", "t: nodes: must be a list of objects"),
        ('{"nodes": [1], "edges": []}', "t: nodes: must be a list of objects"),
        ('{"nodes": [], "edges": 1}', "t: edges: must be a list of objects"),
        ('{"nodes": [{"kind": "gpu"}], "edges": [{"source": 1}]}', "t: 'target': is required of every node"),
        ('{"nodes": [{"id": {}}], "edges": []}', "t: must be node-link JSON: TypeError"),
        ('{"nodes": [], "edges": []}', "graph: must have a node"),
        ('{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 1}]}', "root: must be named"),
    ],
}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [(read, *row) for read, rows in _BAD.items() for row in rows],
    ids=lambda value: value.__name__ if callable(value) else value[:40],
)
def test_bad_texts(read: Callable[..., Cluster], text: str, message: str) -> None:
    """One line names the file, the place, the value and the rule; entities of GraphML are not expanded."""
    with refused(message):
        read("t", text, Told(gpus=8 if read is read_netq else None), [])
