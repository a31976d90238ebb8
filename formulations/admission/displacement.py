"""Displacement: bounds that take into account the room that moved gangs need elsewhere.

Only GPUs are counted. A place is the room for the GPUs of one pending worker. If the GPUs of each worker of a
gang fill a whole number of places, the gang takes as many places as it gives up when it moves. The constraint
that there are enough free places for the pending gang and for such moves is relaxed with a price per place. The
relaxed problem separates into the pending gang's domain, which is solved exactly, and the machines elsewhere,
where a fractional knapsack on each machine bounds the cost of places. The cost of a gang that runs both inside
and outside the domain is split.
"""

from math import floor

import numpy as np

from formulations.admission.bounds import Bounds, lower_bounds, place_costs
from formulations.admission.cover import Cover
from formulations.admission.domain import Domains
from formulations.admission.moving import Moving
from formulations.admission.stops import Stops
from formulations.admission.tables import TooWide
from gsopt.problems.admission import Admission, Gang, Part
from gsopt.problems.placement import Resources

#: Number of parts into which a unit of weight is divided when weights are split.
_FINE = 1_000

#: A number of places that is larger than that of any machine.
_ALL = 1_000_000

#: Maximum number of additional copies in a domain for which their costs are computed one by one.
_MOST = 512


class Displacement:
    """Lower bounds on the cost of admitting a gang with identical workers, by domain and price per place."""

    def __init__(self, problem: Admission, gang: Gang, moving: Moving, free: np.ndarray) -> None:
        part = gang.parts[0]
        self._size, self._count = part.needs.gpu, part.count
        self._problem, self._moving, self._free = problem, moving, free
        places = [Part(count=_ALL, needs=Resources(gpu=self._size))]
        self._inside = Gang(name=gang.name, parts=places, within=gang.within)
        self._anywhere = Gang(name=gang.name, parts=places)

    def prices(self) -> list[int]:
        """Return prices that may yield good bounds: roughly what some cheap places cost, in ascending order."""
        stops = self._moving.priced(self._size, None)
        cover = Cover.of(self._problem, self._anywhere, stops, free=self._free)
        costs = np.sort(place_costs(cover, lower_bounds(cover).share)[1])
        picked = {max(0, floor(costs[place])) for place in (0, 2, 5, 11, 23) if place < len(costs)}
        return sorted(picked - {0})

    def bound(self, domain: int, price: int, below: int) -> int:
        """Return a lower bound on the weight of admitting the gang in a domain.

        It only has to show whether the weight can be less than `below`. It is 0 if tables would be too large.
        """
        stops = self._moving.priced(self._size, price)
        cover = Cover.of(self._problem, self._inside, stops, free=self._free)
        inside = cover.domain == domain
        touching = np.zeros(len(stops.weights), dtype=np.bool_)
        touching[stops.gang[inside[stops.machine]]] = True
        weights = np.array([float(weight) for weight in stops.weights])
        load = cover.load[:, 0]
        outside = ~inside[stops.machine]
        total = np.bincount(stops.gang[outside], weights=load[outside], minlength=len(weights))
        worth = np.where(touching, np.minimum(weights, float(price) * total / self._size), weights)
        share = np.zeros(len(load))
        paid = outside & (total[stops.gang] > 0) & (weights[stops.gang] > 0)
        own = stops.gang[paid]
        share[paid] = worth[own] / weights[own] * load[paid] / total[own]
        machine, costs = place_costs(cover, share)
        elsewhere = ~inside[machine]
        lost = float(np.maximum(float(price) - costs[elsewhere], 0.0).sum()) * (1 + 1e-9)
        lost += price * int(cover.copies[~inside].sum())
        split = [
            floor(_FINE * (weight - paying) * (1 - 1e-9)) if near else 0
            for weight, paying, near in zip(weights.tolist(), worth.tolist(), touching.tolist(), strict=True)
        ]
        least = self._inner(domain, price, _FINE * below, stops, split)
        return max(0, floor(least / _FINE - lost - 1e-6) + 1) if least is not None else 0

    def _inner(self, domain: int, price: int, below: int, stops: Stops, split: list[int]) -> int | None:
        """Return the minimum cost in a domain, minus the price of places gained, or None if not found."""
        narrow = Stops(stops.numbers, split, stops.gang, stops.machine, stops.load, stops.unit)
        cover = Cover.of(self._problem, self._inside, narrow, free=self._free)
        inside = cover.domain == domain
        if int((cover.most - cover.copies)[inside].sum()) > _MOST:
            return None
        machines = len(cover.copies)
        bounds = Bounds(np.zeros(cover.domains), np.zeros(machines), np.zeros(len(narrow.gang)))
        most = int((cover.most - cover.copies)[inside].sum())
        try:
            costs = Domains(cover, bounds).costs(domain, below + _FINE * price * (most + 1))
        except TooWide:
            return None
        missing = self._count - int(cover.copies[inside].sum())
        return min(
            (
                cost - _FINE * price * (copies - missing)
                for copies, cost in enumerate(costs)
                if copies >= missing
            ),
            default=None,
        )
