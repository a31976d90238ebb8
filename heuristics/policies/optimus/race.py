"""Race: who asks for more gets it step by step, that of the least rank first."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Protocol, TypeVar


class Ranked(Protocol):
    """A step that a contender asks for."""

    @property
    def rank(self) -> Any:
        """Its rank; the least goes first."""


S = TypeVar("S", bound=Ranked)


def race(
    contenders: Iterable[Iterator[S]], take: Callable[[int, S], bool], *, stops: bool = False
) -> Iterator[tuple[int, S]]:
    """Grant step after step, that of the least rank first, and give whose it is, by place.

    Of equal ranks the one that is named first goes first. O(J + S log J) for S steps of J contenders.

    Parameters
    ----------
    contenders
        The steps that each asks for, one after the other.
    take
        Takes what a step of the contender at a place needs, and tells whether it was left.
    stops
        Whether the first step that does not fit ends the race; else it ends it for its contender only.
    """
    entrants: Sequence[Iterator[S]] = tuple(contenders)
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
    """Rank a step by the time left before and after it: the one that saves most per GPU first.

    None where it saves nothing, so that nobody asks for it. Source: Optimus, section 4.1.
    """
    saved = before - after
    return -saved / gpus if saved > 0 else None
