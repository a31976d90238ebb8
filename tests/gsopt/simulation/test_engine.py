"""The engine: exact times, legal decisions only, and the same result however jobs are named or shifted."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate, permutations
from math import nextafter
from random import Random
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds import srpt_bound
from gsopt.simulation import (
    Action,
    IllegalDecision,
    Move,
    Policy,
    Resize,
    Start,
    State,
    Stop,
    Wake,
    engine,
    replay,
    simulate,
)
from gsopt.simulation.parts.greedy import Greedy
from heuristics import policies
from tests.effort import cases
from tests.gsopt.simulation.recorded import schedule_of, verdict_of
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, workloads
from tests.gsopt.simulation.scripts import Script, doing, scripted, workload

POLICIES = [getattr(policies, name) for name in policies.__all__]
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(calm, max_examples=cases(60))
@given(jobs=workloads(1))
def test_fifo_on_one_gpu_is_the_closed_form(jobs: Workload) -> None:
    """On one GPU a job begins at its release or at the completion before it, whichever is later."""
    expected = list(
        accumulate(jobs.jobs, lambda end, job: max(end, job.release_date) + job.duration, initial=0.0)
    )[1:]
    assert list(simulate(jobs, policies.fifo, cluster=1).completion_times) == pytest.approx(expected, rel=1e-12)


@settings(calm, max_examples=cases(60))
@given(jobs=workloads(1))
def test_srtf_on_one_gpu_meets_the_srpt_bound(jobs: Workload) -> None:
    """On one GPU SRTF is optimal, so its completion times add up to the SRPT bound."""
    total = sum(simulate(jobs, policies.srtf, cluster=1).completion_times)
    assert total == pytest.approx(srpt_bound(jobs, 1), rel=1e-12)


@settings(calm, max_examples=cases(80))
@given(jobs=workloads(1, most=5))
def test_srtf_on_one_gpu_is_no_worse_than_any_priority_order(jobs: Workload) -> None:
    """SRTF equals the best of all preemptive static priority orders, which hold an optimum on one machine."""

    def total(order: tuple[int, ...]) -> Any:
        run = simulate(jobs, lambda state: Greedy(state, order.index), cluster=1, exact=True, bound=False)
        return sum(run.completion_times)

    best = min(total(order) for order in permutations(range(len(jobs.jobs))))
    assert sum(simulate(jobs, policies.srtf, cluster=1, exact=True).completion_times) == best


@each_policy
@settings(calm, max_examples=cases(30))
@given(scenario=plain_scenarios(changes=False))
def test_names_and_time_shifts_change_nothing(policy: Policy, scenario: Scenario) -> None:
    """With other names and all so many years later, jobs complete as many years later."""
    later = 1_700_000_123
    jobs = scenario.workload.jobs
    moved = [
        job.model_copy(update={"name": f"x{99 - i}", "release_date": job.release_date + later})
        for i, job in enumerate(jobs)
    ]
    shifted = scenario.model_copy(update={"workload": bundle(moved)})
    first, second = (replay(each, policy, exact=True) for each in (scenario, shifted))
    assert [time + later for time in first.completion_times] == list(second.completion_times)
    assert first.metrics.as_dict() == second.metrics.as_dict()


@each_policy
@settings(calm, max_examples=cases(30))
@given(scenario=plain_scenarios(elastic=True, changes=False), shift=st.sampled_from([0, 1_700_000_000]))
def test_a_job_far_away_changes_nothing(policy: Policy, scenario: Scenario, shift: int) -> None:
    """A job that comes thirty years later leaves every time before as it is, to the last digit."""
    jobs = [job.model_copy(update={"release_date": job.release_date + shift}) for job in scenario.workload.jobs]
    far = Job(name="far", release_date=shift + 1e9, duration=1, gpus=1)
    alone, beside = (
        replay(scenario.model_copy(update={"workload": bundle(each)}), policy) for each in (jobs, [*jobs, far])
    )
    assert alone.metrics.ends == beside.metrics.ends[:-1]
    assert alone.jct == beside.jct[:-1]
    assert alone.start_times == beside.start_times[:-1]


@each_policy
def test_work_is_conserved(policy: Policy) -> None:
    """Without overhead rigid jobs hold their GPUs for exactly their GPU-seconds."""
    random = Random(3)
    jobs = workload(*[(random.randint(0, 9), random.randint(1, 9), random.randint(1, 4)) for _ in range(30)])
    run = simulate(jobs, policy, cluster=4, record=True, exact=True)
    held = sum(segment.gpus * (segment.end - segment.start) for segment in schedule_of(run).segments)
    assert held == sum(job.gpu_seconds for job in jobs.jobs)


def test_area_does_not_pack() -> None:
    """A (2 GPUs, 1 s) and B (1 GPU, 2 s) fit two GPUs and 2 s by area, and still need 3 s."""
    jobs = workload((0, 1, 2), (0, 2, 1))
    assert min(simulate(jobs, policy, cluster=2).metrics.makespan or 0 for policy in POLICIES) == 3.0


_TWO = workload((0, 4, 1), (2, 4, 2))
_ELASTIC = bundle([Job(name="e", release_date=0, duration=4, gpus=2, menu=((1, 0.5), (2, 1.0), (4, 1.5)))])
_RACKS = Cluster(
    racks=(
        Rack(
            name="r",
            machines=(
                Machine(name="m", gpus=2, gpu_type="old", memory=10),
                Machine(name="n", gpus=1, gpu_type="new", memory=10),
            ),
        ),
    )
)


def _racked(**fields: Any) -> Workload:
    return bundle([Job(name=name, release_date=0, duration=4, gpus=1, **fields) for name in "ab"])


@pytest.mark.parametrize(
    ("jobs", "cluster", "steps", "rule"),
    [
        (_TWO, 2, [[Start(7)]], "a job of the workload"),
        (_TWO, 2, [[Start(-1)]], "a job of the workload"),
        (_TWO, 2, [[Start(cast("int", "j0"))]], "a job of the workload"),
        (_TWO, 2, [[Start(1)]], "before its release"),
        (_TWO, 2, [[Start(0)], [Start(0)]], "must be waiting"),
        (_TWO, 2, [[Start(0)], [], [Start(0)]], "a completed job"),
        (_TWO, 2, [[Start(0)], [Start(1)]], "free GPUs"),
        (_TWO, 2, [[Start(0, 2)]], "allowed number"),
        (_TWO, 2, [[Start(0, (1,))]], "have no numbers"),
        (_TWO, 2, [[Stop(0)]], "must be running"),
        (_TWO, 2, [[Resize(0, 1)]], "must be running"),
        (_TWO, 2, [[Wake(0.0)]], "in the future"),
        (_TWO, 2, [["start"]], "a Start, Stop, Resize, Move, Assign, Vacate or Wake"),
        (_TWO, 2, [[None]], "a Start, Stop, Resize, Move, Assign, Vacate or Wake"),
        (_ELASTIC, 4, [[Start(0, 3)]], "allowed number"),
        (_ELASTIC, 2, [[Start(0), Wake(1.0)], [Resize(0, 4)]], "free GPUs"),
        (_ELASTIC, 2, [[Start(0), Wake(1.0)], [Resize(0, 3)]], "allowed number"),
        (_racked(), _RACKS, [[Start(0, (5,))]], "GPU 5 must be available"),
        (_racked(), _RACKS, [[Start(0, (-1,))]], "GPU -1 must be available"),
        (_racked(), _RACKS, [[Start(0, (1, 1))]], "GPUs of a job must be distinct"),
        (_racked(), _RACKS, [[Start(0, (0, 1))]], "allowed number"),
        (_racked(), _RACKS, [[Start(0, (0,)), Wake(1.0)], [Move(0, (1, 2))]], "must keep the number"),
        (_racked(), _RACKS, [[Start(0, (0,)), Wake(1.0)], [Move(0, (9,))]], "GPU 9 must be available"),
        (_racked(gpu_type="new"), _RACKS, [[Start(0, (0,))]], "on new GPUs"),
        (_racked(memory=6), _RACKS, [[Start(0, (0,)), Start(1, (0,))]], "fit its memory"),
    ],
)
def test_illegal_decisions_name_the_rule(
    jobs: Workload, cluster: Cluster | int, steps: list[list[Any]], rule: str
) -> None:
    """Whatever a policy may not decide raises an error that names the rule."""
    share_limit = 1 if isinstance(cluster, int) else 2
    with pytest.raises(IllegalDecision, match=rule):
        simulate(jobs, scripted(*steps), cluster=cluster, share_limit=share_limit)


def test_sharing_needs_permission() -> None:
    """Two jobs on one GPU are refused where GPUs are not shared."""
    with pytest.raises(IllegalDecision, match="at most 1 jobs may hold GPU 0"):
        simulate(_racked(), scripted([Start(0, (0,)), Start(1, (0,))]), cluster=_RACKS)


def test_a_policy_that_is_not_preemptive_stops_no_job() -> None:
    """The simulator holds a policy to its promise."""
    policy = scripted([Start(0)], [Stop(0)], preemptive=False)
    with pytest.raises(IllegalDecision, match="not preemptive"):
        simulate(_TWO, policy, cluster=2)


@pytest.mark.parametrize("start", [2.0, 0.3, nextafter(0.3, 0)])
@pytest.mark.parametrize("exact", [False, True])
def test_a_policy_that_never_gets_on_is_given_up(
    monkeypatch: pytest.MonkeyPatch, start: float, *, exact: bool
) -> None:
    """Preempting in every round ends in an error instead of never, where overheads last as long or longer.

    So does it where what is left for progress is rounding.
    """
    monkeypatch.setattr(engine, "_FRUITLESS_CHANGES", 50)
    jobs = workload((0, 4, 1), (0, 4, 1))
    with pytest.raises(IllegalDecision, match="longer than their overheads; the last 50"):
        simulate(jobs, policies.las, cluster=1, round_length=0.3, overheads=Overhead(start=start), exact=exact)


@pytest.mark.parametrize(
    ("overhead", "said"),
    [
        (Overhead(stop=2), "takes 2 s to start again, and 0 s to be resized.: no job makes progress in rounds"),
        (Overhead(start=0.5, stop=0.5), "no job makes progress in rounds of 1 s, no longer than overheads$"),
    ],
)
def test_overheads_longer_than_rounds_are_to_blame(
    monkeypatch: pytest.MonkeyPatch, overhead: Overhead, said: str
) -> None:
    """Where jobs take turns in rounds that overheads take as a whole, the error names both lengths."""
    monkeypatch.setattr(engine, "_FRUITLESS_CHANGES", 50)
    jobs = workload((0, 4, 1), (0, 4, 1))
    with pytest.raises(IllegalDecision, match=said):
        simulate(jobs, policies.las, cluster=1, round_length=1, overheads=overhead)


def test_stops_in_an_overhead_now_and_then_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only changes in a row that come before any work count against a policy."""
    monkeypatch.setattr(engine, "_FRUITLESS_CHANGES", 50)
    spans = iter([0.5, 3.0] * 100)

    def decide(state: State) -> Iterable[Action]:
        if not state.completed:
            yield from (
                (Stop(0), Wake(state.now + 1)) if state.running else (Start(0), Wake(state.now + next(spans)))
            )

    run = simulate(workload((0, 150, 1)), doing(decide), cluster=1, overheads=Overhead(start=1))
    assert run.metrics.preemptions > 100


