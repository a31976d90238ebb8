"""Course: the exact progress of jobs that share GPUs, each slowed down by its worst partner."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from gsopt.core.numbers.grid import Exact, whole


class ProgressOfJobs:
    """The GPUs, remaining work and end times of jobs as time passes.

    Between the starts and ends of jobs, each job's speed is constant: 1 if it has no partners, and otherwise
    1 divided by the slowdown that its worst partner causes. A partner is a job that shares at least one of
    its GPUs. Time begins at the first release date. `slowdown(job, partner)` returns the slowdown of the job.

    Source: Castor, Eq. 4-5; synchronous training waits for its slowest worker.
    """

    def __init__(
        self, durations: Sequence[Exact], slowdown: Callable[[int, int], Exact], releases: Sequence[Exact]
    ) -> None:
        self._durations, self._slowdown, self._arrivals = durations, slowdown, sorted(releases)
        self.now = self.last_event = self._arrivals[0]  # an event is the arrival or the end of a job
        self._arrived = bisect_right(self._arrivals, self.now)
        self.due: dict[int, Exact] = {}  # when each running job ends if nothing changes
        self.users: dict[int, list[int]] = {}  # jobs on each GPU that is held
        self.starts: dict[int, Exact] = {}
        self.ends: dict[int, Exact] = {}
        self._gpus: dict[int, tuple[int, ...]] = {}
        self._slow: dict[int, Exact] = {}

    def copy(self) -> "ProgressOfJobs":
        """Return an independent copy."""
        other = ProgressOfJobs(self._durations, self._slowdown, self._arrivals)
        other.now, other.last_event, other._arrived = self.now, self.last_event, self._arrived
        other.due, other.starts, other.ends = dict(self.due), dict(self.starts), dict(self.ends)
        other.users = {gpu: list(users) for gpu, users in self.users.items()}
        other._gpus, other._slow = dict(self._gpus), dict(self._slow)
        return other

    @property
    def left(self) -> dict[int, Exact]:
        """The remaining work of each running job, in seconds at speed 1."""
        return {job: whole(Fraction(due - self.now) / self._slow[job]) for job, due in self.due.items()}

    @property
    def next_event(self) -> Exact | None:
        """The time of the next arrival or end of a job, or None if there is none.

        Ends are predicted on the assumption that no further job starts.
        """
        ahead = self._arrivals[self._arrived : self._arrived + 1]
        return min([*ahead, *self.due.values()], default=None)

    def start(self, job: int, gpus: Iterable[int]) -> None:
        """Start a job now on the given GPUs, which other jobs may also hold."""
        self._gpus[job] = tuple(gpus)
        self.starts[job], self._slow[job] = self.now, 1
        self.due[job] = self.now + self._durations[job]
        for gpu in self._gpus[job]:
            self.users.setdefault(gpu, []).append(job)
        self._see_again({user for gpu in self._gpus[job] for user in self.users[gpu]})

    def pass_until(self, time: Exact) -> None:
        """Advance to a time, and free the GPUs of jobs that end by then."""
        while (event := self.next_event) is not None and event <= time:
            self._pass(event)
            self.last_event = event
        self._pass(time)

    def partners(self, job: int) -> set[int]:
        """Return the jobs that share a GPU with a running job."""
        return {user for gpu in self._gpus[job] for user in self.users[gpu]} - {job}

    def _pass(self, time: Exact) -> None:
        self.now = time
        while self._arrived < len(self._arrivals) and self._arrivals[self._arrived] <= time:
            self._arrived += 1
        ended = {job for job, due in self.due.items() if due <= time}
        for job in ended:
            self.ends[job] = time
            del self._slow[job], self.due[job]
        freed = {gpu for job in ended for gpu in self._gpus[job]}
        met = {user for gpu in freed for user in self.users[gpu]}
        for gpu in freed:
            self.users[gpu] = [user for user in self.users[gpu] if user not in ended]
            if not self.users[gpu]:
                del self.users[gpu]
        self._see_again(met - ended)

    def _see_again(self, jobs: Iterable[int]) -> None:
        """Update the slowdowns of jobs whose partners have changed."""
        for job in jobs:
            slow = max([1, *(self._slowdown(job, partner) for partner in self.partners(job))])
            if slow != self._slow[job]:
                ahead = Fraction(self.due[job] - self.now) * slow / self._slow[job]
                self.due[job], self._slow[job] = whole(self.now + ahead), slow
