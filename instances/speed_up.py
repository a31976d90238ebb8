"""Speed-up: the scaling of random jobs with adaptive batch sizes on one node and on several nodes."""

from random import Random
from typing import NamedTuple

#: Limits of the fraction by which each additional GPU prolongs a step, on one node and on several.
_ON_A_NODE, _ON_SEVERAL = (0.005, 0.15), (0.02, 0.6)

#: Limits of the noise, a number of GPUs; see `SpeedUp`.
_NOISE = (2.0, 200.0)


class SpeedUp(NamedTuple):
    """The scaling of a job's speed with its number of GPUs.

    This model is gsopt's own. Each additional GPU prolongs a step by the fraction `near` of its duration on one
    GPU if all GPUs are on one node, and by the fraction `far` if they are on several. On n GPUs, the batch is n
    times as large, and each sample contributes ``(noise + 1) / (noise + n)`` times as much to progress as on
    one GPU.
    """

    near: float
    far: float
    noise: float

    @classmethod
    def drawn(cls, random: Random) -> "SpeedUp":
        """Draw a random scaling, with `far` at least as large as `near`."""
        near = log_uniform(random, *_ON_A_NODE)
        return cls(near, max(near, log_uniform(random, *_ON_SEVERAL)), log_uniform(random, *_NOISE))

    def on(self, nodes: int, gpus: int) -> float:
        """Return the goodput on the given numbers of nodes and GPUs, relative to the goodput on one GPU."""
        step = 1 + (self.near if nodes == 1 else self.far) * (gpus - 1)
        return gpus * (self.noise + 1) / (self.noise + gpus) / step


def log_uniform(random: Random, least: float, most: float) -> float:
    """Draw a log-uniform number between two limits, and round it to three significant digits."""
    return float(f"{least * (most / least) ** random.random():.3g}")