def test_overheads_are_to_blame_without_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that takes turns by itself is told how long overheads are, and nothing of rounds."""
    monkeypatch.setattr(engine, "_FRUITLESS_CHANGES", 50)
    jobs = workload((0, 4, 1), (0, 4, 1))
    with pytest.raises(IllegalDecision, match=r"takes 5 s to start again, and 0 s to be resized\)$"):
        simulate(jobs, policies.las, cluster=1, quantum=2, overheads=Overhead(start=1, stop=4))


def test_the_state_cannot_be_changed() -> None:
    """Every way of writing to the state raises."""

    def meddle(state: State) -> Iterable[Action]:
        for write in (
            lambda: setattr(state, "now", 5),
            lambda: setattr(state, "free", 99),
            lambda: state.running.update({0: 1}),  # type: ignore[attr-defined]
            lambda: setattr(state.jobs[0], "duration", 0.1),
            lambda: state.jobs.append(state.jobs[0]),  # type: ignore[attr-defined]
        ):
            with pytest.raises((AttributeError, TypeError, ValueError)):
                write()
        return map(Start, state.arrived)

    run = simulate(workload((0, 4, 1)), doing(meddle), cluster=2)
    assert run.completion_times == (4.0,)


def test_overheads_delay_progress() -> None:
    """A job pays its start, and at a later start its checkpoint too; the GPUs are held meanwhile."""
    policy = scripted([Start(0)], [Stop(0), Start(1)], [Start(0)])
    run = simulate(
        workload((0, 4, 1), (2, 1, 1)), policy, cluster=1, overheads=Overhead(start=0.5, stop=0.25), record=True
    )
    assert run.completion_times == (3.5 + 0.75 + 2.5, 3.5)
    assert run.metrics.preemptions == 1
    assert run.metrics.utilisation == 1.0


def test_resizing_changes_the_speed_from_then_on() -> None:
    """Four seconds of work: two at speed 0.5, then at 1.5 after half a second of overhead."""
    policy = scripted([Start(0, 1), Wake(2.0)], [Resize(0, 4)])
    run = simulate(_ELASTIC, policy, cluster=4, overheads=Overhead(resize=0.5), exact=True)
    assert run.completion_times == (Fraction(2) + Fraction(1, 2) + Fraction(2),)


def test_interference_is_that_of_the_worst_partner() -> None:
    """Two jobs that slow each other down by 2 while they share a GPU each do half their work meanwhile."""
    jobs = bundle(
        [
            Job(name="a", release_date=0, duration=4, gpus=1, model="m"),
            Job(name="b", release_date=0, duration=1, gpus=1, model="m"),
        ]
    )
    policy = scripted([Start(0, (0,)), Start(1, (0,))])
    speed = Speed(interference={"m": {"m": 2.0}})
    cluster = Cluster.uniform(machines=1, gpus=1)
    run = simulate(jobs, policy, cluster=cluster, speed=speed, share_limit=2)
    assert run.completion_times == (5.0, 2.0)


def _beside_wide(*starts: Start, share_limit: int = 2) -> tuple[Any, ...]:
    """Return when a job of 12 s on three GPUs and those that start beside it complete."""
    jobs = bundle(
        Job(name=name, release_date=0, duration=duration, gpus=gpus, model=name)
        for name, duration, gpus in [("wide", 12, 3), ("bad", 7, 1), ("worse", 1, 1)]
    )
    table = {"wide": {"bad": 2.0, "worse": 4.0}, "worse": {"wide": 3.0, "bad": 5.0}}
    run = simulate(
        jobs,
        scripted([Start(0, (0, 1, 2)), *starts]),
        cluster=Cluster.uniform(machines=1, gpus=3),
        speed=Speed(interference=table),
        share_limit=share_limit,
        exact=True,
    )
    return run.completion_times


def test_a_gang_is_as_slow_as_where_it_is_slowest() -> None:
    """A job is slower on all GPUs for a partner on one, as beside the worst of several, until each has gone."""
    assert _beside_wide() == (12, None, None)
    assert _beside_wide(Start(1, (0,))) == (7 + 12 - Fraction(7, 2), 7, None)
    done = Fraction(3, 4) + Fraction(4, 2)  # 3 s beside the worse partner, and 4 s beside the other
    assert _beside_wide(Start(1, (0,)), Start(2, (1,))) == (7 + 12 - done, 7, 3)


def test_jobs_on_different_gpus_of_a_third_are_no_partners() -> None:
    """They slow each other down on the same GPU only, where as many jobs may be as the limit says."""
    on_one = Start(1, (0,)), Start(2, (0,))
    assert _beside_wide(*on_one, share_limit=3)[2] == 5
    with pytest.raises(IllegalDecision, match=r"at most 2 jobs may hold GPU 0 \(not jobs 0, 1, 2\)"):
        _beside_wide(*on_one)


def test_a_delayed_start_beside_a_running_job() -> None:
    """Four jobs on two GPUs, of which only the first suffers beside others: 5 + 8 + 6 + 6 = 25 s in total."""
    jobs = bundle(
        Job(name=name, release_date=r, duration=d, gpus=g, model="a" if name == "a" else "rest")
        for name, r, d, g in [("a", 0, 4, 2), ("b", 0, 6, 2), ("c", 5, 1, 1), ("d", 5, 1, 1)]
    )
    policy = scripted([Start(0, (0, 1)), Wake(2.0)], [Start(1, (0, 1))], [Start(2, (0,)), Start(3, (1,))])
    speed = Speed(interference={"a": {"rest": 1.5}})
    cluster = Cluster.uniform(machines=1, gpus=2)
    run = simulate(jobs, policy, cluster=cluster, speed=speed, share_limit=2, exact=True)
    assert run.completion_times == (5, 8, 6, 6)


def test_a_drop_of_capacity_evicts() -> None:
    """Jobs that lose their GPUs wait again and keep their progress."""
    changes = [CapacityChange(time=1.0, gpus=1), CapacityChange(time=5.0, gpus=2)]
    run = simulate(workload((0, 4, 2)), policies.fifo, cluster=2, capacity_changes=changes, record=True)
    assert run.completion_times == (8.0,)
    assert run.metrics.preemptions == 1
    verdict_of(run)


@pytest.mark.parametrize(("count", "completion"), [(2, 1 + 0.5 + 2.5), (1, 1 + 0.5 + 5.0)])
def test_an_evicted_job_may_go_on_at_once(count: int, completion: float) -> None:
    """A job that loses its GPUs and gets fewer in the same instant has been resized, not preempted."""
    change = CapacityChange(time=1.0, gpus=2)
    policy = scripted([Start(0, 4)], [Start(0, count)])
    overhead = Overhead(start=0.0, stop=9.0, resize=0.5)
    run = simulate(
        _ELASTIC, policy, cluster=4, capacity_changes=[change], overheads=overhead, record=True, exact=True
    )
    assert run.completion_times == (completion,)
    assert run.metrics.preemptions == 0
    verdict_of(run, exact=True)


@pytest.mark.parametrize(("round_length", "expected"), [(None, [0, 1, 7, 100, 101]), (2, [0, 2, 8, 100])])
def test_a_wake_comes_while_no_job_is_present(round_length: float | None, expected: list[float]) -> None:
    """A wake that is asked for between two jobs comes at its time, or in the first round from then on."""
    times: list[float] = []

    def decide(state: State) -> Iterable[Action]:
        times.append(state.now)
        yield from (Start(job) for job in state.arrived)
        if state.now in {1, 2}:
            yield Wake(7)

    simulate(workload((0, 1, 1), (100, 1, 1)), doing(decide), cluster=1, round_length=round_length)
    assert times == expected


@pytest.mark.parametrize("time", [0.1, 1, Fraction(1, 3)])
def test_exact_runs_wake_at_fractions(time: Any) -> None:
    """In an exact run, what follows a wake keeps exact times, whatever type of number the policy asks for."""
    policy = scripted([Wake(time)], [Start(0)])
    run = simulate(workload((0, 0.2, 1)), policy, cluster=1, record=True, exact=True)
    begin = Fraction(*time.as_integer_ratio())
    (segment,) = schedule_of(run).segments
    assert (segment.start, segment.end) == (begin, begin + Fraction(0.2))
    assert isinstance(segment.start, Fraction)


def test_unknown_options_of_a_replay_are_refused() -> None:
    """An option that the policy does not have gives one line, as in a simulation."""
    scenario = Scenario.of(workload((0, 1, 1)), 1)
    with pytest.raises(InvalidInput, match="foo: 3: is not an option of fifo"):
        replay(scenario, policies.fifo, foo=3)


def test_rounds_only_decide_at_multiples() -> None:
    """Jobs complete inside a round, and the next ones start at its end; rounds count from the first release."""
    jobs = workload((0.5, 1, 1), (0.5, 1, 1))
    assert simulate(jobs, policies.fifo, cluster=1, round_length=2.0).completion_times == (1.5, 3.5)


def test_rounds_count_from_where_the_clock_starts() -> None:
    """Where a scenario says when its clock starts, rounds are multiples of their length from then on."""
    jobs = workload((0.5, 1, 1), (0.5, 1, 1))
    for start, ends in [(0.0, (3.0, 5.0)), (0.25, (3.25, 5.25)), (0.5, (1.5, 3.5))]:
        run = simulate(jobs, policies.fifo, cluster=1, round_length=2.0, clock_start=start)
        assert run.completion_times == ends
    with pytest.raises(InvalidInput, match=r"clock_start: 0\.75: must be at most the first release date, 0\.5"):
        simulate(jobs, policies.fifo, cluster=1, clock_start=0.75)


def test_short_rounds_are_skipped_while_nothing_happens() -> None:
    """On a real clock, rounds of a microsecond take no more decisions than there are events."""
    run = simulate(workload((1.7e9, 1e6, 1), (1.7e9 + 10, 5, 1)), policies.fifo, cluster=2, round_length=1e-6)
    assert run.jct == pytest.approx((1e6, 5), abs=1e-5)


@pytest.mark.parametrize("round_length", [None, 1.0])
def test_the_earliest_of_several_wakes_wins(round_length: float | None) -> None:
    """A policy that asks for several decisions is asked at the first of them, in whatever order it asks."""
    for wakes in ([2.0, 3.0, 5.0], [5.0, 2.0, 3.0], [3.0, 5.0, 2.0]):
        decider = scripted([Start(0), *map(Wake, wakes)], [Stop(0), Wake(6.0)], [Start(0)])
        run = simulate(workload((0, 4, 1)), decider, cluster=1, round_length=round_length, record=True)
        assert [(segment.start, segment.end) for segment in schedule_of(run).segments] == [(0, 2), (6, 8)]


def test_skipped_rounds_do_not_skip_wakes() -> None:
    """A policy that asked to be woken decides at the first round from then on, also when every job runs."""
    decider = scripted([Start(0), Wake(2.5)], [Stop(0), Wake(4.5)], [Start(0)])
    run = simulate(workload((0, 4, 1)), decider, cluster=1, round_length=1.0, record=True)
    assert [(segment.start, segment.end) for segment in schedule_of(run).segments] == [(0, 3), (5, 6)]


@pytest.mark.parametrize("length", [1e-9, 1e-300])
def test_rounds_too_short_for_the_clock_are_refused(length: float) -> None:
    """Rounds of less than a microsecond are refused."""
    with pytest.raises(InvalidInput, match=r"round_length: .*at least 1e-06"):
        simulate(workload((0, 1, 1)), policies.fifo, cluster=1, round_length=length)


def test_starved_jobs_are_counted_and_have_no_bound() -> None:
    """Jobs that a policy never starts are not complete, and then there is no gap."""
    metrics = simulate(workload((0, 4, 1), (1, 1, 1)), scripted([Start(0)]), cluster=1).metrics
    assert (metrics.jobs, metrics.completed, metrics.lower_bound, metrics.gap) == (2, 1, None, None)


def test_a_policy_that_always_wakes_ends_with_the_jobs() -> None:
    """When every job is complete nobody is asked any more."""

    class Restless(Script):
        def decide(self, state: State) -> Iterable[Action]:
            yield from super().decide(state)
            yield Wake(state.now + 1)

    run = simulate(workload((0, 4, 1)), lambda _: Restless([[Start(0)]]), cluster=1)
    assert run.completion_times == (4.0,)


def test_an_empty_workload_has_no_figures() -> None:
    """Nothing to run is no error."""
    metrics = simulate(bundle(()), policies.fifo, cluster=1).metrics
    assert (metrics.jobs, metrics.mean_jct, metrics.utilisation) == (0, None, None)


def test_a_policy_ends_its_own_rounds_early() -> None:
    """A policy that wakes at the ends of its rounds is asked at once when the last job of a round completes."""
    rounds: list[float] = []
    until = -1.0

    def one_a_round(state: State) -> Iterable[Action]:
        nonlocal until
        if state.running and state.now < until:
            return
        yield from (Stop(job) for job in list(state.running))
        left = [job for job in range(2) if state.remaining(job) > 0]
        if left:
            rounds.append(state.now)
            until = state.now + 10
            yield Start(left[len(rounds) % len(left)])
            yield Wake(until)

    run = replay(
        Scenario(workload=workload((0, 14, 1), (0, 7, 1)), cluster=Cluster.plain(1)), doing(one_a_round)
    )
    assert rounds == [0, 7, 17]
    assert run.completion_times == (21, 7)


def test_how_long_decisions_take_is_no_part_of_a_run() -> None:
    """Every decision is timed, and runs that differ in nothing else are equal."""
    jobs = workload((0, 4, 1), (1, 2, 1))
    first, second = (simulate(jobs, policies.fifo, cluster=1) for _ in range(2))
    assert first == second
    assert len(first.decision_seconds) == 4
    assert min(first.decision_seconds) > 0
