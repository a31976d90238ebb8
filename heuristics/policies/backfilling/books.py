"""Books: the running jobs with their expected ends, and the resulting profile of free GPUs."""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import Any, NamedTuple

from gsopt.core.numbers.tolerances import DRAWN_ESTIMATE
from gsopt.simulation import Action, State
from gsopt.simulation.parts.pool import pool_of
from heuristics.policies.backfilling.estimates import late_end, user_estimates
from heuristics.policies.backfilling.profile import Profile, Slot


class Need(NamedTuple):
    """What a job needs: a number of GPUs, suitable kinds in order of preference, and an estimated time."""

    gpus: int
    kinds: tuple[int, ...]
    length: Any


class Books:
    """The running jobs with the slots that they are expected to occupy, and the profile of all other GPUs.

    Attributes
    ----------
    profile
        The profile of free GPUs. Policies may also take slots for reservations from it.
    running
        The slots of the running jobs, keyed by job.
    """

    def __init__(self, state: State, factor: float, seed: int) -> None:
        self._jobs = state.jobs
        self._pool = pool_of(state)
        self._estimate, self._factor = user_estimates(state, factor, seed), factor
        self._needs: dict[int, Need] = {}
        self._ends: list[tuple[Any, int]] = []  # a heap; entries that differ from the slots are outdated
        self._due: dict[int, Any] = {}  # ends according to the original estimates
        self.running: dict[int, Slot] = {}
        self.profile = Profile(state.now, self._free(state))

    def need(self, job: int) -> Need:
        """Return the GPUs, kinds and time that an incomplete job needs."""
        if job not in self._needs:
            item = self._jobs[job]
            self._needs[job] = Need(item.gpus, self._pool.kinds(item), self._estimate(job))
        return self._needs[job]

    def earliest(self, job: int, before: Any = None) -> Slot | None:
        """Return the earliest slot that fits a job, or None (see `Profile.earliest`)."""
        return self.profile.earliest(*self.need(job), before)

    def overestimate(self, job: int, factor: float | None) -> float | None:
        """Return an upper bound on the ratio of a job's estimate to its running time, or None if unknown.

        `factor` is this bound for jobs that have their own estimates.
        """
        return self._factor if self._jobs[job].estimate is None else factor

    def are_exact(self, waiting: Iterable[int], factor: float | None) -> bool:
        """Check whether the estimates of all running jobs and of the given waiting jobs are exact."""
        return all(self.overestimate(job, factor) == 1 for job in chain(self.running, waiting))

    def soonest(self, job: int, now: Any, factor: float | None) -> Any:
        """Return the earliest time at which enough running jobs could have ended for a job to start.

        If all available GPUs that suit the job are too few, the result is `now`, because more may be added at
        any time. For `factor`, see `overestimate`.
        """
        gpus, kinds, _ = self.need(job)
        missing = gpus - sum(self.profile.free[kind] for kind in kinds)
        ends = sorted(
            (self._soonest_end(other, now, factor), sum(slot.gpus[kind] for kind in kinds))
            for other, slot in self.running.items()
        )
        time = now
        for end, freed in ends:
            if missing <= 0:
                break
            time, missing = end, missing - freed
        return time if missing <= 0 else now

    def _soonest_end(self, job: int, now: Any, factor: float | None) -> Any:
        over = self.overestimate(job, factor)
        if over is None:
            return now
        if over == 1:
            return max(self._due[job], now)
        number = type(now)
        least = self.need(job).length / number(over)
        if self._jobs[job].estimate is None:
            least *= number(1 - DRAWN_ESTIMATE)
        return max(self.running[job].start + least, now)

    def start(self, job: int, slot: Slot) -> None:
        """Add a job that starts now, in a slot that has already been taken from the profile."""
        self.running[job] = slot
        self._due[job] = slot.end
        heappush(self._ends, (slot.end, job))

    def complete(self, state: State) -> bool:
        """Remove the completed jobs, and return whether any of them ended before its expected end.

        Afterwards, the profile begins at the current time.
        """
        self.profile.advance(state.now)
        is_early = False
        for job in state.completed:
            slot = self.running.pop(job)
            del self._due[job], self._needs[job]
            if slot.end > state.now:
                self.profile.give_back(slot)
                is_early = True
        return is_early

    def agree(self, state: State, due: Sequence[Slot] = ()) -> bool:
        """Check that no job is late or evicted, and that the profile has the right number of free GPUs now.

        `due` are the reserved slots that begin now. Their GPUs are still free, although the profile counts them
        as taken.
        """
        ends, running = self._ends, self.running
        while ends and (ends[0][1] not in running or running[ends[0][1]].end != ends[0][0]):
            heappop(ends)
        if state.evicted or (ends and ends[0][0] <= state.now):
            return False
        by_kind = zip(self.profile.free, *(slot.gpus for slot in due), strict=True)
        return self._free(state) == tuple(map(sum, by_kind))

    def correct(self, state: State) -> None:
        """Rebuild the profile from the free GPUs and the running jobs, and extend the slots of late jobs."""
        now = state.now
        for job in state.evicted:
            self.running.pop(job, None)
            self._due.pop(job, None)
        self._ends.clear()
        self.profile = Profile(now, self._with_running(self._free(state)))
        for job, slot in self.running.items():
            due = self._due[job]
            end = due if due > now else late_end(due, now)
            self.running[job] = slot._replace(end=end)
            self.profile.take(self.running[job])
            heappush(self._ends, (end, job))

    def actions(self, state: State, started: dict[int, Slot]) -> list[Action]:
        """Return the actions that start jobs on the GPUs in their slots."""
        self._pool.look(state)
        taken: dict[int, Any] = {job: self._pool.holding(slot.gpus) for job, slot in started.items()}
        return self._pool.actions(state, dict.fromkeys(taken), taken)

    def _free(self, state: State) -> tuple[int, ...]:
        self._pool.look(state)
        free = self._pool.free
        return (free,) if isinstance(free, int) else free

    def _with_running(self, free: tuple[int, ...]) -> list[int]:
        """Return the number of GPUs of each kind that would be free if no job were running."""
        held = zip(*(slot.gpus for slot in self.running.values()), strict=True)
        return [sum(pair) for pair in zip(free, map(sum, held), strict=True)] if self.running else list(free)
