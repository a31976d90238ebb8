"""Prices: the bound by priced time from its definition, in fractions, and the optimum of a few jobs.

GPU time has a price in each cell of a grid and, by rows, for further reasons: GPUs of one type, or groups of
GPUs that a job takes whole. A job pays for what it uses and waits for what is cheap; what all jobs spend at the
least, less what the whole cluster would earn, is no more than the best schedule costs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, product
from math import inf
from random import Random
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from gsopt.core.numbers.grid import decimal
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave, Return
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds.prices import PriceBound

#: Speed by number of GPUs: linear, concave, and falling.
_CURVES: Sequence[Callable[[int], float]] = (
    lambda gpus: gpus,
    lambda gpus: gpus,
    lambda gpus: (gpus + 1) / 2,
    lambda gpus: 2 - gpus / 16,
)


class Way(NamedTuple):
    """A way to run a job: on so many GPUs of a type, of any when empty, by its menu at a speed."""

    gpu_type: str
    gpus: int
    speed: Fraction


#: Not running.
_IDLE = Way("", 0, Fraction(0))


class Row(NamedTuple):
    """What has a price: GPUs by what they are worth, of a type or of any when empty; or groups, taken whole."""

    gpu_type: str = ""
    group: int = 1

    def use(self, scenario: Scenario, job: Job, way: Way) -> Fraction:
        """Count what a job surely takes when it is as fast as it can be."""
        if self.group > 1:
            return Fraction(way.gpus // self.group)
        return _worth(scenario, way) if self.gpu_type in {"", _tie(job)} else Fraction(0)

    def room(self, scenario: Scenario, there: Mapping[str, int]) -> Fraction:
        """Count what is there."""
        kinds = [self.gpu_type] if self.gpu_type else _kinds(there)
        if self.group > 1:
            return Fraction(scenario.share_limit * there[""] // self.group)
        return scenario.share_limit * sum(
            (there.get(kind, 0) / _slower(scenario, kind) for kind in kinds), Fraction(0)
        )


#: Price of every row by cell; beyond the last cell all is free.
Prices = Mapping[Row, Sequence[Fraction]]


class Bound(NamedTuple):
    """A bound on the weighted sum of completion times, and how far each row is used in excess, by cell."""

    value: Fraction
    excess: Mapping[Row, Sequence[Fraction]]


class _Cell(NamedTuple):
    """A cell of the grid; the last one never ends."""

    start: Fraction
    end: Fraction | float

    def seconds(self, release: Fraction) -> Fraction | float:
        return max(Fraction(0), self.end - max(self.start, release))


class _Piece(NamedTuple):
    """Work that a job may do in a cell, at the same cost for each unit of it."""

    slope: Fraction
    work: Fraction | float
    cell: int
    speed: Fraction  # gained by it
    ways: tuple[Way, Way]  # from, to


def draw(random: Random) -> Scenario:
    """Draw up to three jobs, with whatever a cluster may do to them."""
    kind = random.choice(("plain", "plain", "plain", "typed", "shared"))
    gpus = random.choice((1, 2, 3, 4, 4, 8))
    cluster = Cluster.plain(gpus)
    if kind == "typed":
        first = random.randint(1, 3)
        machines = [
            Machine(name="m0", gpus=first, gpu_type="A"),
            Machine(name="m1", gpus=random.randint(1, 3), gpu_type="B"),
        ]
        cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    if kind == "shared":
        cluster = Cluster.uniform(machines=1, gpus=min(gpus, 3))
    jobs = [_draw_job(random, index, cluster, kind) for index in range(random.choice((1, 2, 2, 2, 3)))]
    return Scenario(
        workload=Workload(jobs=jobs),
        cluster=cluster,
        share_limit=2 if kind == "shared" else 1,
        capacity_changes=_draw_changes(random, cluster) if random.random() < 0.4 else (),
        events=_draw_events(random) if kind == "typed" and random.random() < 0.5 else (),
        speed=_draw_speed(random) if kind == "typed" else Speed(),
    )


def _draw_speed(random: Random) -> Speed:
    """Draw how many times slower GPUs of type B are, and jobs on both types."""
    return Speed(gpu_types={"B": random.choice((1.0, 1.5, 3.0))}, mixed=random.choice((1.0, 1.25)))


def _draw_job(random: Random, index: int, cluster: Cluster, kind: str) -> Job:
    gpu_type = random.choice(("", "A", "B")) if kind == "typed" else ""
    room = cluster.room(gpu_type)
    counts = sorted(random.sample(range(1, room + 1), random.randint(1, min(3, room))))
    demanded = random.choice(counts)
    curve: Callable[[int], float] = random.choice(_CURVES)
    spare = [(count, random.choice((0.5, 1.25, 2.0))) for count in counts if random.random() < 0.5]
    other = random.choice((None, "A", "B", "")) if kind == "typed" else None
    return Job(
        name=f"j{index}",
        release_date=random.choice((0, 0, random.randint(0, 6))),
        duration=random.choice((1, random.randint(1, 8), random.randint(1, 32) / 4)),
        gpus=demanded,
        gpu_type=gpu_type,
        menu=[(count, 1.0 if count == demanded else curve(count) / curve(demanded)) for count in counts],
        modes=[Mode(name="other", menu=spare, gpu_type=other)] if spare and random.random() < 0.3 else (),
    )


def _draw_changes(random: Random, cluster: Cluster) -> list[CapacityChange]:
    """Take GPUs away and give all of them back in the end."""
    times = sorted(random.sample(range(10), 2))
    sizes = [random.randint(0, cluster.gpus), cluster.gpus]
    return [CapacityChange(time=time, gpus=size) for time, size in zip(times, sizes, strict=True)]


def _draw_events(random: Random) -> list[Leave | Return]:
    server = random.choice(("m0", "m1"))
    begin, end = sorted(random.sample(range(10), 2))
    return [Leave(time=begin, servers=[server]), Return(time=end, servers=[server])]


def drawn(seed: int) -> tuple[Random, Scenario, list[Fraction]]:
    """Draw a scenario and weights, and return them with the source of further random numbers."""
    random = Random(f"prices {seed}")
    scenario = draw(random)
    return random, scenario, draw_weights(random, scenario)


def draw_weights(random: Random, scenario: Scenario) -> list[Fraction]:
    """Draw what a second of each job's completion costs: 1 of each, or integers, 0 among them."""
    even = random.random() < 0.5
    return [Fraction(1 if even else random.randint(0, 5)) for _ in scenario.workload.jobs]


