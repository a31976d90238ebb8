"""Slots: constraint programming over time slots, for problems with too many jobs to search."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from formulations.sharing.best import BestSharing
from formulations.sharing.following import at_events, in_slots
from formulations.sharing.listing import take_lists
from formulations.sharing.root import raise_to_root
from formulations.sharing.slotted import FULL, Slotted
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, ModelMismatch, Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.solvers.backends import CpSat
from gsopt.solvers.backends.base import GRACE
from gsopt.solvers.backends.process import Frame, FrameKind
from gsopt.solvers.backends.slotted import Planned, SlottedAnswer, SlottedJob, SlottedTask, solve

#: Names of the models, keyed by when jobs may start.
_MODELS = {
    "events": "Model E: starts at arrivals and ends",
    "any": "Model C: starts at any time",
}

#: Maximum number of jobs, and of jobs times GPUs, for which the model is built.
_MOST_JOBS, _MOST_PLACES = 40, 2000


@exact_method(unused=["backend"])
def slots(problem: Sharing, budget: Budget, *, most: int = 100) -> Result[SharingSolution]:
    """Plan in time slots with CP-SAT, and convert the plan to a schedule without slots.

    A slot is a common divisor of all run times if this yields at most `most` slots; otherwise, slots are
    longer. In the schedule, a job waits for the jobs that end by its start in the plan, and starts as soon as
    they have ended and it has been released. If jobs may start at any time, the plan itself may be used as the
    schedule instead. Times are rounded up, so the optimum of the slot model is not a bound. The bound of the
    result is that of `formulations.sharing.areas`. The message states what is known about the slot model.

    Sets: jobs j; GPUs g; slots t = 0 .. T - 1, where T slots are a quarter longer than the best known schedule.
    Parameters: r_j, G_j, w_j: first slot, GPUs and work of job j; F = 2520: work that a job does in a slot
    without sharing; v_jk = floor(F / max(1, xi_jk)): work that job j does in a slot when sharing with job k,
    with slowdown xi_jk.
    Variables: s_j, e_j: start and end, s_j >= r_j; y_jg = 1 if job j holds GPU g; a_jt = 1 if s_j <= t < e_j;
    b_jk = 1 if two jobs have a GPU in common; q_jt: work done in a slot, from 0 to F. Objective: the sum of the
    e_j. Constraints: sum_g y_jg = G_j; in each slot, at most two jobs run on each GPU; q_jt <= F a_jt; q_jt <=
    v_jk if a_kt and b_jk; sum_t q_jt >= w_j; not all of a_jt, a_kt and b_jk are 1 if two jobs must not share a
    GPU. Size for n jobs: about n G + 3 n T + n^2 / 2 binaries, n T integers and at most n^2 T conditional rows.

    Source: Castor, Eq. 6-13, with slots tau, fixed y_jg (Eq. 8) and at most C = 2 jobs on a GPU (Eq. 7); speeds
    by Eq. 4-5 for the worst partner. The model for CP-SAT is gsopt's own.

    Parameters
    ----------
    problem
        The problem, with at most 40 jobs. The number of jobs times the number of GPUs must be at most 2,000.
    budget
        Time limit, gap, start, callback and log. The solver is always CP-SAT.
    most
        Maximum number of slots until the end of the best known schedule.

    Raises
    ------
    InvalidInput
        `most` is below 1.
    MissingSolver
        CP-SAT is not installed.
    Unsupported
        There are too many jobs or GPUs.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 3), ("b", 3)]]
    >>> result = slots(Sharing(gpus=1, jobs=jobs, default_interference=1.2))
    >>> result.objective, result.message
    (Fraction(18, 5), 'Model E: starts at arrivals and ends; slots of 0.0361446 s: 3.61446 is optimal')
    """
    if most < 1:
        raise InvalidInput("most", str(most), "must be at least 1")
    jobs = len(problem.jobs)
    if jobs > _MOST_JOBS or jobs * problem.gpus > _MOST_PLACES:
        limits = f"at most {_MOST_JOBS}, and {_MOST_PLACES:,} in all"
        raise Unsupported(f"slots: {jobs} jobs on {problem.gpus} GPUs: {limits}")
    best, message = BestSharing(problem, budget, "slots"), f"{_MODELS[problem.starts]}; no slots were needed"
    try:
        take_lists(best)
        raise_to_root(best)
        if not best.finished:
            call = _SlotCall(best, most)
            call.run()
            message = call.message
        stopped_by = best.finished or StoppedBy.FINISHED
    except KeyboardInterrupt:
        stopped_by = StoppedBy.INTERRUPT
    return best.result(stopped_by, solver="cp-sat", message=message)


def task_of(model: Slotted, budget: Budget, hint: Mapping[int, Planned] | None = None) -> SlottedTask:
    """Return the slot model as a task for CP-SAT, limited to plans at least as good as `hint`, if given."""
    parameters: dict[str, Any] = {
        "num_workers": 1,
        "linearization_level": 0,  # the linear relaxation costs more time than it saves here
        "catch_sigint_signal": False,
        "log_search_progress": budget.log,
        "log_to_stdout": False,
    }
    if (left := budget.left()) is not None:
        parameters["max_time_in_seconds"] = left
    jobs = range(len(model.work))
    alone = [model.release[job] + model.shortest[job] for job in jobs]
    ends = None if hint is None else model.ends(hint)
    upper = model.horizon * len(jobs) if ends is None else sum(ends.values())
    return SlottedTask(
        jobs=tuple(
            SlottedJob(
                release=model.release[job],
                latest=min(model.horizon, alone[job] + upper - sum(alone)),
                work=model.work[job],
                demand=model.problem.jobs[job].gpus,
                beside=model.beside[job],
            )
            for job in jobs
        ),
        gpus=model.problem.gpus,
        full=FULL,
        upper=upper,
        hint=None if ends is None or hint is None else tuple(hint[job] for job in jobs),
        parameters=parameters,
    )


class _SlotCall:
    """One call to the solver, with the solutions and bounds that it reports."""

    def __init__(self, best: BestSharing, most: int) -> None:
        if best.solution is None:
            raise AssertionError  # lists find a schedule
        self.best = best
        self.model = Slotted.of(best.problem, best.solution, most)
        self.hint = in_slots(self.model, best.solution)
        self.total = None if self.hint is None else sum(self._ends(self.hint).values())
        self.bound = 0
        self.is_proven = self.told_to_stop = False

    def run(self) -> None:
        """Look for better plans until there are none or time runs out."""
        left = self.best.budget.left()
        task = task_of(self.model, self.best.budget, self.hint)
        reply = CpSat().call(solve, task, limit=None if left is None else left + GRACE, hear=self._hear)
        if isinstance(reply.answer, SlottedAnswer):
            self._take(reply.answer.plan, reply.answer.bound)
            self.is_proven = reply.answer.status in {"OPTIMAL", "INFEASIBLE"}
        if reply.stopped_by is StoppedBy.INTERRUPT and not self.told_to_stop:
            raise KeyboardInterrupt

    @property
    def message(self) -> str:
        """The name of the model, and the known bracket of the slot model's optimum."""
        model = self.model
        said = f"{_MODELS[self.best.problem.starts]}; slots of {float(model.slot):g} s"
        if self.total is None:
            return f"{said}: no plan ends in time" if self.is_proven else f"{said}: no plan was found"
        value = f"{float(model.value(self.total)):g}"
        if self.is_proven:
            return f"{said}: {value} is optimal"
        return f"{said}: {value}, at least {float(model.value(self.bound)):g}"

    def _hear(self, frame: Frame) -> bool:
        """Keep solutions and bounds that the solver finds along the way, and return whether to stop."""
        kind, content = frame
        if kind is FrameKind.INCUMBENT:
            self._take(*content)
        elif kind is FrameKind.BOUND:
            self._take(None, content)
        self.told_to_stop = self.best.finished is not None
        return self.told_to_stop

    def _take(self, plan: Sequence[Planned] | None, bound: float) -> None:
        """Keep a plan, if there is one, and a bound of the slot model."""
        self.bound = max(self.bound, ceil(bound - 0.5))
        if plan is None:
            return
        found = dict(enumerate(plan))
        ends = self._ends(found)
        total = sum(ends.values())
        self.total = total if self.total is None else min(self.total, total)
        self.best.take(at_events(self.model, found, ends))
        if self.best.problem.starts == "any":
            self.best.take(self.model.solution(found))

    def _ends(self, plan: Mapping[int, Planned]) -> Mapping[int, int]:
        ends = self.model.ends(plan)
        if ends is None:
            raise ModelMismatch("slots: a plan of the solver breaks a rule of the slots")
        return ends
