"""Legal schedules made without the simulator: random decisions by the definitions of the second judge."""

from fractions import Fraction
from random import Random

from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job, Phase
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.schedule import Schedule, Segment, Vacated
from tests.gsopt.schedule.naive import (
    alike,
    machine_at,
    machines_of,
    memory_of,
    menu_of,
    rate_of,
    type_of,
    wanted,
    worked,
)

#: Decisions are taken every half second at first, and then, with fewer interruptions, every fifth second.
_BUSY, _END = 40, 600


class Player:
    """Plays a scenario with random decisions; `schedule` is None when some job was not complete in the end."""

    def __init__(self, random: Random, scenario: Scenario) -> None:
        self.random, self.scenario, self.cluster = random, scenario, scenario.cluster
        self.preemptive = random.random() < 0.7
        self.jobs = scenario.workload.jobs
        self.done = [Fraction(0)] * len(self.jobs)
        self.written = [Fraction(0)] * len(self.jobs)  # the work in the last checkpoints
        self.held: dict[int, Segment] = {}  # running jobs; the end of a segment is not known yet
        self.works_from: dict[int, Fraction] = {}
        self.last: dict[int, Segment] = {}
        self.complete: set[int] = set()
        self.segments: list[Segment] = []
        self.vacated: list[Vacated] = []
        self.there, self.given_up = self.cluster.gpus, 0
        self.away: set[str] = set()
        self.requests = {i: each for i, each in enumerate(scenario.events) if isinstance(each, Reclaim)}
        self.owed: dict[int, int] = {}
        self.now = Fraction(0)
        times = {Fraction(each.time) for each in (*scenario.capacity_changes, *scenario.events)}
        times |= {Fraction(each.deadline) for each in self.requests.values()}
        last = max(times, default=0)
        times |= {Fraction(k, 2) for k in range(2 * _BUSY)} | set(map(Fraction, range(_BUSY, _END, 5)))
        for instant in sorted(times):
            if instant > last and len(self.complete) == len(self.jobs):
                break
            self._pass(instant)
            self._happen()
            self._decide()

    @property
    def schedule(self) -> Schedule | None:
        """What ran, in any order."""
        if len(self.complete) < len(self.jobs):
            return None
        segments = self.random.sample(self.segments, len(self.segments))
        return Schedule(tuple(segments), self.preemptive, tuple(self.vacated))

    # Time

    def _pass(self, until: Fraction) -> None:
        """Let jobs work until an instant, and complete before it."""
        while self.now < until:
            rates = {job: self._rate(job) for job in self.held}
            working = {job: rate for job, rate in rates.items() if self.works_from[job] <= self.now}
            begins = [self.works_from[job] for job in rates.keys() - working.keys()]
            ends = [self.now + self._seconds(job, rate) for job, rate in working.items()]
            then = min([until, *begins, *ends])
            for job, rate in working.items():
                mode = self.held[job].mode
                self.done[job] = worked(self.jobs[job], self.done[job], then - self.now, rate, mode)
                interval = Fraction(self.scenario.checkpoint_interval)
                passed = self.done[job] // interval * interval if interval else self.done[job]
                self.written[job] = max(self.written[job], passed)
            self.now = then
            for job in [job for job in self.held if self.done[job] == Fraction(self.jobs[job].duration)]:
                self._stop(job)
                self.complete.add(job)

    def _seconds(self, job: int, rate: Fraction) -> Fraction:
        """Return the seconds until a job is complete, phase by phase."""
        item, mode = self.jobs[job], self.held[job].mode
        seconds, done, work = Fraction(0), self.done[job], Fraction(item.duration)
        for phase in item.phases or [Phase(until=1)]:
            end = Fraction(phase.until) * work
            if done < end:
                seconds += (end - done) * Fraction(phase.modes.get(mode, phase.slowdown)) / rate
                done = end
        return seconds

    def _rate(self, job: int) -> Fraction:
        own = self.held[job]
        partners = [
            self.jobs[other]
            for other, segment in self.held.items()
            if self.cluster.racks and other != job and set(own.placement) & set(segment.placement)
        ]
        return rate_of(self.scenario, self.jobs[job], own.placement, own.gpus, own.mode, partners)

    # Events

    @property
    def limit(self) -> int:
        """GPUs from here on are not there."""
        return max(self.there - self.given_up, 0)

    def _happen(self) -> None:
        for change in self.scenario.capacity_changes:
            if change.time == self.now:
                self.there = change.gpus
                self._fit()
        for index, event in enumerate(self.scenario.events):
            if event.time == self.now:
                self._event(index, event)
        for index in [each for each in self.owed if self.requests[each].deadline == self.now]:
            self.given_up += self.requests[index].gpus or 0
            self._fit()
            while self.owed[index] and (left := self._candidates(index)):
                self._give_up(index, self.random.choice(left))
            del self.owed[index]

    def _event(self, index: int, event: Event) -> None:
        if isinstance(event, Leave):
            for server in event.servers:
                self._go(server, Fraction(event.lost_work), without_notice=True)
        elif isinstance(event, Return):
            self.away -= set(event.servers)
            self.given_up -= event.gpus or 0
        elif isinstance(event, Loan):
            may = wanted(event, self.cluster) & self.away
            self.away -= set([each for each in machines_of(self.cluster) if each in may][: event.servers])
        else:
            self.owed[index] = event.servers or 0

    def _fit(self) -> None:
        """Stop whoever has no room after a fall of the limit."""
        for job, segment in reversed(list(self.held.items())):
            over = not self.cluster.racks and sum(each.gpus for each in self.held.values()) > self.limit
            if over or any(gpu >= self.limit for gpu in segment.placement):
                self._stop(job)

    def _go(self, server: str, lost: Fraction, *, without_notice: bool = False) -> None:
        if server in self.away:
            return
        self.away.add(server)
        for job, segment in list(self.held.items()):
            if any(machine_at(self.cluster, gpu).name == server for gpu in segment.placement):
                self._stop(job)
                if without_notice:
                    kept = self.written[job] - lost if self.jobs[job].checkpoints else Fraction(0)
                    self.done[job] = self.written[job] = max(kept, Fraction(0))

    def _candidates(self, index: int) -> list[str]:
        takes = wanted(self.requests[index], self.cluster) - self.away
        return [each for each in machines_of(self.cluster) if each in takes]

    def _give_up(self, index: int, server: str) -> None:
        self._go(server, Fraction(0))
        self.vacated.append(Vacated(self.now, server))
        self.owed[index] -= 1

    # Decisions

    def _decide(self) -> None:
        by_deadline = sorted(self.owed, key=lambda each: (self.requests[each].deadline, each))
        for index in by_deadline:
            if self.owed[index] and (left := self._candidates(index)) and self.random.random() < 0.3:
                server = self.random.choice(left)
                takers = [each for each in by_deadline if self.owed[each] and server in self._candidates(each)]
                self._give_up(takers[0], server)
        for job in self.random.sample(range(len(self.jobs)), len(self.jobs)):
            if job in self.complete or self.jobs[job].release_date > self.now:
                continue
            draw = self.random.random()
            if job not in self.held:
                if draw < 0.8 and (choice := self._choice(job)) is not None:
                    self._start(job, choice)
            elif draw < 0.15 and self.preemptive and self.now < _BUSY:
                self._stop(job)
            elif draw < 0.45:
                same = self._stop(job)
                self._start(job, same if draw < 0.25 else self._choice(job) or same)

    def _choice(self, job: int) -> Segment | None:
        """Choose GPUs and a mode at random; None where the draw does not fit."""
        item = self.jobs[job]
        mode = self.random.choice(["", *(mode.name for mode in item.modes)])
        count = self.random.choice(list(menu_of(item, mode)))
        room = [gpu for gpu in range(self.limit) if self._has_room(item, mode, gpu)]
        unnamed = sum(segment.gpus for segment in self.held.values() if not segment.placement)
        if len(room) - unnamed < count:
            return None
        named = self.cluster.racks or self.random.random() < 0.3
        return Segment(item.name, 0, 0, count, tuple(self.random.sample(room, count)) if named else (), mode)

    def _has_room(self, item: Job, mode: str, gpu: int) -> bool:
        users = [(job, segment) for job, segment in self.held.items() if gpu in segment.placement]
        if not self.cluster.racks:
            return not users
        machine = machine_at(self.cluster, gpu)
        need = memory_of(item, mode) + sum(memory_of(self.jobs[job], own.mode) for job, own in users)
        return (
            machine.name not in self.away
            and type_of(item, mode) in {"", machine.gpu_type}
            and len(users) < self.scenario.share_limit
            and (machine.memory is None or need <= machine.memory)
        )

    def _start(self, job: int, choice: Segment) -> None:
        last, item, overheads = self.last.get(job), self.jobs[job], self.scenario.overheads
        lost = overheads.get(item.model) or overheads.get("") or Overhead()
        if last is None:
            self.works_from[job] = self.now + Fraction(lost.start)
        elif last.end < self.now:
            self.works_from[job] = self.now + Fraction(lost.start) + Fraction(lost.stop)
            self.done[job] = self.done[job] if item.checkpoints else Fraction(0)
        elif not alike(last, choice):
            self.works_from[job] = max(self.works_from[job], self.now + Fraction(lost.resize))
        if last is None or last.end < self.now or not alike(last, choice):
            self.written[job] = self.done[job]
        self.held[job] = choice._replace(start=self.now)

    def _stop(self, job: int) -> Segment:
        segment = self.held.pop(job)._replace(end=self.now)
        if segment.start < segment.end:
            self.segments.append(segment)
            self.last[job] = segment
        return segment
