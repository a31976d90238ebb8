"""Bounds of work: adaptive jobs, and capable GPUs."""

from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from random import Random
from typing import Any

import pytest

from gsopt.core.numbers.grid import decimal
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measurements import MeasuredPlacement, Spread
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds import (
    MeanBound,
    lower_bound,
    mean_jct_bound,
    on_weighted_epochs,
    position_bound,
    total_jct,
)
from gsopt.schedule.bounds.capability import Capabilities, capability
from gsopt.schedule.bounds.prices import price_bound
from gsopt.schedule.bounds.work import Steps, area, height
from gsopt.simulation import Action, Resize, Start, State, Wake, replay
from heuristics.policies import fifo
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing


def _job(name: str, agents: Agents, gpus: int, batch: int) -> Job:
    """Return an adaptive job whose duration and menus are those of its course, as readers give them."""
    course = Course(APPLICATION, agents, batch)
    own = course.highest_rate(gpus, batch)
    fixed = tuple((count, course.highest_rate(count, batch) / own) for count in (1, 2, 3, 4))
    tuned = tuple((count, course.highest_rate(count, None) / own) for count in (1, 2, 3, 4))
    return Job(
        name=name,
        release_date=0,
        duration=course.seconds(gpus, batch) or 0.0,
        gpus=gpus,
        menu=fixed,
        model="cnn",
        batch_size=batch,
        modes=[Mode(name="tuned", menu=tuned, tunes=True)],
    )


def _scenario(agents: Agents, *jobs: Job) -> Scenario:
    return Scenario.of(
        bundle(jobs), Cluster.uniform(machines=2, gpus=2), applications={"cnn": APPLICATION}, agents=agents
    )


def _agents(random: Random) -> Agents:
    return Agents(
        interval=random.choice([1, 60]),
        whole_seconds=random.choice([True, False]),
        progress=random.choice(["statistical", "samples"]),
    )


def _change(first: tuple[Any, str], then: tuple[Any, str], at: float, state: State) -> Iterable[Action]:
    """Begin in one way and go on in another."""
    if state.now == 0:
        yield Start(0, *first)
        yield Wake(at)
    elif state.running and state.now == at:
        yield Resize(0, *then)


@pytest.mark.parametrize("seed", range(cases(56)))
def test_no_run_of_one_job_beats_the_bounds(seed: int) -> None:
    """Whatever GPUs and mode a job begins with, and goes on with from any time, it takes that long."""
    random = Random(seed)
    agents = _agents(random)
    job = _job("a", agents, random.choice([1, 2, 4]), random.choice([4, 7, 16]))
    scenario = _scenario(agents, job)
    found = mean_jct_bound(scenario)
    assert found is not None
    priced = price_bound(scenario, evaluations=15).mean_jct
    places: list[tuple[int, ...]] = [(0,), (0, 1), (0, 2), (0, 1, 2), (0, 1, 2, 3)]
    best = None
    for first, then in random.sample(list(product(product(places, ("", "tuned")), repeat=2)), 8):
        run = replay(scenario, doing(partial(_change, first, then, random.uniform(0.1, 0.9 * job.duration))))
        best = min(filter(None, (best, run.metrics.mean_jct)))
    assert best is not None
    assert max(found.mean_jct, priced) <= best * (1 + 1e-9)


def test_epochs_that_are_rounded_down_beat_no_bound() -> None:
    """Three epochs of 3.379 s that end after 3 s each are no contradiction."""
    slower = APPLICATION.model_copy(update={"slowdown": 1.28})
    job = Job(name="a", release_date=0, duration=10.1376, gpus=1, model="cnn", batch_size=4)
    scenario = _scenario(Agents(), job).model_copy(update={"applications": {"cnn": slower}})
    found, run = mean_jct_bound(scenario), replay(scenario, fifo)
    assert found is not None
    assert found.mean_jct < run.metrics.mean_jct == 9
    assert price_bound(scenario, evaluations=30).mean_jct < 9


