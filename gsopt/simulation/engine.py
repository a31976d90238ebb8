"""Engine: replays a workload event by event, at exact event times and without time steps.

At each instant at which something happens jobs complete first, then the capacity changes, then jobs arrive,
then the policy decides once. The next instant is always later, so every simulation with finitely many
decisions ends.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, inf, nextafter
from types import MappingProxyType
from typing import Any

from gsopt.job import Job
from gsopt.scenario import NO_OVERHEAD, Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.simulation.ledger import Counts, Forbidden, Ledger, Placements, Placer, consolidated
from gsopt.simulation.policy import (
    Decider,
    IllegalDecision,
    Move,
    Policy,
    Resize,
    Start,
    Stop,
    Wake,
)

#: Arrivals from one report of progress to the next.
_REPORT_EVERY = 500

#: Changes in a row that came before the overhead of the last one was over; then the run is given up.
_FRUITLESS_CHANGES = 10_000


class Engine:
    """One run of one policy on one scenario.

    Parameters
    ----------
    scenario
        What is given.
    policy, options
        What decides, and its options.
    round_length
        Seconds between decisions, which are then taken at multiples of it only; at every event when None.
    record
        Whether to keep every segment of the schedule.
    exact
        Whether to compute in fractions instead of floats.
    placer
        Where a job goes when the policy gives a number of GPUs only, in a cluster of racks.
    """

    def __init__(
        self,
        scenario: Scenario,
        policy: Policy,
        options: Mapping[str, Any],
        *,
        round_length: float | None = None,
        record: bool = False,
        exact: bool = False,
        placer: Placer = consolidated,
    ) -> None:
        number: Callable[[Any], Any] = Fraction if exact else float
        self.scenario, self.number, self.exact = scenario, number, exact
        self.jobs = tuple(scenario.workload.jobs)
        total = len(self.jobs)
        zero = number(0)
        self.release = [number(job.release_date) for job in self.jobs]
        self.remaining = [number(job.duration) for job in self.jobs]
        self.rate = [number(1)] * total
        self.progress_from = [zero] * total  # until when `remaining` is settled; later than now in overhead
        self.held_since = [zero] * total
        self.stopped_at: list[Any] = [None] * total
        self.changed_at: list[Any] = [None] * total
        self.version = [0] * total  # completions in the heap of an older version are void
        self.last: dict[int, tuple[int, tuple[int, ...]]] = {}  # what a stopped job held
        self.started: list[Any] = [None] * total
        self.completion: list[Any] = [None] * total
        self.holding = [zero] * total  # seconds with GPUs, without the segment that is running
        self.service = [zero] * total  # GPU-seconds, likewise
        self.preemptions, self.resizes = 0, 0
        self.fruitless = 0  # stops and resizes in a row of jobs that were still in their overhead
        self.occupied_seconds, self.capacity_seconds = zero, zero
        self.until_completion = (zero, zero)  # the two at the last completion
        self.segments: list[Segment] | None = [] if record else None

        self.ledger: Ledger = self._ledger(placer)
        self.running: dict[int, int] = {}
        self.due: list[tuple[Any, int, int]] = []
        self.changes = [(number(change.time), change.gpus) for change in scenario.capacity_changes]
        self.next_job, self.next_change, self.active = 0, 0, 0
        self.now: Any = self.release[0] if total else zero
        self.wake: Any = None  # when the policy decides next if nothing happens before
        self.asked_wake: Any = None
        self.round_length = None if round_length is None else number(round_length)
        self.round = -1
        self.news: tuple[list[int], list[int], list[int]] = ([], [], [])
        self.arrived: tuple[int, ...] = ()
        self.completed: tuple[int, ...] = ()
        self.evicted: tuple[int, ...] = ()

        self.state = EngineState(self)
        self.decider: Decider = policy(self.state, **options)
        self.handlers: dict[type, Callable[[Any], None]] = {
            Start: self._start,
            Stop: self._stop,
            Resize: self._resize,
            Move: self._move,
            Wake: self._wake,
        }

    def run(self, on_progress: Callable[[int], Any] | None = None) -> None:
        """Run until every job is complete, or nothing happens any more."""
        reported = 0
        while (now := self._next_instant()) is not None:
            if on_progress is not None and self.next_job >= reported + _REPORT_EVERY:
                reported = self.next_job
                on_progress(reported - self.active)
            self._pass_time(now)
            self._complete()
            self._change_capacity()
            self._release()
            if self.round_length is None or self.wake == now:
                self._decide()

    def schedule(self) -> Schedule:
        """Give the recorded schedule, by start."""
        segments = sorted(self.segments or (), key=lambda segment: segment.start)
        return Schedule(segments=tuple(segments), preemptive=self.decider.preemptive)

    # Time

    def _next_instant(self) -> Any:
        due, version = self.due, self.version
        if not self.active and self.next_job == len(self.jobs):
            return None
        while due and due[0][2] != version[due[0][1]]:
            heappop(due)
        event = self._next_event()
        self._next_round(event)
        if self.wake is not None and (event is None or self.wake < event):
            return self.wake
        return event

    def _next_event(self) -> Any:
        """Give the time of the next completion, arrival or change of the capacity; None without any."""
        instant = self.due[0][0] if self.due else None
        if self.next_job < len(self.jobs):
            release = self.release[self.next_job]
            if instant is None or release < instant:
                instant = release
        if self.next_change < len(self.changes):
            change = max(self.changes[self.next_change][0], self.now)
            if instant is None or change < instant:
                instant = change
        return instant

    def _next_round(self, event: Any) -> None:
        """Set the next decision to a multiple of the round length while there is any job.

        It is the next one, or, when there is nothing to decide before, the first at or after what comes next.
        """
        if self.round_length is None or self.wake is not None or not self.active or self._stuck():
            return
        earliest = self.now
        idle = not self.running or len(self.running) == self.active
        if idle and not any(self.news):
            coming = [time for time in (event, self.asked_wake) if time is not None]
            earliest = max(earliest, min(coming, default=earliest))
        self.round = max(self.round + 1, ceil(earliest / self.round_length))
        while self.round * self.round_length < earliest:
            self.round += 1
        self.wake = self.round * self.round_length

    def _stuck(self) -> bool:
        """Tell whether nothing changes any more: the policy saw all, waits for nothing, starts nothing."""
        future = self.next_job < len(self.jobs) or self.next_change < len(self.changes)
        waits = self.asked_wake is not None and self.asked_wake > self.now
        return not (self.running or future or waits or any(self.news))

    def _pass_time(self, now: Any) -> None:
        elapsed = now - self.now
        self.occupied_seconds += self.ledger.occupied * elapsed
        self.capacity_seconds += self.ledger.capacity * elapsed
        self.now = now

    # Events

    def _complete(self) -> None:
        due, now = self.due, self.now
        while due and due[0][0] <= now:
            _, job, version = heappop(due)
            if version == self.version[job]:
                self.completion[job] = now
                self.remaining[job] = self.number(0)
                self._let_go(job)
                self.active -= 1
                self.fruitless = 0
                self.news[1].append(job)
                self.until_completion = (self.occupied_seconds, self.capacity_seconds)

    def _change_capacity(self) -> None:
        while self.next_change < len(self.changes) and self.changes[self.next_change][0] <= self.now:
            capacity = self.changes[self.next_change][1]
            for job in self.ledger.displaced(capacity, self.running):
                self._interrupt(job)
                self.news[2].append(job)
            self.ledger.set_capacity(capacity)
            self.next_change += 1

    def _release(self) -> None:
        release, now = self.release, self.now
        while self.next_job < len(release) and release[self.next_job] <= now:
            self.news[0].append(self.next_job)
            self.next_job += 1
            self.active += 1

    # Decisions

    def _decide(self) -> None:
        self.wake = self.asked_wake = None
        arrived, completed, evicted = self.news
        self.arrived, self.completed, self.evicted = tuple(arrived), tuple(completed), tuple(evicted)
        for news in self.news:
            news.clear()
        for action in self.decider.decide(self.state) or ():
            handler = self.handlers.get(type(action))
            if handler is None:
                raise IllegalDecision(action, "a decision is a Start, Stop, Resize, Move or Wake")
            try:
                handler(action)
            except Forbidden as rule:
                raise IllegalDecision(action, str(rule)) from None

    def _start(self, action: Start) -> None:
        job, gpus = action
        self._require_released(job)
        if job in self.running:
            raise Forbidden("a job that starts is waiting")
        if self.completion[job] is not None:
            raise Forbidden("a job that starts is not completed")
        self._once(job)
        self._hold(job, self.ledger.take(job, self.jobs[job], gpus))

    def _stop(self, action: Stop) -> None:
        job = action.job
        self._require_running(job)
        if not self.decider.preemptive:
            raise Forbidden("a policy that is not preemptive stops no job")
        self._once(job)
        self._make_progress(job)
        self._interrupt(job)

    def _resize(self, action: Resize | Move) -> None:
        job, gpus = action
        self._require_running(job)
        self._once(job)
        self._make_progress(job)
        neighbours = self.ledger.partners(job)
        before = self.running[job]
        placement = self.ledger.placement(job)
        count = self.ledger.change(job, self.jobs[job], before, gpus)
        self._settle(job)
        self._close_segment(job, before, placement)
        self.running[job] = count
        self.resizes += count != before
        self.held_since[job] = self.now
        seconds = self.scenario.overhead(self.jobs[job]).resize
        self.progress_from[job] = max(self.progress_from[job], self.now + self.number(seconds))
        self._retime(job)
        self._retime_all({*neighbours, *self.ledger.partners(job)})

    def _move(self, action: Move) -> None:
        self._require_running(action.job)
        if isinstance(action.gpus, int) or len(action.gpus) != self.running[action.job]:
            raise Forbidden("a move keeps the number of GPUs and names the new ones")
        self._resize(action)

    def _wake(self, action: Wake) -> None:
        if not action.time > self.now:
            raise Forbidden("a wake lies in the future")
        if self.asked_wake is None or action.time < self.asked_wake:
            self.asked_wake = action.time
        if self.round_length is None:
            self.wake = self.asked_wake

    def _require_released(self, job: int) -> None:
        if not isinstance(job, int) or not 0 <= job < len(self.jobs):
            raise Forbidden("a job is one of the workload's, by number")
        if job >= self.next_job:
            raise Forbidden("a job starts after its release")

    def _require_running(self, job: int) -> None:
        if job not in self.running:
            raise Forbidden("a job that is stopped, resized or moved is running")

    def _once(self, job: int) -> None:
        if self.changed_at[job] == self.now:
            raise Forbidden("a job is started, stopped, resized or moved once in an instant")
        self.changed_at[job] = self.now

    def _make_progress(self, job: int) -> None:
        """Refuse to go on for ever with overheads that are longer than what lies between them."""
        self.fruitless = self.fruitless + 1 if self.progress_from[job] > self.now else 0
        if self.fruitless > _FRUITLESS_CHANGES:
            raise Forbidden(
                "jobs are stopped or resized after more time than their overhead takes, now and then"
            )

    # Progress

    def _hold(self, job: int, count: int) -> None:
        """Let a job run on GPUs that the ledger has just given it."""
        now = self.now
        self.running[job] = count
        self.held_since[job] = now
        self.progress_from[job] = self._ready(job, count)
        if self.started[job] is None:
            self.started[job] = now
        self._retime(job)
        self._retime_all(self.ledger.partners(job))

    def _ready(self, job: int, count: int) -> Any:
        """Give the time until which a job that starts now makes no progress.

        A stop and a start in one instant, possible when the capacity drops, are one resize or nothing.
        """
        overhead = self.scenario.overhead(self.jobs[job]) if self.scenario.overheads else NO_OVERHEAD
        number, now = self.number, self.now
        if self.stopped_at[job] == now:
            self.preemptions -= 1
            self.resizes += self.last[job][0] != count
            if self.last[job] == (count, self.ledger.placement(job)):
                return self.progress_from[job]
            return max(self.progress_from[job], now + number(overhead.resize))
        if overhead is NO_OVERHEAD:
            return now
        checkpoint = 0.0 if self.started[job] is None else overhead.stop
        return now + number(overhead.start) + number(checkpoint)

    def _interrupt(self, job: int) -> None:
        """Stop a job that is not complete."""
        self._settle(job)
        self.last[job] = (self.running[job], self.ledger.placement(job))
        self.version[job] += 1
        self.preemptions += 1
        self.stopped_at[job] = self.now
        self._let_go(job)

    def _let_go(self, job: int) -> None:
        """Take the GPUs of a job that is settled."""
        count = self.running.pop(job)
        neighbours = self.ledger.partners(job)
        self._close_segment(job, count, self.ledger.placement(job))
        self.ledger.give_back(job, count)
        self._retime_all(neighbours)

    def _close_segment(self, job: int, count: int, placement: tuple[int, ...]) -> None:
        elapsed = self.now - self.held_since[job]
        self.holding[job] += elapsed
        self.service[job] += count * elapsed
        if self.segments is not None and elapsed > 0:
            name = self.jobs[job].name
            self.segments.append(Segment(name, self.held_since[job], self.now, count, placement))

    def _settle(self, job: int) -> None:
        """Take the progress made until now off the remaining work."""
        elapsed = self.now - self.progress_from[job]
        if elapsed > 0:
            self.remaining[job] = max(self.remaining[job] - elapsed * self.rate[job], self.number(0))
            self.progress_from[job] = self.now

    def _retime_all(self, neighbours: Any) -> None:
        for job in sorted(neighbours):
            if job in self.running:
                self._settle(job)
                self._retime(job)

    def _retime(self, job: int) -> None:
        """Set the speed of a settled job and when it completes."""
        begin = max(self.progress_from[job], self.now)
        rate = self._rate_of(job)
        self.rate[job] = rate
        time = begin + (self.remaining[job] if rate == 1 else self.remaining[job] / rate)
        if time <= self.now:  # only by rounding; time has to go on
            time = nextafter(self.now, inf) if not self.exact else self.now
        self.version[job] += 1
        heappush(self.due, (time, job, self.version[job]))

    def _rate_of(self, job: int) -> Any:
        item, count = self.jobs[job], self.running[job]
        if self.scenario.cluster.is_plain:
            return self.number(item.speed(count)) if count != item.gpus else self.number(1)
        partners = [self.jobs[other] for other in self.ledger.partners(job)]
        return self.scenario.speed.rate(item, count, self.ledger.tier(job), partners, self.number)

    def _ledger(self, placer: Placer) -> Ledger:
        if self.scenario.cluster.is_plain:
            return Counts(self.scenario.cluster.gpus)
        return Placements(self.scenario.cluster, self.scenario.share_limit, placer)


class EngineState:
    """The engine's State: every answer is computed or immutable, so a policy cannot change the run by it."""

    __slots__ = ("_engine", "_jobs", "_running")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs = engine.jobs
        self._running = MappingProxyType(engine.running)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Every job by number."""
        return self._jobs

    @property
    def now(self) -> Any:
        """The time."""
        return self._engine.now

    @property
    def cluster(self) -> Any:
        """The cluster."""
        return self._engine.scenario.cluster

    @property
    def capacity(self) -> int:
        """Number of GPUs that are there."""
        return self._engine.ledger.capacity

    @property
    def free(self) -> int:
        """Number of GPUs that no job holds."""
        return self._engine.ledger.free

    @property
    def arrived(self) -> tuple[int, ...]:
        """Jobs released since the last decision."""
        return self._engine.arrived

    @property
    def completed(self) -> tuple[int, ...]:
        """Jobs completed since the last decision."""
        return self._engine.completed

    @property
    def evicted(self) -> tuple[int, ...]:
        """Jobs stopped by a drop of the capacity since the last decision."""
        return self._engine.evicted

    @property
    def running(self) -> Mapping[int, int]:
        """The running jobs in the order of their starts, each with its number of GPUs."""
        return self._running

    def remaining(self, job: int) -> Any:
        """Give the work that is left."""
        engine = self._engine
        if job in engine.running:
            elapsed = engine.now - engine.progress_from[job]
            if elapsed > 0:
                return engine.remaining[job] - elapsed * engine.rate[job]
        return engine.remaining[job]

    def service(self, job: int) -> Any:
        """Give the GPU-seconds that the job has held so far."""
        engine = self._engine
        count = engine.running.get(job, 0)
        return engine.service[job] + count * (engine.now - engine.held_since[job])

    def placement(self, job: int) -> tuple[int, ...]:
        """Give the GPUs that a running job holds."""
        return self._engine.ledger.placement(job)

    def users(self, gpu: int) -> tuple[int, ...]:
        """Give the jobs that hold a GPU."""
        ledger = self._engine.ledger
        return ledger.users(gpu) if isinstance(ledger, Placements) else ()

    def free_gpus(self) -> tuple[int, ...]:
        """Give the free GPUs by number."""
        ledger = self._engine.ledger
        return ledger.free_gpus() if isinstance(ledger, Placements) else ()

    def fits(self, job: int) -> bool:
        """Tell whether the demanded GPUs of a job are free."""
        return self._engine.ledger.fits(self._jobs[job])
