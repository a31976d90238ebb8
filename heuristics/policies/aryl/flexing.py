"""Flexing: flexible workers come, make way and go, so that each job has as many as it is given."""

from collections.abc import Iterable, Mapping

import numpy as np

from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.placing import place_flexible


def displace(books: Books) -> None:
    """Let flexible workers make way where base workers have taken their GPUs.

    On a machine those of the job with the highest number go first; then each of these jobs is left with a
    number that is allowed.
    """
    moved: dict[int, Crew] = {}
    for machine in np.flatnonzero(books.idle < 0).tolist():
        for crew in reversed(books.guests(machine)):
            missing = -int(books.idle[machine])
            if missing <= 0:
                break
            size = crew.form.worker_gpus
            books.put_flexible(crew, machine, -min(crew.flexible[machine], -(-missing // size)))
            moved[crew.job] = crew
    for crew in moved.values():
        release(books, crew, crew.allowed(crew.extra))


def release(books: Books, crew: Crew, extra: int) -> None:
    """Take flexible workers from a job until it has so many.

    Those on machines with base workers go first, of anybody; then those on the last machine.
    """
    surplus = crew.extra - extra
    while surplus > 0:
        machine = max(crew.flexible, key=lambda each: (books.base[each] > 0, each))
        number = min(crew.flexible[machine], surplus)
        books.put_flexible(crew, machine, -number)
        surplus -= number


def flex(books: Books, extras: Mapping[int, int], *, grouping: bool, own_only: bool = False) -> None:
    """Grant every elastic job its number of flexible workers, or fewer where they find no place.

    Workers that stay do not move. Jobs that get further ones are served by decreasing size of their workers,
    mixed jobs last, then by number.

    Parameters
    ----------
    books
        Who has workers where.
    extras
        Flexible workers of each job; none for a job that is not named, the next smaller number where so many
        are not allowed.
    grouping
        Whether base and flexible workers are kept apart.
    own_only
        Whether further workers may only stand on machines where the job has workers.
    """
    growing: list[tuple[Crew, int]] = []
    for job, crew in books.elastic.items():
        target = extras.get(job, 0)
        if target == crew.extra:
            continue
        target = crew.allowed(target)
        if target < crew.extra:
            release(books, crew, target)
        elif target > crew.extra:
            growing.append((crew, target))
    growing.sort(key=lambda each: (each[0].pool == "mixed", -each[0].form.worker_gpus, each[0].job))
    for crew, target in growing:
        among = _own(books, [*crew.base, *crew.flexible]) if own_only else None
        placed = place_flexible(books, crew, target - crew.extra, grouping=grouping, among=among)
        for machine, number in placed.items():
            books.put_flexible(crew, machine, number)
        if crew.extra < target:
            release(books, crew, crew.allowed(crew.extra))


def _own(books: Books, machines: Iterable[int]) -> np.ndarray:
    mask = np.zeros(books.there.size, dtype=np.bool_)
    mask[list(machines)] = True
    return mask