def _steps_of(seconds: float, *, spread: list[Spread]) -> Application:
    """Return a training run of ten steps that take so long on one GPU and on two nodes of two."""
    points = [(8, seconds, 0.0), (16, seconds, 0.0)]
    epochs = [Epoch(progress=10, iterations=10, sqr=1, var=3)]
    return Application(
        name="cnn",
        placements=[
            MeasuredPlacement(shape=[1], points=points),
            MeasuredPlacement(shape=[2, 2], points=points),
        ],
        spread=spread,
        validations=[Validation(batch=batch, epochs=epochs) for batch in (8, 64)],
        limits=Limits(initial_batch=8, most_batch=64, least_local=8, most_local=16),
        epochs=1,
    )


def _bound_and_run(given: Application, agents: Agents, gpus: int) -> tuple[float, float]:
    job = Job(name="a", release_date=0, duration=20, gpus=gpus, model="cnn", batch_size=8 * gpus)
    cluster = Cluster.uniform(machines=2, gpus=4)
    scenario = Scenario.of(bundle([job]), cluster, applications={"cnn": given}, agents=agents)
    found = mean_jct_bound(scenario)
    assert found is not None
    return found.mean_jct, replay(scenario, fifo).metrics.mean_jct


def test_a_third_of_a_short_epoch_is_saved_at_most() -> None:
    """An epoch of 1.49 s that ends after 1 s is no contradiction, and the bound is close."""
    bound, ran = _bound_and_run(_steps_of(0.149, spread=[]), Agents(), 1)
    assert ran == 1
    assert bound == pytest.approx(1.49 * 2 / 3)


def test_a_node_larger_than_any_measured_beats_no_bound() -> None:
    """Where four GPUs of one node are known by their numbers only, they are as fast as these say."""
    fast = Spread(nodes=1, gpus=4, points=[(8, 0.1, 0.0), (16, 0.1, 0.0)])
    bound, ran = _bound_and_run(_steps_of(0.5, spread=[fast]), Agents(whole_seconds=False), 4)
    assert ran == pytest.approx(0.4375)
    assert bound == pytest.approx(ran)


def test_a_bound_is_close_where_nothing_varies() -> None:
    """With the initial batch and without rounding a job alone is bounded by what it takes at best."""
    agents = Agents(whole_seconds=False)
    job = _job("a", agents, 1, 4)
    rigid = job.model_copy(update={"menu": (), "modes": ()})
    found = mean_jct_bound(_scenario(agents, rigid))
    assert found is not None
    assert found.mean_jct == pytest.approx(job.duration)


def test_what_is_adaptive_is_freed() -> None:
    """Other jobs are as before; adaptive ones have less work where late epochs are faster than the mean."""
    agents = Agents(whole_seconds=False)
    other = Job(name="b", release_date=0, duration=5, gpus=1)
    scenario = _scenario(agents, _job("a", agents, 2, 16), other)
    freed = on_weighted_epochs(scenario)
    assert freed.workload.jobs[1] == other
    assert freed.applications == {}
    assert freed.workload.jobs[0].duration < scenario.workload.jobs[0].duration
    assert on_weighted_epochs(freed) is freed


MACHINES = (
    Machine(name="fast", gpus=2, gpu_type="V100", memory=32),
    Machine(name="slow", gpus=3, gpu_type="T4", memory=16),
    Machine(name="other", gpus=1, gpu_type="", memory=64),
)

GIVEN = Scenario(
    workload=Workload(jobs=[]),
    cluster=Cluster(racks=[Rack(name="r", machines=MACHINES)]),
    speed=Speed(gpu_types={"T4": 4.0, "V100": 2.0}, mixed=1.5),
)


