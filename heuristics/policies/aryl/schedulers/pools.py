"""Pools: the GPUs that flexible workers may have, by pool, and what is left of them."""

from heuristics.policies.aryl.epoch import Epoch, Pool


class Pools:
    """The GPUs that are idle or held by flexible workers, of which jobs take what they get.

    Flexible workers of a job that runs on any mixture are in no pool known here. What they hold is left to such
    jobs, which may take what is idle or flexible in the other pools too; so whatever is taken can be held.

    Parameters
    ----------
    epoch
        What is decided on.
    """

    def __init__(self, epoch: Epoch) -> None:
        self._pools = {pool: epoch.idle.get(pool, 0) for pool in ("training", "inference")}
        self._total = sum(self._pools.values())
        for job in epoch.elastic:
            held = job.extra * job.worker_gpus
            self._total += held
            if job.pool in self._pools:
                self._pools[job.pool] += held

    def take(self, gpus: int, pool: Pool = "mixed") -> bool:
        """Take so many GPUs of a pool, or of any, and tell whether they were left."""
        if gpus > self.left(pool):
            return False
        self._total -= gpus
        if pool in self._pools:
            self._pools[pool] -= gpus
        return True

    def left(self, pool: Pool) -> int:
        """Return the GPUs that are left for a pool."""
        return min(self._total, self._pools.get(pool, self._total))
