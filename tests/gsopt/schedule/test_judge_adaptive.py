"""The judge and adaptive jobs: what they did follows from their applications."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.adaptive_progress import AdaptiveProgress
from gsopt.schedule.judge import judge
from gsopt.simulation import Move, Resize, Start, Wake, replay
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive, adaptive_scenarios, typed, typed_scenario
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import scripted

_AGENTS = Agents(interval=2, whole_seconds=False)


def _scenario(**physics: Any) -> Scenario:
    """Return two adaptive jobs, the first of which runs on one GPU, then on two, then elsewhere."""
    jobs = [Job(name=name, release_date=0, duration=12, gpus=1, menu=((1, 1.0), (2, 100.0))) for name in "ab"]
    return Scenario.of(
        bundle([adaptive(job, 4) for job in jobs]),
        Cluster.uniform(machines=3, gpus=2),
        applications={"cnn": APPLICATION},
        agents=_AGENTS,
        overheads=Overhead(start=0.5, resize=1.5),
        share_limit=2,
        speed=Speed(default_interference=1.5),
        **physics,
    )


def _run(scenario: Scenario) -> Schedule:
    policy = scripted(
        [Start(0, (0,), "adaptive"), Start(1, (0,)), Wake(2.0)],
        [Resize(0, (0, 1), "adaptive"), Wake(5.0)],
        [Move(0, (2, 4)), Wake(7.0)],
        [Resize(0, (2, 4), "")],
    )
    schedule = replay(scenario, policy, record=True).schedule
    assert schedule is not None
    return schedule


def _of(schedule: Schedule, job: str, place: int, change: Callable[[Segment], Segment | None]) -> Schedule:
    """Return a schedule in which one segment of a job is another, or none."""
    own = [segment for segment in schedule.segments if segment.job == job]
    changed = [(change(each) if each is own[place] else each) for each in schedule.segments]
    return replace(schedule, segments=tuple(each for each in changed if each is not None))


@pytest.mark.parametrize("restarts", ["change", "shape", "machines"])
def test_what_the_simulator_did_is_legal(restarts: str) -> None:
    """A run with everything in it is legal, whichever changes cost an overhead."""
    scenario = _scenario(restarts=restarts)
    verdict = judge(_run(scenario), scenario)
    assert verdict.violations == ()
    assert verdict.completed == 2


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=cases(1000))
@given(scenario=adaptive_scenarios(), seed=st.integers(0, 10**6))
def test_whatever_the_simulator_did_is_legal(scenario: Scenario, seed: int) -> None:
    """By its own account of every job the judge finds the completions of any run, and nothing wrong in it."""
    run = replay(scenario, monkey, record=True, seed=seed, share_limit=scenario.share_limit)
    verdict = judge(schedule_of(run), scenario, fairness=False)
    assert (verdict.violations, verdict.completion_times) == ((), run.completion_times)


@pytest.mark.parametrize("seed", range(cases(200)))
def test_whatever_the_simulator_did_on_several_types_is_legal(seed: int) -> None:
    """By its own account of every job the judge finds the completions of any run on GPUs of several types."""
    scenario = typed_scenario(Random(seed))
    run = replay(scenario, monkey, record=True, seed=seed, share_limit=scenario.share_limit)
    verdict = judge(schedule_of(run), scenario, fairness=False)
    assert (verdict.violations, verdict.completion_times) == ((), run.completion_times)


@pytest.mark.parametrize(
    ("job", "place", "change", "rule"),
    [
        ("a", -1, lambda each: each._replace(end=each.end - 1), "does not complete"),
        ("a", -1, lambda each: each._replace(end=each.end + 1), "holds GPUs for 1.0 s after it is complete"),
        ("a", 0, lambda each: each._replace(start=each.start + 1), "does not complete"),
        ("a", 1, lambda _: None, "does not complete"),
        ("a", 2, lambda each: each._replace(placement=(0, 1)), "holds GPUs for"),
        ("a", 0, lambda each: each._replace(placement=(1,)), "holds GPUs for"),
        ("a", 1, lambda each: each._replace(mode=""), "'a' "),
        ("a", 2, lambda each: each._replace(mode="large"), "GPU count 2 of job 'a' is not one of (1,)"),
        ("b", 0, lambda each: each._replace(mode="large"), "'b' "),
        ("b", 0, lambda each: each._replace(placement=(5,)), "holds GPUs for"),
        ("b", 0, lambda each: each._replace(end=each.end - 1e-3), "'b' does not complete"),
    ],
)
def test_a_mutated_schedule_is_refused(
    job: str, place: int, change: Callable[[Segment], Segment | None], rule: str
) -> None:
    """A piece that is shorter, elsewhere, in another mode or gone is not what was done."""
    scenario = _scenario()
    violations = judge(_of(_run(scenario), job, place, change), scenario).violations
    assert any(rule in violation for violation in violations), violations


@pytest.mark.parametrize(
    "other",
    [
        {"overheads": {"": Overhead(start=0.5)}},
        {"overheads": {"": Overhead(start=0.5, resize=2.5)}},
        {"agents": Agents(interval=3, whole_seconds=False)},
        {"agents": Agents(interval=2)},
        {"speed": Speed(default_interference=1.25)},
        {"restarts": "machines"},
        {"applications": {"cnn": APPLICATION.model_copy(update={"slowdown": 1.01})}},
    ],
)
def test_a_schedule_of_other_physics_is_refused(other: dict[str, Any]) -> None:
    """What is legal by one overhead, interval, slowdown or measurement is not by another."""
    scenario = _scenario()
    assert judge(_run(scenario), scenario.model_copy(update=other)).violations


@pytest.mark.parametrize("agents", [_AGENTS, Agents(interval=60)])
@pytest.mark.parametrize("part", [0.3, 0.7])
def test_a_segment_cut_in_two_is_the_same(agents: Agents, part: float) -> None:
    """A schedule may say in two pieces what ran in one; nothing is paid, tuned or rounded between them."""
    scenario = _scenario().model_copy(update={"agents": agents})
    schedule = _run(scenario)
    pieces: list[Segment] = []
    for each in schedule.segments:
        middle = each.start + part * (each.end - each.start)
        pieces += [each._replace(end=middle), each._replace(start=middle)]
    verdict = judge(replace(schedule, segments=tuple(pieces)), scenario)
    assert verdict.violations == ()
    assert verdict.completion_times == judge(schedule, scenario).completion_times


def test_gpus_of_two_types_are_refused() -> None:
    """What a job does on GPUs of one type is no account of what it does on others, or on a mixture of two."""
    machines = [Machine(name=name, gpus=2, gpu_type=name) for name in ("old", "new", "large")]
    scenario = _scenario().model_copy(update={"cluster": Cluster(racks=[Rack(name="r", machines=machines)])})
    types = scenario.model_copy(update={"applications": {"cnn": typed()}})
    violations = judge(_run(scenario), types).violations
    rule = "job 'a' cannot run where it does: gpus: ['large', 'new']: must be of one type"
    assert any(rule in violation for violation in violations), violations
    ran = judge(schedule_of(replay(types, scripted([Start(0, (0, 1)), Start(1, (2,))]), record=True)), types)
    assert ran.violations == ()
    assert ran.completion_times[0] != judge(_run(scenario), scenario).completion_times[0]


def test_gpus_that_were_never_measured_are_refused() -> None:
    """A model that was measured on one GPU only has no speed on two."""
    few = APPLICATION.model_copy(update={"placements": APPLICATION.placements[:1]})
    scenario = _scenario()
    violations = judge(_run(scenario), scenario.model_copy(update={"applications": {"cnn": few}})).violations
    assert any("job 'a' cannot run where it does: shape" in violation for violation in violations), violations


_JOB = adaptive(Job(name="a", release_date=0, duration=12, gpus=1), 4)
_SCENARIO = Scenario.of(bundle([_JOB]), Cluster.uniform(machines=2, gpus=1), applications={"cnn": APPLICATION})


def test_it_completes_as_its_trainee_does() -> None:
    """Three epochs of 2.64 s take 3 s each, and what rounding cuts short is excused at the stop."""
    progress = AdaptiveProgress(_JOB, _SCENARIO)
    progress.run((1,), "", 0.0, 1.0, 1.0)
    progress.follow(4.0)
    assert (round(progress.share, 9), progress.completed_at) == (round(1 / 3, 9), None)
    progress.stop(10 - 1e-9, 1e-6)
    assert progress.completed_at == 10


def test_it_stops_for_good_where_it_cannot_run() -> None:
    """What a model was not measured on breaks a schedule once, and nothing else is asked then."""
    progress = AdaptiveProgress(_JOB, _SCENARIO)
    progress.run((9,), "", 0.0, 0.0, 1.0)
    assert "must be placements of cnn" in progress.broken
    progress.slow(2.0, 1.0)
    progress.lose(1.0, 2.0)
    progress.stop(3.0, 0.0)
    assert (progress.share, progress.completed_at) == (0.0, None)


def test_it_does_not_run_again() -> None:
    """A job that is complete cannot be given GPUs once more."""
    progress = AdaptiveProgress(_JOB, _SCENARIO)
    progress.run((1,), "", 0.0, 0.0, 1.0)
    progress.stop(20.0, 0.0)
    progress.run((1,), "", 30.0, 30.0, 1.0)
    assert (progress.broken, progress.completed_at) == ("it is complete at 9.0", None)


def _given(random: Random) -> Scenario:
    """Draw an adaptive job, whose measurements and agents differ."""
    few = APPLICATION.model_copy(update={"placements": APPLICATION.placements[:-3]})
    return Scenario.of(
        bundle([adaptive(Job(name="a", release_date=0, duration=12, gpus=1), random.randint(4, 16))]),
        Cluster.uniform(machines=4, gpus=3),
        applications={
            "cnn": random.choice([APPLICATION, few]).model_copy(update={"slowdown": random.choice([1.0, 1.3])})
        },
        agents=Agents(
            interval=random.choice([1, 3, 60]),
            whole_seconds=random.random() < 0.5,
            progress=random.choice(["statistical", "samples"]),
            memory=random.choice(["model", "placement"]),
        ),
    )


@pytest.mark.parametrize("seed", range(cases(100)))
def test_it_gets_as_far_as_a_trainee_does(seed: int) -> None:
    """Whatever happens to an adaptive job, the judge's account and the simulator's trainee say the same."""
    random = Random(seed)
    given = _given(random)
    (job,) = given.workload.jobs
    progress = AdaptiveProgress(job, given)
    trainee = Trainee(given.applications["cnn"], given.agents, job.batch_size, 0.0)
    now, runs, slowdown = 0.0, False, 1.0
    for _ in range(30):
        now += random.choice([0.0, 0.25, 0.5, 1.0, 1.7, 4.0])
        what = random.choice(["run", "run", "slow", "lose", "follow", "stop"])
        progress.follow(now)
        trainee.advance(now)
        if trainee.completed_at is not None:
            break
        if what == "run":
            shape = tuple(random.randint(1, 3) for _ in range(random.randint(1, 4)))
            mode, ready = random.choice(["", "adaptive", "large"]), now + random.choice([0, 0.4, 3])
            slowdown = random.choice([1.0, 2.0])
            progress.run(shape, mode, now, ready, slowdown)
            if progress.broken:
                with pytest.raises(InvalidInput, match="must be placements of cnn"):
                    trainee.place(shape, now, ready, slowdown, job.batch_in(mode))
                return
            trainee.place(shape, now, ready, slowdown, job.batch_in(mode))
            runs = True
        elif what == "slow" and runs:
            slowdown = 3.0 - slowdown  # as the trainee is told of changes only
            progress.slow(slowdown, now)
            progress.slow(slowdown, now)
            trainee.slow(slowdown, now)
        elif what == "lose":
            share = random.choice([0.1, 0.5, 1.0])
            progress.lose(share, now)
            trainee.lose(share, now)
        elif what == "stop":
            progress.stop(now, 0.0)
            trainee.place((), now, now)
        assert progress.broken == ""
        assert progress.share == pytest.approx(trainee.share, rel=SUM, abs=SUM)
    assert (progress.completed_at or 0.0) == pytest.approx(trainee.completed_at or 0.0, rel=SUM)
