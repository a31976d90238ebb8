"""Race: candidates are granted step by step what they ask for, the step of the least rank first."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Protocol, TypeVar


class Ranked(Protocol):
    """A step that a candidate asks for."""

    @property
    def rank(self) -> Any:
        """Its rank; the least goes first."""


S = TypeVar("S", bound=Ranked)


def race(
    candidates: Iterable[Iterator[S]], take: Callable[[int, S], bool], *, stops: bool = False
) -> Iterator[tuple[int, S]]:
    """Grant step after step, that of the least rank first, and yield it with the place of its candidate.

    Ties go to the candidate that is named first. `take` takes what a step of the candidate at a place needs,
    and returns whether it was left. The first step that does not fit ends the race for its candidate only, or
    for all if `stops`. O(J + S log J) for S steps of J candidates.
    """
    entrants: Sequence[Iterator[S]] = tuple(candidates)
    queue = [(step.rank, place, step) for place, each in enumerate(entrants) if (step := next(each, None))]
    heapify(queue)
    while queue:
        _, place, step = heappop(queue)
        if take(place, step):
            yield place, step
            following = next(entrants[place], None)
            if following is not None:
                heappush(queue, (following.rank, place, following))
        elif stops:
            return


def by_time_saved(before: Any, after: Any, gpus: int) -> Any:
    """Rank a step by the time left before and after it, the one that saves most per GPU first.

    None if it saves nothing. Source: Optimus, section 4.1.
    """
    saved = before - after
    return -saved / gpus if saved > 0 else None
