"""Queue: the jobs that wait for base workers."""

from bisect import insort
from collections.abc import Iterable, Sequence

from gsopt.scenario.job import DEFAULT_MODE
from gsopt.simulation.policy import State
from heuristics.policies.aryl.epoch import Elastic, Waiting
from heuristics.policies.aryl.forms import Form, forms_of
from heuristics.policies.aryl.machines import Machines


class Queue:
    """The jobs that wait, by number, which is the order of their release.

    A job that has just lost its GPUs rests until a later instant: going on at once would be a move.

    Parameters
    ----------
    machines
        The machines.
    training_first
        Whether elastic jobs prefer the training pool too.

    Attributes
    ----------
    forms
        The forms of all jobs that are there, whether they wait or not.
    """

    def __init__(self, machines: Machines, *, training_first: bool) -> None:
        self._machines, self._training_first = machines, training_first
        self.forms: dict[int, Sequence[Form]] = {}
        self._jobs: list[int] = []
        self._shown: dict[int, Waiting] = {}
        self._resting: dict[int, None] = {}
        self._tuple: tuple[Waiting, ...] | None = ()

    def __len__(self) -> int:
        return len(self._jobs) + len(self._resting)

    @property
    def rests(self) -> bool:
        """Whether some job rests."""
        return bool(self._resting)

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The jobs that wait, but for those that rest."""
        if self._tuple is None:
            self._tuple = tuple(self._shown[job] for job in self._jobs)
        return self._tuple

    def arrive(self, state: State, jobs: Iterable[int]) -> None:
        """Let jobs wait that are released."""
        for job in jobs:
            self.forms[job] = forms_of(state.jobs[job], self._machines, training_first=self._training_first)
            self._add(state, job)

    def rest(self, jobs: Iterable[int]) -> None:
        """Let jobs wait from the next instant on."""
        self._resting.update(dict.fromkeys(jobs))

    def wake(self, state: State) -> None:
        """Let the jobs wait that have rested."""
        for job in self._resting:
            self._add(state, job)
        self._resting.clear()

    def start(self, jobs: Iterable[int]) -> None:
        """Let jobs go that start."""
        gone = set(jobs)
        for job in gone:
            del self._shown[job]
        if gone:
            self._jobs = [job for job in self._jobs if job not in gone]
            self._tuple = None

    def complete(self, jobs: Iterable[int]) -> None:
        """Forget jobs that are done."""
        for job in jobs:
            del self.forms[job]

    def _add(self, state: State, job: int) -> None:
        form, item, left = self.forms[job][0], state.jobs[job], state.remaining(job)
        menu = item.speeds[DEFAULT_MODE]
        time = left / type(left)(menu[min(menu)])
        most = form.base + len(form.speeds) - 1
        elastic = Elastic(job, time, form.worker_gpus, form.base, most, 0, form.pool, form.speeds)
        shown = elastic if form.is_elastic else None
        self._shown[job] = Waiting(job, item.release_date, time, form.base_gpus, shown)
        insort(self._jobs, job)
        self._tuple = None
