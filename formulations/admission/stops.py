"""Stops: what stopping running gangs costs, in whole numbers, and what it frees on every machine."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.grid import Exact, decimal, whole
from gsopt.problems.admission import Admission, Running

#: Whole numbers in an array.
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stops:
    """The gangs that may stop, and the resources that each frees on each of its machines.

    A gang frees something in each of its incidences, which are in the order of the gangs. Several parts of a
    gang on one machine are one incidence.
    """

    numbers: list[int]  # the gangs, as numbers in `problem.running`
    weights: list[int]  # what stopping each one costs, in units
    gang: Numbers  # gang of each incidence, as an index of `numbers`; shape (incidences,)
    machine: Numbers  # machine of each incidence, shape (incidences,)
    load: Numbers  # freed resources of each incidence, shape (incidences, resources)
    unit: Fraction  # what a weight of 1 costs

    @classmethod
    def of(cls, problem: Admission, *, moves: bool) -> "Stops":
        """Return the gangs that may be evicted, or also those that may be moved, at the lower of both costs."""
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

    @cached_property
    def on(self) -> list[list[int]]:
        """Incidences of each gang."""
        found: list[list[int]] = [[] for _ in self.numbers]
        for incidence, gang in enumerate(self.gang.tolist()):
            found[gang].append(incidence)
        return found

    def value(self, weight: int) -> Exact:
        """Return a weight as a cost."""
        return whole(self.unit * weight)

    def freed(self, gangs: Any, machines: int) -> Numbers:
        """Return what stopping some gangs frees, shape (machines, resources)."""
        chosen = np.zeros(len(self.numbers), dtype=np.bool_)
        chosen[list(gangs)] = True
        mine = chosen[self.gang]
        found = np.zeros((machines, self.load.shape[1]), dtype=np.int64)
        np.add.at(found, self.machine[mine], self.load[mine])
        return found


def stop_weight(problem: Admission, gang: Running, unit: Fraction, *, moves: bool) -> int | None:
    """Return the least cost of evicting or moving a gang, in units; None if it must stay."""
    costs = [gang.cost] if problem.evictable(gang) else []
    if moves and gang.move_cost is not None:
        costs.append(gang.move_cost)
    if not costs:
        return None
    cost = decimal(min(costs))
    tie = problem.tie
    if tie:
        cost += tie
    return cost.numerator * unit.denominator // (cost.denominator * unit.numerator)
