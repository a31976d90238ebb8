"""Plan: the jobs that will run after a decision's actions so far, and the resulting changes.

Actions edit the plan one by one, and only the final plan must be legal. Therefore, two jobs may swap their
GPUs, and a job may take GPUs that a later action of the same decision frees. Rules about a single job, such
as its allowed numbers of GPUs, are checked immediately.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gsopt.scenario.job import Job
from gsopt.simulation.ledger import Forbidden, Ledger
from gsopt.simulation.policy import Action, Allocation, Assign, IllegalDecision, Move, Resize, Start, Stop


class Held(NamedTuple):
    """The GPUs of a running job: their number, their indices if they have any, and the job's mode."""

    number: int
    gpus: tuple[int, ...]
    mode: str


class Plan:
    """The jobs that run after the actions so far, with their GPUs and modes."""

    def __init__(self, jobs: Sequence[Job], ledger: Ledger) -> None:
        self._jobs, self._ledger = jobs, ledger
        # the running jobs in the order of their starts, each with its number of GPUs
        self.running: dict[int, int] = {}
        # what running jobs hold now, before the plan takes effect
        self.in_force: dict[int, Held] = {}
        # the jobs changed at this instant, each with its last action
        self.touched: dict[int, Action | None] = {}
        self.evicted: set[int] = set()  # jobs whose GPUs went away
        self.owed = 0  # GPUs granted as a number of GPUs, and not chosen yet
        self._modes: dict[int, str] = {}  # of jobs outside their default mode
        self._unchecked: dict[int, Action] = {}  # jobs with named GPUs
        self._unplaced: dict[int, tuple[int, str]] = {}  # jobs whose GPUs are not chosen yet
        self._placing_later = False
        self._reentered = False
        self.needs_check = False  # whether the plan may be illegal

    def mode(self, job: int) -> str:
        """Return the mode of a job."""
        return self._modes.get(job, "")

    def held(self, job: int) -> Held:
        """Return the GPUs and the mode of a running job in the plan."""
        return Held(self.running[job], self._ledger.placement(job), self._modes.get(job, ""))

    # Changes

    def start(self, action: Start) -> None:
        """Start a waiting job."""
        job, gpus, mode = action
        if job in self.running:
            raise Forbidden("a job must be waiting to start")
        self.touched[job] = action
        if job in self.in_force:
            self._reentered = True
        self._give(job, self._jobs[job].gpus if gpus is None else gpus, mode, action)

    def stop(self, action: Stop) -> None:
        """Stop a running job."""
        job = action.job
        self._require_running(job)
        self.touched[job] = action
        self.needs_check = True
        self._let_go(job)

    def resize(self, action: Resize) -> None:
        """Change the GPUs or the mode of a running job.

        If its number of GPUs stays the same and no GPUs are named, the job keeps its GPUs.
        """
        job, gpus, mode = action
        self._require_running(job)
        if mode is None:
            mode = self.mode(job)
        held = self._ledger.placement(job)
        same = gpus == self.running[job] if isinstance(gpus, int) else _numbers(gpus) == held
        if same and mode == self.mode(job):
            return
        if same and held:
            gpus = held
        self.touched[job] = action
        self._take_back(job)
        self._give(job, gpus, mode, action)

    def move(self, action: Move) -> None:
        """Move a running job to the same number of other GPUs."""
        self._require_running(action.job)
        if isinstance(action.gpus, int) or len(_numbers(action.gpus)) != self.running[action.job]:
            raise Forbidden("a move must keep the number of GPUs and name the new GPUs")
        self.resize(Resize(action.job, action.gpus))

    def assign(self, action: Assign) -> None:
        """Run exactly the given jobs.

        GPUs given only as a number are chosen at the end of the decision, but a job that already runs on this
        number of GPUs in the same mode keeps its GPUs.
        """
        wanted = {job: _allocation(given) for job, given in action.jobs.items()}
        steps: list[Stop | Resize | Start] = [Stop(job) for job in self.running if job not in wanted]
        for job, (gpus, mode) in wanted.items():
            steps.append(Resize(job, gpus, mode) if job in self.running else Start(job, gpus, mode))
        self._placing_later = self.needs_check = True
        for step in steps:
            try:
                self._take_step(step)
            except Forbidden as rule:
                raise IllegalDecision(step, str(rule)) from None

    def evict(self, job: int) -> None:
        """Stop a running job because some of its GPUs leave the cluster."""
        self.touched[job] = None
        self._let_go(job)
        self.evicted.add(job)

    def complete(self, job: int) -> Held:
        """Remove a completed job, and return the GPUs that it held.

        A completion does not count as a change.
        """
        self._ledger.give_back(job, self.running.pop(job))
        self._modes.pop(job, None)
        return self.in_force.pop(job)

    # The end of a decision

    def check(self, *, preemptive: bool) -> None:
        """Choose GPUs for jobs that were granted only a number of them, and check the remaining rules.

        Unless the policy is `preemptive`, it must not stop jobs. Raise `IllegalDecision` if the plan breaks a
        rule.
        """
        self._placing_later = self.needs_check = False
        if self._unplaced:
            self._place_the_rest()
        for job, action in reversed(self._unchecked.items()):
            try:
                self._ledger.check(job)
            except Forbidden as rule:
                raise IllegalDecision(action, str(rule)) from None
        self._unchecked.clear()
        if not preemptive:
            for job, last in self.touched.items():
                if job in self.in_force and job not in self.running and job not in self.evicted:
                    raise IllegalDecision(last, "a policy that is not preemptive must not stop jobs")

    def conclude(self, started: Sequence[int]) -> None:
        """Forget all changes, after they have taken effect.

        `started` contains the serial number of each job's last start.
        """
        if self._reentered:  # jobs that were stopped and started again keep their place
            ordered = sorted(self.running.items(), key=lambda item: started[item[0]])
            self.running.clear()
            self.running.update(ordered)
            self._reentered = False
        self.touched.clear()
        self.evicted.clear()

    # Steps

    def _place_the_rest(self) -> None:
        """Choose GPUs for jobs that were granted only a number of them, in the order of the grants."""
        for job, (count, mode) in self._unplaced.items():
            item = self._jobs[job]
            if not self._ledger.place(job, item, mode, count):
                rule = f"a job must take free GPUs ({self._ledger.room(item, mode)} are free for it)"
                raise IllegalDecision(self.touched.get(job), rule)
        self._unplaced.clear()
        self.owed = 0

    def _take_step(self, step: Stop | Resize | Start) -> None:
        if isinstance(step, Stop):
            self.stop(step)
        elif isinstance(step, Start):
            self.start(step)
        else:
            self.resize(step)

    def _give(self, job: int, gpus: Allocation, mode: str, action: Action) -> None:
        item = self._jobs[job]
        if isinstance(gpus, int):
            count = gpus
            if mode or count != item.gpus:
                _check_allowed(item, count, mode)
            later = self._placing_later or self._unplaced
            if later or not self._ledger.place(job, item, mode, count):
                self.needs_check = True
                self._unplaced[job] = (count, mode)
                self.owed += count
        else:
            numbers = _numbers(gpus)
            count = len(numbers)
            _check_allowed(item, count, mode)
            self._ledger.take(job, item, mode, numbers)
            self._unchecked[job] = action
            self.needs_check = True
        self.running[job] = count
        if mode:
            self._modes[job] = mode

    def _take_back(self, job: int) -> None:
        """Release the GPUs of a job that continues on others."""
        if job in self._unplaced:
            self.owed -= self._unplaced.pop(job)[0]
        else:
            self._ledger.give_back(job, self.running[job])
        self._unchecked.pop(job, None)
        self._modes.pop(job, None)

    def _let_go(self, job: int) -> None:
        self._take_back(job)
        del self.running[job]

    def _require_running(self, job: int) -> None:
        if job not in self.running:
            raise Forbidden("a job must be running to be stopped, resized or moved")


def _check_allowed(job: Job, count: int, mode: str) -> None:
    """Raise `Forbidden` if a job may not run on the given number of GPUs in the given mode."""
    counts = job.speeds.get(mode)
    if counts is None:
        raise Forbidden(f"a job must run in one of its modes ({', '.join(map(repr, job.speeds))})")
    if count not in counts:
        raise Forbidden(f"a job must run on an allowed number of GPUs ({', '.join(map(str, sorted(counts)))})")


def _numbers(gpus: Sequence[int]) -> tuple[int, ...]:
    """Check GPU indices, and return them in ascending order."""
    if not isinstance(gpus, Sequence) or not all(isinstance(gpu, int) for gpu in gpus):
        raise Forbidden("GPUs must be a number of GPUs, or GPU numbers")
    numbers = tuple(sorted(set(gpus)))
    if len(numbers) < len(gpus):
        raise Forbidden("the GPUs of a job must be distinct")
    return numbers


def _allocation(given: Any) -> tuple[Allocation, str]:
    """Split the assignment of a job into its GPUs and its mode."""
    match given:
        case (gpus, str(mode)):
            return gpus, mode
        case gpus:
            return gpus, ""
