"""Parts of the formats: names, trees, domains, GPUs and texts."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Rack, Switch
from gsopt.scenario.cluster.formats.assembly import Told, branches_of, cluster_of, losses, plain_branches
from gsopt.scenario.cluster.formats.branches import Branch, Tree, levelled, tree_of
from gsopt.scenario.cluster.formats.domains import with_domains
from gsopt.scenario.cluster.formats.hostlist import compress, expand
from gsopt.scenario.cluster.formats.nodes import Gpus, gpus_of, read_gres, write_gres
from gsopt.scenario.cluster.formats.yaml_text import parse_yaml
from tests.effort import cases
from tests.refusals import refused

# Host lists


_NUMBERS = st.integers(0, 12).map(str) | st.sampled_from(["07", "08", "09", "010", "099", "100", ""])
_NAMES = st.lists(
    st.builds("{}{}{}".format, st.sampled_from(["n", "m."]), _NUMBERS, st.sampled_from(["", "x"]))
)


@given(_NAMES.filter(bool))
def test_what_is_compressed_expands_to_the_same(names: list[str]) -> None:
    """Whatever the names, their order and their leading zeros, the host list stands for them."""
    assert expand(compress(names)) == names


def test_lists_of_names() -> None:
    """Neighbours become ranges, brackets are combined, and long lists are cut in one pass."""
    assert compress(["n8", "n9", "n10", "n12"]) == "n[8-10,12]"
    assert compress(["n08", "n09", "n10", "n0100"]) == "n[08-10,0100]"
    assert compress(["n099", "n100", "m1"]) == "n[099-100],m1"
    assert expand("r[1-2]n[08-09]x") == ["r1n08x", "r1n09x", "r2n08x", "r2n09x"]
    assert expand("[1101-1102]") == ["1101", "1102"]
    names = [f"n{number}" for number in range(0, 40_000, 2)]
    assert expand(",".join(names)) == names


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must be names such as"),
        ("a,,b", "must be names such as"),  # nothing between commas
        ("a b", "must be names such as"),  # a space
        ("a[1-2", "must be names such as"),  # not closed
        ("a[[1]]", "must be names such as"),  # nested
        ("a[x]", "must have numbers and ranges in its brackets, not 'x'"),
        ("a[1-2-3]", "must have numbers and ranges in its brackets"),
        ("a[]", "must have numbers and ranges in its brackets, not ''"),
        ("a[9-1]", "must have ranges that do not fall, unlike 9-1"),
        ("a[1-999999999999]", "must have at most 1,000,000 names"),  # memory
        ("a[1-1000]b[1-1000]c[1-1000]", "must have at most 1,000,000 names"),
        ("a[" + "9" * 5000 + "]", "must have numbers and ranges in its brackets"),  # Python's limit of digits
    ],
)
def test_what_is_no_host_list_is_refused(text: str, rule: str) -> None:
    """The rule that is broken is said, whatever the text stands for."""
    with pytest.raises(ValueError, match=rule.replace("[", r"\[")):
        expand(text)


# YAML without trust


_LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_scalars_stay_as_they_are_written() -> None:
    """Zeros before numbers, words for truth and quoted text are text."""
    assert parse_yaml("", "a: [0010, yes, 1e3, '~', \"x\", ]\nb: {c: }") == {
        "a": ["0010", "yes", "1e3", "~", "x"],
        "b": {"c": ""},
    }
    assert parse_yaml("", "") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_LAUGHS, "t: line 2: '*a': must not be an alias"),
        ("a: 1\na: 2", "t: line 2: 'a': must not occur twice in one mapping"),
        ("[a]: 1", "t: line 1: must have strings as keys"),
        ("a: 1\n---\nb: 2", "t: line 2: must be one document"),
        ("[" * 500, "t: line 1: must be nested less deeply"),
        ("a: [1", "t: line 2: must be YAML: "),
        ("a: b: c", "t: line 1: must be YAML: "),
        ("a: \x00", "must be YAML: "),
        ("- " * 5_000_000, "t: 10,000,000 characters: must be at most 4,194,304 characters"),
    ],
    ids=["laughs", "key twice", "list as key", "two documents", "deep", "open", "colons", "NUL", "long"],
)
def test_what_is_no_data_is_refused(text: str, message: str) -> None:
    """One line says where and why, and nothing is expanded."""
    with refused(message):
        parse_yaml("t", text)


# What GPUs nodes have


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("gpu:8", Gpus(8)),
        ("gpu", Gpus(1)),
        ("gpu:h100", Gpus(1, "h100")),
        ("gpu:h100:8", Gpus(8, "h100")),
        ("gpu:h100:8(S:0-1)", Gpus(8, "h100")),
        ("gpu:a100:4(IDX:0,1),gpu:a100:4(IDX:2,3)", Gpus(8, "a100")),  # commas in brackets
        ("craynetwork:4,gpu:2,nic:1", Gpus(2)),
        ("gpus:4", Gpus(0)),  # another resource
        ("", Gpus(0)),
    ],
)
def test_slurms_resources(text: str, gpus: Gpus) -> None:
    """Numbers and types of GPUs are read, what else there is passed over."""
    assert read_gres("t", "line 1", text) == gpus
    if gpus.number:
        assert read_gres("t", "line 1", write_gres(gpus)) == gpus


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("gpu:a:4,gpu:b:4", "must be GPUs of one type"),
        ("gpu:a:b:4", "must be such as gpu:8"),
        ("gpu:99999999", "must be such as gpu:8"),
    ],
)
def test_bad_resources(text: str, rule: str) -> None:
    """The line is named."""
    with pytest.raises(InvalidInput, match=f"t: line 1: Gres: .*{rule}"):
        read_gres("t", "line 1", text)


def test_who_says_how_many_there_are() -> None:
    """A number that the caller gives overrides the file's; without either, the file is refused."""
    stated = {"a": Gpus(4, "a100")}
    assert gpus_of("t", "a", None, stated) == Gpus(4, "a100")
    assert gpus_of("t", "a", 8, stated) == Gpus(8, "a100")
    assert gpus_of("t", "a", {"b": 8}, stated) == Gpus(4, "a100")
    with pytest.raises(InvalidInput, match="t: gpus: 'b': has no number of GPUs in the file"):
        gpus_of("t", "b", {"a": 8}, stated)
    with pytest.raises(InvalidInput, match="t: gpus: -1: must be a whole number of at least 0"):
        gpus_of("t", "b", -1, stated)