def draw_prices(random: Random, scenario: Scenario) -> tuple[list[Fraction], Prices]:
    """Draw a grid that begins no later than the jobs, and prices, a third of which are 0."""
    steps = [Fraction(random.randint(1, 12), 4) for _ in range(random.randint(1, 6))]
    grid = list(accumulate(steps, initial=Fraction(0)))
    largest = random.choice((1, 2, 8))
    return grid, {
        row: [
            Fraction(random.choice((0, random.randint(0, 16), random.randint(0, 16))), 16) * largest
            for _ in steps
        ]
        for row in rows(scenario)
        if random.random() < 0.7
    }


def rows(scenario: Scenario) -> list[Row]:
    """List what may have a price: all GPUs, those of each type, and groups of them."""
    types = {_tie(job) for job in scenario.workload.jobs} - {""}
    sizes = {way.gpus for job in scenario.workload.jobs for way in ways(job) if way.gpus > 1}
    return [Row(), *(Row(kind) for kind in sorted(types)), *(Row(group=size) for size in sorted(sizes))]


def ways(job: Job) -> list[Way]:
    """Return the ways to run a job in any of its modes, for each type and number of GPUs the fastest one."""
    found: dict[tuple[str, int], Fraction] = {}
    for mode, menu in job.speeds.items():
        for count, speed in menu.items():
            key = job.gpu_type_in(mode), count
            found[key] = max(found.get(key, Fraction(0)), Fraction(speed))
    return [Way(*key, speed) for key, speed in found.items()]


