"""Admission: gangs that wait, placed one after the other as long as all of each has room."""

from collections.abc import Sequence
from typing import NamedTuple

from gsopt.problems.placement import Placed, Placement, Vector
from gsopt.snapshots.gang import Gang, Part


class Row(NamedTuple):
    """A line of a placement's workers: parts of a gang that are alike, and the number of the line."""

    gang: Gang
    part: Part
    line: int


def rows_of(pending: Sequence[Gang]) -> list[Row]:
    """Give the lines of the workers of what waits, in the order in which `Snapshot.placement` has them.

    Examples
    --------
    >>> [row.line for row in rows_of([Gang(name="a", parts=[Part(), Part(node="n1"), Part()])])]
    [0, 1]
    """
    parts = ((gang, part) for gang in pending for part in gang.waiting)
    return [Row(gang, part, line) for line, (gang, part) in enumerate(parts)]


class Admission:
    """Takes gangs into what is free on the servers of a placement.

    Parameters
    ----------
    problem
        The placement.
    """

    def __init__(self, problem: Placement) -> None:
        self._demands = problem.demands
        self._names = [server.name for server in problem.servers]
        self._rooms: list[Vector] = list(problem.rooms)
        self._placed: list[tuple[int, int, int]] = []  # server, line, number
        self._too_large: set[Vector] = set()

    @property
    def rooms(self) -> Sequence[Vector]:
        """What is free on each server now, in the order of the problem's resources."""
        return self._rooms

    @property
    def placed(self) -> list[Placed]:
        """The workers that have a place."""
        return [Placed(self._names[server], line, number) for server, line, number in self._placed]

    def take(self, rows: Sequence[Row]) -> int:
        """Place copies of a gang, each whole, and give how many have a place."""
        order = sorted(rows, key=lambda row: self._demands[row.line], reverse=True)
        taken = 0
        while taken < rows[0].gang.copies and self._copy(order):
            taken += 1
        return taken

    def _copy(self, rows: Sequence[Row]) -> bool:
        """Place one copy, or nothing of it."""
        before = len(self._placed)
        if self._too_large.isdisjoint(self._demands[row.line] for row in rows):
            failed = next((row for row in rows if not self._parts(row)), None)
            if failed is None:
                return True
            if len(self._placed) == before:  # even the first part has no room, and what is free only shrinks
                self._too_large.add(self._demands[failed.line])
        for server, line, number in self._placed[before:]:
            self._hold(server, line, -number)
        del self._placed[before:]
        return False

    def _parts(self, row: Row) -> bool:
        """Place the parts of a line, each on the fullest server with room; tell whether all have a place."""
        demand, left = self._demands[row.line], row.part.count
        while left:
            able = (server for server, room in enumerate(self._rooms) if fitting(demand, room))
            server = min(able, key=self._rooms.__getitem__, default=None)
            if server is None:
                return False
            number = min(left, fitting(demand, self._rooms[server]))
            self._hold(server, row.line, number)
            self._placed.append((server, row.line, number))
            left -= number
        return True

    def _hold(self, server: int, line: int, number: int) -> None:
        room = zip(self._rooms[server], self._demands[line], strict=True)
        self._rooms[server] = tuple(free - each * number for free, each in room)


def fitting(demand: Vector, room: Vector) -> int:
    """Count how many that are alike fit into what is free; they need something.

    Examples
    --------
    >>> fitting((2, 0), (5, 0)), fitting((2, 1), (5, 0))
    (2, 0)
    """
    return min(free // each for each, free in zip(demand, room, strict=True) if each)
