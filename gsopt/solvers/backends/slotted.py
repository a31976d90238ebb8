"""Slotted: a CP-SAT model with time slots, for jobs that may slow each other down if two share a GPU."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from gsopt.solvers.backends.following import solve_followed

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink


#: Maximum number of jobs on one GPU.
USERS = 2


class SlottedJob(NamedTuple):
    """A job that runs without interruption, on the same GPUs from its start to its end."""

    # First slot in which it may start, and end of the last one in which it may run.
    release: int
    latest: int
    work: int  # in total; a slot with all GPUs to itself does `SlottedTask.full` of it
    demand: int  # GPUs
    # Work done in a slot next to each job with which it may share a GPU, keyed by job number.
    beside: Mapping[int, int]


class Planned(NamedTuple):
    """The start of a job, and its GPUs."""

    start: int
    gpus: tuple[int, ...]


class SlottedTask(NamedTuple):
    """A task for the worker: jobs, GPUs, and an upper bound on the sum of completion times."""

    jobs: tuple[SlottedJob, ...]
    gpus: int  # number of GPUs, each for at most two jobs
    full: int  # work that a job does in an unshared slot
    upper: int  # required upper bound on the sum of completion times
    hint: tuple[Planned, ...] | None  # a known plan
    parameters: dict[str, Any]  # CP-SAT's parameters by name


class SlottedAnswer(NamedTuple):
    """CP-SAT's own status, the best plan that it found, and the bound."""

    status: str
    plan: tuple[Planned, ...] | None
    bound: float


def solve(task: SlottedTask, link: "ParentLink") -> SlottedAnswer:
    """Solve a task. This function runs in the worker.

    A job holds its GPUs during an interval of variable length. The work that a job does in a slot is a
    variable, limited to the value in `beside` for each active job with which it shares a GPU. Two jobs without
    such a value must not be active on the same GPU in the same slot. For each GPU, a cumulative constraint
    allows two jobs at a time. Another one limits the total demand of active jobs to twice the number of GPUs.
    """
    from ortools.sat.python.cp_model import CpModel

    model = _SlottedModel(CpModel(), task)
    status, plan, bound = solve_followed(model.model, task.parameters, link, model.plan)
    if bound is None:
        bound = float(task.upper + 1) if status == "INFEASIBLE" else 0.0
    return SlottedAnswer(status, plan, bound)


class _SlottedModel:
    """CP-SAT's own model of a task."""

    def __init__(self, model: Any, task: SlottedTask) -> None:
        self.model, self.task = model, task
        self.numbers = range(len(task.jobs))
        self.starts = [model.new_int_var(job.release, job.latest, "") for job in task.jobs]
        self.ends = [model.new_int_var(job.release, job.latest, "") for job in task.jobs]
        self.held = [[model.new_bool_var("") for _ in range(task.gpus)] for _ in task.jobs]
        self.started = [self._passed(number, self.starts[number]) for number in self.numbers]
        self.ended = [self._passed(number, self.ends[number]) for number in self.numbers]
        self.active = [self._active(number) for number in self.numbers]
        self._hold()
        self._work()
        self._tell_gpus_apart()
        model.add(sum(self.ends) <= task.upper)
        model.minimize(sum(self.ends))
        self._hint(task.hint or ())

    def plan(self, value: Any) -> tuple[Planned, ...]:
        """Return the plan, given a function that maps variables to values."""
        return tuple(
            Planned(int(value(start)), tuple(gpu for gpu, holds in enumerate(held) if value(holds)))
            for start, held in zip(self.starts, self.held, strict=True)
        )

    def _passed(self, number: int, time: Any) -> list[Any]:
        """Return a variable per slot of a job: whether a time is at or before the beginning of the slot."""
        job = self.task.jobs[number]
        passed = [self.model.new_bool_var("") for _ in range(job.release, job.latest)]
        for before, after in pairwise(passed):
            self.model.add_implication(before, after)
        self.model.add(time == job.latest - sum(passed))
        return passed

    def _active(self, number: int) -> dict[int, Any]:
        """Return a variable per slot of a job: whether the job is active. They are keyed by slot."""
        release, found = self.task.jobs[number].release, {}
        for place, (started, ended) in enumerate(zip(self.started[number], self.ended[number], strict=True)):
            found[release + place] = self.model.new_bool_var("")
            self.model.add(found[release + place] == started - ended)
        return found

    def _hold(self) -> None:
        """Require that each job has its GPUs, and that each GPU has at most two jobs."""
        model, jobs, gpus = self.model, self.task.jobs, range(self.task.gpus)
        lengths = [model.new_int_var(0, job.latest - job.release, "") for job in jobs]
        spans = list(zip(self.starts, lengths, self.ends, strict=True))
        for job, held in zip(jobs, self.held, strict=True):
            model.add(sum(held) == job.demand)
        whole = [model.new_interval_var(*span, "") for span in spans]
        model.add_cumulative(whole, [job.demand for job in jobs], USERS * self.task.gpus)
        for gpu in gpus:
            each = [
                model.new_optional_interval_var(*span, held[gpu], "")
                for span, held in zip(spans, self.held, strict=True)
            ]
            model.add_cumulative(each, [1] * len(each), USERS)

    def _work(self) -> None:
        """Require that each job does all its work.

        A job does less work in a slot in which it has a partner.
        """
        model, full = self.model, self.task.full
        done = [{slot: model.new_int_var(0, full, "") for slot in active} for active in self.active]
        for given, active, own in zip(self.task.jobs, self.active, done, strict=True):
            model.add(sum(own.values()) >= given.work)
            for slot, amount in own.items():
                model.add(amount <= full * active[slot])
        for one in self.numbers:
            for other in range(one):
                share = self._share(one, other)
                self._slow(done[one], one, other, share)
                self._slow(done[other], other, one, share)

    def _slow(self, done: Mapping[int, Any], number: int, partner: int, share: Any) -> None:
        """Limit the work of a job while it shares a GPU with a partner, or forbid the two to share."""
        most = self.task.jobs[number].beside.get(partner)
        for slot in done.keys() & self.active[partner].keys():
            both = [share, self.active[partner][slot]]
            if most is None:
                self.model.add_bool_and([self.active[number][slot].negated()]).only_enforce_if(both)
            elif most < self.task.full:
                self.model.add(done[slot] <= most).only_enforce_if(both)

    def _share(self, one: int, other: int) -> Any:
        """Return a variable that must be true if two jobs have a GPU in common."""
        share = self.model.new_bool_var("")
        for first, second in zip(self.held[one], self.held[other], strict=True):
            self.model.add_bool_or([share, first.negated(), second.negated()])
        return share

    def _tell_gpus_apart(self) -> None:
        """Order the identical GPUs by the jobs that hold them, which breaks symmetry."""
        weights = [2**number for number in reversed(self.numbers)]
        codes = [
            sum(weight * held[gpu] for weight, held in zip(weights, self.held, strict=True))
            for gpu in range(self.task.gpus)
        ]
        for before, after in pairwise(codes):
            self.model.add(before >= after)

    def _hint(self, hint: Sequence[Planned]) -> None:
        holders = [tuple(gpu in planned.gpus for planned in hint) for gpu in range(self.task.gpus)]
        order = sorted(range(self.task.gpus), key=lambda gpu: holders[gpu], reverse=True)
        for number, planned in enumerate(hint):
            self.model.add_hint(self.starts[number], planned.start)
            for gpu, variable in zip(order, self.held[number], strict=True):
                self.model.add_hint(variable, gpu in planned.gpus)
