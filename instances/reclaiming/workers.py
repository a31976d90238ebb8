"""Workers: functions that split jobs into workers for placement on servers."""

from random import Random
from typing import Literal

#: How jobs are split. ``packed``: into the largest possible workers. ``worker``: into workers of random size.
#: ``mixed``: 80 % of the jobs as in ``packed``, the others as in ``worker``.
Mode = Literal["packed", "mixed", "worker"]

_SIZES = (1, 2, 4, 8)
_PACKED_SHARE = {"packed": 1.0, "mixed": 0.8, "worker": 0.0}


def draw_worker_size(gpus: int, mode: Mode, random: Random) -> int:
    """Return a job's number of GPUs per worker.

    Depending on the mode, it is 8, or drawn at random from 1, 2, 4 and 8, but never more than `gpus`.
    """
    packed = random.random() < _PACKED_SHARE[mode]
    return min(gpus, _SIZES[-1] if packed else random.choice(_SIZES))


def split(gpus: int, size: int) -> list[int]:
    """Return the GPUs of each worker of a job: `size`, except that the last worker may have fewer."""
    whole, rest = divmod(gpus, size)
    return [size] * whole + [rest] * (rest > 0)
