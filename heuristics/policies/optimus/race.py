"""Race: steps granted to candidates one by one, always the next step with the smallest rank."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Protocol, TypeVar


class Ranked(Protocol):
    """An interface for steps that candidates ask for, with ranks by which they are compared."""

    @property
    def rank(self) -> Any:
        """The rank of the step; the smallest rank goes first."""


S = TypeVar("S", bound=Ranked)


def race(
    candidates: Iterable[Iterator[S]], take: Callable[[int, S], bool], *, stops: bool = False
) -> Iterator[tuple[int, S]]:
    """Grant steps one by one, and yield each with the index of its candidate.

    Of the next steps of all candidates, the one with the smallest rank comes first. Ties go to the candidate
    with the lower index. `take` is called with this index and the step. It takes the GPUs, and returns whether
    enough remained. A step that does not fit ends the race for its candidate only or, if `stops` is set, for
    all candidates. O(J + S log J) for S steps of J candidates.
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
    """Return the negated time that a step saves per GPU as its rank, or None if it saves nothing.

    `before` and `after` are the remaining times without and with the step, which adds `gpus`. Source: Optimus,
    section 4.1.
    """
    saved = before - after
    return -saved / gpus if saved > 0 else None
