"""Master: the linear relaxation over the patterns so far, solved again from its last basis."""

from typing import Any

import numpy as np
from scipy.sparse import csc_array, eye_array

from formulations.placement.linear import Optimum
from formulations.placement.packing import Integers, Packing, Patterns, Reals
from gsopt.budget import Budget


class Master:
    """A linear program over patterns that grows.

    Column generation solves it some hundred times, each time with some columns more. It stays loaded in a
    solver of this process, which goes on from the last basis: that takes a tenth of the time that another
    process takes from the beginning. Rows are those of `Packing.form`; further columns count the workers of
    each zone and demand that find no place.

    Examples
    --------
    >>> from gsopt.problems.placement import Placement, Resources, Server, Workers
    >>> problem = Placement(
    ...     servers=[Server(name="s", count=9, capacity=Resources(gpu=8))],
    ...     workers=[Workers(job="a", count=3, demand=Resources(gpu=4))],
    ... )
    >>> packing = Packing.of(problem)
    >>> master = Master(packing)
    >>> master.add(Patterns.of([(0, 0, [2])], 1))
    >>> master.solve(Budget()).objective
    1.5
    """

    def __init__(self, packing: Packing) -> None:
        import highspy

        self._packing = packing
        self._covers = len(packing.zones) * len(packing.demands)
        moving, costs, most = packing.moving
        rows = self._covers + len(packing.kinds)
        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"output_flag": False, "threads": 1, "solver": "simplex"}
        for option, value in options.items():
            self._solver.setOptionValue(option, value)
        empty = np.zeros(0)
        self._solver.addRows(
            rows,
            np.append(packing.needed, np.full(len(packing.kinds), -np.inf)),
            np.append(np.full(self._covers, np.inf), packing.limits),
            0,
            np.zeros(rows, dtype=np.int32),
            np.zeros(0, dtype=np.int32),
            empty,
        )
        self._costs = np.zeros(0)
        self._add(costs.astype(np.float64), most.astype(np.float64), csc_array(moving))
        missing = csc_array(eye_array(rows, self._covers))
        self._add(np.zeros(self._covers), np.full(self._covers, np.inf), missing)
        self._counting_cost: bool | None = None  # what the columns' costs are set to count; None: anew

    def _add(self, costs: Reals, most: Reals, matrix: Any) -> None:
        self._costs = np.append(self._costs, costs)
        if costs.size:
            self._solver.addCols(
                costs.size,
                costs,
                np.zeros(costs.size),
                most,
                matrix.nnz,
                matrix.indptr[:-1].astype(np.int32),
                matrix.indices.astype(np.int32),
                matrix.data.astype(np.float64),
            )

    def add(self, patterns: Patterns) -> None:
        """Add patterns as columns."""
        self._add(
            self._packing.costs[patterns.kind].astype(np.float64),
            np.full(len(patterns), np.inf),
            csc_array(self._packing.filling(patterns)),
        )
        self._counting_cost = None

    def allow(self, allowed: Integers) -> None:
        """Let only some patterns be used, given as zeros and ones in the order in which they were added."""
        first = self._packing.moves + self._covers
        columns = np.arange(first, first + allowed.size, dtype=np.int32)
        upper = np.where(allowed, np.inf, 0.0)
        self._solver.changeColsBounds(columns.size, columns, np.zeros(columns.size), upper)

    def demand(self, needs: Integers, limits: Integers) -> None:
        """Ask for other numbers of workers, shape (zones * demands,), and allow others of servers."""
        rows = np.arange(needs.size + limits.size, dtype=np.int32)
        lower = np.append(needs, np.full(limits.size, -np.inf))
        upper = np.append(np.full(needs.size, np.inf), limits)
        self._solver.changeRowsBounds(rows.size, rows, lower, upper)  # type: ignore[attr-defined]  # stubs lack it

    def solve(self, budget: Budget, *, counting_cost: bool = True) -> Optimum | None:
        """Minimize the cost with everybody placed, or else how many find no place; None without an optimum."""
        self._set_costs(counting_cost=counting_cost)
        left = budget.left()
        self._solver.setOptionValue("time_limit", np.inf if left is None else self._solver.getRunTime() + left)
        self._solver.run()
        if self._solver.getModelStatus().name != "kOptimal":
            return None
        solution, moves = self._solver.getSolution(), self._packing.moves
        values = np.array(solution.col_value)
        return Optimum(
            values=np.append(values[:moves], values[moves + self._covers :]),
            duals=np.array(solution.row_dual),
            objective=self._solver.getInfo().objective_function_value + counting_cost * self._packing.offset,
        )

    def _set_costs(self, *, counting_cost: bool) -> None:
        if self._counting_cost is counting_cost:
            return
        moves = self._packing.moves
        missing = slice(moves, moves + self._covers)
        costs = self._costs if counting_cost else np.zeros(self._costs.size)
        costs = costs.copy()
        costs[missing] = 0.0 if counting_cost else 1.0
        every = np.arange(costs.size, dtype=np.int32)
        self._solver.changeColsCost(costs.size, every, costs)
        most = np.full(self._covers, 0.0 if counting_cost else np.inf)
        self._solver.changeColsBounds(self._covers, every[missing], np.zeros(self._covers), most)
        self._counting_cost = counting_cost
