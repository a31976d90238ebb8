"""Random scenarios with everything in them, and random schedules that are legal."""

from fractions import Fraction
from random import Random
from typing import Any

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.schedule import Schedule, Segment, Vacated
from tests.gsopt.schedule.naive import (
    machine_at,
    machines_of,
    memory_of,
    menu_of,
    rate_of,
    type_of,
    wanted,
    worked,
)

_TIERS = {"cnn": TierPenalty(machine=0.25, rack=0.5, network=1.0)}
_INTERFERENCE = {"cnn": {"rnn": 1.5, "cnn": 1.25}, "rnn": {"cnn": 2.0}}

#: How many times slower GPUs of some types are; those of others are as the menus say.
_GPU_TYPES = {"old": 3.0, "new": 1.5}

#: Instants of decisions until a schedule is given up.
_INSTANTS = 120


def scenario(random: Random) -> Scenario:
    """Draw a scenario; every job can run somewhere when all machines are there."""
    racks = random.random() < 0.75
    cluster = _racks(random) if racks else Cluster.plain(random.randint(1, 5))
    jobs = [_job(random, index, cluster) for index in range(random.randint(1, 4))]
    while True:
        try:
            return Scenario(
                workload=Workload(jobs=jobs),
                cluster=cluster,
                speed=_speed(random, cluster),
                overheads=_overheads(random),
                share_limit=random.choice([1, 2, 3]) if racks else 1,
                capacity_changes=_changes(random, cluster),
                events=_events(random, cluster),
            )
        except ValueError:  # events that cannot be are drawn again
            continue


def _speed(random: Random, cluster: Cluster) -> Speed:
    """Draw slowdowns of every kind that there can be on a cluster."""
    kinds = {machine.gpu_type for machine in cluster.machines}
    return Speed(
        tiers=_TIERS,
        interference=_INTERFERENCE,
        default_interference=1.25,
        gpu_types=random.choice([{}, {kind: slow for kind, slow in _GPU_TYPES.items() if kind in kinds}]),
        mixed=random.choice([1.0, 1.25]),
    )


def _racks(random: Random) -> Cluster:
    names = iter("abcdefgh")

    def machine() -> Machine:
        return Machine(
            name=next(names),
            gpus=random.randint(1, 2),
            gpu_type=random.choice(["", "old", "new"]),
            memory=random.choice([None, 10, 16]),
        )

    return Cluster(
        racks=[
            Rack(name=f"rack {r}", machines=[machine() for _ in range(random.randint(1, 2))])
            for r in range(random.randint(1, 2))
        ]
    )


def _job(random: Random, index: int, cluster: Cluster) -> Job:
    while True:
        demand = random.randint(1, max(1, cluster.gpus - 1))
        counts = [count for count in range(1, cluster.gpus + 1) if count != demand and random.random() < 0.4]
        menu = [(demand, 1.0), *((count, random.choice([0.5, 1.5, count / 2])) for count in counts)]
        kinds = ["", *sorted({machine.gpu_type for machine in cluster.machines})]
        modes = [
            Mode(
                name=name,
                menu=[(random.randint(1, cluster.gpus), random.choice([0.5, 0.75, 2.0]))],
                memory=random.choice([None, 0, 4]),
                gpu_type=random.choice([None, None, *kinds]),
            )
            for name in random.choice([[], [], ["x"], ["x", "y"]])
        ]
        slow = {"x": 4.0} if modes else {}
        phases = [
            Phase(until=0.25, slowdown=2.0, modes=slow),
            Phase(until=0.5, slowdown=1.0, modes={"": 3.0}),
            Phase(until=1, slowdown=1.5),
        ]
        job = Job(
            name=f"job {index}",
            release_date=random.choice([0.0, 0.0, 1.0, 1.25, 3.0]),
            duration=random.choice([1.0, 2.0, 2.5, 4.0]),
            gpus=demand,
            menu=menu,
            model=random.choice(["", "cnn", "rnn"]),
            memory=random.choice([None, 3, 8, 10]),
            gpu_type=random.choice([*kinds, "", ""]),
            modes=modes,
            phases=random.choice([[], [], phases, phases[2:]]),
            checkpoints=random.random() < 0.8,
        )
        try:
            Scenario(workload=Workload(jobs=[job]), cluster=cluster)
        except ValueError:
            continue
        return job


def _overheads(random: Random) -> dict[str, Overhead]:
    some = Overhead(
        start=random.choice([0, 0.5]), stop=random.choice([0, 0.25]), resize=random.choice([0, 0.5])
    )
    return random.choice([{}, {"": some}, {"cnn": some}])


