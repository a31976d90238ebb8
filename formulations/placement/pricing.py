"""Pricing: the pattern of each kind of server that would improve a linear relaxation most."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from formulations.deadline import Deadline
from formulations.placement.packing import Integers, Packing, Reals, Zone
from gsopt.backends import Backend
from gsopt.problem import Sense
from gsopt.standard_form import StandardForm

_ZERO = 1e-9

#: Entries of the table up to which it is filled; a larger one gives way to integer programs.
_LARGEST_TABLE = 2_000_000


@dataclass(frozen=True, eq=False)
class Priced:
    """What pricing found.

    Attributes
    ----------
    room
        Index of the room that each filling is for.
    counts
        How many workers of each demand a filling holds, one row per filling.
    most
        Upper bound on the worth of any filling, for each room; infinite where none is known.
    """

    room: list[int]
    counts: list[Integers]
    most: Reals


class Pricer(Protocol):
    """Finds fillings of rooms that are worth most."""

    def __call__(self, worth: Reals, rents: Reals, *, deadline: Deadline) -> Priced:
        """Find fillings worth more than the rent of their room.

        Parameters
        ----------
        worth
            What one worker of each demand is worth, shape (demands,).
        rents
            What using each room costs, shape (rooms,).
        deadline
            Time limit.
        """
        ...


def pricer(packing: Packing, zone: Zone, backend: Backend) -> Pricer | None:
    """Choose how to price in a zone: by table where the amounts allow it; None without servers."""
    rooms = packing.rooms[list(zone.kinds)]
    if not len(rooms):
        return None
    if np.prod(rooms.max(axis=0) + 1.0) <= _LARGEST_TABLE:
        return Table(packing.demands, rooms)
    return Programs(packing.demands, rooms, packing.totals, backend)


@dataclass(frozen=True, eq=False)
class Table:
    """Prices with one table of the best worth for every amount of GPU, CPU and memory: an unbounded knapsack.

    One table serves every room, however many different rooms partly used servers leave. Time and memory are
    proportional to the number of amounts; time also to the number of demands.

    Attributes
    ----------
    demands
        Shape (demands, 3).
    rooms
        Shape (rooms, 3).
    most_fillings
        How many fillings to give at a time.

    Examples
    --------
    >>> table = Table(np.array([[4, 0, 0], [3, 0, 0]]), np.array([[8, 0, 0]]))
    >>> priced = table(np.array([0.5, 0.4]), np.array([0.9]), deadline=Deadline(None))
    >>> priced.most, priced.counts
    (array([1.]), [array([2, 0]), array([2, 0])])
    """

    demands: Integers
    rooms: Integers
    most_fillings: int = 200

    def __call__(self, worth: Reals, rents: Reals, *, deadline: Deadline) -> Priced:
        """Find the best filling of every room, and the best that holds each demand."""
        del deadline
        best = self._best(worth)
        first = self.rooms[:, np.newaxis, :] - self.demands[np.newaxis, :, :]  # room beside one worker
        fits = (first >= 0).all(axis=2) & (worth > _ZERO)
        most = _at(best, self.rooms)
        gain = np.full((len(self.rooms), 1 + len(self.demands)), -np.inf)
        gain[:, 0] = most - rents
        gain[:, 1:][fits] = (_at(best, np.maximum(first, 0)) + worth - rents[:, np.newaxis])[fits]
        order = np.argsort(-gain, axis=None, kind="stable")[: self.most_fillings]
        rooms, columns = np.unravel_index(order[gain.ravel()[order] > _ZERO], gain.shape)
        counts = [
            self._trace(best, worth, self.rooms[room], holding=None if column == 0 else column - 1)
            for room, column in zip(rooms, columns, strict=True)
        ]
        return Priced(rooms.tolist(), counts, most)

    def _best(self, worth: Reals) -> Reals:
        """Fill the table: the best worth of the workers that fit, shape (GPU + 1, CPU + 1, memory + 1)."""
        gpus, cpus, memories = self.rooms.max(axis=0).tolist()
        best = np.zeros((gpus + 1, cpus + 1, memories + 1))
        wanted = [
            (*demand, gain)
            for demand, gain in zip(self.demands.tolist(), worth.tolist(), strict=True)
            if gain > _ZERO and (demand <= self.rooms).all(axis=1).any()
        ]
        for gpu in range(gpus + 1):
            here = best[gpu]
            for g, c, m, gain in wanted:
                if 0 < g <= gpu:
                    without = best[gpu - g, : cpus + 1 - c, : memories + 1 - m]
                    np.maximum(here[c:, m:], without + gain, out=here[c:, m:])
            for g, c, m, gain in wanted:
                if g == 0:
                    _repeat(here, c, m, gain)
        return best

    def _trace(self, best: Reals, worth: Reals, room: Integers, *, holding: int | None) -> Integers:
        """Read the best filling of a room, or the best that holds one demand, out of the table."""
        counts = np.zeros(len(self.demands), dtype=np.int64)
        free = room.copy()
        if holding is not None:
            counts[holding] += 1
            free -= self.demands[holding]
        while best[tuple(free)] > _ZERO:
            without = free - self.demands
            fits = (without >= 0).all(axis=1) & (worth > _ZERO)
            chosen = int(np.where(fits, _at(best, np.maximum(without, 0)) + worth, -np.inf).argmax())
            counts[chosen] += 1
            free = without[chosen]
        return counts


@dataclass(frozen=True, eq=False)
class Programs:
    """Prices greedily, and with integer programs when greed finds nothing that pays any more.

    For amounts too fine for a `Table`. A filling holds no more workers of a demand than there are.

    Attributes
    ----------
    demands
        Shape (demands, 3).
    rooms
        Shape (rooms, 3).
    totals
        Number of workers of each demand, shape (demands,).
    backend
        Solver.
    """

    demands: Integers
    rooms: Integers
    totals: Integers
    backend: Backend

    def __call__(self, worth: Reals, rents: Reals, *, deadline: Deadline) -> Priced:
        """Fill every room greedily; if no filling pays, solve programs until some do."""
        most: Reals = np.full(len(self.rooms), np.inf)
        quick = [(room, max(self._greedy(worth, room), key=worth.dot)) for room in range(len(self.rooms))]
        paying = [(room, counts) for room, counts in quick if worth @ counts - rents[room] > _ZERO]
        if not paying:
            for room in range(len(self.rooms)):
                counts, most[room] = self._solve(worth, room, deadline)
                if worth @ counts - rents[room] > _ZERO:
                    paying.append((room, counts))
                if len(paying) == _ENOUGH or deadline.passed:
                    break
        return Priced([room for room, _ in paying], [counts for _, counts in paying], most)

    def _wanted(self, worth: Reals, room: int) -> Integers:
        fits = (self.demands <= self.rooms[room]).all(axis=1)
        return np.flatnonzero(fits & (worth > _ZERO) & (self.totals > 0))

    def _share(self, room: int, wanted: Integers) -> Reals:
        """Give the share of the room that a worker takes, by resource, shape (wanted, 3)."""
        share: Reals = self.demands[wanted] / np.maximum(self.rooms[room], 1)
        return share

    def _greedy(self, worth: Reals, room: int) -> Iterator[Integers]:
        """Fill a room by worth for the share that a worker takes, once for each weighting of the resources."""
        wanted = self._wanted(worth, room)
        share = self._share(room, wanted)
        needs = self.demands[wanted].tolist()
        totals = self.totals[wanted].tolist()
        for weights in _WEIGHTS:
            free = self.rooms[room].tolist()
            counts = np.zeros(len(self.demands), dtype=np.int64)
            for i in np.argsort(-worth[wanted] / (share @ weights + _ZERO), kind="stable").tolist():
                number = min(totals[i], *(f // need for f, need in zip(free, needs[i], strict=True) if need))
                if number:
                    counts[wanted[i]] = number
                    free = [f - number * need for f, need in zip(free, needs[i], strict=True)]
            yield counts

    def _solve(self, worth: Reals, room: int, deadline: Deadline) -> tuple[Integers, float]:
        """Give the best filling of a room that was found, and an upper bound on the worth of all."""
        counts = np.zeros(len(self.demands), dtype=np.int64)
        wanted = self._wanted(worth, room)
        if not wanted.size:
            return counts, 0.0
        form = StandardForm.build(
            cost=worth[wanted],
            matrix=_SCALE * self._share(room, wanted).T,
            row_lower=np.full(3, -np.inf),
            row_upper=np.full(3, _SCALE),
            column_upper=self.totals[wanted],
            sense=Sense.MAXIMIZE,
        )
        outcome = self.backend.solve(form, time_limit=deadline.left(), gap=_GAP)
        if outcome.values is not None:
            counts[wanted] = np.round(outcome.values)
            if (counts @ self.demands > self.rooms[room]).any():
                counts[:] = 0
        return counts, np.inf if outcome.bound is None else outcome.bound


#: Fillings that pay after which the remaining rooms need no program.
_ENOUGH = 3

#: Relative gap at which a program may stop.
_GAP = 1e-4

#: How much the shares of GPUs, CPU and memory weigh in greedy fillings.
_WEIGHTS = np.array([weights for weights in product((0, 1, 3), repeat=3) if 1 in weights])

#: A full server in the rows of the integer programs, so that amounts in bytes and in GPUs weigh alike.
_SCALE = 1000.0


def _at(best: Reals, points: Integers) -> Reals:
    found: Reals = best[points[..., 0], points[..., 1], points[..., 2]]
    return found


def _repeat(best: Reals, cpu: int, memory: int, gain: float) -> None:
    """Add any number of workers without a GPU, by doubling."""
    cpus, memories = best.shape
    times = 1
    while times * cpu < cpus and times * memory < memories:
        c, m = times * cpu, times * memory
        np.maximum(best[c:, m:], best[: cpus - c, : memories - m] + times * gain, out=best[c:, m:])
        times *= 2
