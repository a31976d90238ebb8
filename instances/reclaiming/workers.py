"""Workers: the workers into which a job is split for placement on servers."""

from random import Random
from typing import Literal

#: How jobs are split: in the largest workers possible, in workers of random size, or 80 % and 20 % of either.
Mode = Literal["packed", "mixed", "worker"]

_SIZES = (1, 2, 4, 8)
_PACKED_SHARE = {"packed": 1.0, "mixed": 0.8, "worker": 0.0}


def draw_worker_size(gpus: int, mode: Mode, random: Random) -> int:
    """Return the GPUs per worker of a job: 8, or randomly 1, 2, 4 or 8, but no more than the job has."""
    packed = random.random() < _PACKED_SHARE[mode]
    return min(gpus, _SIZES[-1] if packed else random.choice(_SIZES))


def split(gpus: int, size: int) -> list[int]:
    """Split a job into workers of equal size, where only the last worker may be smaller."""
    whole, rest = divmod(gpus, size)
    return [size] * whole + [rest] * (rest > 0)
