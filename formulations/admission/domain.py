"""Domain: the cheapest gangs to stop so that a domain can hold all workers of a pending gang."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from formulations.admission.bounds import Bounds
from formulations.admission.cover import Cover
from formulations.admission.tables import Load, MachineNode, Node, SliceNode, SumNode, TooWide, eliminate
from formulations.reclaiming.elimination import min_degree

#: Maximum number of gangs in the scope of a table, in addition to the one that is decided.
_WIDTH = 12

#: Maximum number of gangs on a machine that also run on other machines. The machine's table has 2 to this power
#: rows.
_SHARED = 10

#: Number of parts into which a unit of weight is divided in a relaxation. Shares of weights are rounded down
#: to them.
_FINE = 1_000


class Choice(NamedTuple):
    """The gangs that stop, by their index in `Stops`, and their total weight."""

    weight: int
    gangs: frozenset[int]


class Domains:
    """The problems, one for each domain, of stopping gangs at minimum cost so that a pending gang fits."""

    def __init__(self, cover: Cover, bounds: Bounds) -> None:
        self._cover, self._bounds = cover, bounds
        stops = cover.stops
        self._order = np.argsort(stops.machine, kind="stable")
        owner = stops.machine[self._order]
        machines = np.arange(len(cover.copies))
        self._first = np.searchsorted(owner, machines)
        self._last = np.searchsorted(owner, machines, side="right")
        self._missing = cover.count // cover.slice - cover.room(cover.copies) // cover.slice
        self._base = np.bincount(cover.group, weights=cover.copies).astype(np.int64)

    def machines(self, domain: int, below: float) -> list[int]:
        """Return the machines of a domain on which a choice that costs less than `below` may stop gangs."""
        cover = self._cover
        helps = (cover.domain == domain) & (cover.most > cover.copies)
        found: list[int] = np.flatnonzero(helps & (self._bounds.forced < below * (1 + 1e-9) + 1e-6)).tolist()
        return found

    def single(self) -> Choice | None:
        """Return the cheapest gang, in any domain, that alone makes enough room, or None if there is none."""
        cover, stops = self._cover, self._cover.stops
        if not len(stops.gang):
            return None
        able = cover.most[stops.machine] > 0
        gang, machine = stops.gang[able], stops.machine[able]
        held = ((cover.free[machine] + cover.load[able]) // cover.need).min(axis=1)
        gain = np.clip(held, 0, cover.count) - cover.copies[machine]
        groups = len(self._base)
        pairs, place = np.unique(gang * groups + cover.group[machine], return_inverse=True)
        total = np.bincount(place, weights=gain, minlength=len(pairs)).astype(np.int64)
        group, owner = pairs % groups, pairs // groups
        more = (self._base[group] + total) // cover.slice - self._base[group] // cover.slice
        keys, place = np.unique(owner * cover.domains + cover.domain_of_group[group], return_inverse=True)
        won = np.bincount(place, weights=more, minlength=len(keys)).astype(np.int64)
        enough = keys[won >= self._missing[keys % cover.domains]] // cover.domains
        best = min(enough.tolist(), key=stops.weights.__getitem__, default=None)
        return None if best is None else Choice(stops.weights[best], frozenset([best]))

    def guess(self, domain: int, most: int) -> Choice | None:
        """Return a good choice of gangs for a domain, or None if none is found.

        Every machine pays its share of each gang's cost, so that each machine can be decided separately. Then
        gangs that need not stop are removed from the choice. `most` is an upper bound on the weight of every
        choice.
        """
        cover, wanted = self._cover, int(self._missing[domain])
        if wanted <= 0:
            return Choice(0, frozenset())
        machines = sorted(self.machines(domain, np.inf), key=self._bounds.forced.__getitem__)
        for number in (4 * wanted * cover.slice + 16, len(machines)):
            picked = self._relaxed(machines[:number], wanted, most)
            if picked is not None:
                return self._trimmed(domain, picked)
        return None

    def _relaxed(self, machines: Sequence[int], wanted: int, most: int) -> list[int] | None:
        """Return the gangs that stop if each machine pays only its share of their costs, or None."""
        never, share = _FINE * most + 1, self._bounds.share
        weights, parts = self._cover.stops.weights, {}
        for machine in machines:
            own = [
                (gang, load, int(_FINE * weights[gang] * share[incidence]))
                for gang, load, incidence in self._loads(machine)
            ]
            parts[machine] = self._node(machine, own, [], never)
        total = SumNode(list(self._grouped(parts, never, [], {})), wanted, never)
        if total.table.shape[-1] <= wanted or total.table[wanted] >= never:
            return None
        return list(total.pick({}, wanted))

    def _trimmed(self, domain: int, picked: Iterable[int]) -> Choice:
        """Remove gangs, most expensive first, as long as the domain can still hold all workers."""
        cover, stops = self._cover, self._cover.stops
        chosen = set(picked)
        mine = [incidence for gang in chosen for incidence in stops.on[gang]]
        free = cover.free.copy()
        np.add.at(free, stops.machine[mine], cover.load[mine])
        copies = cover.held_by(free)
        held = np.bincount(cover.group, weights=copies).astype(np.int64)
        spare = int((held // cover.slice)[cover.domain_of_group == domain].sum()) - cover.count // cover.slice
        for gang in sorted(chosen, key=lambda gang: (-stops.weights[gang], gang)):
            incidences = [each for each in stops.on[gang] if cover.domain[stops.machine[each]] == domain]
            machines = stops.machine[incidences]
            left = free[machines] - cover.load[incidences]
            now = np.clip((left // cover.need).min(axis=1), 0, cover.count) * (cover.most[machines] > 0)
            groups, place = np.unique(cover.group[machines], return_inverse=True)
            less = np.bincount(place, weights=copies[machines] - now, minlength=len(groups)).astype(np.int64)
            lost = int((held[groups] // cover.slice - (held[groups] - less) // cover.slice).sum())
            if lost <= spare:
                spare -= lost
                chosen.discard(gang)
                free[machines], copies[machines] = left, now
                held[groups] -= less
        return Choice(sum(stops.weights[gang] for gang in chosen), frozenset(chosen))

    def best(self, domain: int, below: int) -> Choice | None:
        """Return the best choice of gangs for a domain, or None if no choice weighs less than `below`.

        Raises
        ------
        TooWide
            The tables would be too large.
        """
        wanted = int(self._missing[domain])
        if wanted <= 0:
            return Choice(0, frozenset()) if below > 0 else None
        total = self._total(self.machines(domain, below), below, wanted)
        if total.table.shape[-1] <= wanted or total.table[wanted] >= below:
            return None
        return Choice(int(total.table[wanted]), frozenset(total.pick({}, wanted)))

    def costs(self, domain: int, below: int) -> list[int]:
        """Return the minimum weight for each number of additional copies in a domain, starting from 0 copies.

        An entry of at least `below` means only that the weight is at least `below`.

        Raises
        ------
        TooWide
            The tables would be too large.
        """
        machines = self.machines(domain, np.inf)
        most = int((self._cover.most - self._cover.copies)[machines].sum())
        found: list[int] = self._total(machines, below, most).table.tolist()
        return found

    def _total(self, machines: Iterable[int], below: int, wanted: int) -> Node:
        """Return the node for the given machines, with at most `wanted` additional copies or slices."""
        weights = self._cover.stops.weights
        loads = {
            machine: [load for load in self._loads(machine) if weights[load[0]] < below] for machine in machines
        }
        times: dict[int, int] = {}
        for mine in loads.values():
            for gang, _, _ in mine:
                times[gang] = times.get(gang, 0) + 1
        parts: dict[int, Node] = {}
        for machine, mine in loads.items():
            own = [(gang, load, weights[gang]) for gang, load, _ in mine if times[gang] == 1]
            shared = [(gang, load, weights[gang]) for gang, load, _ in mine if times[gang] > 1]
            if len(shared) > _SHARED:
                raise TooWide
            parts[machine] = self._node(machine, own, sorted(shared), below)
        shared_gangs = {gang: weights[gang] for gang, number in times.items() if number > 1}
        nodes = list(self._grouped(parts, below, list(shared_gangs), shared_gangs))
        order = _order(nodes)
        if order is None:
            raise TooWide
        return eliminate(nodes, order, shared_gangs, wanted, below)

    def _loads(self, machine: int) -> list[tuple[int, tuple[int, ...], int]]:
        """Return the gangs that free something useful on a machine, with their loads and incidences."""
        cover = self._cover
        incidences = self._order[self._first[machine] : self._last[machine]]
        scarce = cover.most[machine] * cover.need > cover.free[machine]
        useful = incidences[(cover.load[incidences][:, scarce] > 0).any(axis=1)]
        gangs, loads = cover.stops.gang[useful].tolist(), cover.load[useful].tolist()
        return [
            (gang, tuple(load), each) for gang, load, each in zip(gangs, loads, useful.tolist(), strict=True)
        ]

    def _node(self, machine: int, own: Sequence[Load], shared: Sequence[Load], never: int) -> MachineNode:
        cover = self._cover
        free, need = cover.free[machine].tolist(), cover.need.tolist()
        all_free = list(free)
        for _, load, _ in (*own, *shared):
            all_free = [has + more for has, more in zip(all_free, load, strict=True)]
        copies = int(cover.copies[machine])
        most = min(cover.count, *(has // amount for has, amount in zip(all_free, need, strict=True)))
        return MachineNode(free, need, copies, max(copies, most), own, shared, never)

    def _grouped(
        self, parts: Mapping[int, Node], never: int, shared: Sequence[int], weights: Mapping[int, int]
    ) -> Iterable[Node]:
        """Yield the nodes of the machines or, if there are slices, of the slice groups."""
        cover = self._cover
        if cover.slice == 1:
            yield from parts.values()
            return
        groups: dict[int, list[Node]] = {}
        for machine, node in parts.items():
            groups.setdefault(int(cover.group[machine]), []).append(node)
        places: dict[int, set[int]] = {gang: set() for gang in shared}
        for group, nodes in groups.items():
            for node in nodes:
                for gang in node.scope:
                    places[gang].add(group)
        for group, nodes in groups.items():
            inner = {gang for node in nodes for gang in node.scope if len(places[gang]) == 1}
            order = _order(nodes, inner)
            if order is None:
                raise TooWide
            begun = int(self._base[group]) % cover.slice
            yield SliceNode(eliminate(nodes, order, weights, cover.count, never), cover.slice, begun)


def _order(nodes: Iterable[Node], among: set[int] | None = None) -> list[int] | None:
    """Return an order in which to decide the gangs, or None if the tables would be too large."""
    scopes = [node.scope for node in nodes]
    order = min_degree(scopes, _WIDTH)
    if order is None:
        return None
    return [gang for gang in order if among is None or gang in among]
