"""Sweep: a pass over a schedule in time order that tracks which jobs hold GPUs and how far each job gets."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

from gsopt.core.numbers.clock import Clock
from gsopt.scenario.cluster import ISLAND, MACHINE, Cluster, Switch
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.adaptive_progress import AdaptiveProgress
from gsopt.schedule.presence import Presence, PresenceStep

#: Kinds of events, in the order in which simultaneous events are processed.
_LOSS, _END, _STEP, _START = range(4)


@dataclass(slots=True, eq=False)
class Account:
    """A job being checked: the work that it has done, and its error, which rounding must explain."""

    number: int
    job: Job
    work: Any  # seconds at speed 1
    speed: Any  # the highest speed that the job may have reached, to turn work into seconds
    limit: Any  # largest tolerated error, in seconds
    # Work at the end of each phase, infinite for the last one, and its slowdown by mode.
    phases: Sequence[tuple[Any, Callable[[str], Any]]] = ()
    owed: Any = 0
    done: Any = 0
    interval: Any = 0  # work from one checkpoint to the next
    saved: Any = 0  # work in the checkpoint of the last start
    lost: Any = 0  # work, in total
    communicated: Any = 0  # seconds in which the GPUs have waited for the network
    samples_in: Mapping[str, Any] = field(default_factory=dict)  # for all work, by mode; empty without training
    epochs: Any = 0  # passes over the data set
    adaptive: AdaptiveProgress | None = None  # the progress of an adaptive job

    def excuses(self, seconds: Any) -> bool:
        """Check whether an additional error, in seconds, is tolerable, and add it if so."""
        if self.owed + seconds > self.limit:
            return False
        self.owed += seconds
        return True

    def progress(self, seconds: Any, rate: Any, mode: str) -> None:
        """Let the job work for the given seconds at the given rate, reduced by the slowdowns of its phases."""
        before = self.done
        self._work(seconds, rate, mode)
        if self.job.training is not None:
            self.epochs += (self.done - before) / self.work * self.samples_in[mode] / self.job.training.epoch

    def _work(self, seconds: Any, rate: Any, mode: str) -> None:
        if not self.phases:
            self.done += seconds * rate
            return
        for end, slowdown in self.phases:
            if self.done < end:
                slowed = rate / slowdown(mode)
                needed = (end - self.done) / slowed
                if needed >= seconds:
                    self.done += seconds * slowed
                    return
                self.done = end
                seconds -= needed

    def lose(self, time: Any, seconds: Any = inf) -> None:
        """Undo some of the job's work, unless the job is complete.

        The job loses its work since the last checkpoint, and the given seconds of work before that. By default,
        or without checkpoints, it loses all its work.
        """
        complete = (self.work - self.done) / self.speed <= self.limit
        if self.adaptive is not None:  # its work may be done before its last epoch ends
            complete = self.adaptive.completed_at is not None
        if not complete:
            lost = min(self.done, self._since_checkpoint() + seconds) if self.job.checkpoints else self.done
            self.done -= lost
            self.lost += lost
            self.saved = min(self.saved, self.done)
            if self.adaptive is not None:
                self.adaptive.lose(lost / self.work, time)

    def _since_checkpoint(self) -> Any:
        """Return the work since the last checkpoint, which counts as written if only rounding is missing."""
        if not self.interval:
            return 0
        passed = (self.done + self.limit * self.speed) // self.interval
        return max(self.done - max(passed * self.interval, self.saved), 0)

    def follow(self, adaptive: AdaptiveProgress, time: Any) -> None:
        """Let an adaptive job work until the given time."""
        adaptive.follow(time)
        self.done = self.work * adaptive.share

    def stop(self, adaptive: AdaptiveProgress, time: Any) -> None:
        """Stop an adaptive job, and count it as complete if only rounding cut it short."""
        adaptive.stop(time, self.limit)
        self.done = self.work * adaptive.share


@dataclass(slots=True, eq=False)
class SweptSegment:
    """A segment being checked, and its state in the sweep."""

    where: str
    account: Account
    start: Any
    end: Any
    gpus: int
    placement: tuple[int, ...]
    mode: str
    works_from: Any = None
    is_anew: bool = False  # whether all progress before it is lost
    goes_on: bool = False  # whether it continues the segment before it without a restart
    pauses: bool = True  # whether it is the last one or followed by a pause
    rate: Any = None  # speed without phases; slowdown of an adaptive job
    waiting: Any = 0  # share of the time in which its GPUs wait for the network

    @property
    def job(self) -> Job:
        """The job to which the segment belongs."""
        return self.account.job


class Broken(NamedTuple):
    """A rule that is broken at a certain time, and the segments that break it."""

    rule: str
    pieces: Sequence[SweptSegment]


@dataclass
class Sweep:
    """A pass over all starts, ends and capacity changes, in which capacity, sharing and memory are checked."""

    scenario: Scenario
    presence: Presence
    number: Callable[[Any], Any]  # `float`, or `Fraction` for exact arithmetic
    found: list[str]  # collects the broken rules, with times on the clock of the schedule
    clock: Clock = field(default_factory=Clock)
    held_during: list[tuple[Any, Any, int]] = field(default_factory=list)  # start, end, GPUs in use
    shared_during: list[tuple[Any, Any, int]] = field(default_factory=list)  # the same for shared GPUs

    def __post_init__(self) -> None:
        cluster = self.scenario.cluster
        self._capacity = self._limit = cluster.gpus
        self._away: set[int] = set()
        self._running: dict[SweptSegment, None] = {}
        self._on_gpu: dict[int, list[SweptSegment]] = {}
        self._unplaced = self._shared = 0
        self._broken: list[Broken] = []  # at this time
        self._crowded: set[int] = set()  # GPUs on which a rule is broken
        self._places = _places(cluster)
        self._levels = cluster.levels

    @property
    def held(self) -> int:
        """Number of GPUs in use."""
        return self._unplaced + len(self._on_gpu)

    def run(self, pieces: Sequence[SweptSegment]) -> None:
        """Sweep over the segments, and update every job's account."""
        steps = self.presence.steps
        events: list[tuple[Any, int, int]] = []
        for index, piece in enumerate(pieces):
            events += [(piece.end, _END, index), (piece.start, _START, index)]
        for index, step in enumerate(steps):
            events += [(step.time, kind, index) for kind in (_LOSS, _STEP) if kind == _STEP or step.lost]
        events.sort()
        before = None
        touched: dict[SweptSegment, None] = {}
        for position, (time, kind, index) in enumerate(events):
            if time != before:
                self._pass(before, time)
                before = time
            if kind == _START:
                self._start(pieces[index], time, touched)
            elif kind == _END:
                self._end(pieces[index], time, touched)
            elif kind == _STEP:
                self._step(steps[index], touched)
            else:
                self._lose(steps[index])
            if position + 1 == len(events) or events[position + 1][0] != time:
                self._check(time, touched)
                for piece in touched:
                    self._settle(piece, time)
                    self._set_rate(piece, time)
                    piece.waiting = self._waiting(piece)
                touched = {}

    def _pass(self, before: Any, time: Any) -> None:
        """Record the GPUs in use between two times, and charge this time to jobs that break a rule."""
        if before is not None and (held := self.held):
            self.held_during.append((before, time, held))
            if self._shared:
                self.shared_during.append((before, time, self._shared))
            if self._broken:
                self._charge(time - before)

    # Events

    def _start(self, piece: SweptSegment, time: Any, touched: dict[SweptSegment, None]) -> None:
        self._running[piece] = touched[piece] = None
        if piece.is_anew:
            piece.account.lose(time)
        if not piece.goes_on:
            piece.account.saved = piece.account.done
        piece.works_from = max(piece.works_from, time)
        if not piece.placement:
            self._unplaced += piece.gpus
        for gpu in piece.placement:
            users = self._on_gpu.get(gpu)
            if users is None:
                self._on_gpu[gpu] = [piece]
            else:
                self._touch(users, time, touched)
                self._shared += len(users) == 1
                users.append(piece)

    def _end(self, piece: SweptSegment, time: Any, touched: dict[SweptSegment, None]) -> None:
        self._settle(piece, time)
        if piece.pauses and piece.account.adaptive is not None:
            piece.account.stop(piece.account.adaptive, time)
        del self._running[piece]
        touched.pop(piece, None)
        if not piece.placement:
            self._unplaced -= piece.gpus
        for gpu in piece.placement:
            users = self._on_gpu[gpu]
            if len(users) == 1:
                del self._on_gpu[gpu]
            else:
                users.remove(piece)
                self._shared -= len(users) == 1
                self._touch(users, time, touched)

    def _touch(self, users: Iterable[SweptSegment], time: Any, touched: dict[SweptSegment, None]) -> None:
        """Update the progress of segments whose speed may change, and mark them as touched."""
        for other in users:
            self._settle(other, time)
            touched[other] = None

    def _lose(self, step: PresenceStep) -> None:
        """Let jobs lose work if machines leave without notice, unless the jobs complete at this time."""
        lost: dict[Account, Any] = {}
        for gpus, seconds in step.lost:
            for gpu in gpus:
                for piece in self._on_gpu.get(gpu, ()):
                    if piece.placement[-1] < step.limit:  # else a drop of capacity took its GPUs first
                        self._settle(piece, step.time)
                        lost.setdefault(piece.account, seconds)
        for account, seconds in lost.items():
            account.lose(step.time, seconds)

    def _step(self, step: PresenceStep, touched: dict[SweptSegment, None]) -> None:
        """Update the available GPUs, and mark the segments on GPUs that are gone for a check."""
        self._capacity, self._limit = step.gpus, step.limit
        self._away.update(gpu for gpus in step.gone for gpu in gpus)
        self._away.difference_update(gpu for gpus in step.back for gpu in gpus)
        is_lower = step.fell or step.cut
        suspects: Iterable[int] = self._on_gpu if is_lower else [gpu for gpus in step.gone for gpu in gpus]
        for gpu in suspects:
            if self._is_gone(gpu):
                touched.update(dict.fromkeys(self._on_gpu.get(gpu, ())))

    def _is_gone(self, gpu: int) -> bool:
        return gpu >= self._limit or gpu in self._away

    @staticmethod
    def _settle(piece: SweptSegment, time: Any) -> None:
        if piece.rate is not None and piece.account.adaptive is not None:
            piece.account.follow(piece.account.adaptive, time)
        elif piece.rate is not None and time > piece.works_from:
            piece.account.progress(time - piece.works_from, piece.rate, piece.mode)
            if piece.waiting:
                piece.account.communicated += (time - piece.works_from) * piece.waiting
            piece.works_from = time

    # Rules

    def _charge(self, seconds: Any) -> None:
        """Add the time in which rules are broken to the jobs' errors, only once for each job."""
        excused: dict[Account, bool] = {}
        for rule, pieces in self._broken:
            for piece in pieces:
                if piece.account not in excused:
                    excused[piece.account] = piece.account.excuses(seconds)
            if not all(excused[piece.account] for piece in pieces):
                self.found.append(rule)

    def _check(self, time: Any, touched: Iterable[SweptSegment]) -> None:
        """Find the rules that are broken from now on."""
        when = self.clock.nearest(time)
        suspects = self._crowded.union(*(piece.placement for piece in touched))
        self._broken = []
        if self.held > self._capacity:
            rule = f"at {when}: {self.held} GPUs are held, but only {self._capacity} are available"
            surplus = _surplus(self._running, self._capacity, lambda piece: piece.gpus)
            self._broken.append(Broken(rule, surplus))
        wrong = [gpu for gpu in suspects if self._may_be_wrong(gpu)]
        on_gpus = [(gpu, rule) for gpu in sorted(wrong) for rule in self._broken_on(gpu, when)]
        self._broken += [rule for _, rule in on_gpus]
        self._crowded = {gpu for gpu, _ in on_gpus}

    def _may_be_wrong(self, gpu: int) -> bool:
        """Check quickly whether some rule might be broken on a GPU.

        In most cases, no rule can be broken.
        """
        users = self._on_gpu.get(gpu, ())
        if not users:
            return False
        if len(users) > 1 or gpu >= self._limit or gpu in self._away:
            return True
        return bool(self._places) and self._places[gpu].memory is not None

    def _broken_on(self, gpu: int, time: Any) -> Iterator[Broken]:
        users = self._on_gpu.get(gpu, [])
        if users and self._is_gone(gpu):
            yield Broken(f"at {time}: GPU {gpu} is held but not available", tuple(users))
        if surplus := _surplus(users, self.scenario.share_limit, lambda _: 1):
            yield Broken(f"at {time}: {len(users)} jobs hold GPU {gpu}", surplus)
        memory = self._places[gpu].memory if self._places else None
        if memory is not None and (surplus := _surplus(users, memory, _memory)):
            yield Broken(f"at {time}: the jobs on GPU {gpu} do not fit its memory", surplus)

    # Speed

    def _set_rate(self, piece: SweptSegment, time: Any) -> None:
        """Set the speed of a segment from now on."""
        adaptive = piece.account.adaptive
        if adaptive is None:
            piece.rate = self._rate(piece)
            return
        slowdown = self._slowdown(piece)
        if piece.rate is None and not piece.goes_on:
            types = {self._places[gpu].gpu_type for gpu in piece.placement}
            adaptive.run(self._shape(piece), piece.mode, time, piece.works_from, slowdown, types)
        elif slowdown != piece.rate:
            adaptive.slow(slowdown, time)
        piece.rate = slowdown

    def _slowdown(self, piece: SweptSegment) -> Any:
        """Return the slowdown of an adaptive job due to its partners and its GPU types."""
        worst = self.scenario.speed.slowdown(piece.job, self._partners(piece))
        return worst / self._share_of_speed(piece.placement) if self.scenario.speed.knows_types else worst

    def _shape(self, piece: SweptSegment) -> tuple[int, ...]:
        """Return the number of GPUs that a segment holds on each machine."""
        machines = Counter(dict(self._places[gpu].above)[MACHINE] for gpu in piece.placement)
        return tuple(machines.values())

    def _rate(self, piece: SweptSegment) -> Any:
        """Return the speed of a segment before the slowdowns of its phases."""
        if not self._places:
            return self.number(piece.job.speed(piece.gpus, piece.mode))
        tier, partners = self._tier(piece.placement), self._partners(piece)
        rate = self.scenario.speed.rate(
            piece.job, piece.gpus, tier, partners, self.number, mode=piece.mode, levels=self._levels
        )
        return rate * self._share_of_speed(piece.placement) if self.scenario.speed.knows_types else rate

    def _partners(self, piece: SweptSegment) -> list[Job]:
        """Return the jobs that share GPUs with a segment, each listed once for every GPU that it shares."""
        users = (other for gpu in piece.placement for other in self._on_gpu[gpu])
        return [other.job for other in users if other.account is not piece.account]

    def _share_of_speed(self, placement: Sequence[int]) -> Any:
        """Return the speed of GPUs relative to as many GPUs of the type on which menus were measured."""
        speed, number = self.scenario.speed, self.number
        types = [self._places[gpu].gpu_type for gpu in placement]
        each = sum(1 / number(speed.gpu_types.get(name, 1.0)) for name in types) / len(types)
        return each / number(speed.mixed) if len(set(types)) > 1 else each

    def _waiting(self, piece: SweptSegment) -> Any:
        """Return the fraction of time for which a segment waits for the network."""
        if not self._places or not self.scenario.speed.tiers:
            return 0
        tier = self._tier(piece.placement)
        return self.scenario.speed.waiting(piece.job, piece.gpus, tier, self.number, levels=self._levels)

    def _tier(self, placement: Sequence[int]) -> str:
        """Return the network tier of a placement: the innermost level with a group that holds all its GPUs."""
        places = [self._places[gpu] for gpu in placement]
        first, others = places[0], set(places[1:])
        return next(
            level
            for level, name in first.above
            if all(other is first or (level, name) in other.above for other in others)
        )


