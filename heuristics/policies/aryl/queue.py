"""Queue: the jobs that wait to start on their base workers."""

from bisect import insort
from collections.abc import Iterable, Sequence

from gsopt.scenario.job import DEFAULT_MODE
from gsopt.simulation.policy import State
from heuristics.policies.aryl.forms import Form, forms_of
from heuristics.policies.aryl.machines import Machines
from heuristics.policies.aryl.scheduler import FlexibleJob, WaitingJob


class Queue:
    """The waiting jobs in order of release, i.e. of job number.

    A job that has just lost its GPUs rests until the next decision. It therefore restarts at a later interval.

    Attributes
    ----------
    forms
        The forms of all waiting and running jobs, keyed by job number.
    """

    def __init__(self, machines: Machines, *, training_first: bool) -> None:
        self._machines, self._training_first = machines, training_first
        self.forms: dict[int, Sequence[Form]] = {}
        self._jobs: list[int] = []
        self._entries: dict[int, WaitingJob] = {}
        self._resting: dict[int, None] = {}
        self._tuple: tuple[WaitingJob, ...] | None = ()

    def __len__(self) -> int:
        return len(self._jobs) + len(self._resting)

    @property
    def rests(self) -> bool:
        """Whether any job rests."""
        return bool(self._resting)

    @property
    def waiting(self) -> tuple[WaitingJob, ...]:
        """The waiting jobs, except resting ones."""
        if self._tuple is None:
            self._tuple = tuple(self._entries[job] for job in self._jobs)
        return self._tuple

    def arrive(self, state: State, jobs: Iterable[int]) -> None:
        """Add released jobs."""
        for job in jobs:
            self.forms[job] = forms_of(state.jobs[job], self._machines, training_first=self._training_first)
            self._add(state, job)

    def rest(self, jobs: Iterable[int]) -> None:
        """Let jobs rest; they wait again from the next decision on."""
        self._resting.update(dict.fromkeys(jobs))

    def wake(self, state: State) -> None:
        """Let all resting jobs wait again."""
        for job in self._resting:
            self._add(state, job)
        self._resting.clear()

    def start(self, jobs: Iterable[int]) -> None:
        """Remove jobs that start, but keep their forms."""
        gone = set(jobs)
        for job in gone:
            del self._entries[job]
        if gone:
            self._jobs = [job for job in self._jobs if job not in gone]
            self._tuple = None

    def complete(self, jobs: Iterable[int]) -> None:
        """Remove the forms of completed jobs."""
        for job in jobs:
            del self.forms[job]

    def _add(self, state: State, job: int) -> None:
        form, item, left = self.forms[job][0], state.jobs[job], state.remaining(job)
        menu = item.speeds[DEFAULT_MODE]
        time = left / type(left)(menu[min(menu)])
        most = form.base + len(form.speeds) - 1
        elastic = FlexibleJob(job, time, form.worker_gpus, form.base, most, 0, form.pool, form.speeds)
        shown = elastic if form.is_elastic else None
        self._entries[job] = WaitingJob(job, item.release_date, time, form.base_gpus, shown)
        insort(self._jobs, job)
        self._tuple = None
