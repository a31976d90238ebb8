"""Enumeration: the best schedule in rounds of a tiny adaptive scenario, in fractions."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any, NamedTuple

from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Action, Assign, Policy, State, Wake
from tests.gsopt.schedule.bounds.tiny import Way, exact, machines_of, ways_of
from tests.gsopt.schedule.naive_training import Training
from tests.gsopt.simulation.scripts import doing


class Standing(NamedTuple):
    """How far a job is. A piece of its work is over at `end`, where its epoch ends or the next piece begins."""

    epoch: int = 0
    done: Fraction = Fraction(0)
    way: int = -1
    ran: bool = False
    works_from: Any = 0
    begin: Any = 0
    end: Any = inf
    ends_epoch: bool = False
    complete: bool = False


Standings = tuple[Standing, ...]

#: When it is taken, and the way of each job.
Decision = tuple[Fraction, tuple[int, ...]]


class Runner:
    """A job on its own: what it does between two decisions. Times count from the origin of the clock."""

    def __init__(self, scenario: Scenario, place: int) -> None:
        job = scenario.workload.jobs[place]
        application = scenario.applications[job.model]
        self.agents, self.restarts = scenario.agents, scenario.restarts
        self.release = exact(job.release_date) - Fraction(scenario.clock.origin)
        overhead = scenario.overhead(job)
        self.start, self.stop, self.resize = map(exact, (overhead.start, overhead.stop, overhead.resize))
        self.ways: list[Way] = ways_of(job, application, scenario.agents, machines_of(scenario))
        training = Training(application, scenario.agents, job.batch_size or 1)
        self.goals = [training.goal(epoch) for epoch in range(application.epochs + 1)]
        self.speeds = [[float(rate) for rate in way.rates] for way in self.ways]
        self.best = [max(way.rates[e] for way in self.ways) for e in range(application.epochs)]

    def give(self, at: Standing, way: int, now: Fraction) -> Standing:
        """Let a job have GPUs, others, or none."""
        if way == at.way or at.complete:
            return at
        works_from, anew = at.works_from, True
        if at.way < 0:
            works_from = now + self.start + (self.stop if at.ran else 0)
        elif way >= 0:
            old, new = self.ways[at.way], self.ways[way]
            alike = (old.shape, old.mode) == (new.shape, new.mode)
            free = {
                "change": False,
                "shape": old.shape == new.shape,
                "machines": len(old.shape) == len(new.shape),
            }
            if not free[self.restarts]:
                works_from = max(works_from, now + self.resize)
            anew = self.restarts == "change" or not alike
        if not anew:
            return at._replace(way=way, works_from=works_from)
        done = at.done
        if at.end < inf:
            speed = self.ways[at.way].rates[at.epoch]
            done = min(done + speed * max(now - at.begin, 0), self.goals[at.epoch + 1])
        stopped = at._replace(done=done, way=way, end=inf)
        return (
            stopped
            if way < 0
            else self._work(stopped._replace(ran=True, works_from=works_from), max(now, works_from))
        )

    def _work(self, at: Standing, begin: Fraction) -> Standing:
        seconds = (self.goals[at.epoch + 1] - at.done) / self.ways[at.way].rates[at.epoch]
        if not self.agents.whole_seconds:
            return at._replace(begin=begin, end=begin + seconds, ends_epoch=True)
        end = begin + max(round(seconds), 1)
        boundary = (begin // self.agents.interval + 1) * self.agents.interval
        return at._replace(begin=begin, end=min(end, boundary), ends_epoch=end <= boundary)

    def run(self, at: Standing, until: Fraction) -> tuple[Standing, Any]:
        """Return where a job is at a time, and when it completed, if it did by then."""
        while at.end <= until:
            now = at.end
            if at.ends_epoch:
                at = at._replace(epoch=at.epoch + 1, done=self.goals[at.epoch + 1])
                if at.epoch + 1 == len(self.goals):
                    return Standing(complete=True), now
            else:
                done = at.done + (now - at.begin) * self.ways[at.way].rates[at.epoch]
                at = at._replace(done=min(done, self.goals[at.epoch + 1]))
            at = self._work(at, now)
        return at, None

    def earliest(self, at: Standing, now: Fraction) -> Fraction:
        """Return a time before which a job does not complete, if nothing is decided before `now`."""
        if at.complete:
            return Fraction(0)
        begin = max(now, self.release)
        if at.way < 0:
            begin += self.start + (self.stop if at.ran else 0)
        done = at.done
        if at.end < inf:
            done += self.ways[at.way].rates[at.epoch] * max(now - at.begin, 0)
        for epoch in range(at.epoch, len(self.best)):
            seconds = max(self.goals[epoch + 1] - done, Fraction(0)) / self.best[epoch]
            if self.agents.whole_seconds:
                seconds = max(seconds - Fraction(1, 2), Fraction(0))
            begin, done = begin + seconds, max(done, self.goals[epoch + 1])
        return begin

    def gain(self, at: Standing, way: int) -> float:
        """Return how promising a way is."""
        if way < 0:
            return 0.0
        return self.speeds[way][at.epoch] / (float(self.goals[-1] - at.done) or 1e-9) + 1e-3 * (way == at.way)


class _Follows:
    """What follows for each job from each way that it may be given at a decision, whatever the others get."""

    def __init__(self, runners: Sequence[Runner], standing: Standings, now: Fraction) -> None:
        self._runners, self._standing, self._now = runners, standing, now
        self._given: dict[tuple[int, int], Standing] = {}
        self._ran: dict[tuple[int, int, Fraction], tuple[Standing, Any]] = {}

    def ran(self, place: int, way: int, until: Fraction) -> tuple[Standing, Any]:
        """Return where a job is at a time, and when it completed, if it did by then."""
        if (place, way) not in self._given:
            self._given[place, way] = self._runners[place].give(self._standing[place], way, self._now)
        if (place, way, until) not in self._ran:
            self._ran[place, way, until] = self._runners[place].run(self._given[place, way], until)
        return self._ran[place, way, until]


class Enumeration:
    """The best schedule of all that decide in rounds, found by trying each that could be better.

    Parameters
    ----------
    at_events
        Whether decisions are taken at releases and completions, too.
    most
        Largest number of decisions to try.

    Attributes
    ----------
    total
        The least sum of completion times minus release dates.
    decisions
        The time of each decision, and the way of each job, by its index; -1 for none.
    proven
        Whether all schedules were tried; else the best of those tried stands.
    """

    def __init__(
        self, scenario: Scenario, round_length: float, *, at_events: bool = False, most: int = 3_000
    ) -> None:
        self.scenario, self.length, self.at_events = scenario, exact(round_length), at_events
        self.runners = [Runner(scenario, place) for place in range(len(scenario.workload.jobs))]
        self.machines = machines_of(scenario)
        self.total: Any = inf
        self.decisions: list[Decision] = []
        self.proven, self._left = True, most
        self._seen: dict[Any, Fraction] = {}
        released = sum((runner.release for runner in self.runners), Fraction(0))
        self._try(Fraction(0), tuple(Standing() for _ in self.runners), -released, [])

    def _try(self, now: Fraction, standing: Standings, cost: Fraction, past: list[Decision]) -> None:
        if all(at.complete for at in standing):
            if cost < self.total:
                self.total, self.decisions = cost, list(past)
            return
        if self._hopeless(standing, now, cost) or self._seen.get((now, standing), cost + 1) <= cost:
            return
        self._seen[now, standing] = cost
        follows = _Follows(self.runners, standing, now)
        for ways in self._choices(standing, now):
            if self._left <= 0:
                self.proven = False
                return
            self._left -= 1
            until = self._next(follows, ways, now)
            ran = [follows.ran(place, way, until) for place, way in enumerate(ways)]
            total = cost + sum((completed or Fraction(0) for _, completed in ran), Fraction(0))
            self._try(until, tuple(at for at, _ in ran), total, [*past, (now, ways)])

    def _next(self, follows: "_Follows", ways: tuple[int, ...], now: Fraction) -> Fraction:
        """Return when the next decision is taken."""
        until = (now // self.length + 1) * self.length
        if not self.at_events:
            return until
        times = [runner.release for runner in self.runners]
        times += [follows.ran(place, way, until)[1] or until for place, way in enumerate(ways)]
        return min([until, *(time for time in times if time > now)])

    def _hopeless(self, standing: Standings, now: Fraction, cost: Fraction) -> bool:
        pairs = zip(self.runners, standing, strict=True)
        return bool(cost + sum(runner.earliest(at, now) for runner, at in pairs) >= self.total)

    def _choices(self, standing: Standings, now: Fraction) -> list[tuple[int, ...]]:
        """Return what the jobs can have together, the most promising first."""
        options = []
        for runner, at in zip(self.runners, standing, strict=True):
            there = runner.release <= now and not at.complete
            options.append([-1, *(range(len(runner.ways)) if there else ())])
        gains = [
            {way: runner.gain(at, way) for way in own}
            for runner, at, own in zip(self.runners, standing, options, strict=True)
        ]

        def fits(ways: tuple[int, ...]) -> bool:
            held = [r.ways[way].held for r, way in zip(self.runners, ways, strict=True) if way >= 0]
            return all(sum(each) <= m for each, m in zip(zip(*held, strict=True), self.machines, strict=False))

        def promise(ways: tuple[int, ...]) -> float:
            return sum(gain[way] for gain, way in zip(gains, ways, strict=True))

        return sorted(filter(fits, product(*options)), key=promise, reverse=True)


def following(found: Enumeration) -> Policy:
    """Make a policy of the best schedule in rounds. Jobs that take longer than it says run on after it."""
    sizes, machines = found.machines, range(len(found.machines))
    own = [[sum(sizes[:m]) + place for place in range(sizes[m])] for m in machines]
    held: dict[int, tuple[int, tuple[int, ...]]] = {}
    complete: set[int] = set()

    def wanted(number: int) -> list[int]:
        if number < len(found.decisions):
            return list(found.decisions[number][1])
        late = [job for job in range(len(found.runners)) if job not in complete]
        ways = [-1] * len(found.runners)
        for job in [job for job in late if job in held] or late[:1]:
            ways[job] = held[job][0] if job in held else max(range(len(found.runners[job].ways)))
        return ways

    def follow(state: State) -> Iterable[Action]:
        complete.update(state.completed)
        number = round(state.now / float(found.length))
        ways = [-1 if job in complete else way for job, way in enumerate(wanted(number))]
        for job in [job for job in held if held[job][0] != ways[job]]:
            del held[job]
        for job, way in enumerate(ways):
            if way >= 0 and job not in held:
                taken = {gpu for _, gpus in held.values() for gpu in gpus}
                counts = found.runners[job].ways[way].held
                free = ([gpu for gpu in own[m] if gpu not in taken][: counts[m]] for m in machines)
                held[job] = way, tuple(gpu for gpus in free for gpu in gpus)
        yield Assign({job: (gpus, found.runners[job].ways[way].mode) for job, (way, gpus) in held.items()})
        if len(complete) < len(ways):
            yield Wake(float((number + 1) * found.length))

    return doing(follow)