def _changes(random: Random, cluster: Cluster) -> list[CapacityChange]:
    if random.random() < 0.6:
        return []
    times = sorted(random.sample(range(10), 2))
    sizes = [random.randint(0, cluster.gpus), cluster.gpus]
    return [CapacityChange(time=float(t), gpus=size) for t, size in zip(times, sizes, strict=True)]


def _events(random: Random, cluster: Cluster) -> list[Event]:
    names = machines_of(cluster)
    events: list[Event] = []
    for _ in range(random.choice([0, 0, 1, 1, 2, 4])):
        time = random.randint(0, 12) / 2
        later = time + random.randint(1, 8) / 2
        some = random.sample(names, random.randint(1, len(names))) if names else []
        if not names:
            gpus = random.randint(1, cluster.gpus)
            events.append(Reclaim(time=time, deadline=later, gpus=gpus))
            events.append(Return(time=later + random.randint(1, 4) / 2, gpus=gpus))
        elif random.random() < 0.5:
            events.append(Leave(time=time, servers=some, lost_work=random.choice([0.0, 0.5, 9.0])))
            loan = Loan(time=later, servers=len(some), among=some)
            events.append(loan if random.random() < 0.5 else Return(time=later, servers=some))
        else:
            events += _request_and_end(random, cluster, time, later, some)
    return sorted(events, key=lambda event: event.time)


def _request_and_end(
    random: Random, cluster: Cluster, time: float, later: float, some: list[str]
) -> list[Event]:
    """Draw a request and how its machines come back: by name, or as a loan of so many."""
    names = machines_of(cluster)
    who: dict[str, Any] = random.choice([{}, {"among": some}])
    kinds = [machine.gpu_type for machine in cluster.machines if machine.gpu_type]
    if kinds and random.random() < 0.4:
        who = {"gpu_type": random.choice(kinds)}
        some = [machine.name for machine in cluster.machines if machine.gpu_type == who["gpu_type"]]
    servers = random.randint(1, len(some))
    request = Reclaim(time=time, deadline=later, servers=servers, **who)
    back = later + random.randint(-2, 4) / 2
    if random.random() < 0.5:
        return [request, Return(time=back, servers=who.get("among") or (some if "gpu_type" in who else names))]
    loans = [Loan(time=back, servers=servers, **random.choice([{}, who]))]
    if random.random() < 0.5:
        loans.append(Loan(time=back + 1, servers=len(names)))
    return [request, *loans]


