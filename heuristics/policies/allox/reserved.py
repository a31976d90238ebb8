"""Reserved: jobs hold GPUs for good, and the free ones go to those that are first in the best orders there."""

from collections.abc import Iterable, Sequence

import numpy as np

from gsopt.core.numbers.assignment import sequence
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import State
from heuristics.policies.allox.sequenced import require_one_gpu
from heuristics.policies.gavel.received import Portions

#: Seconds for which a job runs where it cannot run: it is put there last.
_NEVER = 1e10


class Reserved:
    """Grant jobs a GPU all the time or never, as AlloX in Gavel's simulator does: a division for `Rounds`.

    Each time, the jobs without a GPU are put in the best orders on the GPUs that no job holds, as if there were
    no others. Whoever is first holds that GPU to its end; all others are put in order anew the next time.

    Source: the policy ``allox_perf`` of Gavel's simulator. Of orders that cost the same it has whichever its
    solver finds.

    Parameters
    ----------
    alpha
        Part of the jobs without a GPU, the oldest, that are put in order; at least as many as GPUs are free.
    gangs
        Whether jobs may demand several GPUs, and count as one GPU each nevertheless.
    """

    def __init__(self, alpha: float = 1.0, *, gangs: bool = False) -> None:
        self._alpha, self._gangs = alpha, gangs
        self._held: dict[int, str] = {}

    def __call__(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Portions:
        """Return the share 1 to jobs that hold a GPU, and to those that are first on the free ones."""
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
        """Return the kind of each GPU for which no job is counted."""
        held = list(self._held.values())
        counts: Iterable[tuple[str, int]] = inventory.counts.items()
        return [kind for kind, count in counts for _ in range(count - held.count(kind))]


def _seconds(state: State, job: int, kind: str, inventory: Inventory) -> float:
    if kind not in inventory.kinds_with_room(state, job):
        return _NEVER
    return float(state.remaining(job) / inventory.rate(state, job, kind))
