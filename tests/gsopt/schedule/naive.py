"""A second judge, written from the definitions: slow, in fractions, and without any code of the first.

Time is cut wherever anything starts, ends or changes. In every span all is worked out anew from the beginning:
what is there, who holds it, who shares it, and how far each job is.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from gsopt.scenario.cluster import Cluster, Tier
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment


class Illegal(Exception):
    """A rule is broken."""


def require(holds: bool, rule: str) -> None:
    """Raise Illegal unless a rule holds."""
    if not holds:
        raise Illegal(rule)


def menu_of(job: Job, mode: str) -> dict[int, float]:
    """Return the speeds of a mode."""
    if not mode:
        return dict(job.menu) or {job.gpus: 1.0}
    return next((dict(each.menu) for each in job.modes if each.name == mode), {})


def memory_of(job: Job, mode: str) -> int:
    """Return the bytes that a mode takes on each GPU."""
    own = [each.memory for each in job.modes if each.name == mode and each.memory is not None]
    return own[0] if own else job.memory or 0


def type_of(job: Job, mode: str) -> str:
    """Return the only type of GPU of a mode; empty for any."""
    own = [each.gpu_type for each in job.modes if each.name == mode and each.gpu_type is not None]
    return own[0] if own else job.gpu_type


def home(cluster: Cluster, gpu: int) -> tuple[int, int]:
    """Return the rack and the machine of a GPU by their places."""
    for r, rack in enumerate(cluster.racks):
        for m, machine in enumerate(rack.machines):
            if gpu < machine.gpus:
                return r, m
            gpu -= machine.gpus
    raise AssertionError


def machine_at(cluster: Cluster, gpu: int) -> Any:
    """Return the machine of a GPU."""
    rack, machine = home(cluster, gpu)
    return cluster.racks[rack].machines[machine]


def rate_of(
    scenario: Scenario, job: Job, placement: tuple[int, ...], count: int, mode: str, partners: list[Job]
) -> Fraction:
    """Return the speed without phases."""
    slowdown = Fraction(1)
    homes = {home(scenario.cluster, gpu) for gpu in placement} if scenario.cluster.racks else set()
    if count > 1 and homes and job.model in scenario.speed.tiers:
        tier = (
            Tier.MACHINE if len(homes) == 1 else Tier.RACK if len({r for r, _ in homes}) == 1 else Tier.NETWORK
        )
        slowdown += Fraction(getattr(scenario.speed.tiers[job.model], tier.value))
    speed = scenario.speed
    worst = [
        Fraction(speed.interference.get(job.model, {}).get(p.model, speed.default_interference))
        for p in partners
    ]
    return (
        Fraction(menu_of(job, mode)[count])
        * capability(scenario, placement)
        / slowdown
        / max([Fraction(1), *worst])
    )


def capability(scenario: Scenario, placement: tuple[int, ...]) -> Fraction:
    """Return the mean speed of GPUs by their types, less where these differ."""
    if not scenario.cluster.racks or not placement:
        return Fraction(1)
    kinds = [machine_at(scenario.cluster, gpu).gpu_type for gpu in placement]
    shares = [1 / Fraction(scenario.speed.gpu_types.get(kind, 1.0)) for kind in kinds]
    mean = sum(shares, Fraction(0)) / len(kinds)
    return mean / Fraction(scenario.speed.mixed) if len(set(kinds)) > 1 else mean


def worked(job: Job, done: Fraction, seconds: Fraction, rate: Fraction, mode: str) -> Fraction:
    """Return how much work is done after some seconds more, phase by phase."""
    work = Fraction(job.duration)
    while seconds > 0:
        ahead = [phase for phase in job.phases if done < Fraction(phase.until) * work]
        phase = ahead[0] if ahead else job.phases[-1] if job.phases else None
        slow = Fraction(phase.modes.get(mode, phase.slowdown)) if phase else Fraction(1)
        last = len(ahead) <= 1
        needed = seconds if last else (Fraction(ahead[0].until) * work - done) * slow / rate
        span = min(seconds, needed)
        done += span * rate / slow
        seconds -= span
    return done


def machines_of(cluster: Cluster) -> list[str]:
    """Return the names of all machines."""
    return [machine.name for rack in cluster.racks for machine in rack.machines]


def wanted(event: Loan | Reclaim, cluster: Cluster) -> set[str]:
    """Return the machines that an event is about."""
    kinds = {machine.name: machine.gpu_type for rack in cluster.racks for machine in rack.machines}
    if event.gpu_type:
        return {name for name, kind in kinds.items() if kind == event.gpu_type}
    return set(event.among or kinds)


class Row(NamedTuple):
    """What is there after an instant: GPUs below the limit but for machines away; who left, how low it fell."""

    now: Fraction
    limit: int
    away: set[str]
    left: list[Leave]
    lowest: int


class History:
    """Goes through every instant at which anything changes."""

    def __init__(self, schedule: Schedule, scenario: Scenario) -> None:
        self.scenario, self.vacated = scenario, sorted(schedule.vacated, key=lambda item: item.time)
        self.there, self.given = scenario.cluster.gpus, 0
        self.limit = self.lowest = scenario.cluster.gpus
        self.away: set[str] = set()
        self.left: list[Leave] = []
        self.owed: dict[int, int] = {}
        requests = [each for each in scenario.events if isinstance(each, Reclaim)]
        instants = {
            Fraction(each.time) for each in (*scenario.capacity_changes, *scenario.events, *self.vacated)
        }
        instants |= {Fraction(each.deadline) for each in requests}
        self.rows = [self.row(now) for now in sorted(instants)]

    def row(self, now: Fraction) -> Row:
        """Let everything of an instant happen."""
        self.lowest, self.left = self.limit, []
        for change in self.scenario.capacity_changes:
            if change.time == now:
                self.there = change.gpus
        self.fall()
        for index, event in enumerate(self.scenario.events):
            if event.time == now:
                self.happen(index, event)
                self.fall()
        for time, server in self.vacated:
            if time == now:
                self.give_up(now, server)
        for index, event in enumerate(self.scenario.events):
            if isinstance(event, Reclaim) and event.deadline == now:
                self.given += event.gpus or 0
                require(
                    not self.owed[index] or not wanted(event, self.scenario.cluster) - self.away,
                    "a request is met",
                )
                self.fall()
        return Row(now, self.limit, set(self.away), self.left, self.lowest)

    def fall(self) -> None:
        """Set the limit, and remember how low it was."""
        self.limit = max(self.there - self.given, 0)
        self.lowest = min(self.lowest, self.limit)

    def happen(self, index: int, event: Event) -> None:
        """Let machines leave, return or be asked for."""
        if isinstance(event, Leave):
            going = tuple(server for server in event.servers if server not in self.away)
            self.left.append(event.model_copy(update={"servers": going}))
            self.away |= set(event.servers)
        elif isinstance(event, Return):
            self.away -= set(event.servers)
            self.given -= event.gpus or 0
        elif isinstance(event, Loan):
            may = wanted(event, self.scenario.cluster) & self.away
            coming = [name for name in machines_of(self.scenario.cluster) if name in may]
            self.away -= set(coming[: event.servers])
        else:
            self.owed[index] = event.servers or 0

    def give_up(self, now: Fraction, server: str) -> None:
        """Count a machine for the most urgent request that takes it."""
        require(server in machines_of(self.scenario.cluster), "a machine of the cluster")
        require(server not in self.away, "a machine that is there")
        takers = [
            (event.deadline, index)
            for index, event in enumerate(self.scenario.events)
            if isinstance(event, Reclaim) and event.time <= now <= event.deadline
            if self.owed[index] and server in wanted(event, self.scenario.cluster)
        ]
        require(bool(takers), "a machine that is asked for")
        self.owed[min(takers)[1]] -= 1
        self.away.add(server)


def verdict(schedule: Schedule, scenario: Scenario) -> list[Fraction]:
    """Return the completion time of every job, or raise Illegal."""
    cluster, jobs = scenario.cluster, scenario.workload.jobs
    for segment in schedule.segments:
        _check_segment(segment, scenario)
    rows = History(schedule, scenario).rows
    own = [sorted((s for s in schedule.segments if s.job == job.name), key=lambda s: s.start) for job in jobs]
    for job, segments in zip(jobs, own, strict=True):
        _check_job(job, segments, schedule, scenario, rows)
    begins = {id(s): t for job, ss in zip(jobs, own, strict=True) for s, t in _works_from(job, ss, scenario)}

    cuts = {Fraction(time) for s in schedule.segments for time in (s.start, s.end)}
    cuts |= {row.now for row in rows} | set(begins.values())
    done = {job.name: Fraction(0) for job in jobs}
    written = dict(done)  # checkpoints
    by_name = {job.name: job for job in jobs}
    clock = sorted(cuts)
    number_of = {time: number for number, time in enumerate(clock)}
    held = [(s, number_of[Fraction(s.start)], number_of[Fraction(s.end)]) for s in schedule.segments]
    for number, (now, then) in enumerate(pairwise(clock)):
        _lose(now, schedule, scenario, rows, done, written)
        _begin_anew(now, jobs, own, done)
        _write(now, jobs, own, done, written)
        past = [row for row in rows if row.now <= now]
        limit, away = (past[-1].limit, past[-1].away) if past else (cluster.gpus, set())
        holding = [s for s, begin, end in held if begin <= number < end]
        named = {gpu for s in holding for gpu in s.placement}
        require(len(named) + sum(s.gpus for s in holding if not s.placement) <= limit, "capacity")
        for gpu in named:
            users = [s for s in holding if gpu in s.placement]
            require(gpu < limit, "a GPU that is there")
            require(len(users) <= scenario.share_limit, "sharing")
            if cluster.racks:
                machine = machine_at(cluster, gpu)
                require(machine.name not in away, "a machine that is there")
                need = sum(memory_of(by_name[s.job], s.mode) for s in users)
                require(machine.memory is None or need <= machine.memory, "memory")
        for s in holding:
            if begins[id(s)] <= now:
                job = by_name[s.job]
                partners = [
                    by_name[o.job] for o in holding if o.job != s.job and set(o.placement) & set(s.placement)
                ]
                rate = rate_of(scenario, job, s.placement, s.gpus, s.mode, partners if cluster.racks else [])
                done[s.job] = worked(job, done[s.job], then - now, rate, s.mode)
        _write_regularly(scenario, done, written)
    for job, segments in zip(jobs, own, strict=True):
        require(bool(segments) and done[job.name] == Fraction(job.duration), "the work is done")
    return [max(Fraction(s.end) for s in segments) for segments in own]


def _check_segment(segment: Segment, scenario: Scenario) -> None:
    cluster = scenario.cluster
    job = next((job for job in scenario.workload.jobs if job.name == segment.job), None)
    require(job is not None, "a job of the workload")
    assert job is not None
    require(segment.start < segment.end, "time goes on")
    require(segment.gpus in menu_of(job, segment.mode), "the menu of the mode")
    require(bool(segment.placement) or not cluster.racks, "GPUs are named")
    if segment.placement:
        require(len(set(segment.placement)) == len(segment.placement) == segment.gpus, "GPUs differ")
        require(all(0 <= gpu < cluster.gpus for gpu in segment.placement), "GPUs of the cluster")
        if cluster.racks and (kind := type_of(job, segment.mode)):
            kinds = {machine_at(cluster, gpu).gpu_type for gpu in segment.placement}
            require(kinds == {kind}, "the type")


def _check_job(
    job: Job, segments: list[Segment], schedule: Schedule, scenario: Scenario, rows: list[Row]
) -> None:
    require(all(s.start >= job.release_date for s in segments), "the release date")
    for early, late in pairwise(segments):
        require(early.end <= late.start, "one set of GPUs")
        if early.end < late.start and not schedule.preemptive:
            index = next((i for i, row in enumerate(rows) if row.now == early.end), None)
            require(index is not None, "no preemption")
            assert index is not None
            before = rows[index - 1].away if index else set()
            gone = (rows[index].away - before) | {each for event in rows[index].left for each in event.servers}
            hit = any(machine_at(scenario.cluster, gpu).name in gone for gpu in early.placement if gone)
            held = max(early.placement) if scenario.cluster.racks else scenario.cluster.gpus - 1
            limit = rows[index - 1].limit if index else scenario.cluster.gpus
            cut = rows[index].lowest < limit and (held >= rows[index].lowest or not scenario.cluster.racks)
            require(cut or hit, "no preemption")


def _works_from(job: Job, segments: list[Segment], scenario: Scenario) -> list[tuple[Segment, Fraction]]:
    lost = scenario.overheads.get(job.model) or scenario.overheads.get("")
    start, stop, resize = (
        Fraction(each) for each in ((lost.start, lost.stop, lost.resize) if lost else (0, 0, 0))
    )
    out: list[tuple[Segment, Fraction]] = []
    for s in segments:
        if not out:
            time = s.start + start
        elif out[-1][0].end < s.start:
            time = s.start + start + stop
        elif alike(out[-1][0], s):
            time = out[-1][1]
        else:
            time = max(out[-1][1], s.start + resize)
        out.append((s, Fraction(time)))
    return out


def _begin_anew(
    now: Fraction, jobs: Sequence[Job], own: Sequence[Sequence[Segment]], done: dict[str, Fraction]
) -> None:
    """Let jobs without checkpoints lose all when they start again after a pause."""
    for job, segments in zip(jobs, own, strict=True):
        if not job.checkpoints and any(a.end < b.start == now for a, b in pairwise(segments)):
            done[job.name] = _kept(job, done[job.name], Fraction(0))


def _write(
    now: Fraction,
    jobs: Sequence[Job],
    own: Sequence[Sequence[Segment]],
    done: Mapping[str, Fraction],
    written: dict[str, Fraction],
) -> None:
    """Write a checkpoint of every job that starts now on other GPUs, or after a pause."""
    for job, segments in zip(jobs, own, strict=True):
        for before, s in zip([None, *segments], segments, strict=False):
            if s.start == now and (before is None or before.end < now or not alike(before, s)):
                written[job.name] = done[job.name]


def _write_regularly(scenario: Scenario, done: Mapping[str, Fraction], written: dict[str, Fraction]) -> None:
    """Write the checkpoints that jobs have passed; they have lost nothing since they wrote the last one."""
    interval = Fraction(scenario.checkpoint_interval)
    for name, work in done.items():
        written[name] = max(written[name], work if not interval else work - work % interval)


def alike(before: Segment, s: Segment) -> bool:
    """Check that two segments name the same GPUs and mode."""
    return (before.gpus, set(before.placement), before.mode) == (s.gpus, set(s.placement), s.mode)


def _kept(job: Job, done: Fraction, left: Fraction) -> Fraction:
    """Return what a loss leaves of the work done; a job that is complete has nothing to lose."""
    return left if done < Fraction(job.duration) else done


def _lose(
    now: Fraction,
    schedule: Schedule,
    scenario: Scenario,
    rows: list[Row],
    done: dict[str, Fraction],
    written: dict[str, Fraction],
) -> None:
    """Let jobs lose work on machines that leave now."""
    lost: set[str] = set()
    for row in (row for row in rows if row.now == now):
        for event in row.left:
            for s in schedule.segments:
                job = next(job for job in scenario.workload.jobs if job.name == s.job)
                on_it = any(machine_at(scenario.cluster, gpu).name in event.servers for gpu in s.placement)
                if s.start < now <= s.end and on_it and max(s.placement) < row.limit and s.job not in lost:
                    lost.add(s.job)
                    kept = written[s.job] - Fraction(event.lost_work) if job.checkpoints else Fraction(0)
                    done[s.job] = _kept(job, done[s.job], max(kept, Fraction(0)))
                    written[s.job] = min(written[s.job], done[s.job])