class Player:
    """Plays a scenario with random decisions at multiples of half a second.

    `schedule` is None when some job was not complete in the end.
    """

    def __init__(self, random: Random, scenario: Scenario) -> None:
        self.random, self.scenario, self.cluster = random, scenario, scenario.cluster
        self.preemptive = random.random() < 0.7
        self.jobs = scenario.workload.jobs
        self.done = [Fraction(0)] * len(self.jobs)
        self.held: dict[int, Segment] = {}  # running jobs; the end of a segment is not known yet
        self.works_from: dict[int, Fraction] = {}
        self.last: dict[int, Segment] = {}
        self.complete: dict[int, Fraction] = {}
        self.segments: list[Segment] = []
        self.vacated: list[Vacated] = []
        self.there, self.given_up = self.cluster.gpus, 0
        self.away: set[str] = set()
        self.owed: dict[int, int] = {}
        self.now = Fraction(0)
        for instant in range(_INSTANTS):
            self._pass(Fraction(instant, 2))
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
            then = until
            for job in self.held:
                begin = max(self.works_from[job], self.now)
                if self.now < begin:
                    then = min(then, begin)
                else:
                    then = min(then, self.now + self._seconds(job, rates[job]))
            for job in list(self.held):
                if self.works_from[job] <= self.now:
                    item, mode = self.jobs[job], self.held[job].mode
                    self.done[job] = worked(item, self.done[job], then - self.now, rates[job], mode)
            self.now = then
            for job in [job for job in self.held if self.done[job] == Fraction(self.jobs[job].duration)]:
                self._stop(job)
                self.complete[job] = self.now

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
            if other != job and set(own.placement) & set(segment.placement)
        ]
        beside = partners if self.cluster.racks else []
        return rate_of(self.scenario, self.jobs[job], own.placement, own.gpus, own.mode, beside)

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
        for index in [each for each in self.owed if self._request(each).deadline == self.now]:
            self.given_up += self._request(index).gpus or 0
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
            coming = [each for each in machines_of(self.cluster) if each in self.away]
            self.away -= set([each for each in coming if each in wanted(event, self.cluster)][: event.servers])
        else:
            self.owed[index] = event.servers or 0

    def _request(self, index: int) -> Reclaim:
        event = self.scenario.events[index]
        assert isinstance(event, Reclaim)
        return event

    def _fit(self) -> None:
        """Stop whoever has no room after a fall of the limit."""
        for job, segment in reversed(list(self.held.items())):
            over = sum(s.gpus for s in self.held.values()) > self.limit if not self.cluster.racks else False
            if over or any(gpu >= self.limit for gpu in segment.placement):
                self._stop(job)

    def _go(self, server: str, lost: Fraction, *, without_notice: bool = False) -> None:
        if server in self.away:
            return
        self.away.add(server)
        for job, segment in list(self.held.items()):
            if any(machine_at(self.cluster, gpu).name == server for gpu in segment.placement):
                self._stop(job)
                all_of_it = without_notice and not self.jobs[job].checkpoints
                self.done[job] = Fraction(0) if all_of_it else max(self.done[job] - lost, Fraction(0))

    def _candidates(self, index: int) -> list[str]:
        takes = wanted(self._request(index), self.cluster)
        return [each for each in machines_of(self.cluster) if each in takes and each not in self.away]

    def _give_up(self, index: int, server: str) -> None:
        self._go(server, Fraction(0))
        self.vacated.append(Vacated(self.now, server))
        self.owed[index] -= 1

    # Decisions

    def _decide(self) -> None:
        for index in sorted(self.owed, key=self._urgency):
            left = self._candidates(index)
            if self.owed[index] and left and self.random.random() < 0.3:
                server = self.random.choice(left)
                first = next(each for each in sorted(self.owed, key=self._urgency) if self._takes(each, server))
                self._give_up(first, server)
        for job in self.random.sample(range(len(self.jobs)), len(self.jobs)):
            if job in self.complete or self.jobs[job].release_date > self.now:
                continue
            draw = self.random.random()
            if job in self.held:
                if draw < 0.15 and self.preemptive:
                    self._stop(job)
                elif draw < 0.25:
                    same = self._stop(job)
                    self._start(job, same)
                elif draw < 0.45:
                    same = self._stop(job)
                    self._start(job, self._choice(job) or same)
            elif draw < 0.8 and (choice := self._choice(job)) is not None:
                self._start(job, choice)

    def _urgency(self, index: int) -> tuple[float, int]:
        return self._request(index).deadline, index

    def _takes(self, index: int, server: str) -> bool:
        return self.owed[index] > 0 and server in self._candidates(index)

    def _choice(self, job: int) -> Segment | None:
        """Choose GPUs and a mode at random; None where the draw does not fit."""
        item = self.jobs[job]
        mode = self.random.choice(["", *(mode.name for mode in item.modes)])
        count = self.random.choice(list(menu_of(item, mode)))
        if not self.cluster.racks:
            return self._plain_choice(item.name, count, mode)
        room = self._room(item, mode)
        if len(room) < count:
            return None
        return Segment(item.name, 0, 0, count, tuple(self.random.sample(room, count)), mode)

    def _plain_choice(self, name: str, count: int, mode: str) -> Segment | None:
        """Take GPUs of a plain cluster, sometimes by number."""
        free = self.limit - sum(segment.gpus for segment in self.held.values())
        if count > free:
            return None
        unused = set(range(self.limit)) - {gpu for segment in self.held.values() for gpu in segment.placement}
        named = self.random.sample(sorted(unused), count) if self.random.random() < 0.3 else ()
        return Segment(name, 0, 0, count, tuple(named), mode)

    def _room(self, item: Job, mode: str) -> list[int]:
        """Return the GPUs on which a job fits."""
        room = []
        for gpu in range(self.limit):
            machine = machine_at(self.cluster, gpu)
            users = [(job, s) for job, s in self.held.items() if gpu in s.placement]
            need = memory_of(item, mode) + sum(memory_of(self.jobs[job], s.mode) for job, s in users)
            if (
                machine.name not in self.away
                and type_of(item, mode) in {"", machine.gpu_type}
                and len(users) < self.scenario.share_limit
                and (machine.memory is None or need <= machine.memory)
            ):
                room.append(gpu)
        return room

    def _start(self, job: int, choice: Segment) -> None:
        last = self.last.get(job)
        lost = self.scenario.overhead(self.jobs[job])
        if last is None:
            self.works_from[job] = self.now + Fraction(lost.start)
        elif last.end < self.now:
            self.works_from[job] = self.now + Fraction(lost.start) + Fraction(lost.stop)
            if not self.jobs[job].checkpoints:
                self.done[job] = Fraction(0)
        elif (last.gpus, set(last.placement), last.mode) != (choice.gpus, set(choice.placement), choice.mode):
            self.works_from[job] = max(self.works_from[job], self.now + Fraction(lost.resize))
        self.held[job] = choice._replace(start=self.now)

    def _stop(self, job: int) -> Segment:
        segment = self.held.pop(job)._replace(end=self.now)
        if segment.start < segment.end:
            self.segments.append(segment)
            self.last[job] = segment
        return segment
