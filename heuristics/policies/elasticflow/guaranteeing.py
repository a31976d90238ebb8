"""Guaranteeing: a decider that admits jobs whose deadlines it can keep, and plans the GPUs of all of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.clock import clock_error
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.parts.pool import Count, pool_of
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.elasticflow.plan import by_deadline, shares, with_spare
from heuristics.policies.elasticflow.profile import PlannedShare
from heuristics.policies.elasticflow.wish import Wish, levels_of

#: Tells whether the deadlines of some jobs can be kept: on so many GPUs, in slots of so many seconds, and after
#: the plan before.
Admits = Callable[[Sequence[Wish], int, float, Mapping[int, PlannedShare]], bool]


class Admission(NamedTuple):
    """What was decided of a job with a deadline.

    Attributes
    ----------
    job
        Its number.
    time
        When that was decided.
    admitted
        Whether its deadline is planned to be kept.
    """

    job: int
    time: Any
    admitted: bool


class Guaranteeing:
    """Admit jobs whose deadlines can be kept, give each its share, and what is left over where it costs least.

    Newcomers are admitted one by one, in the order of their release, if `admits` says that their deadlines and
    those of all that were admitted before, and are not late in any case, can be kept. Jobs without a deadline,
    and those that are not admitted, get what is left over. All is planned anew at the first slot after
    something has happened.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    admits
        Whether the deadlines of some jobs can be kept.
    slot
        Seconds of a slot, at whose beginnings is decided.
    drops
        Whether jobs that are not admitted never run.
    on_admission
        Is told of every decision about a job with a deadline.

    Raises
    ------
    InvalidInput
        The slot is no number of seconds, or GPUs are of several kinds.
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        admits: Admits,
        *,
        slot: float,
        drops: bool,
        on_admission: Callable[[Admission], Any] | None = None,
    ) -> None:
        if not isinstance(pool_of(state), Count):
            rule = "must be alike: this policy plans GPUs of one kind"
            raise InvalidInput("", "cluster", "GPUs of several kinds", rule)
        self._admits, self._slot, self._drops, self._told = admits, slot, drops, on_admission
        self._instants = Instants(slot, "slot")
        self._new: list[int] = []
        self._admitted: dict[int, None] = {}
        self._others: dict[int, None] = {}
        self._planned: dict[int, PlannedShare] = {}
        self._levels: dict[int, tuple[tuple[int, ...], tuple[float, ...]]] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Admit who has come, plan, and let the first slot of the plan take effect."""
        for job in state.completed:
            self._admitted.pop(job, None)
            self._others.pop(job, None)
            del self._levels[job]
        self._new += state.arrived
        excused = clock_error(state.now, self._slot) if isinstance(state.now, float) else 0
        if self._instants.reached(state.now, excused) and not _any_is_through(state, excused):
            yield Assign(self._plan(state))
        elif self._new or self._admitted or self._others:
            yield Wake(self._instants.ask(state.now))

    def _plan(self, state: State) -> dict[int, int]:
        """Return the GPUs of every job that is to run."""
        gpus = state.capacity
        wishes = [self._wish(state, job) for job in self._admitted]
        in_time = shares(wishes, gpus, self._slot, self._planned)
        promised = [wish for wish in wishes if wish.number in in_time]
        for job in self._new:
            self._levels[job] = levels_of(state, job)
            wish = self._wish(state, job)
            if wish.slots is None:
                self._others[job] = None
                continue
            admitted = self._admits([*promised, wish], gpus, self._slot, self._planned)
            if admitted:
                wishes.append(wish)
                promised.append(wish)
                self._admitted[job] = None
            elif not self._drops:
                self._others[job] = None
            if self._told is not None:
                self._told(Admission(job, state.now, admitted))
        self._new.clear()
        self._planned = shares(wishes, gpus, self._slot, self._planned)
        everyone = by_deadline(wishes) + [self._wish(state, job, late=True) for job in self._others]
        counts = with_spare([wish for wish in everyone if wish.levels], self._planned, gpus)
        return {job: count for job, count in counts.items() if count}

    def _wish(self, state: State, number: int, *, late: bool = False) -> Wish:
        """Return what a job needs, by its deadline unless that is given up."""
        levels, speeds = self._levels[number]
        due = None if late else state.jobs[number].deadline
        slots = None if due is None else self._slots(state.now, due)
        return Wish(number, max(float(state.remaining(number)), 0.0), levels, speeds, slots)

    def _slots(self, now: Any, due: float) -> int:
        """Count the whole slots until a deadline; rounding of the clock takes none away."""
        left = due - now
        excused = clock_error(due, abs(left)) if isinstance(now, float) else 0
        return int((left + excused) // type(now)(self._slot))


def _any_is_through(state: State, excused: float) -> bool:
    """Check whether a running job is through but for rounding: it is awaited, as its GPUs are planned for."""
    return any(
        state.remaining(job) <= excused * state.rate(job, state.placement(job) or count)
        for job, count in state.running.items()
    )
