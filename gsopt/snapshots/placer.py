"""Placer: a greedy placement of waiting gangs, one after another and each as a whole."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gsopt.core.result import Result, Status
from gsopt.problems.placement import Placed, Placement, PlacementSolution, Resources, Server, Vector, Workers
from gsopt.snapshots.gang import Gang, Part

#: A function that solves a placement problem exactly, within the remaining time.
Search = Callable[[Placement], Result[PlacementSolution]]


class WorkerLine(NamedTuple):
    """Identical parts of a gang, with the index of their entry in the workers of a placement problem."""

    gang: Gang
    part: Part
    line: int


def rows_of(pending: Sequence[Gang]) -> list[WorkerLine]:
    """Return one entry for each waiting part of each gang, in the order of workers in `Snapshot.placement`."""
    parts = ((gang, part) for gang in pending for part in gang.waiting)
    return [WorkerLine(gang, part, line) for line, (gang, part) in enumerate(parts)]


class GangPlacer:
    """A greedy placer, which puts one gang after another into the free resources of a problem's servers.

    `search` is called for a gang with different parts that do not fit one by one. `unsure` contains the names
    of the gangs of which a copy was neither placed nor proven not to fit.
    """

    def __init__(self, problem: Placement, search: Search) -> None:
        self.unsure: set[str] = set()
        self._search, self._resources = search, problem.resources
        self._demands = problem.demands
        self._names = [server.name for server in problem.servers]
        self._rooms: list[Vector] = list(problem.rooms)
        self._placed: list[tuple[int, int, int]] = []  # server, line, number
        self._too_large: set[Vector] = set()

    @property
    def rooms(self) -> Sequence[Vector]:
        """Free resources of each server: one vector per server, in the order of the problem's resources."""
        return self._rooms

    @property
    def placed(self) -> list[Placed]:
        """The workers placed so far, with their servers."""
        return [Placed(self._names[server], line, number) for server, line, number in self._placed]

    def take(self, rows: Sequence[WorkerLine]) -> int:
        """Place as many copies of a gang as fit, each as a whole, and return how many were placed."""
        order = sorted(rows, key=lambda row: self._demands[row.line], reverse=True)
        taken = 0
        while taken < rows[0].gang.copies and (self._copy(order) or self._copy_by_search(order)):
            taken += 1
        return taken

    def _copy(self, rows: Sequence[WorkerLine]) -> bool:
        """Place one copy completely, or leave everything unchanged; return whether it was placed."""
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

    def _copy_by_search(self, rows: Sequence[WorkerLine]) -> bool:
        """Place one copy by an exact method, or leave everything unchanged; return whether it was placed.

        The exact method is not called for gangs of identical parts, which do not need it.
        """
        demands = {self._demands[row.line] for row in rows}
        able = [each for each, room in enumerate(self._rooms) if any(fitting(need, room) for need in demands)]
        if len(demands) == 1 or not all(
            any(fitting(need, self._rooms[each]) for each in able) for need in demands
        ):
            return False
        result = self._search(self._alone(rows, able))
        if result.solution is None:
            if result.status is not Status.INFEASIBLE:
                self.unsure.add(rows[0].gang.name)
            return False
        for name, line, number in result.solution.placed:
            server, row = int(name), rows[line].line
            self._hold(server, row, number)
            self._placed.append((server, row, number))
        return True

    def _alone(self, rows: Sequence[WorkerLine], servers: Sequence[int]) -> Placement:
        """Return the problem of placing one copy on the given servers, whose names are their indices."""

        def named(amounts: Vector) -> Resources:
            return Resources(**dict(zip(self._resources, amounts, strict=True)))

        return Placement(
            servers=[Server(name=str(server), capacity=named(self._rooms[server])) for server in servers],
            workers=[
                Workers(job=row.gang.name, count=row.part.count, demand=named(self._demands[row.line]))
                for row in rows
            ],
        )

    def _parts(self, row: WorkerLine) -> bool:
        """Place the parts of an entry, each on the server with room that has the fewest free GPUs.

        Ties are broken by the other free resources, in order. Return whether all parts fit.
        """
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
    """Return how many copies of a nonzero demand fit into the given free resources."""
    return min(free // each for each, free in zip(demand, room, strict=True) if each)
