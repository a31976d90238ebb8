"""Moving: solutions that move gangs, from choices of gangs that stop."""

from collections.abc import Collection, Sequence

import numpy as np

from formulations.admission.alone import Alone
from formulations.admission.stops import Stops, eviction_weight, move_weight
from gsopt.core.budget import Budget
from gsopt.problems.admission import Admission, AdmissionSolution, Places, Running
from gsopt.problems.rooms import Rooms

#: Most gangs that are stopped in turn to make room for those that move.
_CHAIN = 200


class Moving:
    """What evicting and moving each gang costs, and the solutions that follow from choices of stops.

    Gangs are numbered as in `stops`, which has all that may be evicted or moved, at the lower of both costs.
    """

    def __init__(self, problem: Admission, free: np.ndarray) -> None:
        self._problem, self._free = problem, free
        self.stops = Stops.of(problem, moves=True)
        running = self.running = [problem.running[number] for number in self.stops.numbers]
        self.evictions = [eviction_weight(problem, gang, self.stops.unit) for gang in running]
        self.moves = [move_weight(problem, gang, self.stops.unit) for gang in running]
        self.sizes = [max(part.needs.gpu for part in gang.parts) for gang in running]

    def priced(self, size: int, price: int | None) -> Stops:
        """Return the stops where workers of at least a size move at a price for each, or never if it is None."""
        weights = []
        for gang, (evicting, moving) in enumerate(zip(self.evictions, self.moves, strict=True)):
            dearer = moving
            if moving is not None and self.sizes[gang] >= size:
                workers = sum(part.count for part in self.running[gang].parts)
                dearer = None if price is None else moving + price * workers
            costs = [each for each in (evicting, dearer) if each is not None]
            weights.append(min(costs, default=None))
        return self.stops.priced(weights)

    def solution(self, gangs: Collection[int], budget: Budget) -> AdmissionSolution | None:
        """Return a solution that stops at least some gangs; None if none is found.

        Gangs move if that is cheaper, the largest first, each to the place where it fits most tightly. If there
        is none, others stop to make room for it, provided that this is cheaper than its eviction.
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
        for pending in problem.pending:
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
        """Stop gangs, and return those that move."""
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
        """Return gangs to stop so that another one can move; None if evicting that one is cheaper."""
        moving, wanted = self._moving, self._gang(gang)
        if len(wanted.parts) > 1 or len(self._stopped) > _CHAIN or self._budget.passed:
            return None
        stops = moving.priced(moving.sizes[gang], None)
        kept = ~np.isin(stops.gang, list(self._stopped))
        left = Stops(
            stops.numbers, stops.weights, stops.gang[kept], stops.machine[kept], stops.load[kept], stops.unit
        )
        alone = Alone(self._problem, wanted, left, self._rooms.free)
        choice = alone.guess()
        evicting, move = moving.evictions[gang], moving.moves[gang] or 0
        if choice is None or (evicting is not None and choice.weight + move >= evicting):
            return None
        return sorted(choice.gangs)
