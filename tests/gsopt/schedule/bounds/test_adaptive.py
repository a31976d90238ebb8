"""Bounds of adaptive jobs: nothing that a schedule can do beats them."""

from collections.abc import Iterable
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.placement import Placement, Spread
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import mean_jct_bound, on_highest_speeds
from gsopt.schedule.bounds.prices import price_bound
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
    """Return a training of ten steps that take so long on one GPU and on two nodes of two."""
    points = [(8, seconds, 0.0), (16, seconds, 0.0)]
    epochs = [Epoch(progress=10, iterations=10, sqr=1, var=3)]
    return Application(
        name="cnn",
        placements=[Placement(shape=[1], points=points), Placement(shape=[2, 2], points=points)],
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
    freed = on_highest_speeds(scenario)
    assert freed.workload.jobs[1] == other
    assert freed.applications == {}
    assert freed.workload.jobs[0].duration < scenario.workload.jobs[0].duration
    assert on_highest_speeds(freed) is freed
