"""Backfilling from its textbook definitions, by enumeration of instants and without a profile."""

from collections.abc import Callable, Sequence
from math import inf, nextafter
from typing import Any, NamedTuple


class Rigid(NamedTuple):
    """A rigid job: release, duration, user's estimate and number of GPUs."""

    release: Any
    duration: Any
    estimate: Any
    gpus: int


class Trial:
    """One run: instant by instant, all completions and arrivals, then one decision."""

    def __init__(self, jobs: Sequence[Rigid], gpus: int) -> None:
        self.jobs, self.gpus = jobs, gpus
        self.start: dict[int, Any] = {}
        self.end: dict[int, Any] = {}
        self.now: Any = None
        self.waiting: list[int] = []
        self.completed: list[int] = []
        self.wakes: set[Any] = set()

    def run(self, decide: Callable[[], None]) -> list[Any]:
        """Run to the end, and return the starts."""
        coming = sorted(range(len(self.jobs)), key=lambda job: (self.jobs[job].release, job))
        while coming or self.waiting:
            times = [*self.end.values(), *self.wakes, *(self.jobs[job].release for job in coming[:1])]
            self.now = min(time for time in times if self.now is None or time > self.now)
            self.completed = [job for job, end in self.end.items() if end == self.now]
            while coming and self.jobs[coming[0]].release == self.now:
                self.waiting.append(coming.pop(0))
            self.wakes = set()
            decide()
        return [self.start[job] for job in range(len(self.jobs))]

    @property
    def running(self) -> list[int]:
        """The jobs that run now."""
        return [job for job, end in self.end.items() if end > self.now]

    @property
    def free(self) -> int:
        """The number of GPUs that are free now."""
        return self.gpus - sum(self.jobs[job].gpus for job in self.running)

    def begin(self, job: int) -> None:
        """Start a job now."""
        assert self.jobs[job].gpus <= self.free
        self.start[job] = self.now
        self.end[job] = after(self.now, self.jobs[job].duration)
        self.waiting.remove(job)

    def expected(self, job: int) -> Any:
        """Return the expected end of a running job, which is later than now."""
        due = after(self.start[job], self.jobs[job].estimate)
        minutes = [0, 1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000]
        minutes += [6000 * 2**power for power in range(60)]
        return next(due + type(due)(60 * each) for each in minutes if due + type(due)(60 * each) > self.now)


def after(begin: Any, length: Any) -> Any:
    """Return the end of an interval, which is after its beginning even if it is rounded."""
    return begin + length if begin + length > begin else nextafter(begin, inf)


def fcfs(jobs: Sequence[Rigid], gpus: int) -> list[Any]:
    """Return the starts under first come, first served."""
    trial = Trial(jobs, gpus)

    def decide() -> None:
        while trial.waiting and jobs[trial.waiting[0]].gpus <= trial.free:
            trial.begin(trial.waiting[0])

    return trial.run(decide)


def easy(jobs: Sequence[Rigid], gpus: int, *, shortest: bool = False) -> list[Any]:
    """Return the starts under EASY: by the shadow time of the first job, and the GPUs that it leaves over."""
    trial = Trial(jobs, gpus)

    def decide() -> None:
        while trial.waiting and jobs[trial.waiting[0]].gpus <= trial.free:
            trial.begin(trial.waiting[0])
        if not trial.waiting:
            return
        first, *rest = trial.waiting
        free, shadow = trial.free, None
        ends = sorted({trial.expected(job) for job in trial.running})
        for shadow in ends:
            freed = sum(jobs[job].gpus for job in trial.running if trial.expected(job) <= shadow)
            if free + freed >= jobs[first].gpus:
                break
        extra = free + freed - jobs[first].gpus
        if shortest:
            rest.sort(key=lambda job: (jobs[job].estimate, job))
        for job in rest:
            is_short = after(trial.now, jobs[job].estimate) <= shadow
            if jobs[job].gpus <= trial.free and (is_short or jobs[job].gpus <= extra):
                trial.begin(job)
                extra -= 0 if is_short else jobs[job].gpus

    return trial.run(decide)


class Conservative:
    """Conservative backfilling with compression, by trying every instant at which GPUs become free."""

    def __init__(self, jobs: Sequence[Rigid], gpus: int) -> None:
        self.trial = Trial(jobs, gpus)
        self.reserved: dict[int, Any] = {}
        self.last: dict[int, Any] = {}  # ends of running jobs, as expected at the last decision

    def run(self) -> list[Any]:
        """Run to the end, and return the starts."""
        return self.trial.run(self._decide)

    def _decide(self) -> None:
        trial, reserved = self.trial, self.reserved
        if any(self.last[job] <= trial.now for job in trial.running):  # late
            reserved.clear()
            self.last = {job: trial.expected(job) for job in trial.running}
        elif trial.completed:
            for job in sorted(reserved):
                reserved[job] = self._earliest(job)
        for job in trial.waiting:
            if job not in reserved:
                reserved[job] = self._earliest(job)
        for job in [job for job, start in reserved.items() if start == trial.now]:
            del reserved[job]
            trial.begin(job)
            self.last[job] = trial.expected(job)
        trial.wakes = set(reserved.values())

    def _earliest(self, job: int) -> Any:
        """Return the earliest time at which a job fits beside all other running and reserved jobs."""
        trial, jobs = self.trial, self.trial.jobs
        others = [(trial.now, self.last[other], jobs[other].gpus) for other in trial.running]
        others += [
            (start, after(start, jobs[other].estimate), jobs[other].gpus)
            for other, start in self.reserved.items()
            if other != job
        ]
        for begin in sorted({trial.now, *(end for _, end, _ in others)}):
            end = after(begin, jobs[job].estimate)
            tops = [begin, *(start for start, _, _ in others if begin < start < end)]
            used = (sum(gpus for first, last, gpus in others if first <= top < last) for top in tops)
            if max(used) + jobs[job].gpus <= trial.gpus:
                return begin
        raise AssertionError
