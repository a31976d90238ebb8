"""Running: the running jobs in order of their keys."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gsopt.simulation.parts.waiting import Rank


class RunningQueue:
    """The running jobs in ascending order of keys, each with its holding (what it holds).

    Keys may rise with time. `pace` returns how much the keys of jobs with a given holding rise per second; it
    is None if keys do not rise.
    """

    def __init__(self, pace: Callable[[Any], Any] | None = None) -> None:
        self._pace = pace
        self._lists: dict[Any, list[Rank]] = {}
        self._paces: dict[Any, Any] = {}  # of every holding so far
        self._at: dict[Any, tuple[Any, Rank]] = {}  # of each job, its holding and its rank in that list
        self.elapsed: Any = 0  # seconds for which keys have risen

    def __contains__(self, job: object) -> bool:
        return job in self._at

    def holding(self, job: Any) -> Any:
        """Return the holding of a job."""
        return self._at[job][0]

    def add(self, job: Any, holding: Any, key: Any) -> None:
        """Add a job with its holding and its current key."""
        if self._pace is not None:
            if holding not in self._paces:
                self._paces[holding] = self._pace(holding)
            key -= self._paces[holding] * self.elapsed
        rank = (key, job)
        self._at[job] = (holding, rank)
        insort(self._lists.setdefault(holding, []), rank)

    def remove(self, job: Any) -> Any:
        """Remove a job and return its holding."""
        holding, rank = self._at.pop(job)
        ranks = self._lists[holding]
        del ranks[bisect_left(ranks, rank)]
        if not ranks:
            del self._lists[holding]
        return holding

    def rekey(self, job: Any, key: Any) -> None:
        """Set the key of a job."""
        self.add(job, self.remove(job), key)

    def behind(self, rank: Rank) -> Iterator[tuple[Any, int]]:
        """Yield the distinct holdings of the jobs after a rank, each with its number of jobs."""
        key, job = rank
        paces, elapsed = None if self._pace is None else self._paces, self.elapsed
        for holding, ranks in self._lists.items():
            bound = rank if paces is None else (key - paces[holding] * elapsed, job)
            if bound < ranks[-1]:
                yield holding, len(ranks) - bisect_right(ranks, bound)

    def last(self, but: Mapping[Any, int]) -> Rank | None:
        """Return the rank (key and job) of the last job that is not ignored, or None if there is none.

        `but` maps holdings to numbers of jobs. Jobs with other holdings are ignored, and so are the last
        `but[holding]` jobs with each of these holdings.
        """
        paces, worst = None if self._pace is None else self._paces, None
        for holding, number in but.items():
            ranks = self._lists[holding]
            if number == len(ranks):
                continue
            rank = ranks[-1 - number]
            if paces is not None:
                rank = (rank[0] + paces[holding] * self.elapsed, rank[1])
            if worst is None or rank > worst:
                worst = rank
        return worst
