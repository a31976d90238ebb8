"""Outlook: the expected speed of each job on any set of GPUs, from its own model or the given speeds."""

from typing import NamedTuple

import numpy as np

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import DEFAULT_MODE, Job
from gsopt.simulation.parts.ways import ways_of
from gsopt.simulation.policy import State
from heuristics.policies.pollux.nodes import Nodes, Vector


class Caps(NamedTuple):
    """The largest numbers of GPUs and of nodes that a job may ever have."""

    gpus: int
    nodes: int


class JobOutlook:
    """The expected speed of one job on any set of GPUs, and the numbers of GPUs that it may have.

    An adaptive job runs in its mode that tunes the batch size, if it has one. Its expected speed comes from its
    own model; before it has measured anything, the speed is taken to be proportional to its number of GPUs. Any
    other job has its given speeds. On several machines, these assume the best possible network for that number
    of machines. `fewest` is the fewest GPUs on which the job can run.

    Raises
    ------
    InvalidInput
        The job cannot run on any number of GPUs within the caps and the cluster.
    """

    def __init__(self, state: State, job: int, caps: Caps) -> None:
        item = state.jobs[job]
        self._job, self._caps = job, caps
        self._modes = _modes(state, job)
        counts = sorted(count for count in self._modes if count <= min(caps.gpus, state.cluster.gpus))
        if not counts:
            rule = f"must be at least the fewest GPUs of {item.name!r}, {min(self._modes, default=0)}"
            raise InvalidInput("most_gpus", str(caps.gpus), rule)
        self.fewest = counts[0]
        self._usable = [
            max((count for count in counts if count <= gpus), default=0) for gpus in range(counts[-1] + 1)
        ]
        self._ran = 0  # most GPUs that it has had, where it does not tell
        self._speeds: dict[str, list[float]] = {}  # by tier, where a menu tells them

    def mode(self, gpus: int) -> str:
        """Return the mode in which the job runs on the given number of GPUs."""
        return self._modes[gpus]

    def note(self, gpus: int) -> None:
        """Record the number of GPUs that the job has been granted, if it is the largest so far."""
        self._ran = max(self._ran, gpus)

    def within(self, vector: Vector) -> Vector:
        """Reduce numbers of GPUs per node, last nodes first, to a total that the job can use.

        Return () if the job cannot run on so few GPUs.
        """
        usable = self._usable[min(sum(vector), len(self._usable) - 1)]
        found, left = [], usable
        for count in vector:
            found.append(min(count, left))
            left -= found[-1]
        return tuple(found) if usable else ()

    def most(self, state: State) -> int:
        """Return the most GPUs that the job may have now: twice the most that it has had, within the caps.

        Its fewest GPUs are always allowed.
        """
        trainee = state.trainee(self._job)
        if trainee is None:
            return min(max(2 * self._ran, self.fewest), self._usable[-1])
        most = max(min(2 * trainee.most_gpus, trainee.application.limits.most_gpus), self.fewest)
        return min(most, self._usable[-1])

    def speedups(self, state: State, nodes: Nodes, fair: int) -> list[list[float]]:
        """Return speeds relative to the speed on a fair share, with one row each for 1, 2, ... nodes.

        The row for n nodes holds the speed-ups on n, n + 1, ... GPUs. The fair share, `fair` GPUs, is assumed
        to be on one node.
        """
        most = self.most(state)
        rows = [
            (number, min(nodes.most_gpus(number), most))
            for number in range(1, min(len(nodes.sizes), self._caps.nodes, most) + 1)
        ]
        expected = self._expected(state, fair, most)
        if expected is not None:
            together, apart = expected
            return [(apart if number > 1 else together)[number : end + 1] for number, end in rows]
        tiers = [state.cluster.best_tier(nodes.most_gpus(number) if number > 1 else 1) for number, _ in rows]
        alone = self._on_tier(state, tiers[0])
        share = alone[min(fair, len(alone) - 1)] or alone[self.fewest] * fair / self.fewest
        return [
            [speed / share for speed in self._on_tier(state, tier)[number : end + 1]]
            for tier, (number, end) in zip(tiers, rows, strict=True)
        ]

    def _expected(self, state: State, fair: int, most: int) -> tuple[list[float], list[float]] | None:
        """Return an adaptive job's expected speed-ups on 0, 1, ... GPUs of one node and of several nodes."""
        trainee = state.trainee(self._job)
        if trainee is None:
            return None
        gpus = np.arange(1, most + 1)
        among = np.repeat([1, 2, 1], [most, most, 1])  # how many nodes beyond one makes no difference
        choice = trainee.goodput(among, np.concatenate([gpus, gpus, [fair]]))
        if choice is None:
            together = apart = gpus / fair
        else:
            together, apart = np.split(choice.goodput[:-1] / choice.goodput[-1], 2)
        found = [
            np.concatenate([[0.0], speeds])[self._usable[: most + 1]].tolist() for speeds in (together, apart)
        ]
        return found[0], found[1]

    def _on_tier(self, state: State, tier: str) -> list[float]:
        """Return the job's given speeds on 0, 1, ... GPUs that a tier connects."""
        if tier not in self._speeds:
            speeds = {
                count: float(state.rate(self._job, count, self._modes[count], tier=tier))
                for count in set(self._usable) - {0}
            }
            self._speeds[tier] = [speeds.get(count, 0.0) for count in self._usable]
        return self._speeds[tier]


def _modes(state: State, job: int) -> dict[int, str]:
    """Return the mode of a job on each number of GPUs on which it can run."""
    item, machines = state.jobs[job], state.cluster.machines
    memory, gpu_type = (machines[0].memory, machines[0].gpu_type) if machines else (None, None)
    if state.trainee(job) is not None:
        tuned = [mode.name for mode in item.modes if mode.tunes and _suits(item, mode.name, memory, gpu_type)]
        mode = tuned[0] if tuned else DEFAULT_MODE
        return dict.fromkeys(item.speeds[mode], mode)
    ways = ways_of(item, None, memory, gpu_type)
    return {count: ways.modes[count] for count in np.flatnonzero(ways.speeds).tolist()}


def _suits(item: Job, mode: str, memory: int | None, gpu_type: str | None) -> bool:
    """Check whether GPUs have the type and enough memory for a mode."""
    fits = memory is None or (item.memory_in(mode) or 0) <= memory
    return fits and item.gpu_type_in(mode) in ("", gpu_type or "")
