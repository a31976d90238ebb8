"""Orders: the least mean job completion time of elastic jobs, by an exact program for every order of events."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby, product

from gsopt.core.numbers.grid import decimal
from gsopt.problems.scheduling import Scheduling
from tests.exactness.programs import least

#: An event: a job completes, or starts where none may pause; None where the next ones are released.
_Event = tuple[int, bool] | None


def optimum(problem: Scheduling, *, excused: Fraction = Fraction(0)) -> Fraction | None:
    """Return the least mean job completion time, or None if a deadline is missed by more than is excused."""
    tasks = _Tasks(problem, excused)
    best: Fraction | None = None
    for order in tasks.orders():
        found = tasks.least(order, best)
        if found is not None and (best is None or found < best):
            best = found
    return None if best is None else (best - sum(tasks.release)) / len(tasks.release)


class _Tasks:
    """The jobs in exact numbers, on a clock that starts at the first release date."""

    def __init__(self, problem: Scheduling, excused: Fraction) -> None:
        self.problem = problem
        first = min(decimal(job.release) for job in problem.jobs)
        self.release = [Fraction(decimal(job.release) - first) for job in problem.jobs]
        self.work = [Fraction(decimal(job.work)) for job in problem.jobs]
        self.rates = [
            {gpus: Fraction(decimal(rate)) for gpus, rate in job.rates.items() if gpus <= problem.gpus}
            for job in problem.jobs
        ]
        self.dates = sorted(set(self.release))
        self.due: list[Fraction] = []
        if problem.fairness is not None:
            late = Fraction(decimal(problem.fairness))
            pairs = zip(self.fluid(), self.release, strict=True)
            self.due = [(end + late) + excused * (end + late - date) for end, date in pairs]

    def fluid(self) -> list[Fraction]:
        """Return when each job completes if the jobs that are there share all GPUs equally, as a fluid."""
        left = {
            job: work / self.rates[job][self.problem.jobs[job].demand] * self.problem.jobs[job].demand
            for job, work in enumerate(self.work)
        }
        ends = [Fraction(0)] * len(left)
        now = Fraction(0)
        while left:
            there = [job for job in left if self.release[job] <= now]
            ahead = [self.release[job] for job in left if self.release[job] > now]
            if not there:
                now = min(ahead)
                continue
            share = Fraction(self.problem.gpus, len(there))
            first = min(there, key=left.__getitem__)
            until = min([now + left[first] / share, *ahead])
            for job in there:
                left[job] -= share * (until - now)
            if left[first] == 0:
                ends[first] = until
                del left[first]
            now = until
        return ends

    def orders(self) -> Iterator[list[_Event]]:
        """Enumerate the orders of events; of equal jobs the first completes first."""
        if self.problem.preemptive:
            yield from self._completions(1, frozenset())
        else:
            yield from self._starts(frozenset(range(len(self.work))), frozenset())

    def _completions(self, arrived: int, done: frozenset[int]) -> Iterator[list[_Event]]:
        if len(done) == len(self.work):
            yield []
            return
        if arrived < len(self.dates):
            yield from ([None, *rest] for rest in self._completions(arrived + 1, done))
        there = [job for job, date in enumerate(self.release) if date < self._date(arrived) and job not in done]
        for job in self._different(there):
            yield from ([(job, False), *rest] for rest in self._completions(arrived, done | {job}))

    def _date(self, arrived: int) -> Fraction:
        return self.dates[arrived] if arrived < len(self.dates) else self.dates[-1] + 1

    def _starts(self, waiting: frozenset[int], running: frozenset[int]) -> Iterator[list[_Event]]:
        if not waiting and not running:
            yield []
        fewest = sum(min(self.rates[job]) for job in running)
        for job in self._different(sorted(waiting)):
            if fewest + min(self.rates[job]) <= self.problem.gpus:
                rest = self._starts(waiting - {job}, running | {job})
                yield from ([(job, True), *others] for others in rest)
        for job in sorted(running):
            yield from ([(job, False), *others] for others in self._starts(waiting, running - {job}))

    def _different(self, jobs: Sequence[int]) -> list[int]:
        seen, found = [], []
        for job in jobs:
            data = (self.release[job], self.work[job], self.rates[job], self.due[job] if self.due else 0)
            if data not in seen:
                seen.append(data)
                found.append(job)
        return found

    def least(self, order: Sequence[_Event], below: Fraction | None) -> Fraction | None:
        """Choose how long the GPUs are shared in each way before each event; give the sum of completions."""
        columns: list[tuple[int, tuple[int, ...]]] = []
        there: set[int] = set()
        arrived = 1
        if self.problem.preemptive:
            there = {job for job, date in enumerate(self.release) if date == 0}
        for cell, event in enumerate(order):
            columns += [(cell, way) for way in self._ways(sorted(there))]
            if event is None:
                there |= {job for job, date in enumerate(self.release) if date == self.dates[arrived]}
                arrived += 1
            elif event[1]:
                there.add(event[0])
            else:
                there.discard(event[0])
        ends = {event[0]: cell for cell, event in enumerate(order) if event is not None and not event[1]}
        cost = [sum(cell <= end for end in ends.values()) for cell, _ in columns]
        rows = [
            [self.rates[job].get(way[job], Fraction(0)) for _, way in columns] for job in range(len(self.work))
        ]
        limits = list(self.work)

        def until(cell: int, sign: int) -> list[Fraction]:
            return [Fraction(sign) * (each <= cell) for each, _ in columns]

        dates = iter(self.dates[1:])
        for cell, event in enumerate(order):
            if event is None:
                date = next(dates)
                rows += [until(cell, 1), until(cell, -1)]
                limits += [date, -date]
            elif event[1] and self.release[event[0]]:
                rows.append(until(cell, 1))
                limits.append(self.release[event[0]])
        for job, due in enumerate(self.due):
            rows.append(until(ends[job], -1))
            limits.append(-due)
        return least(cost, rows, limits, below=below)

    def _ways(self, there: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield the ways to share the GPUs that no other beats for every job; all run that may not pause."""
        counts = [[0] * self.problem.preemptive + sorted(self.rates[job]) for job in there]
        ways = [way for way in product(*counts) if sum(way) <= self.problem.gpus]
        speeds = [
            tuple(self.rates[job].get(gpus, 0) for job, gpus in zip(there, way, strict=True)) for way in ways
        ]
        best = [
            (way, speed)
            for way, speed in zip(ways, speeds, strict=True)
            if not any(
                other != speed and all(a >= b for a, b in zip(other, speed, strict=True)) for other in speeds
            )
        ]
        for _, same in groupby(sorted(best, key=lambda each: each[1]), key=lambda each: each[1]):
            way = dict(zip(there, next(same)[0], strict=True))
            yield tuple(way.get(job, 0) for job in range(len(self.work)))