def _tie(job: Job) -> str:
    """Return the type of GPUs on which a job runs in every way; empty where there is none."""
    types = {way.gpu_type for way in ways(job)}
    return types.pop() if len(types) == 1 else ""


def _slower(scenario: Scenario, kind: str) -> Fraction:
    return Fraction(scenario.speed.gpu_types.get(kind, 1.0))


def _kinds(there: Mapping[str, int]) -> list[str]:
    """List the types of what is there; the one without a name where there are no others."""
    return [kind for kind in there if kind] or [""]


def _worth(scenario: Scenario, way: Way) -> Fraction:
    """Return what the best GPUs for a way to run are worth; as many as there are, if these are too few."""
    left, worth = way.gpus, Fraction(0)
    there = supply(scenario.model_copy(update={"capacity_changes": (), "events": ()}))[0][1]
    kinds = [way.gpu_type] if way.gpu_type else _kinds(there)
    for kind in sorted(kinds, key=lambda kind: _slower(scenario, kind)):
        taken = min(left, there.get(kind, 0))
        worth, left = worth + taken / _slower(scenario, kind), left - taken
    return worth


def supply(scenario: Scenario) -> list[tuple[Fraction, dict[str, int]]]:
    """Return the GPUs that are there from each change on, by type; under no type, all."""
    cluster = scenario.cluster
    dates = {Fraction(0), *(Fraction(each.time) for each in (*scenario.capacity_changes, *scenario.events))}
    found = []
    for date in sorted(dates):
        most = [change.gpus for change in scenario.capacity_changes if change.time <= date]
        away: set[str] = set()
        for event in sorted(scenario.events, key=lambda event: event.time):
            if event.time <= date and isinstance(event, Leave):
                away.update(event.servers)
            if event.time <= date and isinstance(event, Return):
                away.difference_update(event.servers)
        there = {"": most[-1] if most else cluster.gpus}
        if not cluster.is_plain:
            limit, there = there[""], {"": 0}
            for machine in cluster.machines:
                left = sum(gpu < limit for gpu in cluster.gpus_of[machine.name]) * (machine.name not in away)
                there[""] += left
                if machine.gpu_type:
                    there[machine.gpu_type] = there.get(machine.gpu_type, 0) + left
        found.append((date, there))
    return found


def bound(scenario: Scenario, weights: Sequence[Fraction], grid: Sequence[Fraction], prices: Prices) -> Bound:
    """Return the bound of some prices: each job at its least cost, less what all of the cluster costs."""
    ends: list[Fraction | float] = [*grid[1:], inf]
    cells = [_Cell(start, end) for start, end in zip(grid, ends, strict=True)]
    sold = {row: [_supplied(scenario, row, cell) for cell in cells[:-1]] for row in prices}
    excess = {row: [-amount for amount in amounts] for row, amounts in sold.items()}
    value = -sum(
        (price * amount for row in prices for price, amount in zip(prices[row], sold[row], strict=True)),
        start=Fraction(0),
    )
    for job, weight in zip(scenario.workload.jobs, weights, strict=True):
        cost, used = min(_costs(scenario, job, weight, cells, prices), key=lambda way: way[0])
        value += cost
        for piece, work in used:
            for row in prices:
                if piece.cell < len(cells) - 1:
                    less, more = (row.use(scenario, job, way) for way in piece.ways)
                    excess[row][piece.cell] += work / piece.speed * (more - less)
    return Bound(value, excess)


def _supplied(scenario: Scenario, row: Row, cell: _Cell) -> Fraction:
    """Add up the seconds that all groups of a row are there in a cell."""
    steps = supply(scenario)
    ends: list[Fraction | float] = [*(date for date, _ in steps[1:]), inf]
    return sum(
        (
            row.room(scenario, there) * Fraction(max(0, min(end, cell.end) - max(start, cell.start)))
            for (start, there), end in zip(steps, ends, strict=True)
        ),
        start=Fraction(0),
    )


