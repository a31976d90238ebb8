"""Outlook: how fast each job is expected to be on any GPUs, by what it knows of itself or by its menu."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gsopt.errors import InvalidInput
from gsopt.job import DEFAULT_MODE
from gsopt.simulation.deciders.adapting.nodes import Nodes, Vector
from gsopt.simulation.deciders.ways import ways_of
from gsopt.simulation.policy import State


class Caps(NamedTuple):
    """The most that a job may have, whatever it has had.

    Attributes
    ----------
    gpus, nodes
        GPUs and nodes.

    Examples
    --------
    >>> Caps(gpus=64, nodes=16).gpus
    64
    """

    gpus: int
    nodes: int


class Outlook:
    """What is expected of one job.

    An adaptive job runs in its mode that tunes its batch, if it has one. It is expected to be as its own model
    says, and before it has measured anything as fast as it has GPUs. Any other job is as fast as its menu says:
    on several machines with the best network that so many can have.

    Parameters
    ----------
    state
        The state when it arrives.
    job
        The job.
    caps
        The most that any job may have.

    Attributes
    ----------
    fewest
        The fewest GPUs on which it runs.

    Raises
    ------
    InvalidInput
        It runs on no number of GPUs within the caps.
    """

    def __init__(self, state: State, job: int, caps: Caps) -> None:
        item = state.jobs[job]
        self._job, self._caps = job, caps
        self._modes = _modes(state, job)
        counts = [count for count in self._modes if count <= min(caps.gpus, state.cluster.gpus)]
        if not counts:
            rule = f"must be at least the fewest GPUs of {item.name!r}, {min(self._modes, default=0)}"
            raise InvalidInput("", "most_gpus", str(caps.gpus), rule)
        self._counts = sorted(counts)
        self.fewest = self._counts[0]
        self._ran = 0  # most GPUs that it has had, where it does not tell
        self._speeds: dict[str, list[float]] = {}  # by tier, where a menu tells them

    def mode(self, gpus: int) -> str:
        """Give the mode in which it runs on so many GPUs."""
        return self._modes[gpus]

    def note(self, gpus: int) -> None:
        """Note that it gets so many GPUs."""
        self._ran = max(self._ran, gpus)

    def within(self, vector: Vector) -> Vector:
        """Take GPUs from the last nodes until it runs on as many as are left; empty when on none."""
        usable = max((count for count in self._counts if count <= sum(vector)), default=0)
        found, left = [], usable
        for count in vector:
            found.append(min(count, left))
            left -= found[-1]
        return tuple(found) if usable else ()

    def most(self, state: State) -> int:
        """Give the most GPUs that it may have now: twice as many as it has had."""
        trainee = state.trainee(self._job)
        most = min(
            max(2 * (self._ran if trainee is None else trainee.most_gpus), self.fewest), self._counts[-1]
        )
        return most if trainee is None else min(most, trainee.application.limits.most_gpus)

    def speedups(self, state: State, nodes: Nodes, fair: int) -> list[list[float]]:
        """Give speeds relative to that on the fair share: a row for 1, 2, ... nodes, of as many GPUs and more.

        Parameters
        ----------
        state
            The state.
        nodes
            The nodes.
        fair
            GPUs of the fair share, which count as GPUs of one node.
        """
        most = self.most(state)
        rows = [
            (number, min(nodes.reach(number), most))
            for number in range(1, min(len(nodes.sizes), self._caps.nodes, most) + 1)
        ]
        if state.trainee(self._job) is None:
            return self._by_menu(state, nodes, rows, fair)
        return self._by_model(state, rows, most, fair)

    def _by_model(
        self, state: State, rows: Sequence[tuple[int, int]], most: int, fair: int
    ) -> list[list[float]]:
        trainee = state.trainee(self._job)
        gpus = np.arange(1, most + 1)
        among = np.repeat([1, 2, 1], [most, most, 1])  # how many nodes beyond one makes no difference
        expected = trainee.goodput(among, np.concatenate([gpus, gpus, [fair]])) if trainee else None
        if expected is None:
            return [[gpus / fair for gpus in range(number, end + 1)] for number, end in rows]
        speeds = (expected.goodput / expected.goodput[-1]).tolist()
        together, apart = speeds[:most], speeds[most : 2 * most]
        return [(apart if number > 1 else together)[number - 1 : end] for number, end in rows]

    def _by_menu(
        self, state: State, nodes: Nodes, rows: Sequence[tuple[int, int]], fair: int
    ) -> list[list[float]]:
        cluster = state.cluster
        alone = self._on_tier(state, cluster.best_tier(1))
        share = alone[min(fair, len(alone) - 1)] or alone[self.fewest] * fair / self.fewest
        found = []
        for number, end in rows:
            tier = cluster.best_tier(nodes.reach(number)) if number > 1 else cluster.best_tier(1)
            speeds = self._on_tier(state, tier)
            found.append([speed / share for speed in speeds[number : end + 1]])
        return found

    def _on_tier(self, state: State, tier: str) -> list[float]:
        """Give the speed on 0, 1, ... GPUs that a tier joins; where it does not run, that on fewer."""
        if tier not in self._speeds:
            speeds, last = [], 0.0
            for count in range(self._counts[-1] + 1):
                if count in self._modes:
                    last = float(state.rate(self._job, count, self._modes[count], tier=tier))
                speeds.append(last)
            self._speeds[tier] = speeds
        return self._speeds[tier]


def _modes(state: State, job: int) -> dict[int, str]:
    """Give the numbers of GPUs on which a job runs, each with its mode."""
    item = state.jobs[job]
    if state.trainee(job) is not None:
        tuned = next((mode.name for mode in item.modes if mode.tunes), DEFAULT_MODE)
        return dict.fromkeys(item.speeds[tuned], tuned)
    machines = state.cluster.machines  # all alike; none of a plain cluster
    ways = ways_of(item, None, machines[0].memory, machines[0].gpu_type) if machines else ways_of(item)
    return {count: ways.modes[count] for count in np.flatnonzero(ways.speeds).tolist()}
