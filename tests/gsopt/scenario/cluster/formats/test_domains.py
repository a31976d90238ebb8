"""Domains among switches."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster.formats.branches import Branch, Tree, levelled, tree_of
from gsopt.scenario.cluster.formats.domains import with_domains


def _tree() -> Tree:
    """Return two pods of two racks of two machines: m0 to m7."""
    racks = [Branch(f"r{rack}", "", (), (f"m{2 * rack}", f"m{2 * rack + 1}")) for rack in range(4)]
    pods = [Branch("p0", "", ("r0", "r1")), Branch("p1", "", ("r2", "r3"))]
    return levelled("", tree_of("", [Branch("core", "", ("p0", "p1")), *pods, *racks], []))


def _below(tree: Tree, name: str) -> list[str]:
    return [*tree[name].branches, *tree[name].machines]


def test_a_domain_as_large_as_a_rack_is_inside_it() -> None:
    """The machines of the rack are those of the domain, whose links are faster."""
    tree = with_domains("", _tree(), {"m0": "d", "m1": "d"})
    assert (_below(tree, "r0"), _below(tree, "d"), tree["d"].level) == (["d"], ["m0", "m1"], "nvlink")
    assert list(tree).index("d") < list(tree).index("r0")


def test_a_domain_within_a_rack_takes_its_machines() -> None:
    """The others stay below the switch."""
    tree = with_domains("", _tree(), {"m1": "d"})
    assert (_below(tree, "r0"), _below(tree, "d")) == (["d", "m0"], ["m1"])


def test_a_domain_of_whole_racks_stands_between() -> None:
    """All racks of a pod are inside the pod; all pods are inside the core."""
    pod = with_domains("", _tree(), {f"m{number}": "d" for number in range(4)})
    assert (_below(pod, "p0"), _below(pod, "d")) == (["d"], ["r0", "r1"])
    core = with_domains("", _tree(), {f"m{number}": "d" for number in range(8)})
    assert (_below(core, "core"), _below(core, "d")) == (["d"], ["p0", "p1"])


def test_domains_beside_each_other() -> None:
    """Several domains share the switch above them, in the order of the switches that they hold."""
    tree = with_domains("", _tree(), {f"m{number}": f"d{number // 4}" for number in range(8)})
    assert (_below(tree, "core"), _below(tree, "p0")) == (["p0", "p1"], ["d0"])
    assert [branch.name for branch in tree.values() if branch.level == "nvlink"] == ["d0", "d1"]


def test_a_domain_with_the_name_of_a_switch() -> None:
    """It is named after its level too."""
    tree = with_domains("", _tree(), {"m0": "r0", "m1": "r0"})
    assert _below(tree, "r0") == ["nvlink r0"]


@pytest.mark.parametrize(
    "machines",
    [(1, 2), (0, 1, 2), (2, 3, 4, 5), (0, 1, 4, 5, 6)],
    ids=["parts of two racks", "a rack and a part", "racks of two pods", "a rack, a rack and a part"],
)
def test_what_crosses_switches_is_refused(machines: tuple[int, ...]) -> None:
    """A domain that would make the tree no tree is named."""
    with pytest.raises(InvalidInput, match="t: domain: 'd': must be a domain within one switch, or of whole"):
        with_domains("t", _tree(), {f"m{number}": "d" for number in machines})
