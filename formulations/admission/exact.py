"""Exact: domain by domain in the order of their bounds, until no other one can be better."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from formulations.admission.alone import Alone
from formulations.admission.core import core, place_again
from formulations.admission.domain import Choice
from formulations.admission.milp import milp
from formulations.admission.moving import Moving
from formulations.admission.stops import Stops
from formulations.common.best import Best
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.admission import Admission, AdmissionSolution, Gang


@exact_method()
def exact(problem: Admission, budget: Budget) -> Result[AdmissionSolution]:
    """Solve a problem to proven optimality, domain by domain.

    A domain is a group of the level that must hold the pending gang. If that has like workers, and no running
    gang may be moved:

    1. A bound for every domain (`formulations.admission.bounds`).
    2. In the order of the bounds, the cheapest evictions for each domain, by dynamic programming over the gangs
       that share machines; where these are too many, by the mixed-integer program of the domain.
    3. Once the next bound is not below the best cost, the best is optimal.

    Otherwise one gang after another is placed like this, which yields a solution, and each gang alone, stopped
    at the lower of both costs, a bound. What these leave open is decided by the mixed-integer program, `milp`,
    on the machines and gangs that a better solution can use.

    All weights are whole multiples of the costs' common unit, so an optimum is exact.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback, and the backend of mixed-integer programs.

    Notes
    -----
    Source: ours. Stopping gangs for whole machines of one domain is minimum k-union, as in Aryl, section 4.

    Examples
    --------
    >>> import gsopt
    >>> result = exact(gsopt.load("admission/small/within-a-rack"))
    >>> result.objective, result.bound, result.message
    (Fraction(9, 2), Fraction(9, 2), '1 of 3 domains')
    """
    return _Search(problem, budget).run()


class _Search:
    """The best solution and bound so far, and what improves them."""

    def __init__(self, problem: Admission, budget: Budget) -> None:
        self._problem, self._budget = problem, budget
        self._best: Best[Admission, AdmissionSolution] = Best(problem, budget, "exact")
        self._free = np.array(problem.free, dtype=np.int64).reshape(-1, len(problem.resources))
        self._solver = ""

    def run(self) -> Result[AdmissionSolution]:
        """Search until the optimum is proven or time is up."""
        problem = self._problem
        like = len(problem.pending) == 1 and len(problem.pending[0].parts) == 1
        moves = any(gang.move_cost is not None for gang in problem.running)
        if like and not moves:
            return self._by_domains(problem.pending[0])
        if like:
            return self._with_moves(problem.pending[0])
        return self._in_general(moves)

    def _with_moves(self, gang: Gang) -> Result[AdmissionSolution]:
        """Solve a problem with one pending gang of like workers."""
        problem = self._problem
        moving = Moving(problem, self._free)
        alone = Alone(problem, gang, moving.stops, self._free)
        if not alone.possible:
            return self._infeasible()
        self._move(moving, alone.guess())
        while not self._over and not alone.finished:
            self._move(moving, alone.step())
        if alone.best is not None:
            self._best.raise_bound(moving.stops.value(alone.bound))
        size = gang.parts[0].needs.gpu
        for price in (None, *self._prices(moving)):
            if not self._over:
                self._move(
                    moving, Alone(problem, gang, moving.priced(size, price), self._free).solve(self._budget)
                )
        message = f"{alone.tried} of {alone.cover.domains} domains"
        if self._over:
            return self._result(message)
        return self._by_model(message)

    def _prices(self, moving: Moving) -> list[int]:
        return []

    def _move(self, moving: Moving, choice: Choice | None) -> None:
        """Offer the solution that stops some gangs, and moves those for which that is cheaper."""
        if choice is not None:
            found = moving.solution(choice.gangs, self._budget)
            if found is not None:
                self._best.take(found)

    def _by_model(self, message: str) -> Result[AdmissionSolution]:
        """Solve what is left by the mixed-integer program of the whole problem, if that is small enough."""
        try:
            found = milp(self._problem, budget=replace(self._budget, start=self._best.solution))
        except Unsupported:
            return self._result(message)
        if found.status is Status.INFEASIBLE:
            return self._infeasible()
        if found.solution is not None:
            self._best.take(found.solution)
        if found.bound is not None:
            self._best.raise_bound(found.bound)
        self._solver = found.solver
        return self._result(f"{message}; {found.solver} on the whole problem")

    def _by_domains(self, gang: Gang) -> Result[AdmissionSolution]:
        """Solve a problem with one pending gang of like workers, without moves."""
        alone = Alone(self._problem, gang, Stops.of(self._problem, moves=False), self._free)
        if not alone.possible:
            return self._infeasible()
        first = alone.guess()
        if first is not None:
            self._take(first.gangs, alone.stops)
        self._raise_to(alone)
        while not self._over and not alone.finished:
            better = alone.step()
            if better is not None:
                self._take(better.gangs, alone.stops)
            self._raise_to(alone)
        for domain in list(alone.open):
            if not self._over:
                self._by_core(alone, domain)
                self._raise_to(alone)
        return self._result(f"{alone.tried} of {alone.cover.domains} domains")

    def _raise_to(self, alone: Alone) -> None:
        """Raise the bound to that of a pending gang, if a solution is known."""
        if self._best.value is not None:
            self._best.raise_bound(alone.stops.value(alone.bound))

    def _by_core(self, alone: Alone, domain: int) -> None:
        """Solve a domain whose tables are too large by its mixed-integer program."""
        problem, stops = self._problem, alone.stops
        machines, gangs = alone.core(domain)
        names = [problem.cluster.machines[machine].name for machine in machines]
        inner = core(problem, names, [problem.running[stops.numbers[gang]].name for gang in gangs])
        found = milp(inner, budget=replace(self._budget, start=None, on_incumbent=None))
        self._solver = found.solver or self._solver
        if found.solution is not None:
            self._best.take(found.solution)
        if found.status in {Status.OPTIMAL, Status.INFEASIBLE}:
            alone.open.remove(domain)

    def _in_general(self, moves: bool) -> Result[AdmissionSolution]:
        """Solve any problem: a solution and a bound from its gangs one by one, then a mixed-integer program."""
        problem = self._problem
        if problem.obstacle:
            return self._infeasible()
        stops = Stops.of(problem, moves=moves)
        bound = 0
        for gang in problem.pending:
            for part in gang.parts:
                single = Gang(name=gang.name, parts=[part], within=gang.within, priority=gang.priority)
                bound = max(bound, Alone(problem, single, stops, self._free).bound)
        self._best.raise_bound(stops.value(bound))
        return self._by_model("gangs one by one")

    def _take(self, gangs: Iterable[int], stops: Stops) -> None:
        """Offer the solution that evicts some gangs."""
        evicted = [self._problem.running[stops.numbers[each]].name for each in sorted(gangs)]
        placed = place_again(self._problem, evicted)
        if placed is not None:
            self._best.take(AdmissionSolution(evicted=evicted, placed=placed))

    @property
    def _over(self) -> bool:
        return self._best.finished is not None

    def _infeasible(self) -> Result[AdmissionSolution]:
        message = self._problem.obstacle or "the pending gangs do not fit together"
        return Result.judged(
            self._problem, method="exact", infeasible=True, message=message, runtime=self._budget.runtime
        )

    def _result(self, message: str) -> Result[AdmissionSolution]:
        return self._best.result(
            self._best.finished or StoppedBy.FINISHED, solver=self._solver, message=message
        )
