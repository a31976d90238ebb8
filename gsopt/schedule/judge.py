"""Judge: an independent check of a schedule: whether it keeps the rules, and what its figures are.

The judge considers only the segments of a schedule, the machines that it gave up, and whether it may preempt
jobs. It does not matter which program made the schedule. The schedule may choose which of several machines to
give up, and which jobs to stop for this.

The judge and the simulator share only the input, its interpretation (`gsopt.scenario.scenario`), the formulas
of the figures (`gsopt.schedule.figures`), and the computation of the speed at a given moment
(`gsopt.scenario.speed`, `gsopt.scenario.adaptive.application`, and the model that an adaptive job fits to its
steps). The judge computes independently everything that happens over time: progress, epochs, restarts, losses,
overheads, placements and available GPUs.

Times are rounded, so a schedule may break a rule for a very short time. For each job, the judge adds up these
times; their sum is the job's error. The error includes the time for which the job runs before its release,
holds two sets of GPUs, pauses although it may not, or runs on GPUs that other jobs hold or that are not
available. It also includes the time that the job's missing work would take. The judge tolerates an error of
at most `gsopt.core.numbers.clock.clock_error`, computed from the job's last end and from its duration at the
highest speed of its segments. A larger error breaks the rule.

As a result, even a large number of small errors gives a schedule no advantage beyond their sum. To see this,
remove the periods during which a rule is broken from an otherwise legal schedule, and, while each job makes up
for its error, stop the clock for everything else. The result is exactly legal. So on a plain cluster of
constant capacity, without overheads, the mean job completion time of a legal schedule is below the optimum by
at most the sum of the tolerated errors.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from math import fsum, inf, isfinite, ulp
from typing import Any

from gsopt.core.errors import InvalidSolution
from gsopt.core.numbers.clock import Clock, clock_error
from gsopt.scenario.job import DEFAULT_MODE, Job, Phase
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.adaptive_progress import AdaptiveProgress
from gsopt.schedule.figures import Record
from gsopt.schedule.presence import Presence
from gsopt.schedule.schedule import Schedule, Segment
from gsopt.schedule.sweep import Account, Sweep, SweptSegment


@dataclass(frozen=True, kw_only=True)
class ScheduleVerdict(Record):
    """The figures of a schedule, and the rules that it breaks."""

    violations: tuple[str, ...]  # one sentence for each broken rule


def judge(
    schedule: Schedule, scenario: Scenario, *, exact: bool = False, complete: bool = True, fairness: bool = True
) -> ScheduleVerdict:
    """Check a schedule against the rules, and compute its figures.

    With `exact`, the judge computes in fractions and tolerates no rounding errors. Adaptive jobs then
    raise `InvalidInput`, because their speeds are floats. With `complete`, every job must complete. Without
    `fairness`, the judge skips the comparison with fluid fair shares, which can take longer than everything
    else, and the figures of fairness are None.
    """
    if exact:
        scenario.refuse_fractions()
    number: Callable[[Any], Any] = Fraction if exact else float
    clock = scenario.clock
    own = schedule.timed(clock.since)
    late = float(schedule.rounded_on(clock).origin)
    return _Trial(scenario.on_own_clock(), own, number, complete, fairness, clock, late).verdict()


def judged(schedule: Schedule, scenario: Scenario, **options: Any) -> ScheduleVerdict:
    """Judge a schedule with the options of `judge`, and raise `InvalidSolution` if it breaks a rule."""
    verdict = judge(schedule, scenario, **options)
    if verdict.violations:
        more = f" (and {len(verdict.violations) - 1} more)" if len(verdict.violations) > 1 else ""
        raise InvalidSolution(f"{verdict.violations[0]}{more}")
    return verdict


@dataclass
class _Trial:
    """The check of one schedule, on the scenario's clock or on a clock that begins with the first job."""

    scenario: Scenario
    schedule: Schedule
    number: Callable[[Any], Any]
    complete: bool
    fairness: bool
    clock: Clock
    late: float  # added to times for their rounding error, where they were rounded on the clock of the workload
    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.presence = Presence(
            self.scenario, self.schedule.vacated, self.number, clock=self.clock, late=self.late
        )

    def verdict(self) -> ScheduleVerdict:
        accounts = self._accounts()
        pieces = self._pieces({account.job.name: account for account in accounts})
        of_job: list[list[SweptSegment]] = [[] for _ in accounts]
        for piece in pieces:
            of_job[piece.account.number].append(piece)
        for own in filter(None, of_job):
            self._open(own)
            self._check_release(own)
            self._check_gang(own)
            if not self.schedule.preemptive:
                self._check_non_preemption(own)
            self._set_overheads(own)
        self.found += self.presence.found
        sweep = Sweep(self.scenario, self.presence, self.number, self.found, self.clock)
        sweep.run(pieces)
        completions = [self._completion(account, own) for account, own in zip(accounts, of_job, strict=True)]
        return self._figures(accounts, of_job, completions, sweep)

    def _accounts(self) -> list[Account]:
        number = self.number
        return [
            Account(
                index,
                job,
                number(job.duration),
                number(1),
                number(0),
                self._phases(job),
                done=number(0),
                interval=number(self.scenario.checkpoint_interval),
                saved=number(0),
                lost=number(0),
                samples_in=self._samples(job),
                epochs=number(0),
                adaptive=AdaptiveProgress(job, self.scenario) if self.scenario.application(job) else None,
            )
            for index, job in enumerate(self.scenario.workload.jobs)
        ]

    def _samples(self, job: Job) -> Mapping[str, Any]:
        """Return the number of samples that a job's total work comprises, keyed by mode."""
        training = job.training
        if training is None:
            return {}
        own = {mode.name: training.samples if mode.samples is None else mode.samples for mode in job.modes}
        return {name: self.number(samples) for name, samples in {DEFAULT_MODE: training.samples, **own}.items()}

    def _phases(self, job: Job) -> Sequence[tuple[Any, Callable[[str], Any]]]:
        """Return, for each phase of a job, the work at which it ends and a function from mode to slowdown."""
        if not job.phases:
            return ()
        work = self.number(job.duration)
        ends = [*(work * self.number(phase.until) for phase in job.phases[:-1]), inf]
        return [(end, partial(self._slowdown, phase)) for end, phase in zip(ends, job.phases, strict=True)]

    def _slowdown(self, phase: Phase, mode: str) -> Any:
        return self.number(phase.slowdown_in(mode))

    def _open(self, own: Sequence[SweptSegment]) -> None:
        """Compute the error that is tolerated because of rounding, for a job with segments."""
        account = own[0].account
        held = {(piece.gpus, piece.mode) for piece in own}
        account.speed = self.number(max(account.job.speed(*each) for each in held))
        if self.number is not Fraction:
            last = self.late + max(piece.end for piece in own)
            account.limit = clock_error(last, account.work / account.speed)

    # Rules of one segment

    def _pieces(self, accounts: Mapping[str, Account]) -> list[SweptSegment]:
        pieces = []
        for index, segment in enumerate(self.schedule.segments):
            where = f"segments[{index}]"
            if segment.job not in accounts:
                self.found.append(f"{where}: {segment.job!r} is not a job of the workload")
            elif not (isfinite(segment.start) and isfinite(segment.end) and segment.start < segment.end):
                self.found.append(f"{where}: a segment must end after it starts")
            else:
                piece = self._piece(where, accounts[segment.job], segment)
                problems = list(self._wrong(piece))
                self.found += [f"{where}: {problem}" for problem in problems]
                if not problems and piece.start < piece.end:  # in floats the shortest ones vanish
                    pieces.append(piece)
        return sorted(pieces, key=lambda piece: (piece.start, piece.account.number))

    def _piece(self, where: str, account: Account, segment: Segment) -> SweptSegment:
        return SweptSegment(
            where=where,
            account=account,
            start=self.number(segment.start),
            end=self.number(segment.end),
            gpus=segment.gpus,
            placement=tuple(sorted(segment.placement)),
            mode=segment.mode,
        )

    def _wrong(self, piece: SweptSegment) -> Iterator[str]:
        job, cluster = piece.job, self.scenario.cluster
        if piece.mode != DEFAULT_MODE and piece.mode not in job.speeds:
            yield f"{piece.mode!r} is not a mode of job {job.name!r}"
        elif (piece.gpus, piece.mode) != (job.gpus, DEFAULT_MODE) and piece.gpus not in job.speeds[piece.mode]:
            counts = tuple(sorted(job.speeds[piece.mode]))
            yield f"GPU count {piece.gpus} of job {job.name!r} is not one of {counts}"
        if not piece.placement:
            if not cluster.is_plain:
                yield f"GPUs of job {job.name!r} must be named in a cluster of racks"
            return
        if len(piece.placement) != piece.gpus or len(set(piece.placement)) != piece.gpus:
            yield f"job {job.name!r} must hold {piece.gpus} different GPUs"
        if not all(isinstance(gpu, int) and 0 <= gpu < cluster.gpus for gpu in piece.placement):
            yield f"GPUs of job {job.name!r} must be numbered from 0 to {cluster.gpus - 1}"
        elif not cluster.is_plain and (kind := self._kind(piece)):
            types = {cluster.machines[cluster.machine_of[gpu]].gpu_type for gpu in piece.placement}
            if types - {kind}:
                yield f"job {job.name!r} must run on {kind} GPUs"

    @staticmethod
    def _kind(piece: SweptSegment) -> str:
        """Return the GPU type that a segment requires, or an empty string for any type."""
        of_mode = {mode.name: mode.gpu_type for mode in piece.job.modes if mode.gpu_type is not None}
        return of_mode.get(piece.mode, piece.job.gpu_type)

    # Rules of one job

    def _check_release(self, own: Sequence[SweptSegment]) -> None:
        release = self.number(own[0].job.release_date)
        for piece in own:
            if piece.start < release and not piece.account.excuses(release - piece.start):
                self.found.append(
                    f"{piece.where}: job {piece.job.name!r} starts at {self.clock.nearest(piece.start)}, "
                    f"before its release at {self.clock.nearest(piece.job.release_date)}"
                )

    def _check_gang(self, own: Sequence[SweptSegment]) -> None:
        held_until = accumulate((piece.end for piece in own), max)
        for until, piece in zip(held_until, own[1:], strict=False):
            if piece.start < until and not piece.account.excuses(min(until, piece.end) - piece.start):
                time = self.clock.nearest(piece.start)
                self.found.append(f"job {piece.job.name!r} holds two sets of GPUs at {time}")

    def _check_non_preemption(self, own: Sequence[SweptSegment]) -> None:
        """Report pauses as preemptions, except those that begin when GPUs become unavailable."""
        for early, late in pairwise(own):
            pause = late.start - early.end
            if pause > 0 and not self._loses_gpus(early) and not early.account.excuses(pause):
                time = self.clock.nearest(early.end)
                self.found.append(f"job {late.job.name!r} is preempted at {time}")

    def _loses_gpus(self, piece: SweptSegment) -> bool:
        """Check whether a segment ends because its GPUs become unavailable."""
        steps = self.presence.around(piece.end, piece.account.limit)
        return any(step.takes(piece.placement) for step in steps)

    def _set_overheads(self, own: Sequence[SweptSegment]) -> None:
        """Determine when each segment begins to make progress, and whether the job starts from scratch."""
        overhead = self.scenario.overhead(own[0].job)
        start, stop, resize = map(self.number, (overhead.start, overhead.stop, overhead.resize))
        own[0].works_from = own[0].start + start
        for before, piece in pairwise(own):
            before.pauses = piece.start > before.end
            if before.pauses:
                piece.works_from = piece.start + start + stop
                piece.is_anew = not piece.job.checkpoints
            elif (piece.gpus, piece.placement, piece.mode) == (before.gpus, before.placement, before.mode):
                piece.works_from, piece.goes_on = before.works_from, True
            else:
                is_paid, piece.goes_on = self._restarts(before, piece)
                piece.works_from = max(before.works_from, piece.start + (resize if is_paid else 0))

    def _restarts(self, before: SweptSegment, piece: SweptSegment) -> tuple[bool, bool]:
        """Return whether a change of GPUs or mode costs an overhead, and whether the job avoids a restart."""
        restarts, machine_of = self.scenario.restarts, self.scenario.cluster.machine_of
        if restarts == "change":
            return True, False
        early, late = (Counter(machine_of[gpu] for gpu in each.placement) for each in (before, piece))
        same = list(early.values()) == list(late.values())
        if self.scenario.tells_types(piece.job):
            machines = self.scenario.cluster.machines
            if {machines[box].gpu_type for box in early} != {machines[box].gpu_type for box in late}:
                return True, False
        is_paid = len(early) != len(late) if restarts == "machines" else not same
        return is_paid, same and piece.mode == before.mode

    def _completion(self, account: Account, own: Sequence[SweptSegment]) -> Any:
        """Return the completion time, or None if work is missing. Missing or surplus work breaks a rule."""
        name, work, done = account.job.name, account.work, account.done
        if own:
            missing = (work - done) / account.speed
            if account.adaptive is not None and account.adaptive.completed_at is not None:
                missing = account.adaptive.completed_at - max(piece.end for piece in own)
            if -missing > account.limit:
                self.found.append(self._surplus(account, -missing))
            if missing <= 0 or account.excuses(missing):
                return max(piece.end for piece in own)
        if account.adaptive is not None and account.adaptive.broken:
            self.found.append(f"job {name!r} cannot run where it does: {account.adaptive.broken}")
        elif self.complete:
            self.found.append(f"job {name!r} does not complete: {done} s of {work} s of work are done")
        return None

    @staticmethod
    def _surplus(account: Account, seconds: Any) -> str:
        if account.adaptive is not None:
            return f"job {account.job.name!r} holds GPUs for {seconds} s after it is complete"
        return f"job {account.job.name!r} runs for {account.done} s of work, but has only {account.work}"

    # Figures

    def _figures(
        self,
        accounts: Sequence[Account],
        of_job: Sequence[Sequence[SweptSegment]],
        completions: list[Any],
        sweep: Sweep,
    ) -> ScheduleVerdict:
        jobs = self.scenario.workload.jobs
        done = [index for index, time in enumerate(completions) if time is not None]
        jct = {index: completions[index] - self.number(jobs[index].release_date) for index in done}
        held = {index: self._total(piece.end - piece.start for piece in of_job[index]) for index in done}
        caps = [self._cap(job) for job in jobs]
        first = self.number(jobs[0].release_date) if jobs else None
        last = max((completions[index] for index in done), default=None)
        there = self.number(0) if last is None else self._gpu_seconds_there(first, last)
        return ScheduleVerdict(
            violations=tuple(self.found),
            release_dates=tuple(self.clock.nearest(job.release_date) for job in jobs),
            durations=tuple(job.duration for job in jobs),
            completion_times=self.clock.all_nearest(completions),
            clock=self.clock,
            ends=tuple(completions),
            queueing=tuple(jct[index] - held[index] for index in done),
            communication=tuple(self.number(accounts[index].communicated) for index in done),
            epochs=tuple(accounts[index].epochs for index in done if jobs[index].training is not None),
            fairness=self._ratios(completions, jct, caps),
            gps_fairness=self._ratios(completions, jct, [self.number(self.scenario.cluster.gpus)] * len(jobs)),
            demands=tuple(job.gpus for job in jobs),
            deadlines=self.clock.all_nearest(job.deadline for job in jobs),
            priorities=tuple(job.priority for job in jobs),
            gpu_seconds=self._total(held * (end - start) for start, end, held in sweep.held_during),
            shared_gpu_seconds=self._total(each * (end - start) for start, end, each in sweep.shared_during),
            lost_gpu_seconds=self._total(each.lost * each.job.gpus for each in accounts if each.lost),
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
        """Return the number of GPUs on which the fluid is as fast as the job at its highest speed."""
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
        """Return the ratios of the job completion times to those under fluid shares with the given caps."""
        if not self.fairness:
            return ()
        jobs = self.scenario.workload.jobs
        ends = fluid_finish_times(jobs, self.scenario.cluster.gpus, caps, self.number)
        fluid = {index: ends[index] - self.number(jobs[index].release_date) for index in jct}
        return tuple(self._ratio(completions[index], span, fluid[index]) for index, span in jct.items())

    def _ratio(self, completion: Any, jct: Any, fluid: Any) -> Any:
        """Return the ratio of a job completion time to that of the fluid, or 1 if rounding can explain it."""
        alike = self.number is float and abs(jct - fluid) <= clock_error(self.late + completion, fluid)
        shortest = ulp(float(completion - jct))  # span that the clock resolves at the release date
        return self.number(1) if alike else jct / (fluid or shortest)

    def _gpu_seconds_there(self, first: Any, last: Any) -> Any:
        total, since, capacity = self.number(0), first, self.scenario.cluster.gpus
        for step in self.presence.steps:
            time = min(max(step.time, first), last)
            total, since, capacity = total + capacity * (time - since), time, step.gpus
        return total + capacity * (last - since)

    def _total(self, values: Iterable[Any]) -> Any:
        return fsum(values) if self.number is float else sum(values, Fraction(0))


@dataclass
class _CapGroup:
    """The unfinished jobs with the same cap, the service at which each is done, and the service so far."""

    due: list[tuple[Any, int]]
    service: Any
    since: Any
    rate: Any

    def given(self, clock: Any) -> Any:
        """Return the service received by a job that was present from the beginning."""
        return self.service + self.rate * (clock - self.since)

    def done_at(self) -> Any:
        """Return the time at which the next job is done if the rate does not change."""
        return self.since + (self.due[0][0] - self.service) / self.rate


def fluid_finish_times(
    jobs: Sequence[Job], gpus: int, caps: Sequence[Any], number: Callable[[Any], Any]
) -> list[Any]:
    """Return the finish times of jobs that share the GPUs equally, like a fluid, each up to its cap.

    Internally, time is counted from the beginning of a busy period, so that late dates cost no precision.
    """
    finish: list[Any] = [None] * len(jobs)
    groups: dict[Any, _CapGroup] = {}
    begin = clock = number(0)
    arrived = 0
    while arrived < len(jobs) or groups:
        if not groups:
            begin, clock = number(jobs[arrived].release_date), number(0)
        time, cap = min(((group.done_at(), cap) for cap, group in groups.items()), default=(None, None))
        arrival = number(jobs[arrived].release_date) - begin if arrived < len(jobs) else None
        if time is None or (arrival is not None and arrival <= time):
            clock, cap = max(clock, arrival), caps[arrived]
            group = groups.setdefault(cap, _CapGroup([], number(0), clock, number(0)))
            heappush(
                group.due, (group.given(clock) + number(jobs[arrived].duration) * jobs[arrived].gpus, arrived)
            )
            arrived += 1
        else:
            clock = max(clock, time)
            finish[heappop(groups[cap].due)[1]] = begin + clock
            if not groups[cap].due:
                del groups[cap]
        _set_rates(groups, clock, number(gpus))
    return finish


def _set_rates(groups: Mapping[Any, _CapGroup], clock: Any, free: Any) -> None:
    """Share the GPUs equally in ascending order of cap, as small caps leave GPUs to the other jobs."""
    waiting = sum(len(group.due) for group in groups.values())
    for cap in sorted(groups):
        group = groups[cap]
        rate = min(cap, free / waiting)
        free -= rate * len(group.due)
        waiting -= len(group.due)
        if rate != group.rate:
            group.service, group.since, group.rate = group.given(clock), clock, rate
