"""Models of topograph."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster.formats.assembly import Told
from gsopt.scenario.cluster.formats.topograph import read_topograph, write_topograph

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


def test_switches_blocks_and_domains() -> None:
    """Levels are by height, a domain of two racks is around them, and what is empty or not read is noted."""
    notes: list[str] = []
    cluster = read_topograph("t", MODEL, Told(gpus={"0010": 1, **dict.fromkeys(_names(), 4)}), notes)
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


def _names() -> list[str]:
    return ["n01", "n02", "n03", "n04", "n05", "n11"]


def test_round_trip() -> None:
    """What is written has blocks of machines that are alike, with their GPUs, and reads as the same cluster."""
    cluster = read_topograph("t", MODEL, Told(gpus={"0010": 2, **dict.fromkeys(_names(), 4)}), [])
    notes: list[str] = []
    text = write_topograph(cluster, notes)
    assert read_topograph("t", text, Told(), []) == cluster
    assert notes == []
    assert text.count("accelerator.topology.test/domain: d1") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t: None: must have switches and blocks"),
        ("[1]", "t: ['1']: must have switches and blocks"),
        ("switches: [a]", "t: switches: ['a']: must be a mapping of names to switches"),
        ("switches: {a: {switches: b}}", "t: switches.a.switches: 'b': must be a list of names"),
        ("switches: {a: {switches: [[b]]}}", "t: switches.a.switches[0]: ['b']: must be names such as"),
        ("blocks: {a: b}", "t: blocks: {'a': 'b'}: must be a list of blocks"),
        ("blocks: [a]", "t: blocks[0].switch: 'a': must name the switch of the block"),
        ("blocks: [{switch: a, nodes: b}]", "t: blocks[0].nodes: 'b': must be a list of names"),
        ("blocks: [{switch: a, nodes: ['b[1-']}]", "t: blocks[0].nodes[0]: 'b[1-': must be names such as"),
        ("blocks: [{switch: a, annotations: [b]}]", "t: blocks[0].annotations: ['b']: must be texts by name"),
        (
            "blocks: [{switch: a, nodes: [b], annotations: {gsopt/gpus: x}}]",
            "t: blocks[0].annotations.gsopt/gpus: 'x': must be a number of GPUs",
        ),
        (
            "blocks: [{switch: a, nodes: [n]}, {switch: a, nodes: [n]}]",
            "t: blocks[0]: nodes: 'n': must be below one switch only, and is below 'a' already",
        ),
        (
            "blocks: [{switch: a, nodes: [n]}, {switch: b, nodes: [m]}]",
            "t: blocks[1]: 'b': must be below another",
        ),
        ("switches: {a: {switches: [b]}, b: {switches: [a]}}", "t: switches.a: 'a': must not be below itself"),
        ("blocks: [{switch: a, nodes: [n]}]", "t: gpus: 'n': has no number of GPUs in the file"),
    ],
)
def test_bad_models(text: str, message: str) -> None:
    """File, field, value and rule are told in one line."""
    with pytest.raises(InvalidInput) as error:
        read_topograph("t", text, Told(), [])
    assert message in str(error.value)
    assert "\n" not in str(error.value)
