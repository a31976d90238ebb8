"""The judge accepts what is legal, rejects what is not, and names the rule."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidSolution
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave, Return
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.judge import judge, judged
from gsopt.simulation import replay
from heuristics.policies import fifo, sjf, srtf
from tests.effort import cases
from tests.gsopt.simulation.recorded import judged as judged_run
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    [
        Job(name="a", release_date=0, duration=4, gpus=2, menu=((1, 0.5), (2, 1.0))),
        Job(name="b", release_date=1, duration=2, gpus=1),
    ]
)
_PLAIN = Scenario(workload=_JOBS, cluster=Cluster.plain(3))
_RACKS = Scenario(
    workload=bundle(
        [
            Job(name="a", release_date=0, duration=4, gpus=2, gpu_type="old", memory=6),
            Job(name="b", release_date=0, duration=2, gpus=1, memory=6),
        ]
    ),
    cluster=Cluster(
        racks=(
            Rack(
                name="r",
                machines=(
                    Machine(name="m", gpus=2, gpu_type="old", memory=10),
                    Machine(name="n", gpus=1, gpu_type="new", memory=10),
                ),
            ),
        )
    ),
    share_limit=2,
)


def _a(*pieces: tuple[Any, ...]) -> tuple[Segment, ...]:
    """Return segments of job a, and b in its place."""
    return (*(Segment("a", *piece) for piece in pieces), Segment("b", 1, 3, 1))


@pytest.mark.parametrize(
    ("segments", "rule"),
    [
        (_a((0, 4, 2), (4, 5, 2)), "runs for"),
        (_a((0, 3, 2)), "does not complete"),
        (_a(), "does not complete"),
        (_a((0, 4, 2))[:1], "'b' does not complete"),
        ((Segment("a", 0, 4, 2), Segment("b", 0.5, 2.5, 1)), "before its release"),
        (_a((0, 4, 3)), "GPU count 3"),
        (_a((0, 4, 2), (0, 4, 2)), "two sets of GPUs"),
        (_a((0, 2, 2), (1, 3, 2)), "two sets of GPUs"),
        (_a((0, 3, 1), (1, 1 + 1e-12, 1), (2, 4.5, 1)), "two sets of GPUs at 2"),
        (_a((0, 0, 2)), "must end after it starts"),
        (_a((3, 1, 2)), "must end after it starts"),
        (_a((0, float("nan"), 2)), "must end after it starts"),
        (_a((0, float("inf"), 2)), "must end after it starts"),
        ((*_a((0, 4, 2)), Segment("c", 0, 1, 1)), "not a job of the workload"),
        (_a((0, 4, 2, (0,))), "2 different GPUs"),
        (_a((0, 4, 2, (0, 0))), "2 different GPUs"),
        (_a((0, 4, 2, (0, 3))), "numbered from 0 to 2"),
        (_a((0, 4, 2, (-1, 0))), "numbered from 0 to 2"),
        (_a((0, 4, 2, (0, 0.5))), "numbered from 0 to 2"),
        ((Segment("a", 0, 4, 2, (0, 1)), Segment("b", 1, 3, 1, (1,))), "2 jobs hold GPU 1"),
    ],
)
def test_rules_of_a_plain_cluster(segments: tuple[Segment, ...], rule: str) -> None:
    """Each broken rule is named."""
    assert any(rule in violation for violation in judge(Schedule(segments), _PLAIN).violations)


@pytest.mark.parametrize(
    ("a", "b", "rule"),
    [
        (Segment("a", 0, 4, 2), Segment("b", 0, 2, 1, (2,)), "must be named"),
        (Segment("a", 0, 4, 2, (1, 2)), Segment("b", 4, 6, 1, (2,)), "must run on old GPUs"),
        (Segment("a", 0, 4, 2, (0, 1)), Segment("b", 0, 2, 1, (0,)), "do not fit its memory"),
    ],
)
def test_rules_of_racks(a: Segment, b: Segment, rule: str) -> None:
    """GPU identity, type and memory are looked at."""
    assert any(rule in violation for violation in judge(Schedule((a, b)), _RACKS).violations)


def test_a_legal_schedule_of_racks() -> None:
    """Apart from each other the two jobs break no rule."""
    schedule = Schedule((Segment("a", 0, 4, 2, (0, 1)), Segment("b", 0, 2, 1, (2,))))
    assert judge(schedule, _RACKS).violations == ()


def test_capacity_is_checked_at_every_instant() -> None:
    """Three jobs overlap for a moment on two GPUs."""
    jobs = bundle([Job(name=name, release_date=0, duration=2, gpus=1) for name in "abc"])
    scenario = Scenario(workload=jobs, cluster=Cluster.plain(2))
    segments = (
        Segment("a", 0, 2, 1),
        Segment("b", 1, 3, 1),
        Segment("c", Fraction(199, 100), Fraction(399, 100), 1),
    )
    assert judge(Schedule(segments), scenario, exact=True).violations == (
        "at 199/100: 3 GPUs are held, but only 2 are available",
    )


def test_a_broken_rule_is_broken_until_it_is_kept() -> None:
    """What happens elsewhere in the meantime, a tick after a GPU is held twice, changes nothing of that."""
    jobs = bundle([Job(name=name, release_date=0, duration=4, gpus=1) for name in "abc"])
    scenario = Scenario(workload=jobs, cluster=Cluster.plain(4))
    twice = (Segment("a", 0, 4, 1, (1,)), Segment("b", 3, 7, 1, (1,)))
    elsewhere = Segment("c", 3 + 1e-12, 7 + 1e-12, 1, (0,))
    assert (
        "at 3.0: 2 jobs hold GPU 1"
        in judge(Schedule((*twice, elsewhere._replace(start=3, end=7))), scenario).violations
    )
    assert any(
        "2 jobs hold GPU 1" in rule for rule in judge(Schedule((*twice, elsewhere)), scenario).violations
    )
    drop = CapacityChange(time=3, gpus=1)
    fewer = scenario.model_copy(update={"capacity_changes": (drop,)})
    alone = Schedule((twice[0], elsewhere, Segment("b", 8, 12, 1, (0,))))
    assert any("GPU 1 is held but not available" in rule for rule in judge(alone, fewer).violations)


def test_a_drop_of_capacity_counts() -> None:
    """GPUs that are gone cannot be held, by number or not, on a plain cluster and on racks."""
    jobs = bundle([Job(name="a", release_date=0, duration=4, gpus=1)])
    change = CapacityChange(time=2.0, gpus=1)
    plain = Scenario(workload=jobs, cluster=Cluster.plain(2), capacity_changes=(change,))
    racks = plain.model_copy(update={"cluster": Cluster.uniform(racks=1, machines=1, gpus=2)})
    assert judge(Schedule((Segment("a", 0, 4, 1),)), plain).violations == ()
    for scenario in (plain, racks):
        assert judge(Schedule((Segment("a", 0, 4, 1, (0,)),)), scenario).violations == ()
        assert judge(Schedule((Segment("a", 0, 4, 1, (1,)),)), scenario).violations == (
            "at 2.0: GPU 1 is held but not available",
        )


@pytest.mark.parametrize("exact", [False, True])
def test_promised_non_preemption(exact: bool) -> None:
    """A pause is a violation only where the promise was made, and not where the capacity dropped."""
    segments = (Segment("a", 0, 2, 2), Segment("a", 3, 5, 2), Segment("b", 1, 3, 1))

    def violations(*capacities: tuple[float, int], preemptive: bool = False) -> tuple[str, ...]:
        changes = tuple(CapacityChange(time=time, gpus=gpus) for time, gpus in capacities)
        scenario = _PLAIN.model_copy(update={"capacity_changes": changes})
        return judge(Schedule(segments, preemptive), scenario, exact=exact).violations

    preempted = (f"job 'a' is preempted at {2 if exact else 2.0}",)
    assert violations(preemptive=True) == ()
    assert violations() == preempted
    assert violations((2, 1), (3, 3)) == ()
    assert violations((0.5, 2), (1, 3)) == preempted  # a drop at another time
    assert violations((0, 2), (1, 3), (2, 3)) == preempted  # no change
    assert violations((0, 2), (0.5, 3)) == preempted
    assert violations((0, 2), (1, 3), (2, 2), (3, 3)) == ()


def test_a_drop_of_capacity_excuses_only_the_jobs_whose_gpus_it_takes() -> None:
    """On machines, a job whose GPUs stay when the capacity drops must not pause."""
    job = Job(name="a", release_date=0, duration=4, gpus=1)
    drop = CapacityChange(time=2, gpus=3)
    scenario = Scenario(
        workload=bundle([job]), cluster=Cluster.uniform(machines=2, gpus=2), capacity_changes=(drop,)
    )

    def violations(gpu: int) -> tuple[str, ...]:
        segments = (Segment("a", 0, 2, 1, (gpu,)), Segment("a", 3, 5, 1, (0,)))
        return judge(Schedule(segments, preemptive=False), scenario).violations

    assert violations(3) == ()
    assert violations(2) == ("job 'a' is preempted at 2.0",)


def test_a_rise_of_capacity_excuses_no_preemption() -> None:
    """Where promised not to, a job does not pause when GPUs are added, up to all of the cluster or fewer."""
    jobs = bundle([Job(name="a", release_date=0, duration=4, gpus=1)])
    paused = Schedule((Segment("a", 0, 2, 1), Segment("a", 3, 5, 1)), preemptive=False)
    for capacities in [(1, 2, 4), (2, 4, 3), (1, 3, 1)]:
        changes = tuple(
            CapacityChange(time=time, gpus=gpus) for time, gpus in zip((0, 2, 4), capacities, strict=True)
        )
        scenario = Scenario(workload=jobs, cluster=Cluster.plain(4), capacity_changes=changes)
        assert judge(paused, scenario).violations == ("job 'a' is preempted at 2.0",)


def test_overheads_take_time() -> None:
    """A start overhead of 1 s makes a job of 4 s hold its GPUs for 5 s, and a resize adds its own."""
    scenario = _PLAIN.model_copy(update={"overheads": {"": Overhead(start=1.0, resize=0.5)}})
    late = Segment("b", 1, 4, 1)
    assert judge(Schedule((Segment("a", 0, 5, 2), late)), scenario).violations == ()
    assert judge(Schedule((Segment("a", 0, 4, 2), late)), scenario).violations != ()
    resized = (Segment("a", 0, 2, 2), Segment("a", 2, 8.5, 1), late)
    assert judge(Schedule(resized), scenario).violations == ()


def test_a_stop_is_paid_for_at_the_next_start() -> None:
    """After a pause a job of 4 s holds its GPUs for the overheads of a start and of a stop, then works on."""
    scenario = _PLAIN.model_copy(update={"overheads": {"": Overhead(start=0.5, stop=0.25, resize=9.0)}})
    b = Segment("b", 1, 3.5, 1)
    for end, legal in [(7.25, True), (7.0, False), (7.5, False)]:
        paused = Schedule((Segment("a", 0, 2.5, 2), Segment("a", 4.5, end, 2), b))
        assert (judge(paused, scenario).violations == ()) == legal
    on = Schedule((Segment("a", 0, 2.5, 2), Segment("a", 2.5, 4.5, 2), b))  # neither stopped nor resized
    assert judge(on, scenario).violations == ()


def test_tiers_slow_down() -> None:
    """Two GPUs of two machines need 1 + 0.5 times as long."""
    jobs = bundle([Job(name="a", release_date=0, duration=4, gpus=2, model="m")])
    speed = Speed(tiers={"m": TierPenalty(machine=0, rack=0.5, network=1)})
    scenario = Scenario(workload=jobs, cluster=Cluster.uniform(machines=2, gpus=2), speed=speed)
    assert judge(Schedule((Segment("a", 0, 4, 2, (0, 1)),)), scenario).violations == ()
    assert judge(Schedule((Segment("a", 0, 6, 2, (1, 2)),)), scenario).violations == ()
    assert judge(Schedule((Segment("a", 0, 4, 2, (1, 2)),)), scenario).violations != ()


def test_figures_by_hand() -> None:
    """Every figure of a small schedule is as computed by hand."""
    verdict = judge(
        Schedule((Segment("a", 0, 2, 2), Segment("a", 3, 5, 2), Segment("b", 1, 3, 1))), _PLAIN, exact=True
    )
    assert verdict.jct == (5, 2)
    assert verdict.mean_jct == Fraction(7, 2)
    assert verdict.p99_jct == 5
    assert verdict.queueing == (1, 0)
    assert verdict.makespan == 5
    assert verdict.gpu_hours == Fraction(10, 3600)
    assert verdict.utilisation == Fraction(10, 15)
    assert (verdict.preemptions, verdict.preemptions_per_job, verdict.resizes) == (1, 0.5, 0)
    # as a fluid of which each uses what it demands: a is done at 4, b, which starts at 1, at 3
    assert verdict.fairness == (Fraction(5, 4), 1)
    assert (verdict.worst_fairness, verdict.unfair_fraction) == (Fraction(5, 4), 0.5)
    # as a fluid without caps: a alone until 1, then half of 3 GPUs each: b is done at 7/3, a at 10/3
    assert verdict.gps_fairness == (Fraction(3, 2), Fraction(3, 2))
    assert (verdict.gps_worst_fairness, verdict.gps_unfair_fraction) == (Fraction(3, 2), 1.0)


def _ones(number: int) -> Workload:
    """Return jobs of a second on a GPU each, all released at 0."""
    return bundle([Job(name=f"j{i}", release_date=0, duration=1, gpus=1) for i in range(number)])


@pytest.mark.parametrize(
    ("number", "rank"), [(1, 1), (2, 2), (99, 99), (100, 99), (101, 100), (199, 198), (200, 198), (201, 199)]
)
def test_p99_is_the_smallest_that_99_percent_do_not_exceed(number: int, rank: int) -> None:
    """Of jobs that run one after the other the job completion times are 1, 2, ..., and so are their ranks."""
    scenario = Scenario(workload=_ones(number), cluster=Cluster.plain(1))
    schedule = Schedule(tuple(Segment(f"j{i}", i, i + 1, 1) for i in range(number)))
    assert judge(schedule, scenario).p99_jct == rank
    assert replay(scenario, fifo).metrics.p99_jct == rank


def test_incomplete_jobs_count_as_preempted() -> None:
    """A job that ran and was never completed has been interrupted; one that never ran has not."""
    scenario = Scenario(workload=_ones(3), cluster=Cluster.plain(1))
    verdict = judge(Schedule((Segment("j0", 0, 1, 1), Segment("j1", 1, 1.5, 1))), scenario, complete=False)
    assert (verdict.violations, verdict.jct) == ((), (1.0,))
    assert (verdict.preemptions, verdict.preemptions_per_job) == (1, 1 / 3)


def test_utilisation_ends_with_the_last_completion() -> None:
    """What an incomplete job holds after the last completion is GPU time, and is not utilisation."""
    scenario = Scenario(workload=_ones(2), cluster=Cluster.plain(2))
    schedule = Schedule((Segment("j0", 0, 1, 1), Segment("j1", 0.5, 1.25, 1)))
    verdict = judge(schedule, scenario, complete=False)
    assert (verdict.makespan, verdict.utilisation) == (1, (1 + 0.5) / 2)
    assert verdict.gpu_hours == (1 + 0.75) / 3600
    late = judge(
        Schedule((Segment("j0", 0, 1, 1), Segment("j1", 1.5, 1.75, 1))), scenario, complete=False, exact=True
    )
    assert late.utilisation == Fraction(1, 2)


def test_utilisation_counts_the_gpus_that_are_there() -> None:
    """Capacity counts from the first release date to the last completion, whenever it changes."""
    jobs = bundle([Job(name="a", release_date=2, duration=4, gpus=1)])

    def utilisation(*capacities: tuple[float, int]) -> Any:
        changes = tuple(CapacityChange(time=time, gpus=gpus) for time, gpus in capacities)
        scenario = Scenario(workload=jobs, cluster=Cluster.plain(4), capacity_changes=changes)
        return judge(Schedule((Segment("a", 2, 6, 1),)), scenario, exact=True).utilisation

    assert utilisation() == Fraction(4, 16)
    assert utilisation((1, 2)) == Fraction(4, 8)  # before the first release date
    assert utilisation((0, 1), (1, 2)) == Fraction(4, 8)
    assert utilisation((3, 2)) == Fraction(4, 4 + 6)
    assert utilisation((0, 1), (3, 2), (5, 4)) == Fraction(4, 1 + 4 + 4)
    assert utilisation((7, 1), (9, 3)) == Fraction(4, 16)  # after the last completion


def test_resizes_are_not_preemptions() -> None:
    """A job that goes on with fewer GPUs has been resized, one that pauses meanwhile has been preempted."""
    without_pause = judge(Schedule(_a((0, 2, 2), (2, 6, 1))), _PLAIN)
    with_pause = judge(Schedule(_a((0, 2, 2), (3, 7, 1))), _PLAIN)
    assert [(each.resizes, each.preemptions) for each in (without_pause, with_pause)] == [(1, 0), (0, 1)]


def test_a_ratio_of_1_is_fair_whatever_the_rounding() -> None:
    """A job that completes when it would under the fluid share, but for rounding, has a ratio of 1."""
    for release, error, late in [(0.0, 1e-12, 1e-8), (1.7e9, 2.0**-22, 2.0**-17)]:
        alone = Scenario(
            workload=bundle([Job(name="a", release_date=release, duration=1, gpus=1)]), cluster=Cluster.plain(1)
        )
        ends = (release + 1, release + 1 + error, release + 1 + late)
        verdicts = [judge(Schedule((Segment("a", end - 1, end, 1),)), alone) for end in ends]
        assert [verdict.violations for verdict in verdicts] == [()] * 3
        assert [verdict.unfair_fraction for verdict in verdicts] == [0, 0, 1]
        assert [verdict.worst_fairness for verdict in verdicts] == [1, 1, pytest.approx(1 + late, rel=1e-7)]
        end = Fraction(ends[1])
        exact = judge(Schedule((Segment("a", end - 1, end, 1),)), alone, exact=True)
        assert exact.unfair_fraction == 1


def test_judged_raises() -> None:
    """A schedule that breaks a rule is refused with the first rule it breaks."""
    with pytest.raises(InvalidSolution, match="does not complete"):
        judged(Schedule(()), _PLAIN)


def _mutants(schedule: Schedule, scenario: Scenario, random: Random) -> Iterator[Schedule]:
    """Break a legal schedule in each of many ways."""
    segments, gpus = schedule.segments, scenario.cluster.gpus
    index = random.randrange(len(segments))
    segment = segments[index]
    length = segment.end - segment.start
    half, release = segment.start + length / 2, min(job.release_date for job in scenario.workload.jobs)
    changes: list[dict[str, Any]] = [
        {"end": segment.end - length / 7},
        {"end": segment.end + length / 7},
        {"gpus": segment.gpus + 1, "placement": ()},
        {"gpus": 0, "placement": ()},
        {"job": "nobody"},
        {"start": release - 1.5, "end": release - 1.5 + length},
    ]
    others = [other for other in segments if other.start < segment.end and segment.start < other.end]
    if segment.placement:
        changes.append({"placement": (*segment.placement[1:], gpus)})  # a GPU that is not there
        taken = [other.placement[0] for other in others if other.job != segment.job]
        changes += [{"placement": (gpu, *segment.placement[1:])} for gpu in taken]
    pieces = [(), (segment, segment), *((segment._replace(**change),) for change in changes)]
    if not schedule.preemptive:
        pieces.append((segment._replace(end=half), segment._replace(start=half + 1000, end=segment.end + 1000)))
    for new in pieces:
        yield Schedule((*segments[:index], *new, *segments[index + 1 :]), schedule.preemptive)
    crowd = {other.job: other for other in others}
    if not segment.placement and sum(other.gpus for other in others) > gpus and len(crowd) == len(others):
        early = min(other.start for other in others)
        moved = (other._replace(start=early, end=early + other.end - other.start) for other in others)
        rest = (other for other in segments if other not in others)
        yield Schedule((*rest, *moved), schedule.preemptive)  # overfill the cluster


@pytest.mark.parametrize("cluster", [Cluster.plain(4), Cluster.uniform(machines=2, gpus=2)])
def test_mutants_are_rejected(cluster: Cluster) -> None:
    """In floats at least 99 % of broken schedules are rejected, and those that they are made of accepted."""
    random, verdicts = Random(11), []
    for _ in range(cases(60)):
        jobs = [
            Job(
                name=f"j{i}",
                release_date=random.randint(0, 10),
                duration=random.randint(1, 9) + random.random(),
                gpus=random.randint(1, 4),
            )
            for i in range(8)
        ]
        scenario = Scenario(workload=bundle(jobs), cluster=cluster)
        for policy in (fifo, sjf, srtf):
            schedule = schedule_of(judged_run(scenario, policy, complete=True))
            mutants = _mutants(schedule, scenario, random)
            verdicts += [bool(judge(mutant, scenario).violations) for mutant in mutants]
    assert len(verdicts) > cases(1000)
    assert sum(verdicts) / len(verdicts) >= 0.99


def test_fairness_is_left_out_where_it_is_not_asked_for() -> None:
    """Without it a verdict says the same of everything else, and nothing of fairness."""
    workload = bundle(Job(name=str(number), release_date=number, duration=3, gpus=1) for number in range(4))
    run = replay(Scenario(workload=workload, cluster=Cluster.plain(2)), srtf, record=True)
    whole = judge(schedule_of(run), run.scenario)
    part = judge(schedule_of(run), run.scenario, fairness=False)

    assert len(whole.fairness) == len(whole.gps_fairness) == 4
    assert (part.fairness, part.gps_fairness, part.unfair_fraction) == ((), (), None)
    assert replace(whole, fairness=(), gps_fairness=()) == part


def _scenario(*jobs: Job, cluster: Cluster | None = None, **fields: Any) -> Scenario:
    racks = cluster or Cluster.uniform(machines=2, gpus=2, memory=10)
    return Scenario(workload=Workload(jobs=jobs), cluster=racks, **fields)


def _job(name: str = "a", **fields: Any) -> Job:
    given: dict[str, Any] = {"release_date": 0, "duration": 4, "gpus": 1, **fields}
    return Job(name=name, **given)


def _violations(scenario: Scenario, *segments: Segment, **options: Any) -> tuple[str, ...]:
    return judge(Schedule(segments, **options), scenario, exact=True).violations


@pytest.mark.parametrize(
    ("lost", "segments", "legal"),
    [
        (0, [(0, 1, 0), (1, 4, 2)], True),
        (0.5, [(0, 1, 0), (1, 4.5, 2)], True),
        (0.5, [(0, 1, 0), (1, 4, 2)], False),
        (9, [(0, 1, 0), (1, 5, 2)], True),  # no more than was done
        (9, [(0, 1, 0), (3, 7, 2)], True),
        (9, [(0, 0.5, 0), (0.5, 4, 2)], True),  # it had gone before
        (9, [(0, 0.5, 0), (0.5, 1, 2), (3, 6, 2)], True),
        (9, [(0, 4, 0)], False),  # the machine is away
        (9, [(0, 1, 0), (1, 5, 1)], False),
        (9, [(0, 1, 0), (3, 7, 0)], True),  # it is back
        (9, [(0, 1, 0), (2.75, 6.75, 0)], False),
    ],
)
def test_machines_that_leave(lost: float, segments: list[tuple[float, float, int]], legal: bool) -> None:
    """A job on a machine that leaves loses work, and holds no GPU of it until it is back."""
    first, _ = _RACK.machines
    events = [Leave(time=1, servers=[first.name], lost_work=lost), Return(time=3, servers=[first.name])]
    scenario = _scenario(_job(), cluster=_RACK, events=events)
    pieces = [Segment("a", start, end, 1, (gpu,)) for start, end, gpu in segments]
    assert (_violations(scenario, *pieces) == ()) == legal
    rounded = judge(Schedule(tuple(pieces)), scenario).violations
    assert (rounded == ()) == legal


_RACK = Cluster.uniform(machines=2, gpus=2)


def test_a_job_that_completes_when_its_machine_leaves_loses_nothing() -> None:
    """Completions come first, in fractions and where floats round."""
    for scale, exact in [(1.0, True), (0.1, False), (1 / 3, False)]:
        leaves = Leave(time=4 * scale, servers=["machine 0.0"], lost_work=1)
        scenario = _scenario(_job(duration=4 * scale), cluster=_RACK, events=[leaves])
        schedule = Schedule(tuple(Segment("a", k * scale, (k + 1) * scale, 1, (0,)) for k in range(4)))
        assert judge(schedule, scenario, exact=exact).violations == ()


def test_utilisation_counts_machines_that_are_away() -> None:
    """Of 4 GPUs two are away for 2 of 4 seconds."""
    events = [Leave(time=1, servers=["machine 0.1"]), Return(time=3, servers=["machine 0.1"])]
    scenario = _scenario(_job(), cluster=_RACK, events=events)
    verdict = judge(Schedule((Segment("a", 0, 4, 1, (0,)),)), scenario, exact=True)
    assert (verdict.violations, verdict.utilisation) == ((), Fraction(4, 16 - 4))


_HALVES: dict[str, Any] = {"modes": [Mode(name="halves", menu=[(1, 0.25), (2, 0.5)], memory=4)]}
_SLOW_STARTS = Phase(until=0.25, slowdown=2, modes={"halves": 1})
_PHASED = _HALVES | {"phases": [_SLOW_STARTS, Phase(until=0.5), Phase(until=1, slowdown=4)]}


@pytest.mark.parametrize(
    ("fields", "segments", "rule"),
    [
        (_PHASED, [(0, 11, 1, (0,))], ""),
        (_PHASED, [(0, 12, 1, (0,))], "runs for 17/4 s of work, but has only 4"),
        (_PHASED, [(0, 10, 1, (0,))], "does not complete: 15/4 s of 4 s"),
        (_PHASED, [(0, 2, 2, (0, 1), "halves"), (2, 11, 1, (0,))], ""),
        (_HALVES, [(0, 4, 1, (0,), "halves")], "does not complete: 1 s of 4 s"),
        (_HALVES, [(0, 8, 3, (0, 1, 2), "halves")], "GPU count 3 of job 'a' is not one of (1, 2)"),
        (_HALVES, [(0, 8, 2, (0, 1), "whole")], "'whole' is not a mode of job 'a'"),
    ],
)
def test_modes_and_phases(fields: dict[str, Any], segments: list[Any], rule: str) -> None:
    """A segment runs on a count and at the speed of its mode, as slow as its phase, the last one too."""
    found = _violations(_scenario(_job(**fields)), *(Segment("a", *each) for each in segments))
    assert rule in found[0] if rule else found == ()


def test_only_jobs_on_the_machine_lose_work() -> None:
    """One beside it, one that has just lost its GPU to the capacity, and one of the past keep theirs."""
    leaves = Leave(time=2, servers=["machine 0.1"], lost_work=1)
    changes = [CapacityChange(time=2, gpus=3), CapacityChange(time=3, gpus=4)]
    scenario = _scenario(*map(_job, "abc"), cluster=_RACK, events=[leaves], capacity_changes=changes)
    runs = [("a", 0, 4, 0), ("b", 0, 2, 3), ("b", 2, 4, 1), ("c", 0, 2, 2), ("c", 4, 7, 1)]
    assert _violations(scenario, *(Segment(job, start, end, 1, (gpu,)) for job, start, end, gpu in runs)) == ()
