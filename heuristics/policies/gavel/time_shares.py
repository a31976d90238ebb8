"""Time shares: each job's share of time, computed by a method of the decision `shares`."""

from collections.abc import Mapping, Sequence
from typing import Literal

from gsopt.core.method import MethodLike, run
from gsopt.problems.shares import Criterion, Shares, TypedJob
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import State
from heuristics.policies.gavel.ledger import Portions
from heuristics.policies.gavel.steps import StepsLeft, steps_left

#: The isolated time of a job. ``accumulated``: for its work so far at the isolated shares of that time, and for
#: the rest at current ones. ``present``: for all its work at current ones, after the wait for its first round.
Isolated = Literal["accumulated", "present"]


class TimeSharing:
    """A function that computes shares of time for `Rounds`, and tracks how long jobs would take in isolation.

    Work and speeds are measured in steps (`heuristics.policies.gavel.steps`). In isolation, jobs have shares
    that divide all GPUs equally among them. They also get these shares if the method finds no solution. If
    `isolated` is ``present``, a job's isolated time includes the wait from its release to the next multiple of
    `interval` seconds, and `restart` seconds for its start, which may differ by model.
    """

    def __init__(
        self,
        criterion: Criterion,
        method: MethodLike,
        *,
        isolated: Isolated = "accumulated",
        interval: float = 360,
        restart: float | Mapping[str, float] = 0,
    ) -> None:
        self._criterion, self._method = criterion, method
        self._isolated, self._interval, self._restart = isolated, interval, restart
        self._passed: dict[int, float] = {}  # seconds that the work so far would have taken
        self._before: dict[int, tuple[float, float]] = {}  # the work left last time, and the isolated speed

    def __call__(self, state: State, jobs: Sequence[int], inventory: Inventory) -> Portions:
        """Return each job's share of time on each kind of GPU."""
        steps = {job: steps_left(state, job, inventory) for job in jobs}
        problem = self._problem(state, steps, inventory)
        if self._criterion == "finish_time":
            problem = self._compared(state, steps, problem)
        solution = run(self._method, problem).solution
        shares = problem.isolated_shares if solution is None else solution.shares
        return {job: {kind: float(share) for kind, share in shares.get(str(job), {}).items()} for job in jobs}

    def _problem(self, state: State, steps: Mapping[int, StepsLeft], inventory: Inventory) -> Shares:
        typed = [
            TypedJob(
                name=str(job),
                gpus=state.jobs[job].gpus,
                throughputs=own.rates,
                steps=own.left,
                age=max(float(state.now) - state.jobs[job].release_date, 0.0),
            )
            for job, own in steps.items()
        ]
        gpus = {kind: count for kind, count in inventory.counts.items() if count}
        return Shares(gpus=gpus, jobs=typed, criterion=self._criterion)

    def _compared(self, state: State, steps: Mapping[int, StepsLeft], problem: Shares) -> Shares:
        """Return the problem, with each job's isolated time for its work so far added."""
        typed = []
        for (job, own), each in zip(steps.items(), problem.jobs, strict=True):
            shares = problem.isolated_shares[each.name]
            speed = sum(rate * float(shares[kind]) for kind, rate in each.throughputs.items())
            if self._isolated == "accumulated":
                left, before = self._before.get(job, (each.steps, speed))
                self._passed[job] = self._passed.get(job, 0.0) + max(left - each.steps, 0.0) / before
                self._before[job] = each.steps, speed
            else:
                release = state.jobs[job].release_date
                wait = self._interval - release % self._interval + self._overhead(state.jobs[job].model)
                self._passed[job] = wait + max(own.total - each.steps, 0.0) / speed
            typed.append(each.model_copy(update={"isolated": self._passed[job]}))
        return problem.model_copy(update={"jobs": tuple(typed)})

    def _overhead(self, model: str) -> float:
        """Return the overhead of a start, in seconds, for a job of a model."""
        return self._restart.get(model, 0.0) if isinstance(self._restart, Mapping) else self._restart
