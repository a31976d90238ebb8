"""The judge excuses what a clock of floats cannot tell, once for each job, and nothing that gains more."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import accumulate
from math import ulp
from random import Random
from typing import NamedTuple

import pytest

from gsopt.core.numbers.clock import clock_error
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.judge import judge
from heuristics.policies import srtf
from tests.effort import cases
from tests.gsopt.simulation.recorded import judged, schedule_of
from tests.gsopt.simulation.scenarios import bundle

EPOCH = 1.7e9


def _scenario(gpus: int, *jobs: tuple[float, float]) -> Scenario:
    """Return jobs on one GPU by release date and duration; on two they run twice as fast."""
    menu = ((1, 1.0), (2, 2.0))
    return Scenario(
        workload=bundle(
            [Job(name=f"j{i}", release_date=r, duration=d, gpus=1, menu=menu) for i, (r, d) in enumerate(jobs)]
        ),
        cluster=Cluster.plain(gpus),
    )


def _with_changes(scenario: Scenario, *changes: tuple[float, int]) -> Scenario:
    capacities = tuple(CapacityChange(time=time, gpus=gpus) for time, gpus in changes)
    return scenario.model_copy(update={"capacity_changes": capacities})


def _violations(scenario: Scenario, *segments: Segment, preemptive: bool = True, exact: bool = False) -> int:
    return len(judge(Schedule(segments, preemptive), scenario, exact=exact).violations)


def test_a_thousandth_of_the_work_is_not_enough() -> None:
    """Five jobs of 1 s at today's date, run 1 ms each on one GPU, do not complete."""
    scenario = _scenario(1, *[(EPOCH, 1.0)] * 5)
    runs = [Segment(f"j{i}", EPOCH + i / 1000, EPOCH + (i + 1) / 1000, 1) for i in range(5)]
    assert all("does not complete" in rule for rule in judge(Schedule(tuple(runs)), scenario).violations)
    assert _violations(scenario, *runs) == 5


def test_a_segment_shorter_than_a_tick_is_judged() -> None:
    """In floats a segment of 1e-17 s vanishes, and the others are judged as they are."""
    tick = Segment("j0", 3 - Fraction(1, 10**17), 3, 1)
    around = Segment("j0", 0, 1, 1), tick, Segment("j0", 4, 5, 1)
    assert _violations(_scenario(1, (0, 2)), *around) == 0


def test_times_that_differ_by_rounding_do_not_overlap() -> None:
    """A run that ends at 0.1 + 0.2 and one that starts at 0.3 fit one GPU."""
    scenario = _scenario(1, (0, 0.3), (0, 0.3))
    runs = (Segment("j0", 0, 0.1 + 0.2, 1), Segment("j1", 0.3, 0.6, 1))
    assert _violations(scenario, *runs) == 0
    assert _violations(scenario, *(run._replace(placement=(0,)) for run in runs)) == 0
    assert _violations(scenario, *runs, exact=True) > 0


#: A legal schedule of jobs of 10 s with two times made to differ by some seconds, in each way that the clock
#: may be wrong: (origin, seconds) -> (scenario, runs, preemptive).
Wrong = Callable[[float, float], tuple[Scenario, tuple[Segment, ...], bool]]


