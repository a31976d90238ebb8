"""Segments: what jobs gain from additional GPUs, and a decider that grants GPUs in the order of a key."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

from gsopt.core.errors import number_of, require
from gsopt.core.numbers.hull import concave_hull
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation.parts.pool import Holding, pool_of, size
from gsopt.simulation.parts.running import RunningQueue
from gsopt.simulation.parts.waiting import Rank, WaitingQueue
from gsopt.simulation.policy import Action, State

#: Smallest marginal efficiency, relative to a job's best, and largest exponent. With these limits, no key
#: overflows, and among GPUs that gain less than a billionth of the best, those of the first job come first.
_LEAST_EFFICIENCY, _LARGEST_EXPONENT = 1e-9, 16

#: Largest hysteresis: with this, jobs keep whatever they hold.
_LARGEST_HYSTERESIS = 1e9


class Gain(NamedTuple):
    """The segments of a job's menu: how many GPUs each segment adds, and how efficient these are."""

    gpus: tuple[int, ...]  # additional GPUs of each segment of the job's hull
    speeds: tuple[Any, ...]  # speed of the job with each segment and all below it
    efficiencies: tuple[Any, ...]  # additional speed per additional GPU, relative to the first; falling from 1
    area: Any  # fewest GPU-seconds in which the job does a second of its work


def gain_of(job: Job, cluster: Cluster, number: Callable[[Any], Any] = float) -> Gain:
    """Return the gain of a job from additional GPUs of a cluster, in floats or fractions.

    A segment ends at each number of GPUs in the job's menu on which the job is faster than on all smaller ones,
    and for which the cluster has enough suitable GPUs. The efficiency of a segment is the slope of the concave
    hull of these speeds (see `gsopt.core.numbers.hull.concave_hull`), relative to the first slope.
    """
    if not job.menu:
        return Gain((job.gpus,), (number(1),), (number(1),), number(job.gpus))
    room = cluster.room(job.gpu_type, job.memory or 0)
    menu = sorted(entry for entry in job.menu if entry[0] <= room)
    if not menu:  # it fits in another mode at most
        least = job.counts[0]
        return Gain((least,), (number(job.speed(least)),), (number(1),), number(least))
    hull = concave_hull(menu)
    corners = list(accumulate(segment.gpus for segment in hull))
    slopes = [number(segment.speed) / segment.gpus for segment in hull]
    falling = list(accumulate(slopes, min))  # which they do but for rounding
    gpus, speeds, efficiencies = [], [], []
    held, fastest, place = 0, 0.0, 0
    for count, speed in menu:
        if speed <= fastest or count > corners[-1]:
            continue
        while count > corners[place]:
            place += 1
        gpus.append(count - held)
        speeds.append(number(speed))
        efficiencies.append(max(falling[place] / slopes[0], number(_LEAST_EFFICIENCY)))
        held, fastest = count, speed
    return Gain(tuple(gpus), tuple(speeds), tuple(efficiencies), corners[0] / number(hull[0].speed))


class _Wants(NamedTuple):
    """A present job: the additional GPUs of each segment, and the factor of the job's key for each."""

    item: Job
    gpus: tuple[int, ...]
    weights: tuple[Any, ...]
    speeds: tuple[Any, ...]
    area: Any
    queue: Any


