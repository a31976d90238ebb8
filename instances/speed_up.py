"""Speed-up: how random jobs with adaptive batch sizes scale with GPUs, on one node and on several."""

from random import Random
from typing import NamedTuple

#: How much longer a step takes for each further GPU, on one node and on several.
_ON_A_NODE, _ON_SEVERAL = (0.005, 0.15), (0.02, 0.6)

#: GPUs from which on the batch that they need takes twice as long to be as good.
_NOISE = (2.0, 200.0)


class SpeedUp(NamedTuple):
    """How a job scales; the numbers are gsopt's own.

    Each additional GPU prolongs a step by the share `near` on one node, and `far` on several. On `noise` GPUs,
    samples count about half as much because of the larger batch.
    """

    near: float
    far: float
    noise: float

    @classmethod
    def drawn(cls, random: Random) -> "SpeedUp":
        """Draw how a job scales."""
        near = log_uniform(random, *_ON_A_NODE)
        return cls(near, max(near, log_uniform(random, *_ON_SEVERAL)), log_uniform(random, *_NOISE))

    def on(self, nodes: int, gpus: int) -> float:
        """Return the goodput on GPUs of a number of nodes, relative to that on one GPU."""
        step = 1 + (self.near if nodes == 1 else self.far) * (gpus - 1)
        return gpus * (self.noise + 1) / (self.noise + gpus) / step


def log_uniform(random: Random, least: float, most: float) -> float:
    """Draw from a log-uniform distribution, rounded to three digits."""
    return float(f"{least * (most / least) ** random.random():.3g}")
