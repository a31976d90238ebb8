"""Moving: solutions in which gangs move, derived from choices of gangs that stop."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from formulations.admission.alone import Alone
from formulations.admission.stops import Stops, eviction_weight, move_weight
from gsopt.core.budget import Budget
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Part, Places, Running
from gsopt.problems.placement import Resources
from gsopt.problems.rooms import Rooms

#: Maximum number of stopped gangs up to which further gangs stop to make room for a gang that moves.
_CHAIN = 200


class Moving:
    """The costs of evicting and moving each gang, and the solutions that follow from choices of stops.

    Gangs are numbered as in `stops`, which contains all gangs that may be evicted or moved, each at the lower
    of its two costs.
    """

    def __init__(self, problem: Admission, free: np.ndarray) -> None:
        self._problem, self._free = problem, free
        self.stops = Stops.of(problem, moves=True)
        running = self.running = [problem.running[number] for number in self.stops.numbers]
        self.evictions = [eviction_weight(problem, gang, self.stops.unit) for gang in running]
        self.moves = [move_weight(problem, gang, self.stops.unit) for gang in running]
        self.sizes = [max(part.needs.gpu for part in gang.parts) for gang in running]

    @property
    def above(self) -> int:
        """A weight that is larger than the weight of every solution."""
        return 1 + sum(weight or 0 for weight in (*self.evictions, *self.moves))

    def priced(self, size: int, price: int | None) -> Stops:
        """Return the stops if moving a gang also costs the price of the places that it takes.

        A place is the room for a worker with `size` GPUs. If each worker of a gang has a multiple of `size`
        GPUs, the gang takes as many places as it gives up. Other gangs do not pay the price. If the price is
        None, gangs that would have to pay it may not be moved.
        """
        weights: list[int | None] = []
        for running, evicting, moving in zip(self.running, self.evictions, self.moves, strict=True):
            dearer = moving
            if moving is not None and size and not any(part.needs.gpu % size for part in running.parts):
                dearer = None if price is None else moving + price * (running.gpus // size)
            costs = [each for each in (evicting, dearer) if each is not None]
            weights.append(min(costs, default=None))
        return self.stops.priced(weights)

    def overall(self, gang: Gang, budget: Budget) -> int:
        """Return a lower bound on the weight of admitting a gang with identical workers, in whichever domain.

        The bound treats the whole cluster as one domain. If each worker of a running gang has a multiple of the
        GPUs of a pending worker, moving the gang takes as many places for pending workers as it frees. The
        cluster as a whole gains no room, so the bound allows such gangs only to be evicted. The bound is 0 if
        the pending workers need no GPUs.
        """
        size = gang.parts[0].needs.gpu
        if not size:
            return 0
        asked = Gang(name=gang.name, parts=[Part(count=gang.parts[0].count, needs=Resources(gpu=size))])
        alone = Alone(self._problem, asked, self.priced(size, None), self._free)
        alone.solve(budget)
        return alone.bound

    def one_by_one(self, budget: Budget) -> set[int] | None:
        """Return the gangs that stop if the pending gangs are admitted one by one, or None if this fails.

        If a pending gang has different workers, all gangs that may be evicted stop for it.
        """
        rooms, stopped = Rooms(self._problem), set[int]()
        for pending in by_size(self._problem.pending):
            chosen: Collection[int] = [
                gang for gang, evicting in enumerate(self.evictions) if evicting is not None
            ]
            if len(pending.parts) == 1:
                kept = ~np.isin(self.stops.gang, list(stopped))
                choice = Alone(self._problem, pending, self.stops.only(kept), rooms.free).solve(budget)
                chosen = () if choice is None else choice.gangs
            for gang in set(chosen) - stopped:
                rooms.stop(self.running[gang], self.running[gang].on)
                stopped.add(gang)
            places = rooms.fit(pending)
            if places is None:
                return None
            rooms.start(pending, places)
        return stopped

    def solution(self, gangs: Collection[int], budget: Budget) -> AdmissionSolution | None:
        """Return a solution that stops at least the given gangs, or None if none is found.

        Gangs that are cheaper to move than to evict are moved, those with the largest workers first, each into
        the group with the least room in which it fits. If such a gang fits nowhere, others may stop to make
        room for it if this is cheaper than evicting it. Otherwise, it is evicted; if this is not allowed, no
        solution is found.
        """
        return _Plan(self, self._problem, budget).run(sorted(gangs))


class _Plan:
    """A solution under construction."""

    def __init__(self, moving: Moving, problem: Admission, budget: Budget) -> None:
        self._moving, self._problem, self._budget = moving, problem, budget
        self._rooms = Rooms(problem)
        self._stopped: set[int] = set()
        self._evicted: list[int] = []
        self._moved: dict[int, Places] = {}

    def run(self, gangs: Sequence[int]) -> AdmissionSolution | None:
        problem = self._problem
        waiting = self._stop(gangs)
        placed: dict[str, Places] = {}
        for pending in by_size(problem.pending):
            places = self._rooms.fit(pending)
            if places is None:
                return None
            self._rooms.start(pending, places)
            placed[pending.name] = places
        while waiting:
            waiting.sort(key=lambda gang: (self._moving.sizes[gang], gang))
            gang = waiting.pop()
            places = self._rooms.fit(self._gang(gang))
            if places is None:
                more = self._chain(gang)
                if more is None:
                    if self._moving.evictions[gang] is None:
                        return None
                    self._evicted.append(gang)
                    continue
                waiting += self._stop(more)
                places = self._rooms.fit(self._gang(gang))
                if places is None:
                    return None
            self._rooms.start(self._gang(gang), places)
            self._moved[gang] = places
        return AdmissionSolution(
            evicted=[self._gang(gang).name for gang in sorted(self._evicted)],
            moved={self._gang(gang).name: self._moved[gang] for gang in sorted(self._moved)},
            placed=placed,
        )

    def _gang(self, gang: int) -> Running:
        return self._moving.running[gang]

    def _stop(self, gangs: Sequence[int]) -> list[int]:
        """Stop the given gangs, and return those that move."""
        moving = self._moving
        waiting = []
        for gang in gangs:
            running = moving.running[gang]
            self._rooms.stop(running, running.on)
            self._stopped.add(gang)
            evicting, move = moving.evictions[gang], moving.moves[gang]
            if move is not None and (evicting is None or move < evicting):
                waiting.append(gang)
            else:
                self._evicted.append(gang)
        return waiting

    def _chain(self, gang: int) -> Sequence[int] | None:
        """Return the gangs to stop so that a gang can move, or None if evicting this gang is cheaper."""
        moving, wanted = self._moving, self._gang(gang)
        if len(wanted.parts) > 1 or len(self._stopped) > _CHAIN or self._budget.passed:
            return None
        stops = moving.priced(moving.sizes[gang], None)
        kept = ~np.isin(stops.gang, list(self._stopped))
        alone = Alone(self._problem, wanted, stops.only(kept), self._rooms.free)
        choice = alone.guess()
        evicting, move = moving.evictions[gang], moving.moves[gang] or 0
        if choice is None or (evicting is not None and choice.weight + move >= evicting):
            return None
        return sorted(choice.gangs)


def by_size(gangs: Iterable[Gang]) -> list[Gang]:
    """Sort gangs by the GPUs of their largest worker and then by their total GPUs, in descending order."""
    return sorted(gangs, key=lambda gang: (-max(part.needs.gpu for part in gang.parts), -gang.gpus))
