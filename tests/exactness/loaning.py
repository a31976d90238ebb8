"""Aryl from its paper: base and flexible workers on two pools, over time, in fractions and by plain loops.

What the paper leaves open is read as the policy `aryl` says that it reads it. Nothing is kept between two
instants but who holds what, and nothing is clever.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, gcd
from typing import NamedTuple

from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario

#: The types of the two pools.
TRAINING, INFERENCE = "V100", "T4"

#: GPUs by machine.
Held = dict[str, int]

#: GPUs of a worker, and what each allowed number of further workers saves.
Item = tuple[int, Mapping[int, Fraction]]


class Way(NamedTuple):
    """A mode of a job, the types on which its base workers may stand together, and the GPUs of a worker."""

    mode: str
    types: tuple[str, ...]
    size: int


#: That of a job before it has any.
_NO_WAY = Way("", (), 1)


@dataclass(eq=False)
class Run:
    """A job, and where its workers stand; without base workers it waits."""

    number: int
    job: Job
    left: Fraction
    base: Held = field(default_factory=dict)
    flexible: Held = field(default_factory=dict)
    planned: Held = field(default_factory=dict)  # what its flexible workers will be after this instant
    way: Way = _NO_WAY
    grows_on: tuple[str, ...] = ()
    speeds: Mapping[int, Fraction] = field(default_factory=dict)  # by GPUs, as far as it may have so many
    works_from: Fraction = Fraction(0)
    settled: Fraction = Fraction(0)
    started: Fraction | None = None
    evicted: Fraction | None = None
    done: Fraction | None = None
    preemptions: int = 0


class Request(NamedTuple):
    """An open request, with what is owed in a list of one, and the machines that it takes."""

    deadline: Fraction
    event: Reclaim
    owed: list[int]
    takes: Sequence[str]


def menu_of(job: Job, mode: str) -> dict[int, Fraction]:
    """Return the speeds of a mode."""
    menu = next((each.menu for each in job.modes if each.name == mode), job.menu or [(job.gpus, 1.0)])
    return {count: Fraction(speed) for count, speed in menu}


def type_of(job: Job, mode: str) -> str:
    """Return the only type of a mode; empty for any."""
    own = [each.gpu_type for each in job.modes if each.name == mode and each.gpu_type is not None]
    return own[0] if own else job.gpu_type


def algorithm_1(hosts: Mapping[int, set[str]], servers: Sequence[str], demand: int) -> list[str]:
    """Choose servers as Algorithm 1 does, ties by index."""
    left, alive = list(servers), dict(hosts)
    if demand == 1:
        return [min(left, key=lambda server: sum(server in each for each in hosts.values()))]
    chosen = []
    for _ in range(demand):
        cost = {
            server: sum((Fraction(1, len(each)) for each in alive.values() if server in each), Fraction(0))
            for server in left
        }
        chosen.append(min(left, key=cost.__getitem__))
        left.remove(chosen[-1])
        alive = {job: each for job, each in alive.items() if chosen[-1] not in each}
    return chosen


def fits(sizes: Iterable[int], rooms: Iterable[int]) -> list[int] | None:
    """Put workers into rooms, the largest first, each where it fits best; None where one finds no place."""
    left = list(rooms)
    for size in sorted(sizes, reverse=True):
        places = [place for place, room in enumerate(left) if room >= size]
        if not places:
            return None
        left[min(places, key=left.__getitem__)] -= size
    return left


def knapsack(items: Sequence[Item], rooms: Sequence[int]) -> tuple[int, ...]:
    """Choose numbers of workers by trying all: those that save most of those that can be placed.

    Only where sizes divide each other and each worker saves less than the one before; else only the GPUs in
    all are looked at.
    """
    sizes = sorted({size for size, _ in items})
    plain = all(late % early == 0 for early, late in pairwise(sizes)) and all(map(_is_concave, items))
    best = Fraction(-1)
    found: tuple[int, ...] = ()
    for choice in product(*([0, *(n for n, saved in values.items() if saved > 0)] for _, values in items)):
        value = sum(
            (values.get(n, Fraction(0)) for (_, values), n in zip(items, choice, strict=True)), Fraction(0)
        )
        workers = [size for (size, _), n in zip(items, choice, strict=True) for _ in range(n)]
        placed = fits(workers, rooms) is not None if plain else sum(workers) <= sum(rooms)
        if value > best and placed:
            best, found = value, choice
    return found


def _is_concave(item: Item) -> bool:
    values = {0: Fraction(0), **item[1]}
    top = max(values, key=lambda number: (values[number], -number))
    numbers = sorted(number for number in values if number <= top)
    gains = [values[late] - values[early] for early, late in pairwise(numbers)]
    return numbers == list(range(top + 1)) and all(late <= early for early, late in pairwise(gains))


class Aryl:
    """Plays a scenario; `runs` and `given_up` then say what has happened."""

    def __init__(self, scenario: Scenario, *, interval: int, orchestrator: int, grouping: bool) -> None:
        self.scenario, self.interval, self.orchestrator = scenario, interval, orchestrator
        self.grouping = grouping
        self.size = {machine.name: machine.gpus for machine in scenario.cluster.machines}
        self.type = {machine.name: machine.gpu_type for machine in scenario.cluster.machines}
        self.place = {name: place for place, name in enumerate(self.size)}
        self.runs = [
            Run(number, job, Fraction(job.duration)) for number, job in enumerate(scenario.workload.jobs)
        ]
        self.away: set[str] = set()
        self.open: list[Request] = []
        self.given_up: list[tuple[Fraction, str]] = []
        self.now = Fraction(0)
        self.first = min(Fraction(job.release_date) for job in scenario.workload.jobs)
        self._play()

    # Time

    def _play(self) -> None:
        """Go from instant to instant until all jobs are complete; then only machines are taken."""
        dates = sorted(
            [(Fraction(each.time), 0, place) for place, each in enumerate(self.scenario.events)]
            + [
                (Fraction(each.deadline), 1, place)
                for place, each in enumerate(self.scenario.events)
                if isinstance(each, Reclaim)
            ]
        )
        instant = Fraction(ceil(self.first / self.interval) * self.interval)
        answer = Fraction(ceil(self.first / self.orchestrator) * self.orchestrator)
        news = False
        while any(run.done is None for run in self.runs):
            self.now = max(self.now, min(self._next(), instant, answer, *(date[0] for date in dates[:1])))
            happened = self._complete() | any(run.job.release_date == self.now for run in self.runs)
            while dates and dates[0][0] <= self.now:
                happened |= self._happen(*dates.pop(0))
            answers, schedules = self.now == answer, self.now == instant
            news |= happened or (answers and bool(self.open))
            answer += self.orchestrator * answers
            instant += self.interval * schedules
            if self.now >= self.first:
                self._answer([each for each in self.open if answers or each.deadline <= answer])
                if schedules and news:
                    self._schedule()
                    news = any(run.evicted == self.now for run in self.runs)
                self._take_effect()
        for date in dates:
            self.now = max(self.now, date[0])
            self._happen(*date)

    def _next(self) -> Fraction:
        """Return when the next job completes or is released."""
        ends = [max(run.settled, run.works_from) + run.left / self._rate(run) for run in self._running()]
        dates = [Fraction(run.job.release_date) for run in self.runs]
        return min([*ends, *(date for date in dates if date > self.now)], default=self.now + self.interval)

    def _complete(self) -> bool:
        for run in self._running():
            begin = max(run.settled, run.works_from)
            if self.now > begin:
                run.left -= (self.now - begin) * self._rate(run)
            run.settled = self.now
        complete = [run for run in self._running() if run.left <= 0]
        for run in complete:
            run.done, run.base, run.flexible, run.planned = self.now, {}, {}, {}
        return bool(complete)

    def _running(self) -> list[Run]:
        return [run for run in self.runs if run.base]

    def _rate(self, run: Run) -> Fraction:
        held = [
            machine for part in (run.base, run.flexible) for machine, gpus in part.items() for _ in range(gpus)
        ]
        return self._speed(run, [self.type[machine] for machine in held])

    def _speed(self, run: Run, types: Sequence[str]) -> Fraction:
        speed = self.scenario.speed
        each = sum((1 / Fraction(speed.gpu_types.get(name, 1.0)) for name in types), Fraction(0)) / len(types)
        mixed = Fraction(speed.mixed) if len(set(types)) > 1 else 1
        return menu_of(run.job, run.way.mode)[len(types)] * each / mixed

    # Machines

    def _happen(self, date: Fraction, kind: int, place: int) -> bool:
        """Let an event happen, or a deadline pass; tell whether there was anything to it."""
        event = self.scenario.events[place]
        if kind:
            return self._take_owed(date, event)
        if isinstance(event, Leave):
            for machine in event.servers:
                self._evict(machine)
                self.away.add(machine)
        elif isinstance(event, Return):
            self.away -= set(event.servers)
        elif isinstance(event, Loan):
            coming = [machine for machine in self._meant(event) if machine in self.away]
            self.away -= set(coming[: event.servers])
        else:
            self.open.append(Request(Fraction(event.deadline), event, [event.servers or 0], self._meant(event)))
            self.open.sort(key=lambda each: each.deadline)
        return True

    def _meant(self, event: Loan | Reclaim) -> list[str]:
        return [
            machine
            for machine, kind in self.type.items()
            if event.gpu_type in ("", kind) and (not event.among or machine in event.among)
        ]

    def _take_owed(self, date: Fraction, event: Event) -> bool:
        """Take what is owed at a deadline: machines whose jobs hold the fewest GPUs."""
        found = [each for each in self.open if each.event is event]
        for request in found:
            self.open.remove(request)
            for _ in range(request.owed[0]):
                there = [machine for machine in request.takes if machine not in self.away]
                if there:
                    machine = min(there, key=self._gpus_of_users)
                    self._evict(machine)
                    self.away.add(machine)
                    self.given_up.append((date, machine))
        return bool(found)

    def _gpus_of_users(self, machine: str) -> int:
        users = [run for run in self.runs if machine in run.base or machine in run.flexible]
        return sum(sum(run.base.values()) + sum(run.flexible.values()) for run in users)

    def _evict(self, machine: str, *, base_only: bool = False) -> None:
        for run in self._running():
            if machine in run.base or (machine in run.flexible and not base_only):
                run.base, run.flexible, run.planned, run.evicted = {}, {}, {}, self.now
                run.preemptions += 1
                if not run.job.checkpoints:
                    run.left = Fraction(run.job.duration)

    # The orchestrator

    def _answer(self, requests: Sequence[Request]) -> None:
        for request in requests:
            there = [machine for machine in request.takes if machine not in self.away]
            spare = sorted((each for each in there if not self._base(each)), key=self._flexible)
            demand = min(request.owed[0], len(there))
            chosen = spare[:demand]
            if demand > len(chosen):
                others = [machine for machine in there if machine not in spare]
                hosts = {run.number: run.base.keys() & set(others) for run in self._running()}
                known = {number: each for number, each in hosts.items() if each}
                chosen += algorithm_1(known, others, demand - len(chosen))
            self._give_up(chosen)

    def _give_up(self, machines: Sequence[str]) -> None:
        for machine in machines:
            self._evict(machine, base_only=True)
        for run in self._running():
            if run.planned.keys() & set(machines):
                run.planned = {each: gpus for each, gpus in run.planned.items() if each not in machines}
                self._fall_to_allowed(run)
        for machine in machines:
            taker = next(each for each in self.open if machine in each.takes)
            taker.owed[0] -= 1
            if not taker.owed[0]:
                self.open.remove(taker)
            self.away.add(machine)
            self.given_up.append((self.now, machine))

    # Flexible workers

    def _base(self, machine: str) -> int:
        return sum(run.base.get(machine, 0) for run in self.runs)

    def _flexible(self, machine: str) -> int:
        return sum(run.planned.get(machine, 0) for run in self.runs)

    def _idle(self, machine: str) -> int:
        return self.size[machine] - self._base(machine) - self._flexible(machine)

    def _there(self, kind: str) -> list[str]:
        return [machine for machine in self.size if self.type[machine] == kind and machine not in self.away]

    def _release(self, run: Run, machine: str) -> None:
        run.planned = {**run.planned, machine: run.planned[machine] - run.way.size}
        run.planned = {each: gpus for each, gpus in run.planned.items() if gpus}

    def _release_one(self, run: Run) -> None:
        """Take a worker from a machine with base workers, of anybody, if there is one; then from the last."""
        self._release(run, max(run.planned, key=lambda each: (self._base(each) > 0, self.place[each])))

    def _fall_to_allowed(self, run: Run) -> None:
        while sum(run.base.values()) + sum(run.planned.values()) not in run.speeds:
            self._release_one(run)

    def _take_effect(self) -> None:
        lost = self.scenario.overhead
        for run in self._running():
            if run.planned != run.flexible:
                run.flexible = run.planned
                if run.started != self.now:
                    resized = self.now + Fraction(lost(run.job).resize)
                    run.works_from = max(run.works_from, resized)

    # The scheduler

    def _schedule(self) -> None:
        waiting = [
            run
            for run in self.runs
            if run.done is None
            and not run.base
            and run.job.release_date <= self.now
            and run.evicted != self.now
        ]
        waiting.sort(key=lambda run: (not type_of(run.job, ""), self._time(run), run.number))
        started = [run for run in waiting if any(self._stand(run, way) for way in self._ways(run.job))]
        self._place_anew(started)
        for run in started:
            lost = self.scenario.overhead(run.job)
            again = 0 if run.started is None else Fraction(lost.stop)
            run.works_from = self.now + Fraction(lost.start) + again
            run.started = run.settled = self.now
            self._reach(run)
        self._make_way()
        self._share([run for run in self._running() if len(run.speeds) > 1])

    def _time(self, run: Run) -> Fraction:
        menu = menu_of(run.job, "")
        return run.left / menu[min(menu)]

    def _ways(self, job: Job) -> list[Way]:
        """Return the ways to run a job, the preferred one first."""
        if not type_of(job, ""):
            size = self._worker(job, "", (TRAINING, INFERENCE))
            return [Way("", (TRAINING, INFERENCE), size)] if size else []
        found = {}
        for kind in (TRAINING, INFERENCE):
            modes = [mode for mode in ["", *(each.name for each in job.modes)] if type_of(job, mode) == kind]
            if modes and (size := self._worker(job, modes[0], (kind,))):
                found[kind] = Way(modes[0], (kind,), size)
        elastic = any(self._can_grow(job, way) for way in found.values())
        order = (INFERENCE, TRAINING) if elastic and self.grouping else (TRAINING, INFERENCE)
        return [found[kind] for kind in order if kind in found]

    def _worker(self, job: Job, mode: str, types: Sequence[str]) -> int:
        """Return the GPUs of a worker; 0 where the base workers find no place though all is empty."""
        counts = menu_of(job, mode)
        boxes = [gpus for machine, gpus in self.size.items() if self.type[machine] in types]
        sizes = range(min(boxes, default=0), 0, -1)
        suited = (each for each in sizes if gcd(*counts) % each == 0)
        return next((each for each in suited if sum(box // each for box in boxes) * each >= min(counts)), 0)

    def _can_grow(self, job: Job, way: Way) -> bool:
        return sum(count <= self._most(way) for count in menu_of(job, way.mode)) > 1

    def _most(self, way: Way) -> int:
        """Return the most GPUs that workers of one size could hold if all were empty."""
        boxes = [gpus for machine, gpus in self.size.items() if self.type[machine] in way.types]
        return sum(box // way.size for box in boxes) * way.size

    def _stand(self, run: Run, way: Way) -> bool:
        """Place the base workers of a job, or nothing."""
        run.way, run.base = way, {}
        missing = min(menu_of(run.job, way.mode)) // way.size
        before = {machine: self._base(machine) + self._flexible(machine) for machine in self.size}
        if not self.grouping:
            missing -= self._stand_on_idle(run, missing, before)
        for _ in range(missing):
            room = {
                each: self.size[each] - self._base(each) for kind in way.types for each in self._there(kind)
            }
            fitting = [machine for machine, gpus in room.items() if gpus >= way.size]
            if not fitting:
                run.base = {}
                return False
            best = min(fitting, key=lambda each: self._rank_for_base(way, each))
            run.base[best] = run.base.get(best, 0) + way.size
        return True

    def _stand_on_idle(self, run: Run, missing: int, before: Mapping[str, int]) -> int:
        """Place as many base workers as go where nobody makes way, and give their number."""
        size, placed = run.way.size, 0
        for kind in run.way.types:
            while placed < missing and (
                fitting := [each for each in self._there(kind) if self._idle(each) >= size]
            ):
                taken = run.base
                best = min(fitting, key=lambda each: (not (before[each] or each in taken), self._idle(each)))
                run.base[best] = run.base.get(best, 0) + size
                placed += 1
        return placed

    def _rank_for_base(self, way: Way, machine: str) -> tuple[int, int, int, int]:
        base, flexible = self._base(machine), self._flexible(machine)
        group = 0 if base else 2 if flexible else 1
        return way.types.index(self.type[machine]), group, self.size[machine] - base, self.place[machine]

    def _place_anew(self, started: Sequence[Run]) -> None:
        """Place the base workers of all that start by decreasing size, if all find a place that way."""
        first = [run.base for run in started]
        for run in started:
            run.base = {}
        order = sorted(started, key=lambda run: (len(run.way.types), -run.way.size))
        if not all(self._stand(run, run.way) for run in order):
            for run, base in zip(started, first, strict=True):
                run.base = base

    def _make_way(self) -> None:
        displaced = []
        for machine in self.size:
            while self._idle(machine) < 0:
                run = max((run for run in self.runs if machine in run.planned), key=lambda run: run.number)
                self._release(run, machine)
                displaced.append(run)
        for run in displaced:
            self._fall_to_allowed(run)

    def _reach(self, run: Run) -> None:
        """Find where a job may grow; one on both types as far as that makes it faster."""
        most = self._most(run.way)
        menu = {count: speed for count, speed in menu_of(run.job, run.way.mode).items() if count <= most}
        run.grows_on, run.speeds = run.way.types, menu
        if len(run.way.types) == 1 or len(menu) == 1:
            return
        base, size = sum(run.base.values()), run.way.size
        types = [self.type[machine] for machine, gpus in run.base.items() for _ in range(gpus)]
        alone = self._speed(run, types)
        found: dict[str, dict[int, Fraction]] = {}
        for kind in (INFERENCE, TRAINING):
            machines = [machine for machine in self.size if self.type[machine] == kind]
            room = sum((self.size[each] - run.base.get(each, 0)) // size * size for each in machines)
            speeds = {
                count: menu[base] * self._speed(run, [*types, *[kind] * (count - base)]) / alone
                for count in menu
                if count - base <= room
            }
            found[kind] = {
                count: speed for count, speed in speeds.items() if count == base or speed > menu[base]
            }
        useful = [kind for kind in found if len(found[kind]) > 1]
        run.grows_on = tuple(useful) or (TRAINING,)
        run.speeds = found[run.grows_on[0]]

    def _share(self, elastic: Sequence[Run]) -> None:
        """Divide what base workers leave: the pools first, then both for jobs on both."""
        rooms = {
            kind: [self.size[each] - self._base(each) for each in self._there(kind)]
            for kind in (TRAINING, INFERENCE)
        }
        target: dict[Run, int] = {}
        for types in ((TRAINING,), (INFERENCE,), (INFERENCE, TRAINING)):
            group = [run for run in elastic if run.grows_on == types]
            chosen = knapsack(
                [self._item(run) for run in group], [room for kind in types for room in rooms[kind]]
            )
            target |= dict(zip(group, chosen, strict=True))
            if len(types) == 1:
                workers = [run.way.size for run in group for _ in range(target[run])]
                rooms[types[0]] = _left_over(rooms[types[0]], workers)
        for run in elastic:
            while sum(run.planned.values()) > target[run] * run.way.size:
                self._release_one(run)
        for run in sorted(elastic, key=lambda run: (len(run.grows_on), -run.way.size, run.number)):
            self._grow(run, target[run])

    def _item(self, run: Run) -> Item:
        base = sum(run.base.values())
        time = run.left / run.speeds[base]
        return run.way.size, {
            (count - base) // run.way.size: time - run.left / speed
            for count, speed in run.speeds.items()
            if count > base
        }

    def _grow(self, run: Run, target: int) -> None:
        types = run.grows_on if self.grouping else run.grows_on[::-1]
        for _ in range(target - sum(run.planned.values()) // run.way.size):
            fitting = [each for kind in types for each in self._there(kind) if self._idle(each) >= run.way.size]
            if fitting:
                best = min(fitting, key=lambda each: self._rank_for_flexible(types, each))
                run.planned = {**run.planned, best: run.planned.get(best, 0) + run.way.size}
        self._fall_to_allowed(run)

    def _rank_for_flexible(self, types: Sequence[str], machine: str) -> tuple[int, int, int, int]:
        base, flexible = self._base(machine), self._flexible(machine)
        if self.grouping and self.type[machine] == INFERENCE:
            group = 2 if base else 0 if flexible else 1
        else:
            group = 0 if base or flexible else 1
        return types.index(self.type[machine]), group, self._idle(machine), self.place[machine]


def _left_over(rooms: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return what is left of rooms when workers stand in them, as far as they find a place."""
    left = list(rooms)
    for size in sorted(sizes, reverse=True):
        left = fits([size], left) or left
    return left
