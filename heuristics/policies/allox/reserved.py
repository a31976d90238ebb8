"""Reserved: AlloX in Gavel's rounds, where a job keeps its GPU once it comes first in an order."""

from collections.abc import Sequence

import numpy as np

from gsopt.core.numbers.assignment import sequence
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import State
from heuristics.policies.allox.sequenced import require_one_gpu
from heuristics.policies.gavel.ledger import Portions

#: The running time, in seconds, of a job on GPUs on which it cannot run, so that it comes last there.
_NEVER = 1e10


class Reserved:
    """A function that computes shares of time for `Rounds`: each job has a GPU either always or never.

    This is AlloX in Gavel's simulator. At each call, the jobs without a GPU are ordered on the GPUs that no job
    holds, as if these were the only GPUs. A job that comes first on a GPU keeps it until the job ends; all
    other jobs are ordered again at the next call. Of the jobs without a GPU, only the fraction `alpha` that
    arrived first is ordered, but at least as many jobs as there are free GPUs. With `gangs`, jobs may demand
    several GPUs but still count as one GPU each.

    Source: the policy ``allox_perf`` of Gavel's simulator. Ties between orders of equal cost are broken by the
    solver.
    """

    def __init__(self, alpha: float = 1.0, *, gangs: bool = False) -> None:
        self._alpha, self._gangs = alpha, gangs
        self._held: dict[int, str] = {}

    def __call__(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Portions:
        """Return a share of 1 for each job that holds a GPU or comes first on a free GPU."""
        for job in () if self._gangs else jobs:
            require_one_gpu(state, job)
        self._held = {job: self._held[job] for job in jobs if job in self._held}
        free = self._free(inventory)
        waiting = sorted(job for job in jobs if job not in self._held)  # in the order of arrival
        entering = waiting[: max(int(self._alpha * len(waiting)), len(free))]
        if entering and free:
            seconds = [[_seconds(state, job, kind, inventory) for kind in free] for job in entering]
            for kind, order in zip(free, sequence(np.array(seconds)), strict=True):
                self._held |= {entering[job]: kind for job in order[:1]}
        return {job: {self._held[job]: 1.0} if job in self._held else {} for job in jobs}

    def _free(self, inventory: Inventory) -> list[str]:
        """Return the kind of each GPU that no job holds."""
        held = list(self._held.values())
        return [kind for kind, count in inventory.counts.items() for _ in range(count - held.count(kind))]


def _seconds(state: State, job: int, kind: str, inventory: Inventory) -> float:
    if kind not in inventory.kinds_with_room(state, job):
        return _NEVER
    return float(state.remaining(job) / inventory.rate(state, job, kind))