# Branches: what makes a tree, and what does not


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
    """Branches stand behind those below, one level above the highest; names go from the innermost out."""
    tree = levelled("", tree_of("", _branches("core: a d", "a: b c", "b: .m1", "c: .m2", "d: .m3"), []))
    levels = {name: branch.level for name, branch in tree.items()}
    assert levels == {"b": "rack", "c": "rack", "d": "rack", "a": "pod", "core": "network"}
    names = list(tree)
    assert all(names.index(child) < names.index(name) for name in names for child in tree[name].branches)
    assert [each.level for each in levelled("", tree_of("", _branches("a: .m"), [])).values()] == ["rack"]
    tree = tree_of("a.conf", _branches("core: a", "a: b", "b: .m"), [])
    named = levelled("", tree, ["leaf", "spine"])
    assert [each.level for each in named.values()] == ["leaf", "spine", "network"]
    with pytest.raises(InvalidInput, match=r"a\.conf: levels: leaf: must name the 2 levels"):
        levelled("a.conf", tree, ["leaf"])


def test_empty_and_deep_trees() -> None:
    """Switches without machines are noted and left out; trees deeper than any network are refused."""
    notes: list[str] = []
    tree = tree_of("t", _branches("core: a b", "a: .m", "b: c", "c:"), notes)
    assert set(tree) == {"core", "a"}
    empty = ((4, "c"), (3, "b"))
    assert notes == [f"t: line {line}: {name}: has no machines and is left out" for line, name in empty]
    rows = [*(f"s{number}: s{number + 1}" for number in range(20_000)), "s20000: .m"]
    with pytest.raises(InvalidInput, match="'s0': must be above at most 30 levels"):
        levelled("t", tree_of("t", _branches(*rows), []))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "t: must name at least one switch"),
        (["a:"], "t: must have at least one machine"),
        (["a: .m", "a: .n"], "t: line 2: 'a': must not be stated twice, as it is by line 1 too"),
        (["core: a x", "a: .m"], "t: line 1: switches: 'x': must be a switch that the file states"),
        (["core: a b", "a: .m", "b: .m"], "t: line 3: nodes: 'm': must be below one switch only, and is"),
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
    with refused(message):
        tree_of("t", _branches(*rows), [])


# Domains among switches


def _tree() -> Tree:
    """Return two pods of two racks of two machines: m0 to m7."""
    racks = [Branch(f"r{rack}", "", (), (f"m{2 * rack}", f"m{2 * rack + 1}")) for rack in range(4)]
    pods = [Branch("p0", "", ("r0", "r1")), Branch("p1", "", ("r2", "r3"))]
    return levelled("", tree_of("", [Branch("core", "", ("p0", "p1")), *pods, *racks], []))


def _below(tree: Tree, name: str) -> list[str]:
    return [*tree[name].branches, *tree[name].machines]


def test_domains() -> None:
    """Domains stand inside the smallest switch that holds them, beside each other in the switches' order."""
    tree = with_domains("", _tree(), {"m0": "d", "m1": "d"})
    assert (_below(tree, "r0"), _below(tree, "d"), tree["d"].level) == (["d"], ["m0", "m1"], "nvlink")
    assert list(tree).index("d") < list(tree).index("r0")
    tree = with_domains("", _tree(), {"m1": "d"})
    assert (_below(tree, "r0"), _below(tree, "d")) == (["d", "m0"], ["m1"])
    pod = with_domains("", _tree(), {f"m{number}": "d" for number in range(4)})
    assert (_below(pod, "p0"), _below(pod, "d")) == (["d"], ["r0", "r1"])
    core = with_domains("", _tree(), {f"m{number}": "d" for number in range(8)})
    assert (_below(core, "core"), _below(core, "d")) == (["d"], ["p0", "p1"])
    tree = with_domains("", _tree(), {f"m{number}": f"d{number // 4}" for number in range(8)})
    assert (_below(tree, "core"), _below(tree, "p0")) == (["p0", "p1"], ["d0"])
    assert [branch.name for branch in tree.values() if branch.level == "nvlink"] == ["d0", "d1"]
    tree = with_domains("", _tree(), {"m0": "r0", "m1": "r0"})
    assert _below(tree, "r0") == ["nvlink r0"]


