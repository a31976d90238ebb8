"""Branches: what makes a tree, and what does not."""

from collections.abc import Sequence

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster.formats.branches import Branch, levelled, tree_of


def _branches(*rows: str) -> list[Branch]:
    """Read rows such as ``core: a b`` and ``a: .m1 .m2``, where machines have a dot."""
    found = []
    for number, row in enumerate(rows, start=1):
        name, _, below = row.partition(":")
        names = below.split()
        machines = [each[1:] for each in names if each.startswith(".")]
        found.append(Branch(name, f"line {number}", [each for each in names if each[0] != "."], machines))
    return found


def test_order_and_levels() -> None:
    """Branches stand behind those below them, and a level is one above the highest below it."""
    tree = levelled("", tree_of("", _branches("core: a d", "a: b c", "b: .m1", "c: .m2", "d: .m3"), []))
    levels = {name: branch.level for name, branch in tree.items()}
    assert levels == {"b": "rack", "c": "rack", "d": "rack", "a": "pod", "core": "network"}
    names = list(tree)
    assert all(names.index(child) < names.index(name) for name in names for child in tree[name].branches)


def test_one_switch_is_a_rack() -> None:
    """A file of one switch is no network of racks."""
    assert [each.level for each in levelled("", tree_of("", _branches("a: .m"), [])).values()] == ["rack"]


def test_levels_have_the_names_that_are_told() -> None:
    """Names are given from the innermost out, and too few of them are refused."""
    tree = tree_of("a.conf", _branches("core: a", "a: b", "b: .m"), [])
    assert [each.level for each in levelled("", tree, ["leaf", "spine"]).values()] == [
        "leaf",
        "spine",
        "network",
    ]
    with pytest.raises(InvalidInput, match=r"a\.conf: levels: leaf: must name the 2 levels"):
        levelled("a.conf", tree, ["leaf"])


def test_what_is_empty_is_left_out() -> None:
    """Switches without machines, and those that hold only such, are noted and left out."""
    notes: list[str] = []
    tree = tree_of("t", _branches("core: a b", "a: .m", "b: c", "c:"), notes)
    assert set(tree) == {"core", "a"}
    assert notes == [
        f"t: line {line}: {name}: has no machines and is left out" for line, name in ((4, "c"), (3, "b"))
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "t: must name at least one switch"),
        (["a:"], "t: must have at least one machine"),
        (["a: .m", "a: .n"], "t: line 2: 'a': must not be stated twice, as it is by line 1 too"),
        (["core: a x", "a: .m"], "t: line 1: switches: 'x': must be a switch that the file states"),
        (
            ["core: a b", "a: .m", "b: .m"],
            "t: line 3: nodes: 'm': must be below one switch only, and is below 'a'",
        ),
        (["core: a b", "a: c", "b: c", "c: .m"], "t: line 3: switches: 'c': must be below one switch only"),
        (["core: a a", "a: .m"], "t: line 1: switches: 'a': must be below one switch only"),
        (["a: .m", "b: .n"], "t: line 2: 'b': must be below another switch, as only one can be the root"),
        (["a: b", "b: c", "c: a .m"], "must not be below itself"),
        (["a: a .m"], "t: line 1: 'a': must not be below itself, over other switches or directly"),
        (["core: .m", "a: b", "b: a .n"], "t: line 2: 'a': must not be below itself"),  # beside a tree
        (["core: a", "a: .core"], "t: line 2: nodes: 'core': must not be a switch too"),
    ],
)
def test_what_is_no_tree_is_refused(rows: Sequence[str], message: str) -> None:
    """Places, names and the rule are told in one line."""
    with pytest.raises(InvalidInput) as error:
        tree_of("t", _branches(*rows), [])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_chain_of_thousands_is_refused() -> None:
    """A tree that is deeper than any network is refused without recursion."""
    rows = [*(f"s{number}: s{number + 1}" for number in range(20_000)), "s20000: .m"]
    with pytest.raises(InvalidInput, match="'s0': must be above at most 30 levels"):
        levelled("t", tree_of("t", _branches(*rows), []))
