"""The judge of schedules: checks every rule and recomputes every figure from the segments alone.

It shares no code with the simulator: whoever made a schedule, it is judged by what ran when.

Clocks round, so a rule may be broken for a moment. Each job owes the length of every such moment, and the time
that its missing work would take: when it starts before its release, holds two sets of GPUs, pauses though it
promised not to, runs on GPUs that are another's or not there, and when it stops before its work is done. What
it owes in all these ways together, over all its segments, is excused up to `gsopt.clock.clock_error` of its
last end and of its duration at its highest speed; what goes beyond breaks the rule.

So nothing is gained by many small errors. Take the owed moments out of a schedule that is legal but for them,
and let time stand still for everything else while each job makes up for what it owes: then all is exact. On a
plain cluster of constant capacity, without overheads, the mean job completion time of a schedule that is judged
legal is therefore below the optimum by at most the sum of the jobs' excuses.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from math import fsum, isfinite
from typing import Any, NamedTuple

from gsopt.clock import clock_error
from gsopt.cluster import Tier
from gsopt.errors import InvalidSolution
from gsopt.job import Job
from gsopt.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.figures import Record

#: Kinds of events, in their order within an instant.
_END, _CHANGE, _START = range(3)


@dataclass(frozen=True, kw_only=True)
class Verdict(Record):
    """What the judge found: a record of what ran, with its figures, and the rules that were broken.

    Attributes
    ----------
    violations
        Every rule that is broken, one sentence each; empty for a legal schedule.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Workload
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> scenario = Scenario(workload=workload, cluster=Cluster.plain(2))
    >>> verdict = judge(Schedule((Segment("a", 1, 3, 1),)), scenario, exact=True)
    >>> verdict.mean_jct, verdict.mean_queueing, verdict.worst_fairness, verdict.utilisation
    (Fraction(3, 1), Fraction(1, 1), Fraction(3, 2), Fraction(1, 3))
    """

    violations: tuple[str, ...]


def judge(
    schedule: Schedule,
    scenario: Scenario,
    *,
    exact: bool = False,
    complete: bool = True,
) -> Verdict:
    """Judge a schedule of a scenario.

    Parameters
    ----------
    schedule, scenario
        What ran, and what was given.
    exact
        Compute in fractions and excuse no rounding.
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
    return _Trial(scenario, schedule, number, complete).verdict()


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

    where: str
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
class _Debt:
    """Seconds that a job owes to rounding, and the most that it may."""

    limit: Any
    owed: Any = 0

    def excuses(self, seconds: Any) -> bool:
        """Take seconds on and tell that they are excused; or tell that they are too many."""
        if self.owed + seconds > self.limit:
            return False
        self.owed += seconds
        return True


