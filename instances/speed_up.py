"""Speed-up: what drawn jobs with adaptive batch sizes gain by GPUs, on one node and on several."""

from random import Random
from typing import NamedTuple

#: How much longer a step takes for each further GPU, on one node and on several.
_ON_A_NODE, _ON_SEVERAL = (0.005, 0.15), (0.02, 0.6)

#: GPUs from which on the batch that they need takes twice as long to be as good.
_NOISE = (2.0, 200.0)


class SpeedUp(NamedTuple):
    """How a job scales; these numbers are ours.

    A step takes longer by the share `near` for each further GPU on one node, and by `far` on several. On
    `noise` GPUs the batch that they need takes twice as long to be as good.
    """

    near: float
    far: float
    noise: float

    @classmethod
    def drawn(cls, random: Random) -> "SpeedUp":
        """Return a drawn one."""
        near = log_uniform(random, *_ON_A_NODE)
        return cls(near, max(near, log_uniform(random, *_ON_SEVERAL)), log_uniform(random, *_NOISE))

    def on(self, nodes: int, gpus: int) -> float:
        """Return the goodput on GPUs of some nodes, relative to that on one GPU."""
        step = 1 + (self.near if nodes == 1 else self.far) * (gpus - 1)
        return gpus * (self.noise + 1) / (self.noise + gpus) / step


def log_uniform(random: Random, least: float, most: float) -> float:
    """Draw evenly on a logarithmic scale, to three digits."""
    return float(f"{least * (most / least) ** random.random():.3g}")
