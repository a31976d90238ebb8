"""Exact: a search domain by domain, followed by mixed-integer programs if it leaves a gap."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from formulations.admission.alone import Alone
from formulations.admission.core import core, place_again
from formulations.admission.displacement import Displacement
from formulations.admission.domain import Choice
from formulations.admission.milp import milp
from formulations.admission.moving import Moving
from formulations.admission.places import PlacesProgram, like_worker
from formulations.admission.stops import Stops
from formulations.common.best import Best
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Part


@exact_method()
def exact(problem: Admission, budget: Budget) -> Result[AdmissionSolution]:
    """Search for the cheapest way to admit the pending gangs, and for a proof that no other way is cheaper.

    A pending gang may have to run within one group of machines, such as a rack. Each such group is a domain.
    Without such a requirement, the only domain is the whole cluster. For one pending gang with identical
    workers, if no gang may be moved, the steps are as follows:

    1. Compute a lower bound on the cost in every domain (`formulations.admission.bounds`).
    2. In ascending order of bounds, find the cheapest set of gangs to stop in each domain by dynamic
       programming.
    3. Stop when the next bound is not below the best cost.
    4. Solve the domains whose tables were too large by mixed-integer programs.

    In all other problems, steps 1 to 3 yield only a lower bound, and heuristics search for solutions. If a gap
    remains, a mixed-integer program follows: one over groups of machines if all workers, including those of
    running gangs that may stop, are identical, and otherwise `milp`.

    Programs that would be too large are skipped, so a gap may remain on large clusters. Costs are computed
    without rounding, so an optimum is exact.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback, and the solver of mixed-integer programs.

    Notes
    -----
    Source: ours. Stopping gangs to free whole machines in one domain is the minimum k-union problem, like
    reclaiming servers in Aryl, section 4.

    Examples
    --------
    >>> import gsopt
    >>> result = exact(gsopt.load("admission/small/within-a-rack"))
    >>> result.objective, result.bound, result.message
    (Fraction(9, 2), Fraction(9, 2), '0 of 3 domains')
    """
    return _Search(problem, budget).run()


#: Maximum number of stops in a first solution that the search tries to undo.
_TAKEN_BACK = 50

#: Maximum number of domains for which the room that moved gangs need is taken into account.
_CANDIDATES = 40


class _Search:
    """The search, with the best solution and bound so far and the steps that improve them."""

    def __init__(self, problem: Admission, budget: Budget) -> None:
        self._problem, self._budget = problem, budget
        self._best: Best[Admission, AdmissionSolution] = Best(problem, budget, "exact")
        self._free = np.array(problem.free, dtype=np.int64).reshape(-1, len(problem.resources))
        self._solver = ""

    def run(self) -> Result[AdmissionSolution]:
        """Search until the optimum is proven or the time limit is reached."""
        problem = self._problem
        like = len(problem.pending) == 1 and len(problem.pending[0].parts) == 1
        moves = any(gang.move_cost is not None for gang in problem.running)
        if like and not moves:
            return self._by_domains(problem.pending[0])
        if like:
            return self._with_moves(problem.pending[0])
        return self._in_general(moves)

    def _with_moves(self, gang: Gang) -> Result[AdmissionSolution]:
        """Solve a problem with one pending gang of identical workers in which gangs may be moved."""
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
        if not self._over:
            self._best.raise_bound(moving.stops.value(moving.overall(gang, self._budget)))
        if not self._over:
            lean = moving.priced(gang.parts[0].needs.gpu, None)
            self._move(moving, Alone(problem, gang, lean, self._free).solve(self._budget))
        message = f"{alone.tried} of {alone.cover.domains} domains"
        by_groups = None if self._over else self._by_places(moving, f"{message}, then by groups")
        if by_groups is not None:
            return by_groups
        if not self._over and gang.parts[0].needs.gpu:
            self._displace(gang, moving, alone)
        return self._result(message) if self._over else self._by_model(message)

    def _by_places(self, moving: Moving, message: str) -> Result[AdmissionSolution] | None:
        """Solve a problem with identical workers by groups of machines; return None for other problems."""
        worker = like_worker(self._problem, moving)
        if worker is None:
            return None
        below = moving.above
        if self._best.value is not None:
            below = 1 + int(self._best.value / moving.stops.unit)
        program = PlacesProgram(self._problem, moving, worker, below)
        if not program.small:
            return None
        proof, solution = program.solve(replace(self._budget, start=None, on_incumbent=None))
        self._solver = proof.solver
        if solution is not None:
            self._best.take(solution)
        if proof.status is Status.INFEASIBLE and self._best.value is None:
            return self._infeasible()
        if proof.status is Status.INFEASIBLE:
            self._best.raise_bound(self._best.known_value)
        elif proof.bound is not None:
            self._best.raise_bound(proof.bound, of_better=True)
        return self._result(message)

    def _displace(self, gang: Gang, moving: Moving, alone: Alone) -> None:
        """Improve the bound, and find solutions, by pricing the room that moved gangs need."""
        unit = moving.stops.unit
        displacement = Displacement(self._problem, gang, moving, self._free)
        prices = displacement.prices()
        for price in prices:
            if not self._over:
                stops = moving.priced(gang.parts[0].needs.gpu, price)
                self._move(moving, Alone(self._problem, gang, stops, self._free).solve(self._budget))
        if self._best.value is None:
            return
        below = int(self._best.known_value / unit)
        least = below
        candidates = alone.candidates(below)
        if len(candidates) > _CANDIDATES:
            return
        for domain, known in candidates.items():
            bound = known
            for price in prices:
                if bound < least and not self._budget.passed:
                    bound = max(bound, displacement.bound(domain, price, below))
            least = min(least, bound)
        self._best.raise_bound(moving.stops.value(least))

    def _move(self, moving: Moving, choice: Choice | None) -> None:
        """Offer the solution that stops the given gangs, where those that are cheaper to move are moved."""
        if choice is not None:
            found = moving.solution(choice.gangs, self._budget)
            if found is not None:
                self._best.take(found)

    def _by_model(self, message: str) -> Result[AdmissionSolution]:
        """Close the gap with the mixed-integer program of the whole problem, if this is small enough."""
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
        """Solve a problem with one pending gang of identical workers in which no gang may be moved."""
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
        """Raise the bound to that for the single pending gang, if a solution is known."""
        if self._best.value is not None:
            self._best.raise_bound(alone.stops.value(alone.bound))

    def _by_core(self, alone: Alone, domain: int) -> None:
        """Solve the mixed-integer program of a domain whose tables are too large."""
        problem, stops = self._problem, alone.stops
        machines, gangs = alone.core(domain)
        names = [problem.cluster.machines[machine].name for machine in machines]
        if self._solves_part(names, [problem.running[stops.numbers[gang]].name for gang in gangs]):
            alone.open.remove(domain)

    def _in_general(self, moves: bool) -> Result[AdmissionSolution]:
        """Solve any problem: find a solution and a bound gang by gang, then use a mixed-integer program."""
        problem = self._problem
        if problem.obstacle:
            return self._infeasible()
        moving = Moving(problem, self._free)
        alone = [
            Alone(problem, _single(gang, part), moving.stops, self._free)
            for gang in problem.pending
            for part in gang.parts
        ]
        for each in alone:
            each.solve(self._budget)
        first = self._one_by_one(moving)
        if first is not None:
            self._best.take(first)
        self._best.raise_bound(moving.stops.value(max(each.bound for each in alone)))
        message = "gangs one by one"
        by_groups = None if self._over else self._by_places(moving, f"{message}, then by groups")
        if by_groups is not None:
            return by_groups
        if not self._over and not moves and self._best.value is not None:
            self._by_candidates(moving.stops, alone)
        return self._result(message) if self._over else self._by_model(message)

    def _one_by_one(self, moving: Moving) -> AdmissionSolution | None:
        """Admit the pending gangs one by one, then undo stops that are unnecessary."""
        stopped = moving.one_by_one(self._budget)
        best = None if stopped is None else moving.solution(stopped, self._budget)
        if stopped is None or best is None:
            return None
        for gang in sorted(stopped, key=lambda gang: -moving.stops.weights[gang])[:_TAKEN_BACK]:
            if self._budget.passed:
                break
            fewer = moving.solution(stopped - {gang}, self._budget)
            if fewer is not None and self._problem.objective(fewer) < self._problem.objective(best):
                best, stopped = fewer, stopped - {gang}
        return best

    def _by_candidates(self, stops: Stops, alone: Sequence[Alone]) -> None:
        """Solve a problem without moves on the machines and gangs that a better solution can use."""
        below = int(self._best.known_value / stops.unit)
        machines = {
            machine for each in alone for domain in each.candidates(below) for machine in each.core(domain)[0]
        }
        names = [self._problem.cluster.machines[machine].name for machine in sorted(machines)]
        gangs = [
            self._problem.running[number].name
            for number, weight in zip(stops.numbers, stops.weights, strict=True)
            if weight < below
        ]
        if not names or len(names) == len(self._problem.cluster.machines):
            return
        if self._solves_part(names, gangs):  # ties count otherwise among fewer gangs
            self._best.raise_bound(self._best.known_value)

    def _solves_part(self, machines: Sequence[str], gangs: Sequence[str]) -> bool:
        """Solve the mixed-integer program of some machines and gangs, and return whether that was finished.

        Its solution is offered, but its values and bounds are not reported, as the whole problem has others.
        """
        part = core(self._problem, machines, gangs)
        try:
            found = milp(part, budget=replace(self._budget, start=None, on_incumbent=None, on_progress=None))
        except Unsupported:
            return False
        self._solver = found.solver or self._solver
        if found.solution is not None:
            self._best.take(found.solution)
        return found.status in {Status.OPTIMAL, Status.INFEASIBLE}

    def _take(self, gangs: Iterable[int], stops: Stops) -> None:
        """Offer the solution that evicts the given gangs."""
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


def _single(gang: Gang, part: Part) -> Gang:
    """Return a gang that has only the given part."""
    return Gang(name=gang.name, parts=[part], within=gang.within, priority=gang.priority)
