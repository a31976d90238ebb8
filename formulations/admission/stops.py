"""Stops: the integer costs of stopping running gangs, and the resources that this frees on every machine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.grid import Exact, decimal, whole
from gsopt.problems.admission import Admission, Running

#: Integers in an array.
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stops:
    """The gangs that may stop, and the resources that each of them frees on each of its machines.

    An incidence is a pair of a gang and a machine on which it frees resources. Incidences are in the order of
    the gangs. Several parts of a gang on the same machine form a single incidence.
    """

    numbers: list[int]  # the gangs, as numbers in `problem.running`
    weights: list[int]  # what stopping each one costs, in units
    gang: Numbers  # gang of each incidence, as an index of `numbers`; shape (incidences,)
    machine: Numbers  # machine of each incidence, shape (incidences,)
    load: Numbers  # freed resources of each incidence, shape (incidences, resources)
    unit: Fraction  # what a weight of 1 costs

    @classmethod
    def of(cls, problem: Admission, *, moves: bool) -> "Stops":
        """Return the gangs that may be evicted or, with `moves`, moved, at the lower of the two costs."""
        unit = problem.step or Fraction(1)
        numbers, weights = [], []
        for number, gang in enumerate(problem.running):
            weight = stop_weight(problem, gang, unit, moves=moves)
            if weight is not None:
                numbers.append(number)
                weights.append(weight)
        gangs, machines, loads = [], [], []
        resources, position = problem.resources, problem.position
        for index, number in enumerate(numbers):
            running = problem.running[number]
            if len(running.parts) == 1:
                need = running.parts[0].needs.vector(resources)
                for name, workers in running.on[0].items():
                    gangs.append(index)
                    machines.append(position[name])
                    loads.append([amount * workers for amount in need])
            else:
                for machine, amounts in problem.load([(running, running.on)]).items():
                    gangs.append(index)
                    machines.append(machine)
                    loads.append(amounts)
        return cls(
            numbers,
            weights,
            np.array(gangs, dtype=np.int64),
            np.array(machines, dtype=np.int64),
            np.array(loads, dtype=np.int64).reshape(-1, len(resources)),
            unit,
        )

    def priced(self, weights: Sequence[int | None]) -> "Stops":
        """Return the stops with the given weights; a gang whose weight is None may not stop."""
        may = np.array([weight is not None for weight in weights], dtype=np.bool_)
        return replace(self.only(may[self.gang]), weights=[weight or 0 for weight in weights])

    def only(self, incidences: NDArray[np.bool_]) -> "Stops":
        """Return the stops restricted to the given incidences."""
        return replace(
            self, gang=self.gang[incidences], machine=self.machine[incidences], load=self.load[incidences]
        )

    @cached_property
    def on(self) -> list[list[int]]:
        """The incidences of each gang: one list per gang."""
        found: list[list[int]] = [[] for _ in self.numbers]
        for incidence, gang in enumerate(self.gang.tolist()):
            found[gang].append(incidence)
        return found

    def value(self, weight: int) -> Exact:
        """Convert a weight into a cost."""
        return whole(self.unit * weight)


def stop_weight(problem: Admission, gang: Running, unit: Fraction, *, moves: bool) -> int | None:
    """Return the lower of a gang's eviction and move costs, in units, or None if the gang must stay.

    Without `moves`, the gang must not be moved.
    """
    evicting = eviction_weight(problem, gang, unit)
    moving = move_weight(problem, gang, unit) if moves else None
    return min((weight for weight in (evicting, moving) if weight is not None), default=None)


def eviction_weight(problem: Admission, gang: Running, unit: Fraction) -> int | None:
    """Return the cost of evicting a gang, in units, or None if it must not be evicted."""
    return _units(problem, gang.cost, unit) if problem.evictable(gang) else None


def move_weight(problem: Admission, gang: Running, unit: Fraction) -> int | None:
    """Return the cost of moving a gang, in units, or None if it must not be moved."""
    return None if gang.move_cost is None else _units(problem, gang.move_cost, unit)


def _units(problem: Admission, cost: float, unit: Fraction) -> int:
    exact = decimal(cost)
    if problem.tie:
        exact += problem.tie
    return exact.numerator * unit.denominator // (exact.denominator * unit.numerator)
