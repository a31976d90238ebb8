"""Course: jobs that share GPUs, from event to event exactly, each as slow as its worst partner makes it."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from gsopt.grid import Exact, whole


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
    left
        Seconds of work that is left of each job that runs.
    users
        Jobs that hold a GPU, by its number; GPUs that nobody holds are left out.
    starts, ends
        When the jobs that have started and ended did.

    Examples
    --------
    >>> course = Course([4, 3], lambda job, other: 2, [0, 1])
    >>> course.start(0, [0])
    >>> course.pass_until(1)
    >>> course.start(1, [0])
    >>> course.next_event
    7
    >>> course.pass_until(8)
    >>> course.ends
    {0: 7, 1: 7}
    """

    def __init__(
        self, durations: Sequence[Exact], slowdown: Callable[[int, int], Exact], releases: Sequence[Exact]
    ) -> None:
        self._durations, self._slowdown, self._releases = durations, slowdown, releases
        self.now = self.last_event = min(releases)
        self.left: dict[int, Exact] = {}
        self.users: dict[int, list[int]] = {}
        self.starts: dict[int, Exact] = {}
        self.ends: dict[int, Exact] = {}
        self._gpus: dict[int, tuple[int, ...]] = {}
        self._slow: dict[int, Exact] = {}
        self._due: dict[int, Exact] = {}  # when each job that runs ends if nothing changes

    def copy(self) -> "Course":
        """Give a course that goes on from here on its own."""
        other = Course(self._durations, self._slowdown, self._releases)
        other.now, other.last_event = self.now, self.last_event
        other.left, other.starts, other.ends = dict(self.left), dict(self.starts), dict(self.ends)
        other.users = {gpu: list(users) for gpu, users in self.users.items()}
        other._gpus, other._slow = dict(self._gpus), dict(self._slow)
        other._due = dict(self._due)
        return other

    @property
    def next_event(self) -> Exact | None:
        """When the next job arrives or ends if none starts before; None when none does."""
        arrivals = [time for time in self._releases if time > self.now]
        return min([*arrivals, *(self._due[job] for job in self.left)], default=None)

    def start(self, job: int, gpus: Iterable[int]) -> None:
        """Start a job now on some GPUs, whoever holds them."""
        self._gpus[job] = tuple(gpus)
        self.left[job], self.starts[job] = self._durations[job], self.now
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
        """Give the jobs that hold a GPU of a running job as well."""
        return {user for gpu in self._gpus[job] for user in self.users[gpu]} - {job}

    def _pass(self, time: Exact) -> None:
        ended = [job for job in self.left if self._due[job] <= time]
        for job in self.left:
            self.left[job] -= Fraction(time - self.now) / self._slow[job]
        self.now = time
        for job in ended:
            self.ends[job] = time
            del self.left[job], self._slow[job], self._due[job]
        met = {user for job in ended for gpu in self._gpus[job] for user in self.users[gpu]}
        for gpu in {gpu for job in ended for gpu in self._gpus[job]}:
            self.users[gpu] = [user for user in self.users[gpu] if user not in ended]
            if not self.users[gpu]:
                del self.users[gpu]
        self._see_again(met - set(ended))

    def _see_again(self, jobs: Iterable[int]) -> None:
        """Find the slowdowns of jobs whose partners have changed."""
        for job in jobs:
            slow = (self._slowdown(job, partner) for partner in self.partners(job))
            self._slow[job] = max([1, *slow])
            self._due[job] = whole(Fraction(self.now + self.left[job] * self._slow[job]))
