"""Slurm's topology.conf."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Switch
from gsopt.scenario.cluster.formats.assembly import Told
from gsopt.scenario.cluster.formats.slurm import read_slurm, write_blocks, write_tree

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
    assert (
        read_slurm("t", BLOCKS.replace("4,8", "4,8,16"), Told(), []) == cluster
    )  # one group of all is the root


@pytest.mark.parametrize("text", [TREE, BLOCKS, f"{ONE}NodeName=n1 Gres=gpu:2"])
def test_round_trips(text: str) -> None:
    """What was read and written reads as the same cluster."""
    cluster = read_slurm("t", text, Told(), [])
    write = write_blocks if "BlockName" in text else write_tree
    notes: list[str] = []
    assert read_slurm("t", write(cluster, notes), Told(), []) == cluster
    assert notes == []


def test_nodes_without_gpus_are_left_out() -> None:
    """They are noted, and a file of no others is refused."""
    text = ONE.replace("n1", "n[1-2]") + "NodeName=n1 Gres=gpu:2\nNodeName=n2 Gres=nic:1"
    notes: list[str] = []
    assert read_slurm("t", text, Told(), notes).gpus == 2
    assert notes == ["t: line 1: n2: has no GPUs and is left out"]
    with pytest.raises(InvalidInput, match="t: must have at least one machine with GPUs"):
        read_slurm("t", ONE, Told(gpus=0), [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t: must name at least one switch"),
        (ONE, "t: gpus: 'n1': has no number of GPUs in the file"),
        ("Switch=s1 Nodes=n1", "t: line 1: 'Switch=s1 Nodes=n1': must begin with SwitchName, BlockName"),
        ("SwitchName=s1 Node=n1", "t: line 1: 'node': must be one of SwitchName, Switches, Nodes, LinkSpeed"),
        ("SwitchName=s1 Nodes=n1 nonsense", "t: line 1: 'nonsense': must be settings such as Nodes=n[1-4]"),
        ("nonsense", "t: line 1: 'nonsense': must be settings"),
        ("SwitchName=s1 Nodes=n1 Nodes=n2", "t: line 1: Nodes: must not stand twice in one line"),
        ("SwitchName= Nodes=n1", "t: line 1: SwitchName: must have a value"),
        ("SwitchName=s1 Nodes=n[1-", "t: line 1: Nodes: 'n[1-': must be names"),
        ("SwitchName=s1 Nodes=n[1-99999999]", "t: line 1: Nodes: 'n[1-99999999]': must have at most"),
        ("SwitchName=s1 Nodes=n1 Switches=s2", "t: line 1: 's1': must have Switches or Nodes, and not both"),
        (f"{ONE}BlockName=b Nodes=n2", "t: line 2: BlockName: must not stand in a file of switches"),
        (f"{BLOCKS}BlockSizes=4", "must be a size of blocks and larger ones"),
        (BLOCKS.replace("4,8", "4,12"), "t: line 5: BlockSizes: '4,12': must be a size of blocks"),
        (BLOCKS.replace("4,8", "4,6"), "BlockSizes: '4,6': must be"),
        (BLOCKS.replace("4,8", "0,8"), "BlockSizes: '0,8': must be"),
        (BLOCKS.replace("4,8", "4,x"), "BlockSizes: '4,x': must be"),
        (BLOCKS.replace("4,8", "8,4"), "BlockSizes: '8,4': must be"),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    """File, line, value and rule are told in one line."""
    with pytest.raises(InvalidInput) as error:
        read_slurm("t", text, Told(), [])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def _deep() -> Cluster:
    """Return three pods of a block each, with names that topology.conf cannot hold."""
    machines = [Machine(name=f"m {number}", gpus=4, memory=80) for number in range(3)]
    pods = [
        Switch(
            name=f"pod {each.name}",
            level="spine",
            switches=[Switch(name=f"b {each.name}", level="leaf", machines=[each])],
        )
        for each in machines
    ]
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
