"""Packing: equal GPU time for jobs and, while GPUs are scarce, for pairs of jobs that share GPUs."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from random import Random
from typing import Any, Literal, NamedTuple

from gsopt.core.numbers.tolerances import TOGETHER
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import State
from heuristics.policies.gandiva.matching import best_matching
from heuristics.policies.gavel.ledger import Portions

#: How pairs are chosen: at random, or by an exact matching.
Pairing = Literal["random", "exact"]

#: The sum of the relative speeds of two jobs at which sharing is no better than taking turns.
_TURNS = 1


class _JobClass(NamedTuple):
    """The properties that make jobs interchangeable as partners."""

    model: str
    gpus: int
    memory: int | None
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, state: State, job: int, inventory: Inventory) -> "_JobClass":
        item = state.jobs[job]
        return cls(item.model, item.gpus, item.memory, tuple(inventory.kinds_with_room(state, job)))


class PackedShares:
    """A function that computes shares of time for `Rounds`, with equal GPU time for all units.

    A unit is a job or a pair of jobs. No unit gets more than all of the time.

    If there are GPUs for all jobs, or if jobs may not share GPUs, there are no pairs. Otherwise, two jobs can
    form a pair if they demand the same number of GPUs, some kind of GPU has enough memory for both, and neither
    of them almost stops when they share. `pairs` maps each job of a pair to the other one.

    With ``random`` pairing, a pair stays together while its jobs make no less progress than if they took turns.
    Then, as many times as there are other jobs, two jobs without a partner are drawn at random, and become a
    pair if they can, even if that is worse than taking turns. With ``exact``, the pairs with the most total
    progress compared with taking turns are chosen each time (`heuristics.policies.gandiva.matching`).
    """

    def __init__(self, pairing: Pairing = "random", *, seed: int = 0) -> None:
        self._pairing, self._random = pairing, Random(seed)
        self.pairs: dict[int, int] = {}
        self._gains: dict[
            tuple[_JobClass, _JobClass], float
        ] = {}  # of jobs that are alike, which gain the same

    def __call__(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Portions:
        """Return each unit's fraction of time on every kind of GPU, and nothing for a pair's later job."""
        there = set(jobs)
        crowded = sum(state.jobs[job].gpus for job in jobs) > sum(inventory.counts.values())
        if not crowded or state.share_limit == 1:
            self.pairs = {}
        elif self._pairing == "exact":
            self.pairs = dict(self._best(state, jobs, inventory))
        else:
            kept = self._kept(state, there, inventory)
            self.pairs = kept | dict(self._drawn(state, [job for job in jobs if job not in kept], inventory))
        units = [job for job in jobs if self.pairs.get(job, job) >= job]
        return {job: self._part(state, job, len(units), inventory) for job in units} | {
            job: {} for job in there.difference(units)
        }

    def _part(self, state: State, job: int, units: int, inventory: Inventory) -> Mapping[str, float]:
        """Return the fraction of time that a unit gets on each kind of GPU, at most 1 in total."""
        kinds = inventory.kinds_with_room(state, job)
        if job in self.pairs:
            kinds = _common(state, job, self.pairs[job], inventory)
        parts = {kind: inventory.counts[kind] / (units * state.jobs[job].gpus) for kind in kinds}
        most = max(1.0, sum(parts.values()))
        return {kind: part / most for kind, part in parts.items()}

    def _kept(self, state: State, there: AbstractSet[int], inventory: Inventory) -> dict[int, int]:
        """Return the pairs whose jobs are both present, still lose nothing, and still have enough memory."""
        return {
            job: other
            for job, other in self.pairs.items()
            if {job, other} <= there
            and _common(state, job, other, inventory)
            and _gain(_together(state, job, other)) >= 0
        }

    def _drawn(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Iterator[tuple[int, int]]:
        """Repeatedly draw two jobs at random, and yield them, in both orders, if they may form a pair."""
        left = list(jobs)
        for _ in jobs:
            if len(left) < 2:  # noqa: PLR2004 - a pair
                return
            one, other = self._random.sample(left, 2)
            if _common(state, one, other, inventory) and _go_on(_together(state, one, other)):
                left = [job for job in left if job not in (one, other)]
                yield from ((one, other), (other, one))

    def _best(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Iterator[tuple[int, int]]:
        """Yield the pairs with the largest total gain, each in both orders."""
        import numpy as np

        alike = [_JobClass.of(state, job, inventory) for job in jobs]
        some = dict(zip(alike, jobs, strict=True))
        place = {each: at for at, each in enumerate(some)}
        places = [place[each] for each in alike]
        gains = np.array([[self._known(state, one, other, some, inventory) for other in some] for one in some])
        for one, other in best_matching(gains[np.ix_(places, places)]):
            yield from ((jobs[one], jobs[other]), (jobs[other], jobs[one]))

    def _known(
        self,
        state: State,
        one: _JobClass,
        other: _JobClass,
        some: Mapping[_JobClass, int],
        inventory: Inventory,
    ) -> float:
        """Return the gain of pairing two jobs of these classes, or 0 if they cannot form a pair."""
        if (one, other) not in self._gains:
            gain = 0.0
            if _common(state, some[one], some[other], inventory):
                speeds = _together(state, some[one], some[other])
                gain = max(float(_gain(speeds)), 0.0) if _go_on(speeds) else 0.0
            self._gains |= {(one, other): gain, (other, one): gain}
        return self._gains[one, other]


def _together(state: State, one: int, other: int) -> tuple[Any, Any]:
    """Return the speeds of two jobs of equal demand that share, each relative to running alone."""
    return _slowed(state, one, other), _slowed(state, other, one)


def _slowed(state: State, job: int, other: int) -> Any:
    count = state.jobs[job].gpus
    return state.rate(job, count, beside=(other,)) / state.rate(job, count)


def _gain(speeds: tuple[Any, Any]) -> Any:
    """Return the additional progress that two jobs make by sharing, compared with taking turns."""
    return sum(speeds) - _TURNS


def _go_on(speeds: tuple[Any, Any]) -> bool:
    """Check whether both jobs, at these relative speeds, make appreciable progress."""
    return bool(min(speeds) >= TOGETHER)


def _common(state: State, one: int, other: int, inventory: Inventory) -> list[str]:
    """Return the kinds of GPUs with enough memory for both jobs, or none if their demands differ."""
    jobs = state.jobs[one], state.jobs[other]
    if jobs[0].gpus != jobs[1].gpus:
        return []
    memory = sum(job.memory or 0 for job in jobs)
    shared = set(inventory.kinds_with_room(state, other))
    return [
        kind
        for kind in inventory.kinds_with_room(state, one)
        if kind in shared and memory <= (inventory.kinds[kind].memory or memory)
    ]
