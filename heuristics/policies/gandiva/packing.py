"""Packing: jobs of one size share GPUs in pairs while there are too few for all."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from random import Random
from typing import Any, Literal, NamedTuple

from gsopt.core.numbers.tolerances import TOGETHER
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import State
from heuristics.policies.gandiva.matching import best_matching
from heuristics.policies.gavel.received import Portions

#: How pairs are found.
Pairing = Literal["random", "exact"]

#: What two jobs do together, each relative to itself alone, if sharing is worth no more than turns.
_TURNS = 1


class _Alike(NamedTuple):
    """What jobs have in common that are to each other, and to all others, the same as partners."""

    model: str
    gpus: int
    memory: int | None
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, state: State, job: int, inventory: Inventory) -> "_Alike":
        item = state.jobs[job]
        return cls(item.model, item.gpus, item.memory, tuple(inventory.kinds_with_room(state, job)))


class PackedShares:
    """Grant units, which are jobs and pairs of them, equal parts of the time: a division for `Rounds`.

    Where all jobs fit there are no pairs. Else jobs without a partner are paired with others that demand as
    many GPUs of a kind for both. A pair stays together while its jobs make no less progress than in turns.

    Parameters
    ----------
    pairing
        ``random``: two jobs are drawn as often as there were jobs without a partner, and are a pair if that is
        possible, whatever they do to each other. ``exact``: pairs are made anew each time, those whose jobs
        make the most progress in all beyond turns (`heuristics.policies.gandiva.matching`).
    seed
        Seed of the draws.

    Attributes
    ----------
    pairs
        Each job of a pair with the other one.
    """

    def __init__(self, pairing: Pairing = "random", *, seed: int = 0) -> None:
        self._pairing, self._random = pairing, Random(seed)
        self.pairs: dict[int, int] = {}
        self._gains: dict[tuple[_Alike, _Alike], float] = {}  # of jobs that are alike, which gain the same

    def __call__(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Portions:
        """Grant each unit its part of the time on every kind."""
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
        """Return the part of the time of a unit, no more than all of it."""
        kinds = inventory.kinds_with_room(state, job)
        if job in self.pairs:
            kinds = _common(state, job, self.pairs[job], inventory)
        parts = {kind: inventory.counts[kind] / (units * state.jobs[job].gpus) for kind in kinds}
        most = max(1.0, sum(parts.values()))
        return {kind: part / most for kind, part in parts.items()}

    def _kept(self, state: State, there: AbstractSet[int], inventory: Inventory) -> dict[int, int]:
        """Return the pairs of which both are there, lose nothing, and still have GPUs with memory for both."""
        return {
            job: other
            for job, other in self.pairs.items()
            if {job, other} <= there
            and _common(state, job, other, inventory)
            and _gain(_together(state, job, other)) >= 0
        }

    def _drawn(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Iterator[tuple[int, int]]:
        """Draw two jobs at a time, and give those that may be a pair."""
        left = list(jobs)
        for _ in jobs:
            if len(left) < 2:  # noqa: PLR2004 - a pair
                return
            one, other = self._random.sample(left, 2)
            if _common(state, one, other, inventory) and _go_on(_together(state, one, other)):
                left = [job for job in left if job not in (one, other)]
                yield from ((one, other), (other, one))

    def _best(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Iterator[tuple[int, int]]:
        """Yield the pairs that gain most in all."""
        import numpy as np

        alike = [_Alike.of(state, job, inventory) for job in jobs]
        some = dict(zip(alike, jobs, strict=True))
        place = {each: at for at, each in enumerate(some)}
        places = [place[each] for each in alike]
        gains = np.array([[self._known(state, one, other, some, inventory) for other in some] for one in some])
        for one, other in best_matching(gains[np.ix_(places, places)]):
            yield from ((jobs[one], jobs[other]), (jobs[other], jobs[one]))

    def _known(
        self, state: State, one: _Alike, other: _Alike, some: Mapping[_Alike, int], inventory: Inventory
    ) -> float:
        """Return what two jobs of these kinds gain; 0 if they are no pair. It is the same whenever they run."""
        if (one, other) not in self._gains:
            gain = 0.0
            if _common(state, some[one], some[other], inventory):
                speeds = _together(state, some[one], some[other])
                gain = max(float(_gain(speeds)), 0.0) if _go_on(speeds) else 0.0
            self._gains |= {(one, other): gain, (other, one): gain}
        return self._gains[one, other]


def _together(state: State, one: int, other: int) -> tuple[Any, Any]:
    """Return the speeds of two jobs of one size beside each other, each relative to itself alone."""
    return _slowed(state, one, other), _slowed(state, other, one)


def _slowed(state: State, job: int, other: int) -> Any:
    count = state.jobs[job].gpus
    return state.rate(job, count, beside=(other,)) / state.rate(job, count)


def _gain(speeds: tuple[Any, Any]) -> Any:
    """Return the progress of two jobs together beyond that in turns."""
    return sum(speeds) - _TURNS


def _go_on(speeds: tuple[Any, Any]) -> bool:
    """Check whether each of two jobs makes progress worth the name."""
    return bool(min(speeds) >= TOGETHER)


def _common(state: State, one: int, other: int, inventory: Inventory) -> list[str]:
    """Name the kinds of GPUs whose memory is enough for two jobs; none where they are not of one size."""
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
