"""Branches: the switches that a file states, and the tree that they form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gsopt.core.errors import InvalidInput, shorten

#: Largest number of levels of switches below the root; it far exceeds that of any real network.
_HIGHEST = 30

#: Names of the levels of switches, innermost first; the outermost level of a file is always the network.
LEVELS = ("rack", "pod", "zone", "region", *(f"level {number}" for number in range(5, _HIGHEST + 1)))
NETWORK = "network"


@dataclass(frozen=True)
class Branch:
    """A switch, as a file states it."""

    name: str
    place: str  # where the file states it, such as ``line 3``
    # Names of the switches and machines below it.
    branches: Sequence[str] = ()
    machines: Sequence[str] = ()
    level: str = ""  # empty as long as it is not known


#: Branches keyed by name, each after all branches below it, so that the root is the last one.
Tree = dict[str, Branch]


def tree_of(source: str, branches: Iterable[Branch], notes: list[str]) -> Tree:
    """Arrange switches as a tree. Switches without any machines below them are left out."""
    named = _named(source, branches)
    above = _above(source, named)
    roots = [name for name in named if name not in above]
    if not named:
        raise InvalidInput("", "", "must name at least one switch", source=source)
    if len(roots) > 1:
        rule = f"must be below another switch, as only one can be the root, and {shorten(roots[0])} is"
        raise InvalidInput(named[roots[1]].place, shorten(roots[1]), rule, source=source)
    ordered = _ordered(source, named, roots[0] if roots else "")
    return _without_empty(source, ordered, notes)


def from_leaves(branches: Mapping[str, Branch], root: str) -> Tree:
    """Return the given root and all branches below it, each branch after its children."""
    found: list[str] = []
    pending = [root] if root in branches else []
    while pending:
        found.append(name := pending.pop())
        pending += branches[name].branches
    return {name: branches[name] for name in reversed(found)}


def levelled(source: str, tree: Tree, levels: Sequence[str] = LEVELS) -> Tree:
    """Name the level of each branch according to its height above the machines.

    `levels` contains the names, innermost first. The level of the root is the network, unless the root is the
    only branch.
    """
    heights: dict[str, int] = {}
    for name, branch in tree.items():
        heights[name] = 1 + max((heights[child] for child in branch.branches), default=-1)
    root = root_of(tree).name
    if heights[root] > _HIGHEST:
        raise InvalidInput(
            tree[root].place, shorten(root), f"must be above at most {_HIGHEST} levels", source=source
        )
    named = {height: name for height, name in enumerate(levels) if height != heights[root] or len(tree) == 1}
    if len(tree) > 1:
        named[heights[root]] = NETWORK
    for height in range(heights[root] + 1):
        if height not in named:
            rule = f"must name the {heights[root]} levels of switches below the root, from the innermost out"
            raise InvalidInput("levels", ", ".join(levels), rule, source=source)
    return {name: replace(branch, level=named[heights[name]]) for name, branch in tree.items()}


def root_of(tree: Tree) -> Branch:
    """Return the root of a tree, which is the branch that is not below any other."""
    return tree[next(reversed(tree))]


def _named(source: str, branches: Iterable[Branch]) -> dict[str, Branch]:
    named: dict[str, Branch] = {}
    for branch in branches:
        if branch.name in named:
            rule = f"must not be stated twice, as it is by {named[branch.name].place} too"
            raise InvalidInput(branch.place, shorten(branch.name), rule, source=source)
        named[branch.name] = branch
    return named


def _above(source: str, named: Mapping[str, Branch]) -> dict[str, str]:
    """Return the branch above each branch. Reject branches and machines that are below several others."""
    above: dict[str, str] = {}
    switches: dict[str, str] = {}
    for branch in named.values():
        for child in branch.branches:
            if child not in named:
                rule = "must be a switch that the file states"
                raise InvalidInput(f"{branch.place}: switches", shorten(child), rule, source=source)
            _put(source, branch, above, child, "switches")
        for machine in branch.machines:
            _put(source, branch, switches, machine, "nodes")
            if machine in named:
                raise InvalidInput(
                    f"{branch.place}: nodes", shorten(machine), "must not be a switch too", source=source
                )
    return above


def _put(source: str, branch: Branch, places: dict[str, str], name: str, field: str) -> None:
    if name in places:
        rule = f"must be below one switch only, and is below {shorten(places[name])} already"
        raise InvalidInput(f"{branch.place}: {field}", shorten(name), rule, source=source)
    places[name] = branch.name


def _ordered(source: str, named: Mapping[str, Branch], root: str) -> Tree:
    """Sort branches from the leaves to the root. Reject cycles, which the root does not reach."""
    ordered = from_leaves(named, root)
    if len(ordered) < len(named):
        lost = next(name for name in named if name not in ordered)
        rule = "must not be below itself, over other switches or directly"
        raise InvalidInput(named[lost].place, shorten(_in_cycle(named, lost)), rule, source=source)
    return ordered


def _in_cycle(named: Mapping[str, Branch], lost: str) -> str:
    """Return a branch in the cycle that separates the given branch from the root."""
    above = {child: name for name, branch in named.items() for child in branch.branches}
    seen: set[str] = set()
    while lost not in seen:
        seen.add(lost)
        lost = above[lost]
    return lost


def _without_empty(source: str, tree: Tree, notes: list[str]) -> Tree:
    kept: dict[str, Branch] = {}
    for name, branch in tree.items():
        children = [child for child in branch.branches if child in kept]
        if children or branch.machines:
            kept[name] = replace(branch, branches=children)
        else:
            notes.append(f"{source}: {branch.place}: {name}: has no machines and is left out")
    if not kept:
        raise InvalidInput("", "", "must have at least one machine", source=source)
    return kept