def _costs(
    scenario: Scenario, job: Job, weight: Fraction, cells: Sequence[_Cell], prices: Prices
) -> Iterator[tuple[Fraction, list[tuple[_Piece, Fraction]]]]:
    """Yield for every cell in which a job may complete what that costs at the least, and how."""
    release = Fraction(decimal(job.release_date))
    before: list[_Piece] = []
    for index, own in enumerate(cells):
        if own.end <= release:
            continue
        left, cost = Fraction(job.duration), weight * max(own.start, release)
        used: list[tuple[_Piece, Fraction]] = []
        here = own.seconds(release)
        for piece in sorted([*before, *_pieces(scenario, job, index, here, prices, weight)]):
            work = Fraction(min(left, piece.work))
            left, cost = left - work, cost + work * piece.slope
            used.append((piece, work))
            if not left:
                yield cost, used
                break
        before = sorted([*before, *_pieces(scenario, job, index, here, prices, Fraction(0))])


def _pieces(
    scenario: Scenario, job: Job, cell: int, seconds: Fraction | float, prices: Prices, waiting: Fraction
) -> Iterator[_Piece]:
    """Yield the lower convex hull of speed and cost per second, from standing still, as pieces of work."""
    points = [(Fraction(0), Fraction(0), _IDLE)]
    for way in ways(job):
        priced = (each for each in prices.items() if cell < len(each[1]))
        due = sum((row.use(scenario, job, way) * price[cell] for row, price in priced), waiting)
        points.append((way.speed * _worth(scenario, way) / way.gpus, due, way))
    speed, cost, way = points[0]
    while faster := [point for point in points if point[0] > speed]:
        slope, _, best = min(((each[1] - cost) / (each[0] - speed), -each[0], each) for each in faster)
        if seconds:
            yield _Piece(slope, (best[0] - speed) * seconds, cell, best[0] - speed, (way, best[2]))
        speed, cost, way = best


def proven(scenario: Scenario, weights: Sequence[Fraction], found: PriceBound) -> Fraction:
    """Return what the prices of a bound prove of the weighted sum of job completion times, without rounding."""
    jobs = scenario.workload.jobs
    grid = [Fraction(decimal(jobs[0].release_date)) + Fraction(time) for time in found.times]
    rows_of = {Row(): found.prices} | {Row(kind): prices for kind, prices in found.type_prices.items()}
    prices = {row: [Fraction(price) for price in given] for row, given in rows_of.items()}
    return bound(scenario, weights, grid, prices).value - waited(scenario, weights)


def waited(scenario: Scenario, weights: Sequence[Fraction]) -> Fraction:
    """Add up the release dates by weight: the sum of completion times is by that more than of those of jobs."""
    pairs = zip(scenario.workload.jobs, weights, strict=True)
    return sum((weight * Fraction(decimal(job.release_date)) for job, weight in pairs), start=Fraction(0))


def climb(
    scenario: Scenario, weights: Sequence[Fraction], grid: Sequence[Fraction], prices: Prices, steps: int
) -> Prices:
    """Improve prices by steps along the excess that become shorter; the best ones met are given."""
    best = value = None
    for step in range(steps):
        found = bound(scenario, weights, grid, prices)
        if value is None or found.value > value:
            best, value = prices, found.value
        norm = sum((part * part for parts in found.excess.values() for part in parts), start=Fraction(0))
        if not norm:
            break
        length = abs(found.value) / norm / (step + 2)
        prices = {
            row: [
                max(Fraction(0), price + length * more).limit_denominator(10**6)
                for price, more in zip(prices[row], found.excess[row], strict=True)
            ]
            for row in prices
        }
    assert best is not None
    return best


def optimum(scenario: Scenario, weights: Sequence[Fraction]) -> float:
    """Return the least weighted sum of completion times, by a linear program for every order of events."""
    return min(_solve(scenario, weights, order) for order in _orders(scenario))


