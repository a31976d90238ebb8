"""The judge of schedules: checks every rule and recomputes every figure from the segments alone.

It shares no code with the simulator: whoever made a schedule, it is judged by what ran when.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import fsum, isfinite
from typing import Any

from gsopt.cluster import Tier
from gsopt.errors import InvalidSolution
from gsopt.job import Job
from gsopt.scenario import Scenario
from gsopt.schedule import Schedule, Segment

#: Relative error of the work of a job, and of a fairness ratio, that rounding excuses.
TOLERANCE = 1e-9

#: Kinds of events, in their order within an instant.
_END, _CHANGE, _START = range(3)


@dataclass(frozen=True)
class Verdict:
    """What the judge found. Times are in seconds; figures are None when no job completed.

    Attributes
    ----------
    violations
        Every rule that is broken, one sentence each; empty for a legal schedule.
    completion_times
        Of every job by number; None for a job that does not complete.
    jct
        Job completion times: completion minus release date, of the completed jobs by number.
    queueing
        Seconds of those in which the job holds no GPU.
    fairness
        Job completion time over that under generalized processor sharing (finish-time fairness), likewise.
    makespan
        From the first release date to the last completion.
    gpu_hours
        GPU time in use, a shared GPU counted once.
    utilisation
        GPU time in use over GPU time that is there, from the first release date to the last completion.
    preemptions
        Interruptions of jobs.
    resizes
        Changes of the number of GPUs of jobs that go on without a pause.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Workload
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> scenario = Scenario(workload=workload, cluster=Cluster.plain(2))
    >>> verdict = judge(Schedule((Segment("a", 1, 3, 1),)), scenario, exact=True)
    >>> verdict.mean_jct, verdict.mean_queueing, verdict.worst_fairness, verdict.utilisation
    (Fraction(3, 1), Fraction(1, 1), Fraction(3, 1), Fraction(1, 3))
    """

    violations: tuple[str, ...]
    completion_times: tuple[Any, ...]
    jct: tuple[Any, ...]
    queueing: tuple[Any, ...]
    fairness: tuple[Any, ...]
    makespan: Any
    gpu_hours: Any
    utilisation: Any
    preemptions: int
    resizes: int

    @property
    def mean_jct(self) -> Any:
        """Mean job completion time."""
        return _mean(self.jct)

    @property
    def p99_jct(self) -> Any:
        """Smallest job completion time that 99 % of the jobs do not exceed."""
        return sorted(self.jct)[-(-99 * len(self.jct) // 100) - 1] if self.jct else None

    @property
    def mean_queueing(self) -> Any:
        """Mean time without GPUs."""
        return _mean(self.queueing)

    @property
    def worst_fairness(self) -> Any:
        """Largest finish-time fairness ratio."""
        return max(self.fairness, default=None)

    @property
    def unfair_fraction(self) -> float | None:
        """Share of the jobs whose finish-time fairness ratio is above 1, by more than rounding (1e-9)."""
        unfair = sum(ratio > 1 + TOLERANCE for ratio in self.fairness)
        return unfair / len(self.fairness) if self.fairness else None

    @property
    def preemptions_per_job(self) -> float | None:
        """Interruptions over jobs; None when no job completed."""
        return self.preemptions / len(self.completion_times) if self.jct else None


def judge(
    schedule: Schedule,
    scenario: Scenario,
    *,
    exact: bool = False,
    tolerance: float = TOLERANCE,
    complete: bool = True,
) -> Verdict:
    """Judge a schedule of a scenario.

    Parameters
    ----------
    schedule, scenario
        What ran, and what was given.
    exact
        Compute in fractions and excuse no rounding.
    tolerance
        Relative error of a job's work that is excused, unless `exact`.
    complete
        Whether every job has to complete.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Workload
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=g) for n, d, g in [("a", 1, 2), ("b", 2, 1)]]
    >>> scenario = Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(2))
    >>> verdict = judge(Schedule((Segment("a", 0, 1, 2), Segment("b", 1, 3, 1))), scenario)
    >>> verdict.violations, verdict.makespan, verdict.mean_jct
    ((), 3.0, 2.0)
    >>> judge(Schedule((Segment("a", 0, 1, 2), Segment("b", 0, 2, 1))), scenario).violations
    ('at 0.0: 3 GPUs are held, 2 are there',)
    """
    number: Callable[[Any], Any] = Fraction if exact else float
    trial = _Trial(scenario, schedule, number, 0.0 if exact else tolerance, complete)
    return trial.verdict()


def judged(schedule: Schedule, scenario: Scenario, **options: Any) -> Verdict:
    """Judge a schedule, and raise InvalidSolution when it breaks a rule.

    Takes the options of `judge`.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Workload
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> judged(Schedule(()), Scenario(workload=workload, cluster=Cluster.plain(2)))
    Traceback (most recent call last):
    gsopt.errors.InvalidSolution: job 'a' does not complete: 0.0 s of 2.0 s of work are done
    """
    verdict = judge(schedule, scenario, **options)
    if verdict.violations:
        more = f" (and {len(verdict.violations) - 1} more)" if len(verdict.violations) > 1 else ""
        raise InvalidSolution(f"{verdict.violations[0]}{more}")
    return verdict


@dataclass
class _Piece:
    """A segment on trial, and the state of the sweep over it."""

    number: int
    job: Job
    start: Any
    end: Any
    gpus: int
    placement: tuple[int, ...]
    works_from: Any = None
    rate: Any = None
    work: Any = 0


@dataclass
class _Trial:
    scenario: Scenario
    schedule: Schedule
    number: Callable[[Any], Any]
    tolerance: float
    complete: bool
    found: list[str] = field(default_factory=list)

    def verdict(self) -> Verdict:
        pieces = self._pieces()
        of_job: list[list[_Piece]] = [[] for _ in self.scenario.workload.jobs]
        for piece in pieces:
            of_job[piece.number].append(piece)
        for own in of_job:
            self._check_gang(own)
            self._set_overheads(own)
        if not self.schedule.preemptive:
            self._check_non_preemption(of_job)
        sweep = _Sweep(self.scenario, self.number, self.found)
        sweep.run(pieces)
        completions = [self._completion(index, own) for index, own in enumerate(of_job)]
        return self._figures(of_job, completions, sweep)

    # Rules of one segment

    def _pieces(self) -> list[_Piece]:
        numbers = {job.name: index for index, job in enumerate(self.scenario.workload.jobs)}
        pieces = []
        for index, segment in enumerate(self.schedule.segments):
            where = f"segments[{index}]"
            if segment.job not in numbers:
                self.found.append(f"{where}: {segment.job!r} is no job of the workload")
            elif not (isfinite(segment.start) and isfinite(segment.end) and segment.start < segment.end):
                self.found.append(f"{where}: a segment ends after it starts")
            else:
                piece = self._piece(numbers[segment.job], segment)
                problems = list(self._wrong(piece))
                self.found += [f"{where}: {problem}" for problem in problems]
                if not any(problem.startswith("GPU") for problem in problems):
                    pieces.append(piece)
        return sorted(pieces, key=lambda piece: (piece.start, piece.number))

    def _piece(self, number: int, segment: Segment) -> _Piece:
        return _Piece(
            number=number,
            job=self.scenario.workload.jobs[number],
            start=self.number(segment.start),
            end=self.number(segment.end),
            gpus=segment.gpus,
            placement=tuple(sorted(segment.placement)),
        )

    def _wrong(self, piece: _Piece) -> Iterator[str]:
        job, cluster = piece.job, self.scenario.cluster
        if piece.start < self.number(job.release_date):
            yield f"job {job.name!r} starts at {piece.start}, before its release at {job.release_date}"
        if piece.gpus not in job.counts:
            yield f"GPU count {piece.gpus} of job {job.name!r} is not one of {job.counts}"
        if not piece.placement:
            if not cluster.is_plain:
                yield f"GPUs of job {job.name!r} must be named in a cluster of racks"
            return
        if len(piece.placement) != piece.gpus or len(set(piece.placement)) != piece.gpus:
            yield f"GPUs of job {job.name!r} must be {piece.gpus} different ones"
        if not all(0 <= gpu < cluster.gpus for gpu in piece.placement):
            yield f"GPUs of job {job.name!r} must be numbered from 0 to {cluster.gpus - 1}"
        elif job.gpu_type and not all(
            cluster.machines[cluster.machine_of[gpu]].gpu_type == job.gpu_type
            for gpu in (piece.placement if not cluster.is_plain else ())
        ):
            yield f"job {job.name!r} must run on {job.gpu_type} GPUs"

    # Rules of one job

    def _check_gang(self, own: Sequence[_Piece]) -> None:
        for early, late in pairwise(own):
            if late.start < early.end:
                self.found.append(f"job {late.job.name!r} holds two sets of GPUs at {late.start}")

    def _check_non_preemption(self, of_job: Sequence[Sequence[_Piece]]) -> None:
        drops = set()
        capacity = self.scenario.cluster.gpus
        for change in self.scenario.capacity_changes:
            if change.gpus < capacity:
                drops.add(self.number(change.time))
            capacity = change.gpus
        for own in of_job:
            for early, late in pairwise(own):
                if late.start > early.end and early.end not in drops:
                    self.found.append(f"job {late.job.name!r} is preempted at {early.end}")

    def _set_overheads(self, own: Sequence[_Piece]) -> None:
        """Find from when on each piece makes progress."""
        if not own:
            return
        overhead = self.scenario.overhead(own[0].job)
        before: _Piece | None = None
        for piece in own:
            if before is None:
                piece.works_from = piece.start + self.number(overhead.start)
            elif piece.start > before.end:
                piece.works_from = piece.start + self.number(overhead.start) + self.number(overhead.stop)
            elif (piece.gpus, piece.placement) == (before.gpus, before.placement):
                piece.works_from = before.works_from
            else:
                piece.works_from = max(before.works_from, piece.start + self.number(overhead.resize))
            before = piece

    def _completion(self, index: int, own: Sequence[_Piece]) -> Any:
        """Give the completion time if the work adds up; more or less work than there is breaks a rule."""
        job = self.scenario.workload.jobs[index]
        work, done = self.number(job.duration), self._total(piece.work for piece in own)
        slack = self.tolerance * max(1.0, job.duration, *(float(piece.end) for piece in own))
        if done > work + slack:
            self.found.append(f"job {job.name!r} runs for {done} s of work, it has {work}")
        elif done < work - slack:
            if self.complete:
                self.found.append(f"job {job.name!r} does not complete: {done} s of {work} s of work are done")
            return None
        return own[-1].end if own else None

    # Figures

    def _figures(self, of_job: Sequence[Sequence[_Piece]], completions: list[Any], sweep: "_Sweep") -> Verdict:
        jobs = self.scenario.workload.jobs
        done = [index for index, time in enumerate(completions) if time is not None]
        jct = {index: completions[index] - self.number(jobs[index].release_date) for index in done}
        held = {index: self._total(piece.end - piece.start for piece in of_job[index]) for index in done}
        fair = fluid_finish_times(jobs, self.scenario.cluster.gpus, self.number)
        fluid = {index: fair[index] - self.number(jobs[index].release_date) for index in done}
        first = self.number(jobs[0].release_date) if jobs else None
        last = max((completions[index] for index in done), default=None)
        there = None if last is None else self._gpu_seconds_there(first, last)
        used = self._total(held * (end - start) for start, end, held in sweep.held_during)
        useful = self._total(
            held * (min(end, last) - start) for start, end, held in sweep.held_during if done and start < last
        )
        return Verdict(
            violations=tuple(self.found),
            completion_times=tuple(completions),
            jct=tuple(jct.values()),
            queueing=tuple(jct[index] - held[index] for index in done),
            fairness=tuple(jct[index] / fluid[index] for index in done),
            makespan=None if last is None else last - first,
            gpu_hours=used / 3600,
            utilisation=useful / there if there else None,
            preemptions=sum(late.start > early.end for own in of_job for early, late in pairwise(own))
            + sum(bool(own) and completions[index] is None for index, own in enumerate(of_job)),
            resizes=sum(
                late.start == early.end and late.gpus != early.gpus
                for own in of_job
                for early, late in pairwise(own)
            ),
        )

    def _gpu_seconds_there(self, first: Any, last: Any) -> Any:
        total, since, capacity = self.number(0), first, self.scenario.cluster.gpus
        for change in self.scenario.capacity_changes:
            time = min(max(self.number(change.time), first), last)
            total, since, capacity = total + capacity * (time - since), time, change.gpus
        return total + capacity * (last - since)

    def _total(self, values: Iterable[Any]) -> Any:
        return fsum(values) if self.number is float else sum(values, Fraction(0))


class _Sweep:
    """Passes over all starts, ends and capacity changes in time order: capacity, sharing and speed."""

    def __init__(self, scenario: Scenario, number: Callable[[Any], Any], found: list[str]) -> None:
        self.scenario, self.number, self.found = scenario, number, found
        self.capacity = scenario.cluster.gpus
        self.on_gpu: dict[int, list[_Piece]] = {}
        self.unplaced = 0
        self.held_during: list[tuple[Any, Any, int]] = []

    def run(self, pieces: Sequence[_Piece]) -> None:
        """Sweep; every piece then knows its work."""
        events: list[tuple[Any, int, int]] = []
        for index, piece in enumerate(pieces):
            events += [(piece.end, _END, index), (piece.start, _START, index)]
        changes = self.scenario.capacity_changes
        events += [(self.number(change.time), _CHANGE, index) for index, change in enumerate(changes)]
        events.sort()
        position, before = 0, None
        while position < len(events):
            time = events[position][0]
            if before is not None and self.held:
                self.held_during.append((before, time, self.held))
            touched: dict[int, _Piece] = {}
            while position < len(events) and events[position][0] == time:
                _, kind, index = events[position]
                if kind == _CHANGE:
                    self.capacity = changes[index].gpus
                    lost = (
                        piece for gpu, users in self.on_gpu.items() if gpu >= self.capacity for piece in users
                    )
                    touched.update({id(piece): piece for piece in lost})
                else:
                    self._touch(pieces[index], time, kind == _START, touched)
                position += 1
            self._check(time, touched.values())
            for piece in touched.values():
                self._settle(piece, time)
                piece.rate = self._rate(piece)
            before = time

    @property
    def held(self) -> int:
        """Number of GPUs in use."""
        return self.unplaced + len(self.on_gpu)

    def _touch(self, piece: _Piece, time: Any, starts: bool, touched: dict[int, _Piece]) -> None:
        """Let a piece start or end, and settle the work of all whose speed may change by it."""
        if not piece.placement:
            if starts:
                self.unplaced += piece.gpus
                touched[piece.number] = piece
                piece.works_from = max(piece.works_from, time)
            else:
                self.unplaced -= piece.gpus
                self._settle(piece, time)
                touched.pop(piece.number, None)
            return
        if not starts:
            self._settle(piece, time)
        for gpu in piece.placement:
            users = self.on_gpu.setdefault(gpu, [])
            if not starts:
                users.remove(piece)
            for other in users:
                self._settle(other, time)
                touched[id(other)] = other
            if starts:
                users.append(piece)
            if not users:
                del self.on_gpu[gpu]
        if starts:
            touched[id(piece)] = piece
            piece.works_from = max(piece.works_from, time)
        else:
            touched.pop(id(piece), None)

    @staticmethod
    def _settle(piece: _Piece, time: Any) -> None:
        if piece.rate is not None and time > piece.works_from:
            piece.work += (time - piece.works_from) * piece.rate
            piece.works_from = time

    def _check(self, time: Any, touched: Iterable[_Piece]) -> None:
        if self.held > self.capacity:
            self.found.append(f"at {time}: {self.held} GPUs are held, {self.capacity} are there")
        for gpu in sorted({gpu for piece in touched for gpu in piece.placement}):
            users = self.on_gpu.get(gpu, [])
            if gpu >= self.capacity:
                self.found.append(f"at {time}: GPU {gpu} is held and not there")
            if len(users) > self.scenario.share_limit:
                self.found.append(f"at {time}: {len(users)} jobs hold GPU {gpu}")
            self._check_memory(time, gpu, users)

    def _check_memory(self, time: Any, gpu: int, users: Sequence[_Piece]) -> None:
        cluster = self.scenario.cluster
        if cluster.is_plain:
            return
        memory = cluster.machines[cluster.machine_of[gpu]].memory
        if memory is not None and sum(piece.job.memory or 0 for piece in users) > memory:
            self.found.append(f"at {time}: the jobs on GPU {gpu} do not fit its memory")

    def _rate(self, piece: _Piece) -> Any:
        if piece.gpus not in piece.job.counts:
            return self.number(0)  # reported already
        cluster = self.scenario.cluster
        if cluster.is_plain:
            return self.number(piece.job.speed(piece.gpus))
        partners = [
            other.job
            for gpu in piece.placement
            for other in self.on_gpu.get(gpu, ())
            if other.number != piece.number
        ]
        tier = _tier(self.scenario, piece.placement)
        return self.scenario.speed.rate(piece.job, piece.gpus, tier, partners, self.number)


def _tier(scenario: Scenario, placement: Sequence[int]) -> Tier:
    """Find the network tier of a placement by walking over the racks."""
    racks: Counter[int] = Counter()
    machines, first = 0, 0
    wanted = set(placement)
    for index, rack in enumerate(scenario.cluster.racks):
        for machine in rack.machines:
            inside = len(wanted.intersection(range(first, first + machine.gpus)))
            machines += inside > 0
            racks[index] += inside
            first += machine.gpus
    if machines <= 1:
        return Tier.MACHINE
    return Tier.RACK if sum(count > 0 for count in racks.values()) == 1 else Tier.NETWORK


def fluid_finish_times(jobs: Sequence[Job], gpus: int, number: Callable[[Any], Any]) -> list[Any]:
    """Finish times under an equal fluid share, from the service that every unfinished job has had alike."""
    finish: list[Any] = [None] * len(jobs)
    arrivals = [(number(job.release_date), index) for index, job in enumerate(jobs)]
    unfinished: list[tuple[Any, int]] = []
    share = clock = number(0)
    arrived = 0
    while arrived < len(arrivals) or unfinished:
        if not unfinished:
            clock = max(clock, arrivals[arrived][0])
        next_arrival = arrivals[arrived][0] if arrived < len(arrivals) else None
        if next_arrival is not None and next_arrival <= clock:
            index = arrivals[arrived][1]
            heappush(unfinished, (share + number(jobs[index].duration) * jobs[index].gpus, index))
            arrived += 1
            continue
        level, index = unfinished[0]
        time = clock + (level - share) * len(unfinished) / gpus
        if next_arrival is not None and next_arrival < time:
            share += (next_arrival - clock) * gpus / len(unfinished)
            clock = next_arrival
        else:
            heappop(unfinished)
            clock, share, finish[index] = time, level, time
    return finish


def _mean(values: Sequence[Any]) -> Any:
    if not values:
        return None
    if all(isinstance(value, Fraction) for value in values):
        return sum(values) / len(values)
    return fsum(values) / len(values)