@pytest.mark.parametrize("count", range(1, 7))
def test_no_gpus_are_worth_more(count: int) -> None:
    """No choice of so many GPUs makes a job faster than what they are worth at most, and one is as fast."""
    job = Job(name="a", release_date=0, duration=60, gpus=count)
    kinds = [machine.gpu_type for machine in MACHINES for _ in range(machine.gpus)]
    speed = GIVEN.speed.model_copy(update={"mixed": 1.0})
    rates = [
        speed.rate(job, count, types={kind: chosen.count(kind) for kind in chosen})
        for chosen in combinations(kinds, count)
    ]
    assert max(rates) == pytest.approx((Capabilities(GIVEN).of(count) or 0) / count)


def test_types_and_memory_leave_fewer() -> None:
    """A type leaves its own GPUs only, and memory those that have it."""
    most = Capabilities(GIVEN)
    assert (most.of(3, "T4"), most.of(4, "T4"), most.of(2, "V100")) == (0.75, None, 1.0)
    assert (most.of(1, memory=33), most.of(2, memory=33), most.of(3, memory=32)) == (1.0, None, 2.0)
    assert (capability(GIVEN, "T4"), capability(GIVEN, "")) == (0.25, 1.0)


def test_needs_are_those_of_the_decimals() -> None:
    """Of ways that doubles cannot tell apart the one that needs less counts, by the decimals as written."""
    job = Job(name="a", release_date=0, duration=0.3, gpus=3, menu=[(1, 1 / 3), (3, 1.0)])
    mode = Mode(name="m", menu=[(2, 0.6666666666666667)])
    both = job.model_copy(update={"modes": (mode,)})

    assert (height(job), area(job)) == (Fraction(3, 10), Fraction(9, 10))
    assert area(both) == 2 * Fraction(3, 10) / decimal(0.6666666666666667) < Fraction(9, 10)


@pytest.mark.parametrize("clock", [0.0, 1.7e9, 1.7e9 + 0.1])
def test_steps_divide_all_times_or_round_them_down(clock: float) -> None:
    """Few times are whole steps; where speeds leave too many digits, none is rounded up, nor by much."""
    random = Random(2)
    few = bundle(
        Job(name=str(i), release_date=clock + i / 4, duration=10.0 ** (3 * i - 9), gpus=3) for i in range(5)
    )
    many = bundle(
        Job(
            name=str(i),
            release_date=clock + round(random.uniform(0, 1e6), 3),
            duration=10 ** random.uniform(-9, 9),
            gpus=1,
            menu=[(1, 1.0), (2, random.uniform(1, 2))],
        )
        for i in range(40)
    )
    for jobs, error in ((few, Fraction(0)), (many, Fraction(1, 2**50))):
        steps = Steps.of(jobs, 7)
        for number, job in enumerate(jobs.jobs):
            needed = Fraction(height(job)), Fraction(area(job)) / 7
            for exact, counted in zip(needed, (steps.height[number], steps.size[number]), strict=True):
                assert exact * (1 - error) <= counted * steps.seconds <= exact
            arrival = decimal(job.release_date) - decimal(jobs.jobs[0].release_date)
            assert arrival - error * min(needed) <= steps.release[number] * steps.seconds <= arrival
    assert Steps.of(few, 7).seconds.denominator % 7 == 0


def test_a_sum_of_many_floats_loses_nothing() -> None:
    """120 jobs of 0.3 s on one GPU take 18.15 s on average, as their bound says exactly, on any clock."""
    for clock in (0.0, 0.1, 1.7e9):
        jobs = bundle(Job(name=str(i), release_date=clock, duration=0.3, gpus=1) for i in range(120))
        assert total_jct(lower_bound(jobs, 1), jobs) == 120 * Fraction("18.15")
        assert total_jct(position_bound(jobs, 1), jobs) == 120 * Fraction("18.15")
        found = mean_jct_bound(Scenario(workload=jobs, cluster=Cluster.plain(1)), evaluations=0)
        assert found == MeanBound(18.15, "formulas")
