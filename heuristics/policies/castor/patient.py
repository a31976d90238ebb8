"""Patient: the choice between sharing GPUs now and waiting for free GPUs."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from gsopt.simulation.parts.partners import suitable
from gsopt.simulation.policy import Start, State

#: Decides whether a job starts as proposed or waits: (state, start) -> True to start.
Patience = Callable[[State, Start], bool]


class Patient:
    """A comparison of sharing GPUs now with waiting for the earliest free GPUs, if no other job starts.

    The sum of completion times, in seconds from now, is computed for the job and its partners in two cases. In
    the first, the job starts now and shares GPUs. In the second, it waits until enough GPUs are free and runs
    alone on them, while the same partners complete without it. Every running job is assumed to continue at its
    current speed, except for the effects of the start itself.

    Castor's Theorem 1 compares sharing with waiting until the running job has completed, although other GPUs
    may be free long before. It also considers a single partner, whereas a gang may have several.
    """

    def __init__(self) -> None:
        self._seen: tuple[Any, int] | None = None
        self._left: dict[int, Any] = {}

    def __call__(self, state: State, start: Start) -> bool:
        """Check whether to start now. In a tie, the answer is yes."""
        sharing, waiting = self.sums(state, start)
        return bool(sharing <= waiting)

    def sums(self, state: State, start: Start) -> tuple[Any, Any]:
        """Return the sums of seconds until a job and its partners complete, if the job starts now or waits.

        The second sum is infinite if there will never be enough GPUs for the job.
        """
        gpus = start.gpus if isinstance(start.gpus, tuple) else ()
        left = self._seconds_left(state)
        partners = sorted({user for gpu in gpus for user in state.users(gpu)})
        alone = state.remaining(start.job) / state.rate(start.job, state.jobs[start.job].gpus)
        waiting = _free_from(state, start.job, left) + alone + sum(left[each] for each in partners)
        return _together(state, start, gpus, {each: left[each] for each in partners}), waiting

    def _seconds_left(self, state: State) -> Mapping[int, Any]:
        """Return the seconds that each running job still needs at its current speed (cached)."""
        seen = state.now, len(state.running)
        if seen != self._seen:
            self._seen = seen
            self._left = {job: max(state.remaining(job), 0) / _rate(state, job) for job in state.running}
        return self._left


def _rate(state: State, job: int, more: Sequence[int] = ()) -> Any:
    """Return the speed of a running job on its GPUs, with some additional jobs sharing them."""
    gpus = state.placement(job)
    beside = {user for gpu in gpus for user in state.users(gpu) if user != job}
    return state.rate(job, gpus, state.mode(job), sorted(beside | set(more)))


def _free_from(state: State, job: int, left: Mapping[int, Any]) -> Any:
    """Return the seconds until enough GPUs are free for a job, or infinity if that never happens."""
    item = state.jobs[job]
    suits = suitable(state, item, tuple(range(state.cluster.gpus)))
    until = sorted(max((left[user] for user in state.users(gpu)), default=0) for gpu in suits)
    return until[item.gpus - 1] if item.gpus <= len(until) else inf


def _together(state: State, start: Start, gpus: tuple[int, ...], rest: Mapping[int, Any]) -> Any:
    """Return the sum of seconds until a job that starts now, and each of its partners, completes."""
    job, work, now, total = start.job, state.remaining(start.job), 0, 0
    slowed = {each: _rate(state, each, [job]) / _rate(state, each) for each in rest}
    while rest:
        rate = state.rate(job, gpus, start.mode, sorted(rest))
        first = min(rest, key=lambda each: rest[each] / slowed[each])
        step, own = rest[first] / slowed[first], work / rate
        if own <= step:  # the others run on without it
            return total + now + own + sum(now + own + rest[each] - own * slowed[each] for each in rest)
        work -= step * rate
        now += step
        total += now
        rest = {each: left - step * slowed[each] for each, left in rest.items() if each != first}
    return total + now + work / state.rate(job, gpus, start.mode)
