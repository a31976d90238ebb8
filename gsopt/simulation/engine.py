"""Engine: the event-driven simulator, which advances from event to event instead of in fixed time steps.

At each event time, jobs complete first, then GPUs join or leave the cluster, then jobs arrive, and finally, if
a decision is due, the policy decides once. The engine compares the planned jobs with those that were running,
and applies only the difference.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, inf, nextafter
from numbers import Rational
from time import perf_counter
from typing import Any

from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, number_of
from gsopt.core.numbers.clock import clock_error
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from gsopt.simulation.guard import Guard
from gsopt.simulation.ledger import Forbidden
from gsopt.simulation.placer import Placer, consolidated
from gsopt.simulation.plan import Held
from gsopt.simulation.policy import (
    Action,
    Assign,
    Decider,
    IllegalDecision,
    Move,
    Policy,
    Resize,
    Start,
    Stop,
    Vacate,
    Wake,
)
from gsopt.simulation.progress import left_after, seconds_for, stretches
from gsopt.simulation.run_state import RunState
from gsopt.simulation.view import RunView

#: Number of arrivals between two progress reports.
_REPORT_EVERY = 500

#: Maximum number of fruitless changes: consecutive changes that leave a job no time beyond its overhead, or
#: stops that cost a job all its progress, without any completion in between. A run that exceeds it is
#: aborted.
_FRUITLESS_CHANGES = 10_000


class Engine(RunState):
    """A run of one policy on one scenario."""

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
        budget: Budget | None = None,
    ) -> None:
        super().__init__(scenario, Fraction if exact else float, placer, self._evict)
        self.exact = exact
        self.round_length = None if round_length is None else self.number(round_length)
        self.due: list[tuple[Any, int, int]] = []
        self.round = -1
        self.is_news = False  # whether an event has happened since the last decision
        self.news: tuple[list[int], list[int], list[int]] = ([], [], [])
        self.wake: Any = None  # when the policy decides next if nothing happens before
        self.asked_wake: Any = None
        self.segments: list[Segment] | None = [] if record else None
        self.decision_seconds: list[float] = []  # of wall-clock time
        self.guard = Guard(len(scenario.cluster.machines), budget)
        self.view = RunView(self)
        self.decider: Decider = policy(self.view, **options)
        self.handlers: dict[type, Callable[[Any], None]] = {
            Start: self._start,
            Stop: self.plan.stop,
            Resize: self.plan.resize,
            Move: self.plan.move,
            Assign: self._assign,
            Vacate: self._vacate,
            Wake: self._wake,
        }

    def run(self, on_progress: Callable[[int], Any] | None = None) -> None:
        """Run until every job is complete or no further event can occur."""
        plan, ledger, supply = self.plan, self.ledger, self.supply
        reported = 0
        while (now := self._next_instant()) is not None:
            self.guard.check_time(self.completion)
            if on_progress is not None and self.next_job >= reported + _REPORT_EVERY:
                reported = self.next_job
                on_progress(reported - self.active)
            self._pass_time(now)
            self._complete()
            if supply.coming is not None and supply.coming <= now:
                supply.advance(now)
                self.is_news = True
            self._release()
            if self.wake == now or (self.is_news and self.round_length is None):
                begin = perf_counter()
                self._decide()
                self.decision_seconds.append(perf_counter() - begin)
            if plan.touched or ledger.stirred:
                self._apply()
        supply.advance(inf)  # machines are reclaimed even when no jobs are left

    def schedule(self) -> Schedule:
        """Return the recorded schedule, in order of start time."""
        return Schedule(
            segments=tuple(sorted(self.segments or (), key=lambda segment: segment.start)),
            preemptive=self.decider.preemptive,
            vacated=tuple(Vacated(time, server) for time, server in self.supply.given_up),
        )

    # Time

    def _next_instant(self) -> Any:
        due, version = self.due, self.version
        if not self.active and self.next_job == len(self.jobs):
            return None
        while due and due[0][2] != version[due[0][1]]:
            heappop(due)
        event = self._next_event()
        awaits_round = self.active or self.asked_wake is not None
        if self.round_length is not None and self.wake is None and awaits_round:
            self._set_round(event, self.round_length)
        if self.wake is not None and (event is None or self.wake < event):
            return self.wake
        return event

    def _next_event(self) -> Any:
        """Return the time of the next completion, arrival or supply change, or None if there is none."""
        instant = self.due[0][0] if self.due else None
        if self.next_job < len(self.jobs):
            release = self.release[self.next_job]
            if instant is None or release < instant:
                instant = release
        if self.supply.coming is not None:
            change = max(self.supply.coming, self.now)
            if instant is None or change < instant:
                instant = change
        return instant

    def _set_round(self, event: Any, length: Any) -> None:
        """Schedule the next decision at a multiple of the round length, unless no further event can occur.

        The decision is due at the next multiple. If nothing requires a decision before the next event, it is
        due at the first multiple at or after that event.
        """
        if self._stuck():
            return
        earliest = self.now
        idle = not self.running or len(self.running) == self.active
        if idle and not self.is_news:
            coming = [time for time in (event, self.asked_wake) if time is not None]
            earliest = max(earliest, min(coming, default=earliest))
        self.round = max(self.round + 1, ceil(earliest / length))
        while self.round * length < earliest:
            self.round += 1
        self.wake = self.round * length

    def _stuck(self) -> bool:
        """Check whether nothing can change any more: no event is due, and no wake has been requested."""
        waits = self.asked_wake is not None and self.asked_wake > self.now
        return not waits and not self.is_news and self._is_at_rest()

    def _is_at_rest(self) -> bool:
        """Check whether no job runs and only the policy can cause a further event."""
        return not self.running and self.next_job == len(self.jobs) and self.supply.coming is None

    def _pass_time(self, now: Any) -> None:
        elapsed, ledger = now - self.now, self.ledger
        self.occupied_seconds += (ledger.capacity - ledger.free) * elapsed
        self.shared_seconds += ledger.shared * elapsed
        self.capacity_seconds += ledger.capacity * elapsed
        self.now = now

    # Events

    def _complete(self) -> None:
        due, now = self.due, self.now
        while due and due[0][0] <= now:
            _, job, version = heappop(due)
            if version == self.version[job] and (job not in self.trainees or self._is_done(job)):
                if self.waiting[job]:
                    self._communicate(job)
                if self.density[job]:
                    self.samples[job] += self.remaining[job] * self.density[job]
                self._close_segment(job, self.plan.complete(job))
                self.completion[job] = now
                self.remaining[job] = self.number(0)
                self.active -= 1
                self.fruitless = self.begun_anew = 0
                self.news[1].append(job)
                self.is_news = True
                self.until_completion = (self.occupied_seconds, self.capacity_seconds)

    def _is_done(self, job: int) -> bool:
        """Check whether an adaptive job is complete; if it is not, it tunes itself and continues."""
        if self.trainees.is_done(job, self.now):
            return True
        self._settle(job)
        self._retime(job, self.rate[job])
        return False

    def _release(self) -> None:
        release, now = self.release, self.now
        while self.next_job < len(release) and release[self.next_job] <= now:
            if self.has_applications:
                self.trainees.release(self.next_job, now)
            self.news[0].append(self.next_job)
            self.is_news = True
            self.next_job += 1
            self.active += 1

    def _evict(self, job: int, lost_work: float | None) -> None:
        """Evict a running job whose GPUs leave the cluster; without notice, the job also loses progress."""
        self.plan.evict(job)
        self.news[2].append(job)
        item = self.jobs[job]
        if lost_work is not None and (lost_work or self.interval or not item.checkpoints) and self.held[job]:
            self._settle(job)
            lost = self.number(lost_work) + self._unsaved(job)
            self._lose(job, lost if item.checkpoints else self.number(item.duration))
            self._retime(job, self.rate[job])  # the machine may be lent at once, so that the job continues

    def _done(self, job: int) -> Any:
        """Return the work that a job has done, in seconds; its progress must be settled."""
        return self.number(self.jobs[job].duration) - self.remaining[job]

    def _unsaved(self, job: int) -> Any:
        """Return the work of a job since its last checkpoint, in seconds.

        There is none if only rounding separates the job from the next checkpoint.
        """
        if not self.interval:
            return self.number(0)
        done = self._done(job)
        since = done % self.interval
        rounding = 0 if self.exact else clock_error(self.now, self.jobs[job].duration)
        if self.interval - since <= rounding:
            return self.number(0)
        return min(since, done - self.saved[job])

    def _lose(self, job: int, seconds: Any) -> None:
        """Undo the given seconds of a job's work, at most all work so far. Its progress must be settled."""
        work, done = self.number(self.jobs[job].duration), self._done(job)
        lost = min(seconds, done)
        self.lost_gpu_seconds += lost * self.jobs[job].gpus
        if job in self.trainees:
            self.remaining[job] = self.trainees.lose(job, seconds / work, self.now)
        else:
            self.remaining[job] = min(self.remaining[job] + seconds, work)
        self.saved[job] = min(self.saved[job], done - lost)

    # Decisions

    def _decide(self) -> None:
        self.wake = self.asked_wake = None
        jobs, is_wake = self.active, not self.is_news and self.round_length is None
        self.guard.count(self.now, jobs, is_wake=is_wake)
        if self.is_news:
            self.arrived, self.completed, self.evicted = map(tuple, self.news)
            self.news = ([], [], [])
            self.is_news = False
        else:
            self.arrived = self.completed = self.evicted = ()
        decision = self.decider.decide(self.view)
        if decision:
            self._carry_out(decision)
        self.guard.count_idle(self.now, jobs, is_idle=self._is_at_rest())

    def _carry_out(self, decision: Iterable[Action]) -> None:
        """Apply the actions of a decision to the plan, and check the resulting plan."""
        for action in self.guard.finite(decision, self.active):
            self.guard.check_time(self.completion)
            handler = self.handlers.get(type(action))
            if handler is None:
                rule = "a decision must be a Start, Stop, Resize, Move, Assign, Vacate or Wake"
                raise IllegalDecision(action, rule)
            try:
                handler(action)
            except Forbidden as rule:
                raise IllegalDecision(action, str(rule)) from None
        if self.plan.needs_check:
            self.plan.check(preemptive=self.decider.preemptive)

    def _start(self, action: Start) -> None:
        self._require_waiting(action.job)
        self.plan.start(action)

    def _assign(self, action: Assign) -> None:
        for job in action.jobs:
            if job not in self.running:
                self._require_waiting(job)
        self.plan.assign(action)

    def _vacate(self, action: Vacate) -> None:
        self.supply.vacate(action.servers, self.now)
        self.evicted += tuple(self.news[2])
        self.news[2].clear()

    def _wake(self, action: Wake) -> None:
        time = number_of(action.time)
        if not time > self.now:
            raise Forbidden("a wake must be in the future")
        if time == inf:  # never
            return
        if self.exact:
            time = Fraction(time if isinstance(time, Rational) else float(time))
        if self.asked_wake is None or time < self.asked_wake:
            self.asked_wake = time
        if self.round_length is None:
            self.wake = self.asked_wake

    def _require_waiting(self, job: int) -> None:
        if not (isinstance(job, int) and 0 <= job < self.next_job):
            known = isinstance(job, int) and 0 <= job < len(self.jobs)
            raise Forbidden(
                "a job must not start before its release"
                if known
                else "a job must be the number of a job of the workload"
            )
        if self.completion[job] is not None:
            raise Forbidden("a completed job must not start again")

    # The difference

    def _apply(self) -> None:
        """Apply the differences between the plan and the running jobs."""
        plan, in_force, running = self.plan, self.plan.in_force, self.running
        for job in plan.touched:
            before = in_force.get(job)
            if before is None:
                if job in running:
                    self._begin(job)
            elif job not in running:
                self._interrupt(job, in_force.pop(job))
                self.preemptions += 1
                if job in self.trainees:
                    self.trainees.stop(job, self.now)
                if not self.jobs[job].checkpoints:
                    self._lose_progress(job)
            elif before != (after := plan.held(job)):
                self._interrupt(job, before)
                self._go_on(job, before, after)
            else:
                self.ledger.stirred.add(job)  # its partners may have changed while it was moved back and forth
        if self.ledger.stirred:
            self._retime_partners()
        plan.conclude(self.last_started)

    def _begin(self, job: int) -> None:
        """Start a waiting job, or resume it."""
        ready = self.now
        if self.has_overheads:
            overhead, number = self.scenario.overhead(self.jobs[job]), self.number
            ready += number(overhead.start)
            if self.started[job] is not None:
                ready += number(overhead.stop)
        self.progress_from[job] = ready
        self.saved[job] = self._done(job)
        if self.started[job] is None:
            self.started[job] = self.now
        self.starts += 1
        self.last_started[job] = self.starts
        self._run_on(job, self.plan.held(job))

    def _go_on(self, job: int, before: Held, after: Held) -> None:
        """Continue a job on other GPUs or in another mode."""
        self.resizes += after.number != before.number
        if before.mode != after.mode or not self._keeps_shape(job, before, after):
            self.saved[job] = self._done(job)
        self.progress_from[job] = max(
            self.progress_from[job], self.now + self._seconds_to_resize(job, before, after)
        )
        self._run_on(job, after, before)

    def _seconds_to_resize(self, job: int, before: Held, after: Held) -> Any:
        """Return the overhead of a change in seconds; 0 if the scenario does not charge for such changes."""
        if self._keeps_shape(job, before, after):
            return self.number(0)
        if self.scenario.restarts == "machines" and not self.trainees.changes_type(job, before, after):
            early, late = (self.shapes.of(held.gpus) for held in (before, after))
            if len(early) == len(late):
                return self.number(0)
        return self.number(self.scenario.overhead(self.jobs[job]).resize)

    def _keeps_shape(self, job: int, before: Held, after: Held) -> bool:
        """Check whether a job keeps its shape (see `Shapes`) and, if types affect its speed, its GPU type.

        The result is always False if the scenario restarts jobs at every change.
        """
        if self.scenario.restarts == "change" or self.shapes.of(before.gpus) != self.shapes.of(after.gpus):
            return False
        return not self.trainees.changes_type(job, before, after)

    def _run_on(self, job: int, held: Held, before: Held | None = None) -> None:
        self.plan.in_force[job] = held
        self.held[job], self.held_since[job] = held.number, self.now
        item = self.jobs[job]
        if item.phases:
            self.courses[job] = stretches(item, held.mode, self.number)
        if item.training is not None:
            self.density[job] = self.number(item.samples_in(held.mode)) / self.number(item.duration)
        if self.has_tiers:
            tier, speed = self.ledger.tier(job), self.scenario.speed
            self.waiting[job] = speed.waiting(item, held.number, tier, self.number, levels=self.levels)
        alike = self.is_uniform and held.number == item.gpus and not held.mode
        rate = self.one if alike else self._rate_of(job)
        if job in self.trainees:
            self._train(job, held, rate, before)
        self._retime(job, rate)

    def _train(self, job: int, held: Held, rate: Any, before: Held | None) -> None:
        """Restart an adaptive job on its GPUs, or continue it if the new GPUs make no difference."""
        if before is not None and before.mode == held.mode and self._keeps_shape(job, before, held):
            if rate != self.rate[job]:
                self.trainees.slow(job, 1 / rate, self.now)
            return
        try:
            self.trainees.place(job, held, self.now, self.progress_from[job], 1 / rate)
        except InvalidInput as error:
            raise IllegalDecision(self.plan.touched[job], str(error)) from None

    def _interrupt(self, job: int, before: Held) -> None:
        """Close the current segment of a running job before the job stops or changes."""
        action = self.plan.touched[job]
        if action is not None and job not in self.plan.evicted:
            self._make_progress(job, action)
        self._settle(job)
        self._close_segment(job, before)

    def _retime_partners(self) -> None:
        """Update the speeds of jobs whose partners have changed."""
        for job in sorted(self.ledger.stirred):
            if job in self.running and (rate := self._rate_of(job)) != self.rate[job]:
                self._settle(job)
                if job in self.trainees:
                    self.trainees.slow(job, 1 / rate, self.now)
                self._retime(job, rate)
        self.ledger.stirred.clear()

    def _make_progress(self, job: int, action: Action) -> None:
        """Raise `IllegalDecision` if too many consecutive changes leave jobs no time beyond overheads."""
        done, held = self.now - self.progress_from[job], self.now - self.held_since[job]
        is_fruitless = done < 0 or (held > 0 and done <= clock_error(self.now, 0))
        self.fruitless = self.fruitless + 1 if is_fruitless else 0
        if self.fruitless > _FRUITLESS_CHANGES:
            raise IllegalDecision(action, self._why_fruitless(job))

    def _why_fruitless(self, job: int) -> str:
        """Describe the overheads and rounds that leave a job no time for progress."""
        overhead, length = self.scenario.overhead(self.jobs[job]), self.round_length
        again = overhead.start + overhead.stop
        rule = (
            f"jobs must sometimes run for longer than their overheads; the last {_FRUITLESS_CHANGES:,} that "
            f"were stopped or resized had made no progress yet (job {job} takes {again:g} s to start again, "
            f"and {overhead.resize:g} s to be resized)"
        )
        if length is not None and max(again, overhead.resize) >= length:
            rule += f": no job makes progress in rounds of {float(length):g} s, no longer than overheads"
        return rule

    def _lose_progress(self, job: int) -> None:
        """Reset the progress of a stopped job without checkpoints.

        Raise `IllegalDecision` if such jobs are stopped too often before any job completes.
        """
        self._lose(job, self.number(self.jobs[job].duration))
        self.begun_anew += job not in self.plan.evicted
        if self.begun_anew > _FRUITLESS_CHANGES:
            rule = "jobs without checkpoints must be stopped so rarely that some complete"
            raise IllegalDecision(self.plan.touched[job], rule)

    def _close_segment(self, job: int, held: Held) -> None:
        """Record the GPUs that a job has held until now."""
        elapsed = self.now - self.held_since[job]
        self.holding[job] += elapsed
        self.service[job] += held.number * elapsed
        self.held[job] = 0
        self.version[job] += 1
        if self.segments is not None and elapsed > 0:
            name = self.jobs[job].name
            segment = Segment(name, self.held_since[job], self.now, held.number, held.gpus, held.mode)
            self.segments.append(segment)

    # Progress

    def _settle(self, job: int) -> None:
        """Subtract the progress that a job has made until now from its remaining work."""
        elapsed = self.now - self.progress_from[job]
        if elapsed > 0:
            if self.waiting[job]:
                self._communicate(job)
            if job in self.trainees:
                self.remaining[job] = self.trainees.left(job, self.now)
                self.progress_from[job] = self.now
                return
            left, rate, course = self.remaining[job], self.rate[job], self.courses[job]
            self.remaining[job] = after = left_after(elapsed, left, rate, course)
            if self.density[job]:
                self.samples[job] += (left - after) * self.density[job]
            self.progress_from[job] = self.now

    def _communicate(self, job: int) -> None:
        """Record how long a running job has waited for the network since its progress was last settled."""
        self.communicated[job] += (self.now - self.progress_from[job]) * self.waiting[job]

    def _retime(self, job: int, rate: Any) -> None:
        """Set the speed of a settled job, and schedule its completion or its next tuning."""
        begin = max(self.progress_from[job], self.now)
        self.rate[job] = rate
        left, course = self.remaining[job], self.courses[job]
        if job in self.trainees:
            time = self.trainees.next_change(job)
        else:
            time = begin + (left if rate == 1 and not course else seconds_for(left, rate, course))
        if time <= self.now:  # only by rounding; time has to go on
            time = nextafter(self.now, inf) if not self.exact else self.now
        self.version[job] += 1
        heappush(self.due, (time, job, self.version[job]))

    def _rate_of(self, job: int) -> Any:
        """Return the speed of a job on its GPUs beside its partners, ignoring phases."""
        count, gpus, mode = self.plan.in_force[job]
        ledger = self.ledger
        types = self.types.of(gpus)
        return self.rate_on(job, count, mode, ledger.tier(job), ledger.partners(job), types)
