"""Exact: domain by domain in the order of their bounds, until no other one can be better."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from math import ceil, isfinite

import numpy as np

from formulations.admission.bounds import lower_bounds
from formulations.admission.core import core, place_again
from formulations.admission.cover import Cover
from formulations.admission.domain import Choice, Domains
from formulations.admission.milp import milp
from formulations.admission.stops import Stops
from formulations.admission.tables import TooWide
from formulations.common.best import Best
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.admission import Admission, AdmissionSolution, Gang

#: How far floats may be off, relative and absolute, when a bound is compared with a weight.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-6


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
        return self._in_general(moves)

    def _by_domains(self, gang: Gang) -> Result[AdmissionSolution]:
        """Solve a problem with one pending gang of like workers, without moves."""
        alone = _Alone(self._problem, gang, Stops.of(self._problem, moves=False), self._free)
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

    def _raise_to(self, alone: "_Alone") -> None:
        """Raise the bound to that of a pending gang, if a solution is known."""
        if self._best.value is not None:
            self._best.raise_bound(alone.stops.value(alone.bound))

    def _by_core(self, alone: "_Alone", domain: int) -> None:
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
        bound = 0
        unit = Stops.of(problem, moves=moves)
        for gang in problem.pending:
            for part in gang.parts:
                single = Gang(name=gang.name, parts=[part], within=gang.within, priority=gang.priority)
                alone = _Alone(problem, single, unit, self._free)
                bound = max(bound, alone.least)
        self._best.raise_bound(unit.value(bound))
        try:
            found = milp(problem, budget=replace(self._budget, start=self._best.solution))
        except Unsupported as error:
            return replace(self._result(str(error)), stopped_by=StoppedBy.FINISHED)
        return replace(found, method="exact")

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


class _Alone:
    """One pending gang of like workers, without regard to the others."""

    def __init__(self, problem: Admission, gang: Gang, stops: Stops, free: np.ndarray) -> None:
        self.stops = stops
        self.cover = Cover.of(problem, gang, stops, free=free)
        self._bounds = lower_bounds(self.cover)
        self._domains = Domains(self.cover, self._bounds)
        order = np.argsort(self._bounds.by_domain, kind="stable").tolist()
        self._left = [domain for domain in order if isfinite(self._bounds.by_domain[domain])][::-1]
        self.possible = bool(self._left)
        self.best: Choice | None = None
        self.open: list[int] = []  # domains whose tables are too large
        self.tried = 0

    @property
    def least(self) -> int:
        """A weight that no choice is below, from the bounds alone."""
        return self._whole(self._left[-1]) if self._left else 0

    @property
    def bound(self) -> int:
        """A weight that no choice is below."""
        weights = [self._whole(domain) for domain in (*self._left[-1:], *self.open)]
        weights += [] if self.best is None else [self.best.weight]
        return min(weights, default=0)

    @property
    def finished(self) -> bool:
        """Whether no domain that is left can be better."""
        below = self.best is not None and bool(self._left) and self._whole(self._left[-1]) >= self.best.weight
        return not self._left or below

    def _whole(self, domain: int) -> int:
        """Return the bound of a domain as a whole number, less what floats may be off."""
        bound = float(self._bounds.by_domain[domain])
        return max(0, ceil(bound * (1 - _RELATIVE) - _ABSOLUTE))

    def guess(self) -> Choice | None:
        """Return a first choice, in the domain with the least bound where one is found."""
        for domain in reversed(self._left):
            self.best = self._domains.guess(domain, 1 + sum(self.stops.weights))
            if self.best is not None:
                return self.best
        return None

    def step(self) -> Choice | None:
        """Look at the next domain, and return a choice if it is better."""
        domain = self._left.pop()
        most = 1 + sum(self.stops.weights)
        self.tried += 1
        try:
            better = self._domains.best(domain, most if self.best is None else self.best.weight)
        except TooWide:
            self.open.append(domain)
            return None
        self.best = better or self.best
        return better

    def core(self, domain: int) -> tuple[Collection[int], Collection[int]]:
        """Return the machines of a domain that matter, and the gangs that may stop there."""
        below = 1 + sum(self.stops.weights) if self.best is None else self.best.weight
        machines = self._domains.machines(domain, below)
        chosen = np.isin(self.stops.machine, machines)
        gangs = {gang for gang in self.stops.gang[chosen].tolist() if self.stops.weights[gang] < below}
        base = np.flatnonzero((self.cover.domain == domain) & (self.cover.copies > 0)).tolist()
        return sorted({*machines, *base}), gangs
