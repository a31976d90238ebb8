"""Tables: the minimum cost of each number of additional copies, for each set of shared gangs that stop.

A copy is the room for one more worker of the pending gang. A shared gang has workers on several machines. The
scope of a table consists of shared gangs, for each of which the table has an axis of length 2; index 1 means
that the gang stops. The costs in the table do not include those of the gangs in its scope. The last axis is for
the number of copies or slices. Costs of at least `never` mean that an entry is too expensive to matter.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.common.convolution import convolve, split

Table = NDArray[Any]

#: A gang, its load on a machine (one amount per resource), and its weight.
Load = tuple[int, tuple[int, ...], int]

#: Number of states of a machine above which dominated states are removed.
_MANY = 64


#: Maximum number of cells in a table, and maximum number of additions to fill it.
_CELLS, _ADDITIONS = 2**18, 20_000_000


class TooWide(Exception):
    """An error that is raised if a table would be too large because too many gangs share machines."""


class Node(ABC):
    """A table that can also list the gangs whose stops lead to the cost in an entry."""

    scope: tuple[int, ...]  # gangs of the table's axes, ascending
    table: Table
    never: int

    def row(self, bits: Mapping[int, int]) -> Table:
        """Return the costs by number of copies, where `bits` states which gangs in the scope stop."""
        found: Table = self.table[tuple([bits[gang] for gang in self.scope])]
        return found

    @abstractmethod
    def pick(self, bits: dict[int, int], copies: int) -> Iterator[int]:
        """Yield the gangs outside the scope that stop to make room for `copies` copies at minimum cost.

        `bits` says which gangs in the scope stop (1) or stay (0).
        """


def integers(never: int) -> type:
    """Return the integer type of tables, which must be able to hold sums of a few entries."""
    return np.int64 if 4 * never < 2**63 else object


class MachineNode(Node):
    """The node of a machine.

    Its scope consists of the gangs in `shared`. The gangs in `own` may stop, too, and are decided for this
    machine alone.
    """

    def __init__(
        self,
        free: Sequence[int],
        need: Sequence[int],
        copies: int,
        most: int,
        own: Sequence[Load],
        shared: Sequence[Load],
        never: int,
    ) -> None:
        self.scope = tuple(gang for gang, _, _ in shared)
        self.never = never
        self._spare = [has - copies * amount for has, amount in zip(free, need, strict=True)]
        self._need, self._most = need, most - copies
        self._loads = {gang: load for gang, load, _ in shared}
        self._states = self._reachable(own)
        self.table = np.full((2,) * len(shared) + (self._most + 1,), never, dtype=integers(never))
        for stops in product((0, 1), repeat=len(shared)):
            best = [never] * (self._most + 1)
            for copies_of, cost in self._copies(dict(zip(self.scope, stops, strict=True))):
                best[copies_of] = min(best[copies_of], cost)
            best.reverse()
            self.table[stops] = list(accumulate(best, min))[::-1]

    def _reachable(self, own: Sequence[Load]) -> dict[tuple[int, ...], tuple[int, Any]]:
        """Return useful amounts that own gangs can free, with minimum cost and a linked list of gangs."""
        useful = [
            max(0, self._most * amount - spare) for amount, spare in zip(self._need, self._spare, strict=True)
        ]
        states: dict[tuple[int, ...], tuple[int, Any]] = {(0,) * len(useful): (0, None)}
        for gang, load, weight in own:
            for freed, (cost, gangs) in list(states.items()):
                if cost + weight >= self.never:
                    continue
                more = tuple(map(min, map(int.__add__, freed, load), useful))
                if more not in states or states[more][0] > cost + weight:
                    states[more] = (cost + weight, (gang, gangs))
            if len(states) > _MANY:
                states = _undominated(states)
        return states

    def _copies(self, bits: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """Yield the number of copies and the cost of each state."""
        room = self._room(bits)
        for freed, (cost, _) in self._states.items():
            yield self._held(room, freed), cost

    def _room(self, bits: Mapping[int, int]) -> list[int]:
        room = list(self._spare)
        for gang, stops in bits.items():
            if stops and gang in self._loads:
                room = [has + freed for has, freed in zip(room, self._loads[gang], strict=True)]
        return room

    def _held(self, room: Sequence[int], freed: Sequence[int]) -> int:
        held = [(has + more) // amount for has, more, amount in zip(room, freed, self._need, strict=True)]
        return min(self._most, *held)

    def pick(self, bits: dict[int, int], copies: int) -> Iterator[int]:
        """Yield the gangs in `own` that stop."""
        room = self._room(bits)
        able = (state for freed, state in self._states.items() if self._held(room, freed) >= copies)
        _, gangs = min(able, key=lambda state: state[0])
        while gangs is not None:
            gang, gangs = gangs
            yield gang


def _undominated(states: dict[tuple[int, ...], tuple[int, Any]]) -> dict[tuple[int, ...], tuple[int, Any]]:
    """Remove each state for which another state frees at least as much at no higher cost."""
    order = sorted(states.items(), key=lambda state: (state[1][0], [-amount for amount in state[0]]))
    kept: dict[tuple[int, ...], tuple[int, Any]] = {}
    for freed, state in order:
        if not any(all(map(int.__ge__, other, freed)) for other in kept):
            kept[freed] = state
    return kept


class SumNode(Node):
    """Several nodes whose copies and costs are added up."""

    def __init__(self, parts: Sequence[Node], most: int, never: int) -> None:
        self._parts = sorted(parts, key=lambda part: part.table.shape[-1])
        self._most, self.never = most, never
        self.scope = tuple(sorted({gang for part in parts for gang in part.scope}))
        rows, copies, additions = 2 ** len(self.scope), 1, 0
        for part in self._parts:
            additions += copies * part.table.shape[-1]
            copies = min(copies + part.table.shape[-1] - 1, most + 1)
        if rows * copies > _CELLS or rows * additions > _ADDITIONS:
            raise TooWide
        self.table = _zero(len(self.scope), never)
        for part in self._parts:
            spread = part.table.reshape([2 if gang in part.scope else 1 for gang in self.scope] + [-1])
            self.table = convolve(self.table, spread, most, never)

    def pick(self, bits: dict[int, int], copies: int) -> Iterator[int]:
        """Yield the gangs to stop in all nodes of the sum, which free `copies` copies at minimum cost."""
        rows = [part.row(bits) for part in self._parts]
        sums = list(accumulate(rows, lambda left, right: convolve(left, right, copies, self.never)))
        for part, share in zip(self._parts, split(rows, sums, copies), strict=True):
            yield from part.pick(dict(bits), share)


class ChoiceNode(Node):
    """A node in which one gang either stops, at its cost, or stays."""

    def __init__(self, part: Node, gang: int, weight: int) -> None:
        self._part, self._gang, self._weight, self.never = part, gang, weight, part.never
        axis = part.scope.index(gang)
        self.scope = part.scope[:axis] + part.scope[axis + 1 :]
        stays, stops = np.take(part.table, 0, axis), np.take(part.table, 1, axis)
        self.table = np.minimum(stays, stops + weight)

    def pick(self, bits: dict[int, int], copies: int) -> Iterator[int]:
        """Yield the gang if it stops, and the gangs that stop in the inner node."""
        stays = self._part.row({**bits, self._gang: 0})[copies]
        stops = self._part.row({**bits, self._gang: 1})[copies] + self._weight
        if stops < stays:
            yield self._gang
        yield from self._part.pick({**bits, self._gang: int(stops < stays)}, copies)


class SliceNode(Node):
    """A node that counts whole slices of `size` copies; `begun` copies of the first one are already there."""

    def __init__(self, part: Node, size: int, begun: int) -> None:
        self._part, self.scope, self.never = part, part.scope, part.never
        most = (part.table.shape[-1] - 1 + begun) // size
        self._copies = [max(0, slices * size - begun) for slices in range(most + 1)]
        self.table = part.table[..., self._copies]

    def pick(self, bits: dict[int, int], copies: int) -> Iterator[int]:
        """Yield the gangs of the inner node whose stops free `copies` whole slices at minimum cost."""
        yield from self._part.pick(bits, self._copies[copies])


def eliminate(
    parts: Sequence[Node], order: Sequence[int], weights: Mapping[int, int], most: int, never: int
) -> Node:
    """Add up nodes, and decide each gang as soon as all nodes that contain it have been added up.

    Source: Dechter, Bucket elimination, Artificial Intelligence 113 (1999).
    """
    left: list[Node] = list(parts)
    for gang in order:
        mine = [part for part in left if gang in part.scope]
        left = [part for part in left if gang not in part.scope]
        if mine:
            left.append(ChoiceNode(SumNode(mine, most, never), gang, weights[gang]))
    return SumNode(left, most, never)


def _zero(axes: int, never: int) -> Table:
    return np.zeros((1,) * axes + (1,), dtype=integers(never))