class _Event(NamedTuple):
    """The end of an interval: a date, or the completion of a job."""

    date: Fraction | None
    job: int | None
    there: Mapping[str, int]  # before it
    active: tuple[int, ...]  # before it


def _orders(scenario: Scenario) -> Iterator[list[_Event]]:
    """Enumerate the orders of dates and completions; no job completes before it is there."""
    jobs = scenario.workload.jobs
    releases = [Fraction(decimal(job.release_date)) for job in jobs]
    steps = supply(scenario)
    dates = sorted({*releases, *(date for date, _ in steps)})

    def extended(events: list[_Event], passed: int, done: frozenset[int]) -> Iterator[list[_Event]]:
        now = dates[passed]
        there = [gpus for date, gpus in steps if date <= now][-1]
        if len(done) == len(jobs):
            ahead = dates[passed + 1 : passed + 2]  # before which all must be complete
            yield [*events, *(_Event(date, None, there, ()) for date in ahead)]
            return
        active = tuple(job for job in range(len(jobs)) if releases[job] <= now and job not in done)
        if passed + 1 < len(dates):
            yield from extended([*events, _Event(dates[passed + 1], None, there, active)], passed + 1, done)
        for job in active:
            yield from extended([*events, _Event(None, job, there, active)], passed, done | {job})

    return extended([], 0, frozenset())


def _solve(scenario: Scenario, weights: Sequence[Fraction], order: Sequence[_Event]) -> float:
    """Choose how long each way to share the GPUs lasts before each event; infinite if that is impossible."""
    jobs = scenario.workload.jobs
    columns = [(index, way) for index, event in enumerate(order) for way in _configurations(scenario, event)]
    before = np.array([index for index, _ in columns])
    until = [(before <= index).astype(float) for index in range(len(order))]
    cost = np.zeros(len(columns))
    for index, event in enumerate(order):
        if event.job is not None:
            cost += float(weights[event.job]) * until[index]
    work = [
        [float(way[number].speed / Fraction(job.duration)) for _, way in columns]
        for number, job in enumerate(jobs)
    ]
    dates = [(until[index], float(event.date)) for index, event in enumerate(order) if event.date is not None]
    answer: Any = linprog(
        cost,
        A_eq=np.array([*work, *(row for row, _ in dates)]),
        b_eq=[1.0] * len(jobs) + [date for _, date in dates],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return inf if answer.fun is None else float(answer.fun)


class _Held(NamedTuple):
    """GPUs of each type that a job holds, and its speed on them."""

    gpus: Mapping[str, int]
    speed: Fraction


def _configurations(scenario: Scenario, event: _Event) -> Iterator[tuple[_Held, ...]]:
    """Yield every choice of GPUs for each job, none among them, that can be held together."""
    jobs = scenario.workload.jobs
    nothing = _Held({}, Fraction(0))
    choices = [
        [nothing, *_holdings(scenario, job, event.there)] if index in event.active else [nothing]
        for index, job in enumerate(jobs)
    ]
    for chosen in product(*choices):
        held = [sum(each.gpus.get(kind, 0) for each in chosen) for kind in _kinds(event.there)]
        if all(
            count <= scenario.share_limit * event.there[kind]
            for kind, count in zip(_kinds(event.there), held, strict=True)
        ):
            yield chosen


def _holdings(scenario: Scenario, job: Job, there: Mapping[str, int]) -> Iterator[_Held]:
    """Yield every choice of GPUs by type on which a job can run, with its speed."""
    kinds = _kinds(there)
    for counts in product(*(range(there[kind] + 1) for kind in kinds)):
        gpus = {kind: count for kind, count in zip(kinds, counts, strict=True) if count}
        worth = sum((count / _slower(scenario, kind) for kind, count in gpus.items()), Fraction(0))
        rates = [
            way.speed * worth / way.gpus
            for way in ways(job)
            if way.gpus == sum(counts) and (not way.gpu_type or list(gpus) == [way.gpu_type])
        ]
        if rates:
            yield _Held(gpus, max(rates) / (Fraction(scenario.speed.mixed) if len(gpus) > 1 else 1))
