"""Course: jobs that share GPUs, from event to event exactly, each as slow as its worst partner makes it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from gsopt.core.numbers.grid import Exact, whole


class Course:
    """What runs where as time passes, how much is left of it, and when what has run ended.

    A job's speed is constant between two events, the starts and ends of jobs: the inverse of its slowdown by
    the worst of the jobs that hold one of its GPUs as well, and 1 where it has all of them to itself.

    Source: Castor, Eq. 4-5; synchronous training waits for its slowest worker.

    Parameters
    ----------
    durations
        Seconds of each job alone.
    slowdown
        Slowdown of a job, given first, beside another.
    releases
        When each job arrives; the course begins with the first of them.

    Attributes
    ----------
    now
        The time, in seconds.
    last_event
        When a job arrived or ended last.
    due
        When each job that runs ends if nothing changes.
    users
        Jobs that hold a GPU, by its number; GPUs that nobody holds are left out.
    starts, ends
        When the jobs that have started and ended did.
    """

    def __init__(
        self, durations: Sequence[Exact], slowdown: Callable[[int, int], Exact], releases: Sequence[Exact]
    ) -> None:
        self._durations, self._slowdown, self._arrivals = durations, slowdown, sorted(releases)
        self.now = self.last_event = self._arrivals[0]
        self._arrived = bisect_right(self._arrivals, self.now)
        self.due: dict[int, Exact] = {}
        self.users: dict[int, list[int]] = {}
        self.starts: dict[int, Exact] = {}
        self.ends: dict[int, Exact] = {}
        self._gpus: dict[int, tuple[int, ...]] = {}
        self._slow: dict[int, Exact] = {}

    def copy(self) -> "Course":
        """Return a course that goes on from here on its own."""
        other = Course(self._durations, self._slowdown, self._arrivals)
        other.now, other.last_event, other._arrived = self.now, self.last_event, self._arrived
        other.due, other.starts, other.ends = dict(self.due), dict(self.starts), dict(self.ends)
        other.users = {gpu: list(users) for gpu, users in self.users.items()}
        other._gpus, other._slow = dict(self._gpus), dict(self._slow)
        return other

    @property
    def left(self) -> dict[int, Exact]:
        """Seconds of work that is left of each job that runs."""
        return {job: whole(Fraction(due - self.now) / self._slow[job]) for job, due in self.due.items()}

    @property
    def next_event(self) -> Exact | None:
        """When the next job arrives or ends if none starts before; None when none does."""
        ahead = self._arrivals[self._arrived : self._arrived + 1]
        return min([*ahead, *self.due.values()], default=None)

    def start(self, job: int, gpus: Iterable[int]) -> None:
        """Start a job now on some GPUs, whoever holds them."""
        self._gpus[job] = tuple(gpus)
        self.starts[job], self._slow[job] = self.now, 1
        self.due[job] = self.now + self._durations[job]
        for gpu in self._gpus[job]:
            self.users.setdefault(gpu, []).append(job)
        self._see_again({user for gpu in self._gpus[job] for user in self.users[gpu]})

    def pass_until(self, time: Exact) -> None:
        """Let time pass; jobs that end until then, and at that time, leave their GPUs."""
        while (event := self.next_event) is not None and event <= time:
            self._pass(event)
            self.last_event = event
        self._pass(time)

    def partners(self, job: int) -> set[int]:
        """Return the jobs that hold a GPU of a running job as well."""
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
        """Find the slowdowns of jobs whose partners have changed."""
        for job in jobs:
            slow = max([1, *(self._slowdown(job, partner) for partner in self.partners(job))])
            if slow != self._slow[job]:
                ahead = Fraction(self.due[job] - self.now) * slow / self._slow[job]
                self.due[job], self._slow[job] = whole(self.now + ahead), slow