@dataclass
class _Trial:
    scenario: Scenario
    schedule: Schedule
    number: Callable[[Any], Any]
    complete: bool
    found: list[str] = field(default_factory=list)

    def verdict(self) -> Verdict:
        jobs = self.scenario.workload.jobs
        pieces = self._pieces()
        of_job: list[list[_Piece]] = [[] for _ in jobs]
        for piece in pieces:
            of_job[piece.number].append(piece)
        debts = [self._debt(job, own) for job, own in zip(jobs, of_job, strict=True)]
        for own, debt in zip(of_job, debts, strict=True):
            self._check_release(own, debt)
            self._check_gang(own, debt)
            if not self.schedule.preemptive:
                self._check_non_preemption(own, debt)
            self._set_overheads(own)
        sweep = _Sweep(self.scenario, self.number, debts, self.found)
        sweep.run(pieces)
        completions = [
            self._completion(job, own, debt) for job, own, debt in zip(jobs, of_job, debts, strict=True)
        ]
        return self._figures(of_job, completions, sweep)

    def _debt(self, job: Job, own: Sequence[_Piece]) -> _Debt:
        if self.number is Fraction or not own:
            return _Debt(self.number(0))
        return _Debt(clock_error(max(piece.end for piece in own), job.duration / self._speed(job, own)))

    def _speed(self, job: Job, own: Sequence[_Piece]) -> Any:
        """Give the highest speed that a job may have reached, to turn its work into seconds."""
        return self.number(max(job.speed(count) for count in {piece.gpus for piece in own}))

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
                piece = self._piece(where, numbers[segment.job], segment)
                problems = list(self._wrong(piece))
                self.found += [f"{where}: {problem}" for problem in problems]
                if not problems:
                    pieces.append(piece)
        return sorted(pieces, key=lambda piece: (piece.start, piece.number))

    def _piece(self, where: str, number: int, segment: Segment) -> _Piece:
        return _Piece(
            where=where,
            number=number,
            job=self.scenario.workload.jobs[number],
            start=self.number(segment.start),
            end=self.number(segment.end),
            gpus=segment.gpus,
            placement=tuple(sorted(segment.placement)),
        )

    def _wrong(self, piece: _Piece) -> Iterator[str]:
        job, cluster = piece.job, self.scenario.cluster
        if piece.gpus not in job.counts:
            yield f"GPU count {piece.gpus} of job {job.name!r} is not one of {job.counts}"
        if not piece.placement:
            if not cluster.is_plain:
                yield f"GPUs of job {job.name!r} must be named in a cluster of racks"
            return
        if len(piece.placement) != piece.gpus or len(set(piece.placement)) != piece.gpus:
            yield f"GPUs of job {job.name!r} must be {piece.gpus} different ones"
        if not all(isinstance(gpu, int) and 0 <= gpu < cluster.gpus for gpu in piece.placement):
            yield f"GPUs of job {job.name!r} must be numbered from 0 to {cluster.gpus - 1}"
        elif job.gpu_type and not all(
            cluster.machines[cluster.machine_of[gpu]].gpu_type == job.gpu_type
            for gpu in (piece.placement if not cluster.is_plain else ())
        ):
            yield f"job {job.name!r} must run on {job.gpu_type} GPUs"

    # Rules of one job

    def _check_release(self, own: Sequence[_Piece], debt: _Debt) -> None:
        for piece in own:
            release = self.number(piece.job.release_date)
            if piece.start < release and not debt.excuses(release - piece.start):
                self.found.append(
                    f"{piece.where}: job {piece.job.name!r} starts at {piece.start}, "
                    f"before its release at {piece.job.release_date}"
                )

    def _check_gang(self, own: Sequence[_Piece], debt: _Debt) -> None:
        held_until = accumulate((piece.end for piece in own), max)
        for until, piece in zip(held_until, own[1:], strict=False):
            if piece.start < until and not debt.excuses(min(until, piece.end) - piece.start):
                self.found.append(f"job {piece.job.name!r} holds two sets of GPUs at {piece.start}")

    def _check_non_preemption(self, own: Sequence[_Piece], debt: _Debt) -> None:
        """Refuse pauses, but for those that begin when the capacity drops."""
        for early, late in pairwise(own):
            pause = late.start - early.end
            if pause > 0 and not self._drops_at(early.end, debt) and not debt.excuses(pause):
                self.found.append(f"job {late.job.name!r} is preempted at {early.end}")

    def _drops_at(self, time: Any, debt: _Debt) -> bool:
        capacity = self.scenario.cluster.gpus
        for change in self.scenario.capacity_changes:
            if change.gpus < capacity and abs(self.number(change.time) - time) <= debt.limit:
                return True
            capacity = change.gpus
        return False

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

    def _completion(self, job: Job, own: Sequence[_Piece], debt: _Debt) -> Any:
        """Give the completion time if the work adds up; more or less work than there is breaks a rule."""
        work, done = self.number(job.duration), self._total(piece.work for piece in own)
        if own:
            missing = (work - done) / self._speed(job, own)
            if -missing > debt.limit:
                self.found.append(f"job {job.name!r} runs for {done} s of work, it has {work}")
            if missing <= 0 or debt.excuses(missing):
                return max(piece.end for piece in own)
        if self.complete:
            self.found.append(f"job {job.name!r} does not complete: {done} s of {work} s of work are done")
        return None

    # Figures

    def _figures(self, of_job: Sequence[Sequence[_Piece]], completions: list[Any], sweep: "_Sweep") -> Verdict:
        jobs = self.scenario.workload.jobs
        done = [index for index, time in enumerate(completions) if time is not None]
        jct = {index: completions[index] - self.number(jobs[index].release_date) for index in done}
        held = {index: self._total(piece.end - piece.start for piece in of_job[index]) for index in done}
        caps = [self._cap(job) for job in jobs]
        first = self.number(jobs[0].release_date) if jobs else None
        last = max((completions[index] for index in done), default=None)
        there = self.number(0) if last is None else self._gpu_seconds_there(first, last)
        return Verdict(
            violations=tuple(self.found),
            release_dates=tuple(job.release_date for job in jobs),
            durations=tuple(job.duration for job in jobs),
            completion_times=tuple(completions),
            queueing=tuple(jct[index] - held[index] for index in done),
            fairness=self._ratios(completions, jct, caps),
            gps_fairness=self._ratios(completions, jct, [self.number(self.scenario.cluster.gpus)] * len(jobs)),
            gpu_seconds=self._total(held * (end - start) for start, end, held in sweep.held_during),
            used=self._total(
                held * (end - start) for start, end, held in sweep.held_during if done and end <= last
            ),
            there=there,
            preemptions=sum(late.start > early.end for own in of_job for early, late in pairwise(own))
            + sum(bool(own) and completions[index] is None for index, own in enumerate(of_job)),
            resizes=sum(
                late.start == early.end and late.gpus != early.gpus
                for own in of_job
                for early, late in pairwise(own)
            ),
        )

    def _cap(self, job: Job) -> Any:
        """Give the share at which the fluid is as fast as the job is at best."""
        fitting = [
            speed
            for menu in job.speeds.values()
            for count, speed in menu.items()
            if count <= self.scenario.cluster.gpus
        ]
        return self.number(job.gpus) * self.number(max(fitting, default=1))

    def _ratios(
        self, completions: Sequence[Any], jct: Mapping[int, Any], caps: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Compare the job completion times with those of the fluid in which jobs have these caps."""
        jobs = self.scenario.workload.jobs
        ends = fluid_finish_times(jobs, self.scenario.cluster.gpus, caps, self.number)
        fluid = {index: ends[index] - self.number(jobs[index].release_date) for index in jct}
        return tuple(self._ratio(completions[index], span, fluid[index]) for index, span in jct.items())

    def _ratio(self, completion: Any, jct: Any, fluid: Any) -> Any:
        """Compare a job completion time with that of the fluid, unless floats cannot tell them apart."""
        alike = self.number is float and abs(jct - fluid) <= clock_error(completion, fluid)
        return self.number(1) if alike else jct / fluid

    def _gpu_seconds_there(self, first: Any, last: Any) -> Any:
        total, since, capacity = self.number(0), first, self.scenario.cluster.gpus
        for change in self.scenario.capacity_changes:
            time = min(max(self.number(change.time), first), last)
            total, since, capacity = total + capacity * (time - since), time, change.gpus
        return total + capacity * (last - since)

    def _total(self, values: Iterable[Any]) -> Any:
        return fsum(values) if self.number is float else sum(values, Fraction(0))


class _Broken(NamedTuple):
    """A rule that is broken at some time, and by which pieces: without them it would not be."""

    rule: str
    pieces: Sequence[_Piece]


class _Sweep:
    """Passes over all starts, ends and capacity changes in time order: capacity, sharing and speed."""

    def __init__(
        self,
        scenario: Scenario,
        number: Callable[[Any], Any],
        debts: Sequence[_Debt],
        found: list[str],
    ) -> None:
        self.scenario, self.number, self.debts, self.found = scenario, number, debts, found
        self.capacity = scenario.cluster.gpus
        self.running: dict[int, _Piece] = {}
        self.on_gpu: dict[int, list[_Piece]] = {}
        self.unplaced = 0
        self.held_during: list[tuple[Any, Any, int]] = []
        self.broken: list[_Broken] = []  # rules that are, at this time
        self.crowded: set[int] = set()  # GPUs on which they are

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
                self._charge(time - before)
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
        if starts:
            self.running[id(piece)] = touched[id(piece)] = piece
            piece.works_from = max(piece.works_from, time)
        else:
            self._settle(piece, time)
            del self.running[id(piece)]
            touched.pop(id(piece), None)
        if not piece.placement:
            self.unplaced += piece.gpus if starts else -piece.gpus
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

    @staticmethod
    def _settle(piece: _Piece, time: Any) -> None:
        if piece.rate is not None and time > piece.works_from:
            piece.work += (time - piece.works_from) * piece.rate
            piece.works_from = time

    def _charge(self, seconds: Any) -> None:
        """Let the jobs that break rules owe the time in which they do, once however many they break."""
        excused: dict[int, bool] = {}
        for rule, pieces in self.broken:
            for piece in pieces:
                if piece.number not in excused:
                    excused[piece.number] = self.debts[piece.number].excuses(seconds)
            if not all(excused[piece.number] for piece in pieces):
                self.found.append(rule)

    def _check(self, time: Any, touched: Iterable[_Piece]) -> None:
        """Find the rules that are broken from now on."""
        suspects = self.crowded.union(gpu for piece in touched for gpu in piece.placement)
        self.broken = []
        if self.held > self.capacity:
            rule = f"at {time}: {self.held} GPUs are held, {self.capacity} are there"
            surplus = _surplus(self.running.values(), self.capacity, lambda piece: piece.gpus)
            self.broken.append(_Broken(rule, surplus))
        on_gpus = [(gpu, rule) for gpu in sorted(suspects) for rule in self._broken_on(gpu, time)]
        self.broken += [rule for _, rule in on_gpus]
        self.crowded = {gpu for gpu, _ in on_gpus}

    def _broken_on(self, gpu: int, time: Any) -> Iterator[_Broken]:
        users = self.on_gpu.get(gpu, [])
        if users and gpu >= self.capacity:
            yield _Broken(f"at {time}: GPU {gpu} is held and not there", users)
        if surplus := _surplus(users, self.scenario.share_limit, lambda _: 1):
            yield _Broken(f"at {time}: {len(users)} jobs hold GPU {gpu}", surplus)
        cluster = self.scenario.cluster
        memory = None if cluster.is_plain else cluster.machines[cluster.machine_of[gpu]].memory
        if memory is not None and (surplus := _surplus(users, memory, lambda piece: piece.job.memory or 0)):
            yield _Broken(f"at {time}: the jobs on GPU {gpu} do not fit its memory", surplus)

    def _rate(self, piece: _Piece) -> Any:
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


def _surplus(pieces: Iterable[_Piece], room: int, need: Callable[[_Piece], int]) -> Sequence[_Piece]:
    """Give the pieces that end first, until there is room for the others."""
    by_end = sorted(pieces, key=lambda piece: piece.end)
    needed = accumulate(map(need, reversed(by_end)))
    return by_end[: sum(total > room for total in needed)]


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


@dataclass
class _Alike:
    """The unfinished jobs of one cap: the service at which each is done, and the service given so far."""

    due: list[tuple[Any, int]]
    service: Any
    since: Any
    rate: Any

    def given(self, clock: Any) -> Any:
        """Give the service that a job has had that was there all along."""
        return self.service + self.rate * (clock - self.since)

    def done_at(self) -> Any:
        """Give the time at which the next job is done if the rate stays."""
        return self.since + (self.due[0][0] - self.service) / self.rate


def fluid_finish_times(
    jobs: Sequence[Job], gpus: int, caps: Sequence[Any], number: Callable[[Any], Any]
) -> list[Any]:
    """Finish times under an equal fluid share of at most a job's cap, by the service given to jobs of each cap.

    The clock counts from the beginning of a busy period, so that late dates cost no digits.
    """
    finish: list[Any] = [None] * len(jobs)
    alike: dict[Any, _Alike] = {}
    begin = clock = number(0)
    arrived = 0
    while arrived < len(jobs) or alike:
        if not alike:
            begin, clock = number(jobs[arrived].release_date), number(0)
        time, cap = min(((group.done_at(), cap) for cap, group in alike.items()), default=(None, None))
        arrival = number(jobs[arrived].release_date) - begin if arrived < len(jobs) else None
        if time is None or (arrival is not None and arrival <= time):
            clock, cap = max(clock, arrival), caps[arrived]
            group = alike.setdefault(cap, _Alike([], number(0), clock, number(0)))
            heappush(
                group.due, (group.given(clock) + number(jobs[arrived].duration) * jobs[arrived].gpus, arrived)
            )
            arrived += 1
        else:
            clock = max(clock, time)
            finish[heappop(alike[cap].due)[1]] = begin + clock
            if not alike[cap].due:
                del alike[cap]
        _set_rates(alike, clock, number(gpus))
    return finish


def _set_rates(alike: Mapping[Any, _Alike], clock: Any, free: Any) -> None:
    """Share what is free equally, the small caps first, whose jobs leave to the others what they cannot use."""
    waiting = sum(len(group.due) for group in alike.values())
    for cap in sorted(alike):
        group = alike[cap]
        rate = min(cap, free / waiting)
        free -= rate * len(group.due)
        waiting -= len(group.due)
        if rate != group.rate:
            group.service, group.since, group.rate = group.given(clock), clock, rate
