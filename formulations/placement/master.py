"""Master: the linear relaxation over the patterns so far, re-solved from its last basis."""

from typing import Any

import numpy as np
from scipy.sparse import csc_array, eye_array

from formulations.placement.linear import Optimum
from formulations.placement.packing import FillPatterns, Integers, Packing, Reals
from gsopt.core.budget import Budget
from gsopt.solvers.backends.program import Program


class Master:
    """A linear program over patterns that grows as patterns are added.

    Column generation solves this program hundreds of times, each time with a few more columns. The program
    stays loaded in the solver, which continues from the last basis. The rows are those of `Packing.form`.
    Additional columns count the unplaced workers of each zone and demand.
    """

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._covers = len(packing.zones) * len(packing.demands)
        self._program = Program()
        moving, costs, most = packing.moving
        self._program.add_rows(
            np.append(packing.needed, np.full(len(packing.kinds), -np.inf)),
            np.append(np.full(self._covers, np.inf), packing.limits),
        )
        self._costs = np.zeros(0)
        self._add(costs.astype(np.float64), most.astype(np.float64), csc_array(moving))
        missing = csc_array(eye_array(self._covers + len(packing.kinds), self._covers))
        self._add(np.zeros(self._covers), np.full(self._covers, np.inf), missing)
        self._counting_cost: bool | None = None  # objective that the costs are set for; None if outdated

    def _add(self, costs: Reals, most: Reals, matrix: Any) -> None:
        self._costs = np.append(self._costs, costs)
        if costs.size:
            self._program.add_columns(
                costs,
                np.zeros(costs.size),
                most,
                starts=matrix.indptr[:-1],
                rows=matrix.indices,
                entries=matrix.data,
            )

    def add(self, patterns: FillPatterns) -> None:
        """Add patterns as columns."""
        self._add(
            self._packing.costs[patterns.kind].astype(np.float64),
            np.full(len(patterns), np.inf),
            csc_array(self._packing.filling(patterns)),
        )
        self._counting_cost = None

    def demand(self, needs: Integers, limits: Integers) -> None:
        """Change the numbers of workers, shape (zones * demands,), and of available servers, shape (kinds,)."""
        lower = np.append(needs, np.full(limits.size, -np.inf))
        self._program.change_rows(lower, np.append(np.full(needs.size, np.inf), limits))

    def solve(self, budget: Budget, *, counting_cost: bool = True) -> Optimum | None:
        """Minimize the cost of placing all workers or, without `counting_cost`, the number of unplaced ones.

        Return None if no optimum is found.
        """
        self._set_costs(counting_cost=counting_cost)
        solved = self._program.solve(budget)
        if solved is None:
            return None
        moves = self._packing.moves
        return Optimum(
            values=np.append(solved.values[:moves], solved.values[moves + self._covers :]),
            duals=solved.duals,
            objective=solved.objective + counting_cost * self._packing.offset,
        )

    def _set_costs(self, *, counting_cost: bool) -> None:
        if self._counting_cost is counting_cost:
            return
        moves = self._packing.moves
        missing = slice(moves, moves + self._covers)
        costs = self._costs.copy() if counting_cost else np.zeros(self._costs.size)
        costs[missing] = 0.0 if counting_cost else 1.0
        self._program.change_costs(costs)
        most = np.full(self._covers, 0.0 if counting_cost else np.inf)
        self._program.change_columns(np.arange(costs.size)[missing], np.zeros(self._covers), most)
        self._counting_cost = counting_cost
