"""Placing: on which machines the workers of a job go, by best fit and Aryl's preferences.

Source: Aryl, section 5.3: a worker goes to a non-empty machine that fits it best, else to a new one; base and
flexible workers go to separate groups of inference machines, so that those of flexible workers can be returned
without a preemption. Heterogeneous jobs (section 6) have their base workers on training machines and their
flexible ones on inference machines as far as possible.
"""

import numpy as np

from heuristics.policies.aryl.books import Books
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.forms import Form
from heuristics.policies.aryl.machines import Counts, Mask

#: One rank more outweighs any number of GPUs; no machine has a score of `_NONE`.
_RANK, _NONE = 1 << 40, 1 << 60


def place_base(books: Books, form: Form, *, grouping: bool) -> dict[int, int] | None:
    """Find machines for the base workers of a job; None where not all find one.

    With grouping flexible workers count as if they were not there. Machines with base workers come first, the
    fewest GPUs left first; then empty ones; then those with flexible workers only. Without grouping idle GPUs
    come first, those of occupied machines before those of empty ones; flexible workers make way only then.
    Mixed jobs take training machines first. Ties go to the first machine.

    Parameters
    ----------
    books
        Who has workers where; not changed.
    form
        How the job runs.
    grouping
        Whether base and flexible workers are kept apart.
    """
    has_base, has_flexible = books.base > 0, books.flexible > 0
    last: Counts = (books.machines.inference & (form.pool == "mixed")).astype(np.int64) * 3
    placed: dict[int, int] = {}
    room = books.room
    if not grouping:
        ranks = np.where(has_base | has_flexible, 0, 1) + last
        placed = _fill(books.idle, ranks, form.suits, form.worker_gpus, form.base)
        for machine, number in placed.items():
            room[machine] -= number * form.worker_gpus
    ranks = np.where(has_base, 0, np.where(has_flexible, 2, 1)) + last
    missing = form.base - sum(placed.values())
    for machine, number in _fill(room, ranks, form.suits, form.worker_gpus, missing).items():
        placed[machine] = placed.get(machine, 0) + number
        missing -= number
    return None if missing else placed


def place_flexible(
    books: Books, crew: Crew, number: int, *, grouping: bool, among: Mask | None = None
) -> dict[int, int]:
    """Find machines for further flexible workers of a job, as many as find one.

    On inference machines those with flexible workers only come first, then empty ones, then others; on training
    machines, and everywhere without grouping, all occupied ones come before empty ones. Of equal ones the one
    with the fewest idle GPUs, then the first. Mixed jobs take inference machines first; without grouping
    training machines.

    Parameters
    ----------
    books
        Who has workers where; not changed.
    crew
        The job.
    number
        How many workers.
    grouping
        Whether base and flexible workers are kept apart.
    among
        The only machines that may be taken, shape (machines,); all that suit the job when None.
    """
    inference = books.machines.inference
    has_base, has_flexible = books.base > 0, books.flexible > 0
    occupied = np.where(has_base | has_flexible, 0, 1)
    ranks = occupied
    if grouping:
        ranks = np.where(inference, np.where(has_base, 2, np.where(has_flexible, 0, 1)), occupied)
    suits = crew.form.suits if among is None else crew.form.suits & among
    if crew.pool == "mixed":
        ranks = ranks + np.where(inference == grouping, 0, 3)
    else:
        suits = suits & (inference if crew.pool == "inference" else ~inference)
    return _fill(books.idle, ranks, suits, crew.form.worker_gpus, number)


def _fill(room: Counts, ranks: Counts, suits: Mask, size: int, number: int) -> dict[int, int]:
    """Put workers of one size on machines by rank and room; one that is taken is filled as far as they go."""
    scores = np.where(suits & (room >= size), ranks * _RANK + room, _NONE)
    placed: dict[int, int] = {}
    while number:
        machine = int(scores.argmin())
        if scores[machine] == _NONE:
            break
        placed[machine] = min(number, int(room[machine]) // size)
        number -= placed[machine]
        scores[machine] = _NONE
    return placed
