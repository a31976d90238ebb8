"""Trial: the exact check of runs of elastic jobs on a plain cluster.

It checks the solutions to `gsopt.problems.scheduling`, independently of the methods that find them. Exact times
must satisfy every rule exactly, except that a job may run for a billionth longer than it needs.

Times given as floats may be off by rounding. The total length of time for which a job breaks rules is called
its debt. A debt is tolerated if it is at most `gsopt.core.numbers.clock.clock_error` for the job's last end and
its shortest duration.

A schedule gains nothing from this tolerance. Whenever any job breaks a rule, at least the time for which it
does so is added to all later completion times. If the clock were stopped for that long, the schedule would
break no rule, and no job would complete later than the completion time with which it is scored. Therefore, no
schedule scores better than the optimum.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.grid import Exact, Number, decimal, whole
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.schedule.retiming import ElasticTask


class TrialRun(NamedTuple):
    """A run with times in integer ticks of a common clock, and with its index in the solution."""

    start: int
    end: int
    gpus: int
    place: int


class Trial:
    """The check of one solution to a scheduling problem.

    Parameters
    ----------
    tasks
        The jobs in order of release.
    gpus
        Number of GPUs.
    runs
        The runs, each with attributes ``job``, ``start``, ``end`` and ``gpus`` (number of GPUs).
    origin
        The first release date, in seconds.
    preemptive
        Whether jobs may pause.
    demands
        Speed of each job on its demanded number of GPUs, for messages.

    Attributes
    ----------
    found
        Messages about the rules that the solution breaks.
    """

    def __init__(
        self,
        tasks: Sequence[ElasticTask],
        gpus: int,
        runs: Sequence[Any],
        *,
        origin: Exact,
        preemptive: bool,
        demands: Sequence[Exact],
    ) -> None:
        self.tasks, self.gpus, self.runs, self.origin = tasks, gpus, runs, origin
        self.preemptive, self.demands = preemptive, demands
        self.found: list[str] = []
        number = {task.name: job for job, task in enumerate(tasks)}
        times = [(decimal(run.start), decimal(run.end)) for run in runs]
        if origin:
            times = [(start - origin, end - origin) for start, end in times]
        dates = [task.release for task in tasks]
        self._parts = lcm(
            *{time.denominator for pair in times for time in pair}, *{date.denominator for date in dates}
        )
        self._released = [self._whole(date) for date in dates]
        self._own: list[list[TrialRun]] = [[] for _ in tasks]
        for place, (run, (start, end)) in enumerate(zip(runs, times, strict=True)):
            wrong = self._wrong(run, number)
            self.found += [f"segments[{place}]: {rule}" for rule in wrong]
            if not wrong:
                self._own[number[run.job]].append(
                    TrialRun(self._whole(start), self._whole(end), run.gpus, place)
                )
        for own in self._own:
            own.sort()
        self._limit = [self._excused(job) for job in range(len(tasks))]
        self._left = list(self._limit)
        self._owed: dict[int, Exact] = defaultdict(int)  # in parts, by the time from which on it is owed
        for job in range(len(tasks)):
            self._check_job(job)
        self._check_capacity()
        self._ends = [self._end(job) for job in range(len(tasks))]

    @cached_property
    def completions(self) -> tuple[Exact | None, ...]:
        """Completion times of all jobs, in seconds after the first release; None if a job does not complete.

        Rounding may make jobs break rules slightly, for example by starting a little too early. At least the
        duration of each such violation is added to all later completion times, also to those of other jobs.
        """
        moments, total = sorted(self._owed), 0 * Fraction(1)
        later = dict[int, Exact]()
        ends = sorted({end for end in self._ends if end is not None})
        place = 0
        for end in ends:
            while place < len(moments) and moments[place] <= end:
                total += self._owed[moments[place]]
                place += 1
            later[end] = total
        return tuple(None if end is None else (end + later[end]) / Fraction(self._parts) for end in self._ends)

    @property
    def mean_jct(self) -> Fraction | None:
        """Mean time from release to completion of the completed jobs, in seconds; None if there are none."""
        pairs = zip(self.completions, self.tasks, strict=True)
        spans = [end - task.release for end, task in pairs if end is not None]
        return Fraction(sum(spans)) / len(spans) if spans else None

    def late(self, deadlines: Sequence[Exact]) -> list[int]:
        """Return the indices of jobs that complete after their deadlines, by more than rounding can explain.

        Deadlines are in seconds after the first release. Jobs that do not complete are not included.
        """
        rows = enumerate(zip(self.completions, deadlines, strict=True))
        return [
            job for job, (end, due) in rows if end is not None and (end - due) * self._parts > self._blur(job)
        ]

    def _blur(self, job: int) -> Exact:
        """Return by how many ticks rounding may delay a job's completion."""
        last = max((self.runs[piece.place] for piece in self._own[job]), key=lambda run: decimal(run.end))
        return 0 if isinstance(last.end, Fraction) else self._limit[job]

    def _whole(self, time: Exact) -> int:
        return time.numerator * (self._parts // time.denominator)

    def _seconds(self, parts: Exact) -> float:
        """Convert ticks into a time on the problem's clock, in seconds, for messages."""
        return float(Fraction(parts) / self._parts + self.origin)

    def _wrong(self, run: Any, number: Mapping[str, int]) -> list[str]:
        if run.job not in number:
            return [f"{run.job!r} is not a job of the workload"]
        if decimal(run.start) >= decimal(run.end):
            return ["a segment must end after it starts"]
        counts = tuple(self.tasks[number[run.job]].rates)
        if run.gpus not in counts:
            return [f"GPU count {run.gpus} of job {run.job!r} is not one of {counts}"]
        return []

    def _excused(self, job: int) -> Fraction:
        """Return the maximum tolerated debt of a job, in ticks; 0 if all its times are exact."""
        own = [self.runs[piece.place] for piece in self._own[job]]
        if all(isinstance(time, Fraction) for run in own for time in (run.start, run.end)):
            return Fraction(0)
        error = clock_error(
            max(float(run.end) for run in own), float(self.tasks[job].work) / float(self._speed(job))
        )
        return Fraction(error) * self._parts

    def _speed(self, job: int) -> Exact:
        """Return the highest speed at which a job runs in this solution."""
        return max(self.tasks[job].rates[gpus] for gpus in {piece.gpus for piece in self._own[job]})

    def _excuses(self, job: int, parts: Exact, since: int, times: int = 1) -> bool:
        """Check whether rounding explains a broken rule; if so, add the time to the job's debt."""
        if parts > self._left[job]:
            return False
        self._left[job] -= parts
        self._owed[since] += times * parts
        return True

    # Rules of one job

    def _check_job(self, job: int) -> None:
        name, release = self.tasks[job].name, self._released[job]
        until: int | None = None
        for piece in self._own[job]:
            if piece.start < release and not self._excuses(job, release - piece.start, piece.start):
                run = self.runs[piece.place]
                self.found.append(
                    f"segments[{piece.place}]: job {name!r} starts at {float(run.start)}, "
                    f"before its release at {self._seconds(release)}"
                )
            if until is not None:
                both, pause = min(until, piece.end) - piece.start, piece.start - until
                if both > 0 and not self._excuses(job, both, piece.start):
                    self.found.append(f"job {name!r} holds two sets of GPUs at {self._seconds(piece.start)}")
                if pause > 0 and not self.preemptive and not self._excuses(job, pause, until):
                    self.found.append(f"job {name!r} is preempted at {self._seconds(until)}")
            until = piece.end if until is None else max(until, piece.end)

    def _end(self, job: int) -> int | None:
        """Return the completion time of a job in ticks, or None if it does not complete.

        A broken rule is recorded if work is missing, or if the job runs longer than rounding can explain.
        """
        task, own = self.tasks[job], self._own[job]
        spent: dict[int, int] = defaultdict(int)
        for piece in own:
            spent[piece.gpus] += piece.end - piece.start
        done = sum((task.rates[gpus] * parts for gpus, parts in spent.items()), Fraction(0)) / self._parts
        if own:
            last, speed = max(piece.end for piece in own), self._speed(job)
            missing = (task.work - done) / speed * self._parts  # done is a fraction
            if -missing > self._limit[job] + Fraction(SPAN_ERROR) * task.work / speed * self._parts:
                self.found.append(
                    f"job {task.name!r} runs for {self._alone(job, done)} s of work, "
                    f"it has {self._alone(job, task.work)}"
                )
            if missing <= 0 or self._excuses(job, whole(Fraction(missing)), last):
                return last
        self.found.append(
            f"job {task.name!r} does not complete: {self._alone(job, done)} s of "
            f"{self._alone(job, task.work)} s of work are done"
        )
        return None

    def _alone(self, job: int, work: Number) -> float:
        """Return the time in seconds that the given work takes on the job's demanded number of GPUs."""
        return float(Fraction(work) / self.demands[job])

    # The rule of all jobs

    def _check_capacity(self) -> None:
        for since, until, held, changing in self._overfull():
            first = max(changing, key=lambda job: self._left[job])
            if not self._excuses(first, until - since, since, times=len(held) - 1):
                most = sum(held.values())
                self.found.append(f"at {self._seconds(since)}: {most} GPUs are held, {self.gpus} are there")

    def _overfull(self) -> Iterator[tuple[int, int, Mapping[int, int], set[int]]]:
        """Yield each interval with too many GPUs in use: start, end, runs, and jobs that may bear the debt."""
        starting, ending = (
            defaultdict[int, list[tuple[int, int]]](list),
            defaultdict[int, list[tuple[int, int]]](list),
        )
        for job, own in enumerate(self._own):
            for piece in own:
                starting[piece.start].append((job, piece.place))
                ending[piece.end].append((job, piece.place))
        held: dict[int, int] = {}
        total = 0
        times = sorted({*starting, *ending})
        for since, until in pairwise(times):
            for _, place in ending[since]:
                total -= held.pop(place)
            for _, place in starting[since]:
                held[place] = self.runs[place].gpus
                total += held[place]
            if total > self.gpus:
                changing = {job for job, _ in [*starting[since], *ending[until]]}
                yield since, until, dict(held), changing or {self._job_of(place) for place in held}

    def _job_of(self, place: int) -> int:
        return next(job for job, task in enumerate(self.tasks) if task.name == self.runs[place].job)


def fair_times(tasks: Sequence[ElasticTask], shares: Sequence[Exact], gpus: int) -> list[Fraction]:
    """Return the jobs' completion times if all GPUs are divided equally, like a fluid, among the jobs present.

    A job may get a fraction of a GPU, and also more GPUs than it could use. The times are in seconds after the
    first release. The algorithm uses virtual time, which advances by the GPU-seconds that each job present
    receives.

    Parameters
    ----------
    tasks
        The jobs in order of release.
    shares
        Number of GPU-seconds that each job needs.
    gpus
        Number of GPUs.

    Examples
    --------
    >>> tasks = [ElasticTask("a", 0, 2, {1: 1}), ElasticTask("b", 1, 2, {1: 1})]
    >>> fair_times(tasks, [2, 2], 1)
    [Fraction(3, 1), Fraction(4, 1)]
    """
    finish = [Fraction(0)] * len(tasks)
    there: list[tuple[Fraction, int]] = []
    now = service = Fraction(0)
    coming = 0
    while there or coming < len(tasks):
        end = now + (there[0][0] - service) * len(there) / gpus if there else None
        if coming < len(tasks) and (end is None or tasks[coming].release < end):
            arrival = Fraction(tasks[coming].release)
            service += (arrival - now) * gpus / len(there) if there else 0
            heappush(there, (service + shares[coming], coming))
            now, coming = arrival, coming + 1
        elif end is not None:
            service, job = heappop(there)
            finish[job] = now = end
    return finish