class SegmentGrants:
    """A decider that grants GPUs to the segments that a scan in ascending order of key would choose.

    A segment of a job is a number of additional GPUs and their gain (see `gain_of`). The key of a segment is
    its job's key divided by a power of the segment's efficiency. A job with a small key therefore grows large,
    but a job with a larger key may start before that one grows further. The scan grants each segment its GPUs
    if the segments before it leave them free and the segment below it has its own. Otherwise, the segment is
    skipped. Ties go to the lower job number.

    At each decision, the allocation is repaired as in `Greedy`: while some segment could have its GPUs if only
    the segments before it counted, the first such segment takes them. It takes free GPUs first, and then the
    GPUs of the segments behind it, beginning with the last.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    key
        A function that returns the current key of a job, at least 0, given its number and the fewest
        GPU-seconds in which it can do a second of its work. The key of a waiting job must not change unless
        `renew` is called.
    exponent, hysteresis
        As in `marginal`. Hysteresis applies to the segments that have GPUs when a decision begins.
    pays
        A function that returns whether it pays to let a running job grow, given its number and its speeds
        before and after. While it does not pay, the job gets no further segment. If None, growing always pays.
    rises
        Whether the key of a running job rises with the GPU-seconds that it has held. Otherwise, it falls or
        stays the same.

    Raises
    ------
    InvalidInput
        The exponent or the hysteresis is out of range.
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        key: Callable[[int, Any], Any],
        *,
        exponent: float | Fraction = 1,
        hysteresis: float | Fraction = 1,
        pays: Callable[[int, Any, Any], bool] | None = None,
        rises: bool = False,
    ) -> None:
        sound = 0 < number_of(exponent) <= _LARGEST_EXPONENT
        require(sound, "exponent", exponent, "must be a number above 0 and at most 16")
        sound = 1 <= number_of(hysteresis) <= _LARGEST_HYSTERESIS
        require(sound, "hysteresis", hysteresis, "must be a number from 1 to 1e9")
        self._jobs, self._cluster, self._number = state.jobs, state.cluster, type(state.now)
        self._key_of, self._pays, self._rises = key, pays, rises
        self._exponent = int(exponent) if exponent == int(exponent) else exponent  # exact in fractions
        self._hysteresis = self._number(hysteresis)
        self._there: dict[int, _Wants] = {}
        self._held: dict[int, list[Holding]] = {}  # of the running jobs, by segment
        self._growing: dict[int, None] = {}  # running jobs with segments that are left
        self._pool = pool_of(state)
        self._waiting = WaitingQueue()  # first segments
        self._running = RunningQueue(itemgetter(1) if rises else None)  # what a label says
        self._asking: list[Rank] = []  # segments that are still to be looked at in this decision
        self._nobody_behind = False  # that is, behind the segment that asks now
        self._free: Any = None  # what the last decision left
        self._anew = True  # whether more than arrivals may have given rise to wishes
        self._before: dict[int, tuple[Holding, ...]] = {}  # what the jobs that change held before
        self._begin = state.now

    def decide(self, state: State) -> Iterable[Action]:
        """Repair the allocation, and return the actions for all changes."""
        self._take_in(state)
        pool, asking, waiting = self._pool, self._asking, self._waiting
        pool.look(state)
        self._anew = self._anew or pool.free != self._free
        if self._anew:
            asking[:] = waiting.heads()
        asking += [self._next(job) for job in self._growing if self._may_grow(job)]
        heapify(asking)
        self._nobody_behind = False
        refused: set[Any] = set()  # queues whose first segment gets nothing, hence none of its segments
        while asking and not (self._nobody_behind and pool.is_empty):
            rank = heappop(asking)
            job, place = rank[1]
            if place != len(self._held.get(job, ())):
                continue  # it has been served, or the segment below it has been stopped
            queue = self._there[job].queue if place == 0 else None
            if queue in refused:
                continue
            if not self._serve(rank):
                if place == 0:
                    refused.add(queue)
                continue
            if job in self._growing and self._may_grow(job):
                heappush(asking, self._next(job))
            if place == 0 and (head := waiting.head(queue)) is not None:
                heappush(asking, head)
        self._free, self._anew = pool.free, False
        return self._conclude(state) if self._before else ()

    def renew(self) -> None:
        """Recompute all keys, including those of waiting jobs."""
        self._anew = True
        for job in self._there:
            if job in self._held:
                self._run_anew(job)
            else:
                self._wait(job)

    def _take_in(self, state: State) -> None:
        self._running.elapsed = state.now - self._begin
        if state.completed or state.evicted or self._rises:
            self._anew = True
        for job in state.completed:
            self._leave(job, 0)
            del self._there[job]
        for job in state.evicted:
            self._leave(job, 0)
            self._wait(job)
        self._asking.clear()
        for job in state.arrived:
            item = self._jobs[job]
            gain = gain_of(item, self._cluster, self._number)
            weights = tuple(each**-self._exponent for each in gain.efficiencies)
            queue = self._pool.queue(item, gain.gpus[0])
            self._there[job] = _Wants(item, gain.gpus, weights, gain.speeds, gain.area, queue)
            self._asking.append(self._wait(job))

    def _key(self, job: int, place: int) -> Any:
        wants = self._there[job]
        key = self._key_of(job, wants.area) * wants.weights[place]
        kept = self._before.get(job)
        if place < len(self._held.get(job, ()) if kept is None else kept):
            key /= self._hysteresis
        return key

    def _next(self, job: int) -> Rank:
        """Return a job's first segment without GPUs, with its key."""
        place = len(self._held.get(job, ()))
        return self._key(job, place), (job, place)

    def _may_grow(self, job: int) -> bool:
        """Check whether a running job may have its next segment, because it pays or because the job had it."""
        if self._pays is None:
            return True
        place = len(self._held[job])
        before = self._before.get(job)
        had = place if before is None else len(before)
        if not 0 < had <= place:
            return True
        speeds = self._there[job].speeds
        return self._pays(job, speeds[had - 1], speeds[place])

    def _serve(self, rank: Rank) -> bool:
        """Grant a segment its GPUs, taking them from segments behind it, and return whether it got them."""
        job, place = rank[1]
        item, gpus = self._there[job][:2]
        missing = gpus[place] - self._pool.room(item)
        if missing > 0:
            if self._nobody_behind or self._held_behind(rank) < missing:
                return False
            victims = self._last_behind(rank, missing)
            if victims is None:
                return False
            for victim in victims:
                if self._pool.room(item) < gpus[place]:
                    self._stop(*victim)
        self._give(job, place)
        return True

    def _give(self, job: int, place: int) -> None:
        held = self._held.setdefault(job, [])
        before = self._before.setdefault(job, tuple(held))
        item, gpus = self._there[job][:2]
        holding = self._pool.take(item, gpus[place], _rest(before, held))
        held.append(holding)
        self._run(job, place)
        if place == 0:
            self._waiting.remove((job, 0))
        if len(held) < len(gpus):
            self._growing[job] = None
        else:
            self._growing.pop(job, None)

    def _stop(self, job: int, place: int) -> None:
        """Take away the GPUs of a segment and of the segments above it."""
        held = self._held.get(job, ())
        if place >= len(held):
            return
        self._before.setdefault(job, tuple(held))
        for holding in self._leave(job, place):
            self._pool.give_back(holding)
        if place:
            self._growing[job] = None
            heappush(self._asking, self._next(job))  # which it had before
        else:
            heappush(self._asking, self._wait(job))
        if not self._anew:  # segments behind this one may have wishes now
            self._anew = True
            for head in self._waiting.heads():
                heappush(self._asking, head)

    def _run(self, job: int, place: int) -> None:
        """Add a segment to the running ones."""
        holding, pace = self._held[job][place], 0
        if self._rises:
            pace = sum(map(size, self._held[job])) * self._there[job].weights[place]
            if self._before.get(job) is None:
                pace /= self._hysteresis
        self._running.add((job, place), (holding, pace), self._key(job, place))

    def _run_anew(self, job: int) -> None:
        """Update the keys of a job's running segments."""
        for place in range(len(self._held[job])):
            self._running.remove((job, place))
            self._run(job, place)

    def _wait(self, job: int) -> Rank:
        """Add the first segment of a job to the waiting ones."""
        key, unit = self._next(job)
        self._waiting.add(unit, key, self._there[job].queue)
        return key, unit

    def _leave(self, job: int, place: int) -> list[Holding]:
        """Remove a segment and the segments above it from the running ones, and return their GPUs."""
        held = self._held.get(job)
        if held is None:
            return []
        for each in range(place, len(held)):
            self._running.remove((job, each))
        left = held[place:]
        del held[place:]
        if not held:
            del self._held[job]
            self._growing.pop(job, None)
        return left

    def _held_behind(self, rank: Rank) -> int:
        """Return an upper bound on the GPUs that the segments behind a rank hold and its job could use."""
        item, usable = self._there[rank[1][0]].item, self._pool.usable
        held, self._nobody_behind = 0, True
        for (holding, _), number in self._running.behind(rank):
            held += number * usable(holding, item)
            self._nobody_behind = False
        return held

    def _last_behind(self, rank: Rank, missing: int) -> list[tuple[int, int]] | None:
        """Return the last running segments that hold enough GPUs for a rank's job, or None if one is ahead."""
        running, own = self._running, rank[1][0]
        item, usable = self._there[own].item, self._pool.usable
        part = {label: usable(label[0], item) for label, _ in running.behind(rank)}
        chosen = {label: 0 for label, number in part.items() if number}
        victims: list[tuple[int, int]] = []
        found = 0
        while found < missing:
            last = running.last(chosen)
            if last is None or last <= rank:
                return None
            key, unit = last
            if not self._rises and (fresh := self._key(*unit)) != key:
                running.rekey(unit, fresh)  # it has fallen
                continue
            label = running.holding(unit)
            chosen[label] += 1
            if unit[0] != own:  # a segment below stands behind by rounding only
                victims.append(unit)
                found += part[label]
        return victims

    def _conclude(self, state: State) -> list[Action]:
        """Return the actions for all changes, and apply hysteresis to the jobs that have GPUs now."""
        before = {job: _total(held) for job, held in self._before.items()}
        after = {job: _total(self._held.get(job, ())) for job in before}
        self._before.clear()
        if self._rises or self._hysteresis != 1:
            for job in before:
                if job in self._held:
                    self._run_anew(job)
                else:
                    self._wait(job)
        return self._pool.actions(state, before, after)


def _total(holdings: Iterable[Holding]) -> Holding | None:
    """Return the GPUs that a job holds over all its segments, or None for no GPUs."""
    parts = list(holdings)
    if not parts:
        return None
    if isinstance(parts[0], int):
        return sum(parts)
    return tuple(map(sum, zip(*parts, strict=True)))


def _rest(before: Iterable[Holding], held: Iterable[Holding]) -> Holding | None:
    """Return the GPUs that a job held before and has not yet been granted again."""
    had, has = _total(before), _total(held)
    if had is None or has is None or isinstance(had, int):
        return had
    return tuple(max(first - second, 0) for first, second in zip(had, has, strict=True))