def _drawn_tree(random: Random) -> tuple[Tree, list[str]]:
    """Return a tree of up to eight switches, each with up to two machines, and its machines."""
    size = random.randint(1, 8)
    below: dict[int, list[str]] = {}
    for child in range(1, size):
        below.setdefault(random.randrange(child), []).append(f"s{child}")
    held = [[f"m{each}.{number}" for number in range(random.randint(0, 2))] for each in range(size)]
    leaves = [each for each in range(size) if each not in below]
    held = [machines or [f"m{each}.0"] * (each in leaves) for each, machines in enumerate(held)]
    branches = [Branch(f"s{each}", "", below.get(each, ()), held[each]) for each in range(size)]
    return levelled("", tree_of("", branches, [])), [machine for machines in held for machine in machines]


def _all_below(tree: Tree, name: str) -> frozenset[str]:
    branch = tree[name]
    return frozenset(branch.machines).union(*(_all_below(tree, child) for child in branch.branches))


def _fits(tree: Tree, name: str, domain: frozenset[str]) -> bool:
    """Check whether a domain can stand directly below a switch."""
    within = [below for child in tree[name].branches if (below := _all_below(tree, child)) <= domain]
    return domain <= {*tree[name].machines} or domain in (_all_below(tree, name), frozenset().union(*within))


def test_domains_of_any_tree() -> None:
    """A domain holds its machines, and a switch those that it held; it is refused only if it fits nowhere."""
    random, refusals = Random(3), 0
    for _ in range(cases(1000)):
        tree, machines = _drawn_tree(random)
        switches = random.sample([*tree], min(len(tree), random.randint(0, 2)))
        domain = frozenset(random.sample(machines, random.randint(not switches, 1)))
        domain = domain.union(*(_all_below(tree, name) for name in switches))
        try:
            found = with_domains("t", tree, dict.fromkeys(domain, "d"))
        except InvalidInput:
            refusals += 1
            assert not any(_fits(tree, name, domain) for name in tree)
        else:
            assert _all_below(found, "d") == domain
            assert all(_all_below(found, name) == _all_below(tree, name) for name in tree)
            assert [_fits(tree, name, domain) for name in tree if "d" in found[name].branches] == [True]
    assert refusals


@pytest.mark.parametrize(
    "machines",
    [(1, 2), (0, 1, 2), (2, 3, 4, 5), (0, 1, 4, 5, 6)],
    ids=["parts of two racks", "a rack and a part", "racks of two pods", "a rack, a rack and a part"],
)
def test_what_crosses_switches_is_refused(machines: tuple[int, ...]) -> None:
    """A domain that would make the tree no tree is named."""
    with pytest.raises(InvalidInput, match="t: domain: 'd': must be a domain within one switch, or of whole"):
        with_domains("t", _tree(), {f"m{number}": "d" for number in machines})


# Clusters out of branches, and branches out of clusters


@pytest.mark.parametrize("racks", [1, 3])
def test_clusters_of_racks_stay_such(racks: int) -> None:
    """A cluster of one rack or several is the same after it was taken apart, but for spaces in names."""
    machines = [[Machine(name=f"m{rack}.{number}", gpus=4) for number in range(2)] for rack in range(racks)]
    cluster = Cluster(racks=[Rack(name=f"r{rack}", machines=below) for rack, below in enumerate(machines)])
    tree = levelled("", tree_of("", plain_branches(cluster, []), []))
    assert cluster_of("", tree, Told(gpus=4).about("", tree, {}), []) == cluster


def test_a_network_stays_a_network() -> None:
    """A root with another name than that of racks is kept."""
    tree = levelled("", tree_of("", [Branch("core", "", ("a",)), Branch("a", "", (), ("m",))], []))
    cluster = cluster_of("", tree, lambda _: Gpus(8, "h100"), [])
    assert cluster.network is not None
    assert [branch.name for branch in branches_of(cluster)] == ["core", "a"]
    assert cluster.machines[0].gpu_type == "h100"


def test_what_is_lost_is_named() -> None:
    """Links of any kind, islands and memory are none of what branches hold."""
    link = Link(bandwidth=1e9)
    for machine, lost in [
        (Machine(name="m", gpus=4), []),
        (Machine(name="m", gpus=4, memory=1), ["memory"]),
        (Machine(name="m", gpus=4, islands=[Island(name=name, gpus=2) for name in "ab"]), ["islands"]),
        (Machine(name="m", gpus=4, gpu_link=link), ["links"]),
        (Machine(name="m", gpus=4, uplink=link), ["links"]),
    ]:
        assert losses(Cluster(network=Switch(name="s", level="network", machines=[machine]))) == lost
