"""Placing: the machines for a job's workers, chosen by best fit and Aryl's preferences.

Source: Aryl, section 5.3: a worker goes to the non-empty machine that fits best, or else to a new machine. Base
and flexible workers use separate groups of inference machines, so that machines with only flexible workers can
be returned without preempting jobs. Heterogeneous jobs (section 6) have base workers on training machines and
flexible workers on inference machines if possible.
"""

import numpy as np

from heuristics.policies.aryl.forms import Form
from heuristics.policies.aryl.machines import Counts, Mask
from heuristics.policies.aryl.occupancy import Occupancy, RunningJob

#: A rank that is higher by one outweighs any number of GPUs; the score `_NONE` marks an unusable machine.
_RANK, _NONE = 1 << 40, 1 << 60


def place_base(occupancy: Occupancy, form: Form, *, grouping: bool) -> dict[int, int] | None:
    """Choose machines for a form's base workers, and return the number on each, or None if not all fit.

    With `grouping`, the GPUs of flexible workers count as free. Machines with base workers come first, then
    empty machines, then machines with flexible workers only. Without `grouping`, idle GPUs come first, on
    occupied machines before empty ones, and flexible workers are displaced only if the idle GPUs do not
    suffice. Mixed jobs prefer training machines. Ties go to the machine with the fewest free GPUs that suffice
    for a worker, then to the first machine.
    """
    has_base, has_flexible = occupancy.base > 0, occupancy.flexible > 0
    last: Counts = (occupancy.machines.inference & (form.pool == "mixed")).astype(np.int64) * 3
    placed: dict[int, int] = {}
    room = occupancy.room
    if not grouping:
        ranks = np.where(has_base | has_flexible, 0, 1) + last
        placed = _fill(occupancy.idle, ranks, form.suits, form.worker_gpus, form.base)
        for machine, number in placed.items():
            room[machine] -= number * form.worker_gpus
    ranks = np.where(has_base, 0, np.where(has_flexible, 2, 1)) + last
    missing = form.base - sum(placed.values())
    for machine, number in _fill(room, ranks, form.suits, form.worker_gpus, missing).items():
        placed[machine] = placed.get(machine, 0) + number
        missing -= number
    return None if missing else placed


def place_flexible(
    occupancy: Occupancy, running: RunningJob, number: int, *, grouping: bool, among: Mask | None = None
) -> dict[int, int]:
    """Choose machines for up to `number` new flexible workers of a job, and return the number on each.

    Fewer workers are placed if not all fit.

    Among inference machines, those with only flexible workers come first, then empty ones, then others. Among
    training machines, and everywhere without `grouping`, occupied machines come before empty ones. Ties go to
    the machine with the fewest idle GPUs that suffice for a worker, then to the first machine. Jobs that may
    use both pools prefer inference machines with `grouping`, and training machines otherwise. Other jobs use
    only machines of their pool. Only machines in `among` are used, unless that is None.
    """
    inference = occupancy.machines.inference
    has_base, has_flexible = occupancy.base > 0, occupancy.flexible > 0
    occupied = np.where(has_base | has_flexible, 0, 1)
    ranks = occupied
    if grouping:
        ranks = np.where(inference, np.where(has_base, 2, np.where(has_flexible, 0, 1)), occupied)
    suits = running.form.suits if among is None else running.form.suits & among
    if running.pool == "mixed":
        ranks = ranks + np.where(inference == grouping, 0, 3)
    else:
        suits = suits & (inference if running.pool == "inference" else ~inference)
    return _fill(occupancy.idle, ranks, suits, running.form.worker_gpus, number)


def _fill(room: Counts, ranks: Counts, suits: Mask, size: int, number: int) -> dict[int, int]:
    """Fill machines with workers of one size, in ascending order of rank, then of room."""
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
