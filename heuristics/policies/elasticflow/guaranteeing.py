"""Guaranteeing: a decider that admits jobs whose deadlines it can meet, and plans the GPUs of all jobs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.clock import clock_error
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.parts.pool import Count, pool_of
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.elasticflow.plan import by_deadline, shares, with_spare
from heuristics.policies.elasticflow.profile import PlannedShare, ProfileRequest, levels_of

#: Checks whether deadlines can be met: (requests, GPUs, seconds per slot, previous plan) -> bool.
Admits = Callable[[Sequence[ProfileRequest], int, float, Mapping[int, PlannedShare]], bool]


#: The rules for slots and admissions: those of the paper, or those of the authors' program.
Rules = Literal["paper", "program"]


class DeadlineDecision(NamedTuple):
    """Whether a job with a deadline was admitted, and the time at which this was decided."""

    job: int
    time: Any
    admitted: bool


class Guaranteeing:
    """A decider that admits jobs whose deadlines can be met, plans their GPUs, and grants spare GPUs.

    New jobs are considered one by one, in order of release. A job is admitted if `admits` finds that its
    deadline can be met along with those of all admitted jobs that are not bound to be late. Spare GPUs go first
    to jobs that have none, and then where they raise the GPU time of jobs least. Jobs without a deadline get
    only spare GPUs. So do rejected jobs, unless `drops` is set, in which case they never run. Everything is
    replanned at the first slot after an event. `on_admission`, if given, is called with every decision about a
    job with a deadline.

    With ``rules="program"``, as in the authors' program, all new jobs in a slot are admitted or rejected
    together, and they are rejected while any admitted job is bound to be late. Slots begin with events, at
    least one slot length apart, and jobs may use the part of a slot before their deadlines.
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        admits: Admits,
        *,
        slot: float,
        drops: bool,
        rules: Rules = "paper",
        on_admission: Callable[[DeadlineDecision], Any] | None = None,
    ) -> None:
        pool = pool_of(state)
        if not isinstance(pool, Count):
            rule = "must be alike: this policy plans GPUs of one kind"
            raise InvalidInput("cluster", "GPUs of several kinds", rule)
        self._pool = pool
        self._admits, self._slot, self._drops, self._on_admission = admits, slot, drops, on_admission
        self._as_program = rules == "program"
        self._instants = Instants(slot, "slot")
        self._next: Any = None  # the earliest begin of the next slot of the program
        self._new: list[int] = []
        self._admitted: dict[int, None] = {}
        self._others: dict[int, None] = {}
        self._planned: dict[int, PlannedShare] = {}
        self._levels: dict[int, tuple[tuple[int, ...], tuple[float, ...]]] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """If a slot begins now, admit new jobs, plan the GPUs of all jobs, and start the plan's first slot."""
        for job in state.completed:
            self._admitted.pop(job, None)
            self._others.pop(job, None)
            del self._levels[job]
        self._pool.check_arrived(state)
        self._new += state.arrived
        excused = clock_error(state.now, self._slot) if isinstance(state.now, float) else 0
        if self._begins(state.now, excused) and not _any_is_complete(state, excused):
            self._next = state.now + type(state.now)(self._slot)
            yield Assign(self._plan(state))
        elif self._new or self._admitted or self._others:
            wait = self._as_program and state.now < self._next
            yield Wake(self._next if wait else self._instants.ask(state.now))

    def _begins(self, now: Any, excused: float) -> bool:
        """Check whether a slot begins now."""
        asked = self._instants.reached(now, excused)
        if not self._as_program:
            return asked
        return self._next is None or now + excused >= self._next

    def _plan(self, state: State) -> dict[int, int]:
        """Admit or reject new jobs, plan, and return the GPUs of every job that should run now."""
        gpus = state.capacity
        requests = [self._request(state, job) for job in self._admitted]
        in_time = shares(requests, gpus, self._slot, self._planned)
        promised = [each for each in requests if self._as_program or each.number in in_time]
        for group in self._groups(state):
            admitted = self._admits([*promised, *group], gpus, self._slot, self._planned)
            if admitted:
                requests += group
                promised += group
            for request in group:
                if admitted:
                    self._admitted[request.number] = None
                if self._on_admission is not None:
                    self._on_admission(DeadlineDecision(request.number, state.now, admitted))
        for job in self._new:
            if job not in self._admitted and (state.jobs[job].deadline is None or not self._drops):
                self._others[job] = None
        self._new.clear()
        self._planned = shares(requests, gpus, self._slot, self._planned)
        everyone = by_deadline(requests) + [self._request(state, job, late=True) for job in self._others]
        counts = with_spare([request for request in everyone if request.levels], self._planned, gpus)
        return {job: count for job, count in counts.items() if count}

    def _groups(self, state: State) -> list[list[ProfileRequest]]:
        """Return the new jobs with deadlines, in groups that are admitted or rejected together."""
        self._levels |= {job: levels_of(state, job) for job in self._new}
        new = [self._request(state, job) for job in self._new]
        due = [request for request in new if request.slots is not None]
        return [due] if due and self._as_program else [[request] for request in due]

    def _request(self, state: State, number: int, *, late: bool = False) -> ProfileRequest:
        """Return the request of a job, without its deadline if it is given up (`late`)."""
        levels, speeds = self._levels[number]
        due = None if late else state.jobs[number].deadline
        slots = None if due is None else self._slots(state.now, due)
        return ProfileRequest(number, max(float(state.remaining(number)), 0.0), levels, speeds, slots)

    def _slots(self, now: Any, due: float) -> float:
        """Return the slots until a deadline (in the paper, full slots only), tolerating clock rounding."""
        left = due - now
        if self._as_program:
            return max(float(left) / self._slot, 0.0)
        excused = clock_error(due, abs(left)) if isinstance(now, float) else 0
        return int((left + excused) // type(now)(self._slot))


def _any_is_complete(state: State, excused: float) -> bool:
    """Check whether a running job is complete up to rounding, so that planning should wait for its end."""
    return any(
        state.remaining(job) <= excused * state.rate(job, state.placement(job) or count)
        for job, count in state.running.items()
    )