class _Place(NamedTuple):
    """The groups that contain a GPU, innermost first, the GPU's memory in bytes, and its type."""

    above: tuple[tuple[str, str], ...]
    memory: int | None
    gpu_type: str


def _places(cluster: Cluster) -> list[_Place]:
    """Return the locations of all GPUs, or an empty list for a plain cluster."""
    places: list[_Place] = []

    def visit(switch: Switch, above: tuple[tuple[str, str], ...]) -> None:
        above = ((switch.level, switch.name), *above)
        for machine in switch.machines:
            box = ((MACHINE, machine.name), *above)
            islands = [(((ISLAND, each.name), *box), each.gpus) for each in machine.islands]
            for points, gpus in islands or [(box, machine.gpus)]:
                places.extend([_Place(points, machine.memory, machine.gpu_type)] * gpus)
        for child in switch.switches:
            visit(child, above)

    if not cluster.is_plain:
        visit(cluster.root, ())
    return places


def _memory(piece: SweptSegment) -> int:
    return piece.job.memory_in(piece.mode) or 0


def _surplus(
    pieces: Iterable[SweptSegment], room: int, need: Callable[[SweptSegment], int]
) -> Sequence[SweptSegment]:
    """Return the segments that end first: as many as must be removed so that the others fit."""
    by_end = sorted(pieces, key=lambda piece: piece.end)
    needed = accumulate(map(need, reversed(by_end)))
    return by_end[: sum(total > room for total in needed)]
