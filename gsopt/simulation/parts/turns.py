"""Turns: the waiting jobs in order; all jobs with the same need can be skipped together."""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple


class Turn(NamedTuple):
    """The rank of a waiting job: its key, the time at which it began to wait, and its number."""

    key: Any
    since: Any
    job: int


class Turns:
    """The waiting jobs in order of their turns, in one sorted list per need.

    A need describes the GPUs that a job waits for; jobs with equal needs can be served by the same GPUs.
    """

    def __init__(self) -> None:
        self._lists: dict[Hashable, list[Turn]] = {}

    @property
    def needs(self) -> Iterable[Any]:
        """The distinct needs of the jobs."""
        return self._lists.keys()

    def first(self, need: Hashable) -> Turn:
        """Return the turn of the first job with the given need."""
        return self._lists[need][0]

    def add(self, turn: Turn, need: Hashable) -> None:
        """Add a job, which is given by its turn and its need."""
        insort(self._lists.setdefault(need, []), turn)

    def remove(self, turn: Turn, need: Hashable) -> None:
        """Remove a job, which is given by its turn and its need."""
        turns = self._lists[need]
        del turns[bisect_left(turns, turn)]
        if not turns:
            del self._lists[need]

    def walk(self, is_open: Callable[[Any], bool]) -> Iterator[tuple[Turn, Any]]:
        """Yield the turns of the jobs whose needs are open, in order, each with its need.

        Before each turn, `is_open` is called with its need. Once a need is no longer open, all further jobs
        with this need are skipped. The caller may remove the job that was yielded last.
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
