"""Turns: waiting jobs in one order, of which those that need too much are passed over all at once."""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple


class Turn(NamedTuple):
    """The place of a waiting job: its key, since when it waits, and its number, which decide in this order."""

    key: Any
    since: Any
    job: int


class Turns:
    """Waiting jobs in order, in one sorted list for each need."""

    def __init__(self) -> None:
        self._lists: dict[Hashable, list[Turn]] = {}

    @property
    def needs(self) -> Iterable[Any]:
        """What the jobs need, each need once."""
        return self._lists.keys()

    def first(self, need: Hashable) -> Turn:
        """Return the first job of a need."""
        return self._lists[need][0]

    def add(self, turn: Turn, need: Hashable) -> None:
        """Add a job."""
        insort(self._lists.setdefault(need, []), turn)

    def remove(self, turn: Turn, need: Hashable) -> None:
        """Remove a job."""
        turns = self._lists[need]
        del turns[bisect_left(turns, turn)]
        if not turns:
            del self._lists[need]

    def walk(self, is_open: Callable[[Any], bool]) -> Iterator[tuple[Turn, Any]]:
        """Yield the jobs in order, each with its need, but those of needs that are not open.

        Whether a need is open is asked when one of its jobs is next; once it is not, none of them comes any
        more. The job that was given last may be removed in between.
        """
        heads: list[tuple[Turn, int, Any]] = [(turns[0], 0, need) for need, turns in self._lists.items()]
        heapify(heads)
        while heads:
            turn, place, need = heads[0]
            if not is_open(need):
                heappop(heads)
                continue
            yield turn, need
            turns = self._lists.get(need, [])
            if place < len(turns) and turns[place] is turn:
                place += 1
            if place < len(turns):
                heapreplace(heads, (turns[place], place, need))
            else:
                heappop(heads)
