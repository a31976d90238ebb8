"""Proving: lower bounds on integer programs, by a branch and bound that need not trust the solver.

A solver's bound on an integer program cannot be checked. Here, each node's bound is computed from dual values
(`formulations.common.duals`), or the node is proven infeasible by a dual ray. The lowest bound of the open
nodes is therefore valid, no matter how inaccurate the solver's values are or when the search stops.

The module imports little because the solvers' worker processes load it.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.common.duals import Reals, prove
from formulations.common.probing import load
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import FEASIBILITY
from gsopt.core.result import StoppedBy
from gsopt.solvers.backends import Highs
from gsopt.solvers.backends.base import GRACE
from gsopt.solvers.backends.highs import Model
from gsopt.solvers.backends.process import Late

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink
    from gsopt.solvers.standard_form import StandardForm


class ProofQuestion(NamedTuple):
    """An integer program and the bound to reach, as sent to the worker process."""

    model: Model
    options: dict[str, Any]
    largest: Reals
    goal: float
    seconds: float | None


def proven_bound(form: "StandardForm", budget: Budget, *, largest: Reals, goal: float) -> float:
    """Compute a lower bound on the optimum of a minimization by branch and bound over linear relaxations.

    The search may stop as soon as the bound reaches `goal`. Returns minus infinity if nothing is proven within
    the time limit. `largest` gives, for each column, a finite upper limit on its value in every solution that
    matters.
    """
    solver = Highs()
    left = budget.left()
    try:
        with solver.worker(inf if left is None else monotonic() + left) as worker:
            _, task = solver.request(form, time_limit=None, gap=0.0, start=None)
            left = budget.left()
            question = ProofQuestion(task.model, task.options, largest, goal, left)
            limit = None if left is None else left + GRACE
            reply = worker.call(answer, question, limit=limit, hear=lambda _frame: None)
    except Late:
        return -inf
    if reply.stopped_by is StoppedBy.INTERRUPT:
        raise KeyboardInterrupt
    return reply.answer if isinstance(reply.answer, float) else -inf


def answer(question: ProofQuestion, link: "ParentLink") -> float:
    """Run the branch and bound in the worker process, and return the bound."""
    return _OpenNodes(question, link).bound()


@dataclass(order=True)
class _Node:
    """A node of the search tree: bounds on the integer columns, and the best known bound on the objective.

    Until the node is solved, its bound is that of its parent. A leaf is a solved node with no column left to
    branch on.
    """

    known: float
    number: int
    lower: Reals = field(compare=False)
    upper: Reals = field(compare=False)
    basis: Any = field(compare=False, default=None)
    is_leaf: bool = field(compare=False, default=False)


class _OpenNodes:
    """The open nodes in ascending order of their bounds."""

    def __init__(self, question: ProofQuestion, link: "ParentLink") -> None:
        self.question, self.model, self.link = question, question.model, link
        self.end = inf if question.seconds is None else monotonic() + question.seconds
        self.solver = load(question, link)
        self.solver.setOptionValue("presolve", "off")
        self.whole = np.flatnonzero(question.model.integer).astype(np.int32)
        self.numbers = count()
        self.upper = np.minimum(question.model.column_upper, question.largest)

    def bound(self) -> float:
        """Branch until the lowest bound of an open node reaches the goal, and return that bound.

        The search also ends if that node is a leaf, if no node is left (the goal is then returned), or if the
        caller interrupts it or time runs out.
        """
        lower, upper = self.model.column_lower[self.whole], self.upper[self.whole]
        nodes = [_Node(-inf, next(self.numbers), lower, upper)]
        while nodes and nodes[0].known < self.question.goal and not (nodes[0].is_leaf or self._stopped):
            node = heappop(nodes)
            found = self._solve(node)
            if found is None:  # it is infeasible
                continue
            known, values, basis = found
            known = max(known, node.known)
            place = self._branch(node, values)
            if place is None:
                heappush(nodes, _Node(known, next(self.numbers), node.lower, node.upper, is_leaf=True))
                continue
            below, above = node.upper.copy(), node.lower.copy()
            below[place], above[place] = np.floor(values[place]), np.floor(values[place]) + 1
            heappush(nodes, _Node(known, next(self.numbers), node.lower, below, basis))
            heappush(nodes, _Node(known, next(self.numbers), above, node.upper, basis))
        return min((node.known for node in nodes), default=self.question.goal)

    @property
    def _stopped(self) -> bool:
        return self.link.stopped or monotonic() >= self.end

    def _solve(self, node: _Node) -> tuple[float, Reals, Any] | None:
        """Solve a node and return its bound, values and basis, or None if it is proven infeasible.

        If the solver returns no dual values, the bound is minus infinity, and the node keeps its parent's
        bound.
        """
        solver, whole = self.solver, self.whole
        solver.changeColsBounds(whole.size, whole, node.lower, node.upper)
        if node.basis is not None:
            solver.setBasis(node.basis)
        if self.end < inf:
            solver.setOptionValue("time_limit", solver.getRunTime() + max(self.end - monotonic(), 0.0))
        solver.run()
        lower, upper = self.model.column_lower.copy(), self.upper.copy()
        lower[whole], upper[whole] = node.lower, node.upper
        model = self.model._replace(column_lower=lower, column_upper=upper)
        solution = solver.getSolution()
        values = np.asarray(solution.col_value)
        if solver.modelStatusToString(solver.getModelStatus()) == "Infeasible" and self._is_empty(model):
            return None
        known = -inf
        if solution.dual_valid:
            known = prove(model, np.asarray(solution.row_dual), self.question.largest).bound
        return known, values[whole] if values.size else node.lower, solver.getBasis()

    def _is_empty(self, model: Model) -> bool:
        """Check whether the solver's dual ray proves that no point satisfies all rows."""
        _, is_there, ray = self.solver.getDualRay()
        if not is_there:
            return False
        free = model._replace(cost=np.zeros_like(model.cost), offset=0.0)
        return any(prove(free, sign * np.asarray(ray), self.question.largest).bound > 0 for sign in (1.0, -1.0))

    def _branch(self, node: _Node, values: Reals) -> int | None:
        """Return the index of the most fractional column, or None if all columns are integral or fixed."""
        open_ = node.lower < node.upper
        values = np.clip(values, node.lower, node.upper)
        parts = np.where(open_, np.abs(values - np.round(values)), 0.0)
        place = int(parts.argmax()) if parts.size else 0
        return place if parts.size and parts[place] > FEASIBILITY else None
