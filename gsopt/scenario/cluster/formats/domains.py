"""Domains: a level of the tree for groups of machines that a faster network, such as NVLink, connects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.cluster.formats.branches import Branch, Tree, from_leaves, root_of

#: Name of the level of accelerator domains.
NVLINK = "nvlink"


def with_domains(source: str, tree: Tree, domains: Mapping[str, str]) -> Tree:
    """Insert domains into a tree with named levels. `domains` maps machines to the names of their domains.

    A domain may consist of machines directly on one switch, of everything below one switch, or of several whole
    switches directly below the same switch. The domain is inserted below this switch and takes over these
    machines and switches. Any other domain is rejected with `InvalidInput`.
    """
    home = {machine: name for name, branch in tree.items() for machine in branch.machines}
    members: dict[str, list[str]] = {}
    for machine in home:
        if machine in domains:
            members.setdefault(_free_name(tree, domains[machine]), []).append(machine)
    homes = {name: list(dict.fromkeys(home[machine] for machine in held)) for name, held in members.items()}
    small = {name: (places[0], members[name]) for name, places in homes.items() if len(places) == 1}
    found = _within_switches(tree, small)
    shape = _Shape(tree)
    for name, places in homes.items():
        if name not in small:
            place, inside = shape.whole_switches(source, name, members[name], places)
            found |= _around_switches(found[place], name, inside, members[name])
    return from_leaves(found, root_of(tree).name)


def _free_name(tree: Tree, domain: str) -> str:
    """Return the name for a domain. It is prefixed by its level if a switch already has this name."""
    return f"{NVLINK} {domain}" if domain in tree else domain


def _within_switches(tree: Tree, domains: Mapping[str, tuple[str, Sequence[str]]]) -> Tree:
    """Insert domains that lie within one switch between this switch and their machines."""
    found = dict(tree)
    inside: dict[str, list[str]] = {}
    for name, (place, machines) in domains.items():
        inside.setdefault(place, []).append(name)
        found[name] = Branch(name, tree[place].place, (), machines, NVLINK)
    for place, names in inside.items():
        taken = {machine for name in names for machine in domains[name][1]}
        rest = [machine for machine in tree[place].machines if machine not in taken]
        found[place] = replace(tree[place], branches=[*names, *tree[place].branches], machines=rest)
    return found


def _around_switches(above: Branch, name: str, inside: Iterable[str], members: Iterable[str]) -> Tree:
    """Insert a domain between a switch and the given switches and machines directly below it."""
    taken, own = set(inside), set(members)
    held = [child for child in above.branches if child in taken]
    below = [name if child == held[0] else child for child in above.branches]
    rest = [child for child in below if child not in taken]
    machines = [machine for machine in above.machines if machine in own]
    others = [machine for machine in above.machines if machine not in own]
    return {
        name: Branch(name, above.place, held, machines, NVLINK),
        above.name: replace(above, branches=rest, machines=others),
    }


class _Shape:
    """The branch above each branch of a tree, and the number of machines below each branch."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.above = {child: name for name, branch in tree.items() for child in branch.branches}
        self.counts: dict[str, int] = {}
        for name, branch in tree.items():
            self.counts[name] = len(branch.machines) + sum(self.counts[child] for child in branch.branches)

    def whole_switches(
        self, source: str, domain: str, machines: Sequence[str], homes: Sequence[str]
    ) -> tuple[str, Sequence[str]]:
        """Return the switch below which a domain belongs, and those of its switches that the domain covers."""
        whole = self._held(homes)
        tops = [name for name in whole if self.above.get(name) not in whole]
        parents = {self.above.get(top) for top in tops}
        covered = sum(self.counts[top] for top in tops) == len(machines)
        if covered and len(tops) == 1:
            return tops[0], self.tree[tops[0]].branches
        if covered and len(parents) == 1 and (parent := parents.pop()) is not None:
            return parent, tops
        rule = "must be a domain within one switch, or of whole switches below one"
        raise InvalidInput("domain", shorten(domain), rule, source=source)

    def _held(self, homes: Sequence[str]) -> dict[str, None]:
        """Return the switches all of whose machines belong to the given switches."""
        found = dict.fromkeys(homes)
        below: dict[str, int] = {}
        for name in homes:
            child, held = name, self.counts[name]
            while (parent := self.above.get(child)) is not None and parent not in found:
                below[parent] = below.get(parent, 0) + held
                child = parent
        return found | dict.fromkeys(name for name, held in below.items() if held == self.counts[name])