def _work(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    return _scenario(1, (t, 10)), (Segment("j0", t, t + 10 - e, 1),), True


def _release(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    return _scenario(1, (t + 1, 10)), (Segment("j0", t + 1 - e, t + 11, 1),), True


def _gang(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    return _scenario(2, (t, 10)), (Segment("j0", t, t + 5, 1), Segment("j0", t + 5 - e, t + 10, 1)), True


def _capacity(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    runs = (Segment("j0", t, t + 10, 1), Segment("j1", t + 10 - e, t + 20 - e, 1))
    return _scenario(1, (t, 10), (t, 10)), runs, True


def _gpu(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    scenario, runs, _ = _capacity(t, e)
    wide = scenario.model_copy(update={"cluster": Cluster.plain(4)})
    return wide, tuple(run._replace(placement=(2,)) for run in runs), True


def _memory(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    scenario, runs, _ = _capacity(t, e)
    machines = (Machine(name="m", gpus=1, memory=8),)
    jobs = [job.model_copy(update={"memory": 6}) for job in scenario.workload.jobs]
    crowded = scenario.model_copy(
        update={
            "workload": bundle(jobs),
            "cluster": Cluster(racks=(Rack(name="r", machines=machines),)),
            "share_limit": 2,
        }
    )
    return crowded, tuple(run._replace(placement=(0,)) for run in runs), True


def _drop(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    scenario = _with_changes(_scenario(2, (t, 10), (t, 11)), (t + 10 - e, 1))
    return scenario, (Segment("j0", t, t + 10, 1), Segment("j1", t, t + 11, 1)), True


def _gone(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    scenario, runs, _ = _drop(t, e)
    return scenario, tuple(run._replace(placement=(1 - i,)) for i, run in enumerate(runs)), True


def _pause(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    return _scenario(1, (t, 10)), (Segment("j0", t, t + 5, 1), Segment("j0", t + 5 + e, t + 10 + e, 1)), False


def _pause_at_a_drop(t: float, e: float) -> tuple[Scenario, tuple[Segment, ...], bool]:
    scenario = _with_changes(_scenario(2, (t, 10)), (t + 5 + e, 1))
    return scenario, (Segment("j0", t, t + 5, 1), Segment("j0", t + 6, t + 11, 1)), False


@pytest.mark.parametrize("time", [0.0, EPOCH, EPOCH + 0.1])
@pytest.mark.parametrize(
    "wrong",
    [_work, _release, _gang, _capacity, _gpu, _memory, _drop, _gone, _pause, _pause_at_a_drop],
    ids=lambda wrong: wrong.__name__.strip("_"),
)
def test_every_rule_is_excused_alike(wrong: Wrong, time: float) -> None:
    """One tick of the clock breaks no rule, three more than are excused do, and in fractions one tick does."""

    def violations(seconds: float, *, exact: bool = False) -> int:
        scenario, runs, preemptive = wrong(time, seconds)
        return _violations(scenario, *runs, preemptive=preemptive, exact=exact)

    tick, most = ulp(time + 11), clock_error(time + 11, 10)
    assert [violations(0.0), violations(tick), violations(-tick)] == [0, 0, 0]
    assert violations(0.9 * most) == 0
    assert violations(most + 3 * tick) > 0
    assert violations(max(tick, 1e-6), exact=True) > 0


def test_what_is_excused_adds_up() -> None:
    """Three errors of which each is excused by itself are not excused together, in whatever order of rules."""
    e = 0.4 * clock_error(EPOCH + 11, 10)
    scenario = _scenario(2, (EPOCH + 1, 10))

    def violations(early: float, twice: float, short: float) -> int:
        return _violations(
            scenario,
            Segment("j0", EPOCH + 1 - early, EPOCH + 5, 1),
            Segment("j0", EPOCH + 5 - twice, EPOCH + 11 - early - twice - short, 1),
        )

    assert violations(0, 0, 0) == violations(e, 0, 0) == violations(0, e, 0) == violations(0, 0, e) == 0
    assert violations(3 * e, 0, 0) > 0
    assert violations(0, 3 * e, 0) > 0
    assert violations(e, e, e) > 0


@pytest.mark.parametrize(("slices", "legal"), [(5, True), (100, False), (10_000, False)])
def test_many_small_errors_are_not_excused(slices: int, legal: bool) -> None:
    """One job, or two in turn, whose runs overlap by a tick each gain no more than a few ticks."""
    tick = ulp(EPOCH)
    starts = [EPOCH + i * (1 - tick) for i in range(slices)]
    alone = [Segment("j0", start, start + 1, 1) for start in starts]
    assert (_violations(_scenario(2, (EPOCH, slices)), *alone) == 0) == legal
    turns = [Segment(f"j{i % 2}", start, start + 1, 1) for i, start in enumerate(starts)]
    both = _scenario(1, (EPOCH, slices - slices // 2), (EPOCH, slices // 2))
    assert (_violations(both, *turns) == 0) == legal


@pytest.mark.parametrize(("pauses", "legal"), [(2, True), (20, False)])
def test_many_short_pauses_are_not_excused(pauses: int, legal: bool) -> None:
    """A job that was promised to run through pauses for no more than a few ticks in all."""
    step = 1 + 3 * ulp(EPOCH)
    starts = [EPOCH + i * step for i in range(pauses + 1)]
    runs = [Segment("j0", start, start + 1, 1) for start in starts]
    scenario = _scenario(1, (EPOCH, pauses + 1))
    assert (_violations(scenario, *runs, preemptive=False) == 0) == legal
    assert _violations(scenario, *runs) == 0


def test_gpus_of_a_job_count_once() -> None:
    """A job that overlaps with another by a tick owes a tick, on however many GPUs; its time is what counts."""
    job = {"release_date": EPOCH, "duration": 10, "gpus": 64}
    scenario = Scenario(
        workload=bundle([Job(name=name, **job) for name in "ab"]),  # type: ignore[arg-type]
        cluster=Cluster.uniform(machines=8, gpus=8),
    )
    tick, everything = ulp(EPOCH), tuple(range(64))
    a, b = Segment("a", EPOCH, EPOCH + 10, 64, everything), Segment("b", EPOCH + 10, EPOCH + 20, 64, everything)
    assert _violations(scenario, a, b._replace(start=b.start - 3 * tick)) == 0
    assert _violations(scenario, a, b._replace(start=b.start - 30 * tick, end=b.end - 30 * tick)) > 0


def test_a_job_shorter_than_the_clock_can_tell_has_to_run() -> None:
    """A job of a microsecond at today's date completes with a run of a tick, and not without any."""
    scenario = _scenario(1, (EPOCH, 1e-6))
    assert _violations(scenario, Segment("j0", EPOCH, EPOCH + ulp(EPOCH), 1)) == 0
    assert judge(Schedule(()), scenario).violations == (
        "job 'j0' does not complete: 0.0 s of 1e-06 s of work are done",
    )


def test_a_span_is_measured_at_the_speed_it_was_run_at() -> None:
    """A job that is twice as fast on two GPUs may be wrong by a billionth of half its duration."""
    scenario = _scenario(2, (1, 1000.0))
    for wrong, legal in [(4e-7, True), (6e-7, False)]:
        for error in (wrong, -wrong):
            assert (_violations(scenario, Segment("j0", 1, 501 - error, 2)) == 0) == legal
        runs = (Segment("j0", 1 - wrong, 11, 1), Segment("j0", 11, 506, 2))
        assert (_violations(scenario, *runs) == 0) == legal


def test_all_that_are_in_the_way_owe() -> None:
    """A job that starts before two others have ended is as early as the two are late, each for itself."""
    tick = ulp(EPOCH)
    for error, legal in [(3 * tick, True), (30 * tick, False)]:
        wide = Segment("j2", EPOCH + 10, EPOCH + 15, 2)
        late = [Segment(name, EPOCH, EPOCH + 10 + error, 1) for name in ("j0", "j1")]
        jobs = _scenario(2, (EPOCH, 10 + error), (EPOCH, 10 + error), (EPOCH, 10))
        assert (_violations(jobs, *late, wide) == 0) == legal
        placed = [late[0]._replace(placement=(0,)), late[1]._replace(placement=(1,))]
        assert (_violations(jobs, *placed, wide._replace(placement=(0, 1))) == 0) == legal
        gone = _with_changes(_scenario(3, *[(EPOCH, 10 + error)] * 2), (EPOCH + 10, 1))
        assert (_violations(gone, placed[1], late[0]._replace(placement=(2,))) == 0) == legal


def test_those_that_end_first_owe() -> None:
    """A job that runs beside others owes nothing for how they take turns, so that it need not end for them."""
    tick = ulp(EPOCH)
    turns = [
        Segment(f"j{i}", EPOCH + i - 3 * tick * (i % 2), EPOCH + i + 1 - 3 * tick * (i % 2), 1)
        for i in range(40)
    ]
    scenario = _scenario(2, *[(EPOCH, 1)] * 40, (EPOCH, 1000.0))
    assert _violations(scenario, *turns, Segment("j40", EPOCH, EPOCH + 1000, 1)) == 0


def test_the_last_end_completes() -> None:
    """A job that is excused for a run within another completes when the later one ends."""
    tick = ulp(EPOCH)
    runs = (Segment("j0", EPOCH, EPOCH + 10, 1), Segment("j0", EPOCH + 10 - 4 * tick, EPOCH + 10 - 2 * tick, 1))
    verdict = judge(Schedule(runs), _scenario(2, (EPOCH, 10)))
    assert (verdict.violations, verdict.completion_times) == ((), (EPOCH + 10,))


# Mutants of optimal schedules


def _shortest_remaining_first(jobs: Sequence[Job]) -> Fraction:
    """Return the least mean job completion time on one GPU, in fractions."""
    arrivals = [Fraction(job.release_date) for job in jobs]
    pending: list[Fraction] = []
    now, total = arrivals[0], Fraction(0)
    for index, job in enumerate(jobs):
        now = max(now, arrivals[index])
        heappush(pending, Fraction(job.duration))
        following = arrivals[index + 1] if index + 1 < len(jobs) else None
        while pending and (following is None or now < following):
            left = heappop(pending)
            step = left if following is None else min(left, following - now)
            now += step
            if step == left:
                total += now
            else:
                heappush(pending, left - step)
    return (total - sum(arrivals)) / len(jobs)


def _drawn(random: Random) -> Scenario:
    """Draw up to five jobs of 1e-3 to 1e6 s on one GPU, most of them at today's date."""
    origin = random.choice([EPOCH, EPOCH, EPOCH + random.random(), EPOCH - random.random() * 1e6, 0.0, 1e5])
    longest = 10 ** random.uniform(-3, 6)
    durations = [
        max(longest * random.choice([1, 0.5, random.random()]), 1e-3) for _ in range(random.randint(1, 5))
    ]
    spread = random.choice([0, 1, 2]) * sum(durations)
    jobs = [(origin + random.random() * spread, duration) for duration in durations]
    return _scenario(1, *jobs)


class _Optimal(NamedTuple):
    """An optimal schedule of one GPU, what is excused of each job, and where and by how much to change it."""

    segments: tuple[Segment, ...]
    excuse: dict[str, float]
    place: int
    gain: float
    random: Random

    @property
    def segment(self) -> Segment:
        """The segment to change."""
        return self.segments[self.place]

    def having(self, *new: Segment) -> tuple[Segment, ...]:
        """Return the schedule with other segments in that place."""
        return (*self.segments[: self.place], *new, *self.segments[self.place + 1 :])

    def measurable(self, seconds: float, segment: Segment | None = None) -> bool:
        """Check whether seconds of a segment are well above what is excused of its job."""
        return seconds > 1.5 * self.excuse[(segment or self.segment).job]

    def measurable_to_all(self, seconds: float) -> bool:
        """Check whether seconds are well above what is excused of all jobs together."""
        return seconds > 1.5 * sum(self.excuse.values())


#: A schedule in which some job gains, and whether that can be measured; None where it makes no sense.
Mutant = tuple[tuple[Segment, ...], bool] | None


def _earlier(segment: Segment, seconds: float) -> Segment:
    return segment._replace(start=segment.start - seconds, end=segment.end - seconds)


def _ends_early(optimal: _Optimal) -> Mutant:
    segment, gain = optimal.segment, optimal.gain
    return optimal.having(segment._replace(end=segment.end - gain)), optimal.measurable(gain)


def _starts_late(optimal: _Optimal) -> Mutant:
    segment, gain = optimal.segment, optimal.gain
    return optimal.having(segment._replace(start=segment.start + gain)), optimal.measurable(gain)


def _moves(optimal: _Optimal) -> Mutant:
    """Let a segment lie earlier, before its release or beside the segment before it."""
    return optimal.having(_earlier(optimal.segment, optimal.gain)), optimal.measurable_to_all(optimal.gain)


def _closes_the_gap(optimal: _Optimal) -> Mutant:
    """Let a segment end early, and all that follows lie earlier."""
    segment, gain, place = optimal.segment, optimal.gain, optimal.place
    after = (_earlier(other, gain) for other in optimal.segments[place + 1 :])
    cut = segment._replace(end=segment.end - gain)
    return (*optimal.segments[:place], cut, *after), optimal.measurable(gain)


def _everything_moves(optimal: _Optimal) -> Mutant:
    first, gain = optimal.segments[0], optimal.gain
    return tuple(_earlier(other, gain) for other in optimal.segments), optimal.measurable(gain, first)


def _everything_is_faster(optimal: _Optimal) -> Mutant:
    begin, part = optimal.segments[0].start, 10 ** optimal.random.uniform(-9, -0.1)
    shrunk = [
        other._replace(
            start=other.start - part * (other.start - begin), end=other.end - part * (other.end - begin)
        )
        for other in optimal.segments
    ]
    saved = part * (optimal.segments[-1].end - begin)
    return tuple(shrunk), optimal.measurable_to_all(saved)


def _everyone_ends_early(optimal: _Optimal) -> Mutant:
    """Let every segment be shorter by half of what is excused, or by more, and lie as early as it can."""
    part = optimal.random.choice([0.5, 0.9, 1.6, 3.0])
    cuts = [min(part * optimal.excuse[other.job], (other.end - other.start) / 2) for other in optimal.segments]
    gained = accumulate(cuts, initial=0.0)
    pairs = zip(optimal.segments, cuts, gained, strict=False)
    moved = [_earlier(other, before)._replace(end=other.end - before - cut) for other, cut, before in pairs]
    return tuple(moved), any(map(optimal.measurable, cuts, optimal.segments))


def _never_runs(optimal: _Optimal) -> Mutant:
    return tuple(other for other in optimal.segments if other.job != optimal.segment.job), True


def _half(optimal: _Optimal) -> Segment:
    segment = optimal.segment
    return segment._replace(end=segment.start + (segment.end - segment.start) / 2)


def _runs_twice_at_a_time(optimal: _Optimal) -> Mutant:
    half = _half(optimal)
    return optimal.having(half, half), optimal.measurable(half.end - half.start)


def _takes_two_gpus(optimal: _Optimal) -> Mutant:
    half = _half(optimal)
    return optimal.having(half._replace(gpus=2)), optimal.measurable(half.end - half.start)


def _takes_a_count_that_there_is_not(optimal: _Optimal) -> Mutant:
    return optimal.having(_half(optimal)._replace(gpus=3)), True


def _runs_beside_another(optimal: _Optimal) -> Mutant:
    other, segment = optimal.random.choice(optimal.segments), optimal.segment
    if other.start >= segment.start:
        return None
    both = min(segment.end - segment.start, other.end - other.start)
    moved = optimal.having(_earlier(segment, segment.start - other.start))
    return moved, optimal.measurable_to_all(both)


def _overlaps_in_slices(optimal: _Optimal) -> Mutant:
    """Cut a segment into slices, each of which begins a few ticks before the one before it ends."""
    segment = optimal.segment
    slices, ticks = optimal.random.choice([3, 10, 100, 300]), optimal.random.choice([1, 2, 5])
    step, overlap = (segment.end - segment.start) / slices, ticks * ulp(segment.end)
    if step < 10 * overlap:
        return None
    starts = [segment.start + i * (step - overlap) for i in range(slices)]
    cut = [segment._replace(start=start, end=start + step) for start in starts]
    return optimal.having(*cut), optimal.measurable((slices - 1) * overlap)


_MUTATIONS: tuple[Callable[[_Optimal], Mutant], ...] = (
    _ends_early,
    _starts_late,
    _moves,
    _closes_the_gap,
    _everything_moves,
    _everything_is_faster,
    _everyone_ends_early,
    _never_runs,
    _runs_twice_at_a_time,
    _takes_two_gpus,
    _takes_a_count_that_there_is_not,
    _runs_beside_another,
    _overlaps_in_slices,
)


def _mean_jct(jobs: Sequence[Job], runs: Sequence[Segment]) -> Fraction:
    """Return the mean job completion time in fractions; a job that never runs completes at 0."""
    ends = [
        max((Fraction(run.end) for run in runs if run.job == job.name), default=Fraction(0)) for job in jobs
    ]
    return sum(
        (end - Fraction(job.release_date) for end, job in zip(ends, jobs, strict=True)), Fraction(0)
    ) / len(jobs)


@pytest.mark.parametrize("seed", range(cases(10)))
def test_no_mutant_is_accepted_below_the_optimum(seed: int) -> None:
    """Of 1,100 mutants for each seed no legal one is below the optimum, and none gains what can be measured."""
    random = Random(seed)
    tried = below = 0
    while tried < 1_100:
        scenario = _drawn(random)
        jobs = scenario.workload.jobs
        best = _shortest_remaining_first(jobs)
        schedule = schedule_of(judged(scenario, srtf, complete=True))
        ends = {segment.job: segment.end for segment in sorted(schedule.segments, key=lambda run: run.end)}
        excuse = {job.name: clock_error(ends[job.name], job.duration) for job in jobs}
        most = Fraction(sum(excuse.values()))
        assert abs(_mean_jct(jobs, schedule.segments) - best) <= most
        for mutation in _MUTATIONS:
            place = random.randrange(len(schedule.segments))
            segment = schedule.segments[place]
            gain = min(excuse[segment.job] * 10 ** random.uniform(-1, 6), (segment.end - segment.start) / 2)
            mutant = mutation(_Optimal(schedule.segments, excuse, place, gain, random))
            if mutant is None:
                continue
            runs, measurable = mutant
            if random.random() < 0.3 and all(run.gpus == 1 for run in runs):
                runs = tuple(run._replace(placement=(0,)) for run in runs)
            legal = not judge(Schedule(runs), scenario).violations
            beats = _mean_jct(jobs, runs) < best - most
            assert not (legal and (beats or measurable)), (mutation.__name__, scenario, runs)
            tried, below = tried + 1, below + beats
    assert below > tried / 2


@pytest.mark.parametrize("mode", ["", "fast"])
def test_ticks_are_counted_at_the_speed_that_was_reached(mode: str) -> None:
    """Three ticks are excused whatever is done in them, on more GPUs or in another mode; twenty are not."""
    job = Job(
        name="a",
        release_date=EPOCH,
        duration=1000,
        gpus=1,
        menu=[(1, 1.0)] if mode else [(1, 1.0), (2, 1000.0)],
        modes=[Mode(name=mode, menu=[(2, 1000.0)])] if mode else [],
    )
    scenario = Scenario(workload=bundle([job]), cluster=Cluster.plain(2))
    for ticks, legal in [(0, True), (3, True), (20, False)]:
        end = EPOCH + 1 - ticks * ulp(EPOCH)
        schedule = Schedule((Segment("a", EPOCH, end, 2, (), mode),))
        assert (judge(schedule, scenario).violations == ()) == legal
