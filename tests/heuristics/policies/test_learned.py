"""Speeds that are learned from jobs that have run: predictions, corrections, and what is watched."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import ThroughputModel
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.simulation import simulate
from heuristics.policies import marginal
from heuristics.policies.marginal.adapting import AdaptingOptions, AdaptiveGrants
from heuristics.policies.marginal.learned import Learned
from heuristics.policies.marginal.outlook import KnownEpochs
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, learning

MODEL = ThroughputModel(
    compute=0.1,
    compute_per_sample=0.03,
    across=0.1,
    across_per_gpu=0.02,
    within=0.05,
    within_per_gpu=0.02,
    overlap=1,
)
COUNTS, NODES = [1, 2, 4], [1, 1, 2]
EARLY, LATE = Gradient(1.0, 2.0), Gradient(1.0, 50.0)


def _learned() -> Learned:
    return Learned(APPLICATION, COUNTS, NODES, 2)


def _predicted(gradient: Gradient) -> np.ndarray[Any, Any]:
    """Return the shares of the work per second that the model predicts, by number of GPUs."""
    limits = APPLICATION.limits
    rates = MODEL.goodput(NODES, COUNTS, gradient, limits).goodput
    return np.array(rates / limits.initial_batch / APPLICATION.work)


def _seconds(learned: Learned, part: int) -> np.ndarray[Any, Any]:
    """Return how long one part of the work takes by the table, by number of GPUs."""
    table = learned.table(MODEL)
    assert table is not None
    here, after = (table.left(min(place, 99), place / 100, None).seconds for place in (part, part + 1))
    return np.array([here[count] - after[count] for count in COUNTS])


def test_nothing_is_known_before_a_gradient() -> None:
    """Without a gradient there is no table; speeds alone do not make one."""
    learned = _learned()
    learned.note_speed(1, 0.1, 0.2, 50.0)
    assert learned.table(MODEL) is None
    assert learned.untried == [2, 4]


def test_each_part_has_the_nearest_gradient() -> None:
    """The parts of the work are as long as the model predicts with the gradient that was measured nearest."""
    learned = _learned()
    learned.note_gradient(0.1, EARLY)
    learned.note_gradient(0.905, LATE)
    for part, gradient in ((0, EARLY), (10, EARLY), (50, EARLY), (51, LATE), (90, LATE), (99, LATE)):
        assert _seconds(learned, part) == pytest.approx(0.01 / _predicted(gradient), rel=1e-6)
    assert not np.allclose(_predicted(EARLY), _predicted(LATE))


def test_a_new_gradient_replaces_an_old_one() -> None:
    """Of two gradients in the same part, the later one counts, unless it is nearly the same."""
    learned = _learned()
    for gradient in (LATE, EARLY, Gradient(1.0, 2.01)):
        learned.note_gradient(0.5, gradient)
        _seconds(learned, 7)
    assert _seconds(learned, 7) == pytest.approx(0.01 / _predicted(EARLY), rel=1e-6)


@settings(max_examples=cases(60), deadline=None)
@given(
    factors=st.lists(st.floats(0.01, 100), min_size=3, max_size=3),
    parts=st.lists(st.integers(0, 99), min_size=3, max_size=3),
)
def test_errors_on_a_number_of_gpus_are_corrected(factors: list[float], parts: list[int]) -> None:
    """Predictions are multiplied by the median error there, mixed with the median of all by their numbers."""
    learned, predicted, logs = _learned(), _predicted(EARLY), []
    learned.note_gradient(0, EARLY)
    for column, (count, factor, last) in enumerate(zip(COUNTS, factors, parts, strict=True)):
        speed = factor * predicted[column]
        learned.note_speed(count, 0.0, last / 100 + 0.001, (last / 100 + 0.001) / speed)
        _seconds(learned, 3)
        logs.append([np.log(factor)] * (last + 1))
    common = np.median([each for own in logs for each in own])
    weights = np.array([len(own) / (len(own) + 20) for own in logs])
    expected = np.exp(weights * np.log(factors) + (1 - weights) * common)
    assert _seconds(learned, 3) == pytest.approx(0.01 / predicted / expected, rel=1e-5)


def test_outliers_do_not_matter() -> None:
    """A job that was far slower or faster for a moment than all others changes no prediction."""
    learned, predicted = _learned(), _predicted(EARLY)
    learned.note_gradient(0, EARLY)
    for part, factor in enumerate((0.01, 1.0, 1.0, 1.0, 50.0)):
        begin = part / 100 + 0.004
        learned.note_speed(2, begin, begin + 0.001, 0.001 / (factor * predicted[1]))
    assert _seconds(learned, 50) == pytest.approx(0.01 / predicted, rel=1e-6)


def test_odd_measurements_are_ignored() -> None:
    """A job that has not proceeded, or that runs on other numbers of GPUs, teaches nothing."""
    learned = _learned()
    learned.note_gradient(0, EARLY)
    learned.note_speed(2, 0.5, 0.5, 60.0)
    learned.note_speed(3, 0.1, 0.5, 60.0)
    assert learned.untried == COUNTS
    assert _seconds(learned, 3) == pytest.approx(0.01 / _predicted(EARLY), rel=1e-6)


def _slow(slowdown: float, *dates: float, **physics: Any) -> Scenario:
    jobs = [
        Job(name=str(date), release_date=date, duration=9, gpus=1, menu=[(1, 1), (2, 1), (4, 1)])
        for date in dates
    ]
    scenario = learning(*jobs, **physics)
    application = APPLICATION.model_copy(update={"slowdown": slowdown})
    return scenario.model_copy(update={"applications": {"cnn": application}})


def test_only_work_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speeds are true ones, from that of the slowest batch to that of the best one: restarts do not count."""
    scenario = _slow(200.0, *range(0, 2000, 250), overheads=Overhead(start=90.0, resize=45.0))
    noted: dict[int, list[float]] = {}

    def note(_: Learned, count: int, before: float, after: float, seconds: float) -> None:
        noted.setdefault(count, []).append((after - before) / seconds)

    monkeypatch.setattr(Learned, "note_speed", note)
    simulate(scenario, lambda _: AdaptiveGrants(KnownEpochs(2), AdaptingOptions(charge=60.0)), round_length=20)
    course = Course(scenario.applications["cnn"], scenario.agents, None)
    assert len(noted) > 1
    for count, speeds in noted.items():
        shape = (count,) if count <= 2 else (2, 2)
        most = course.highest_speeds_on(shape, None).max() / course.work
        least = min(course.highest_speeds_on(shape, batch).min() for batch in range(4, 17)) / course.work
        assert 0.98 * least <= min(speeds)
        assert max(speeds) <= 1.02 * most


def test_the_course_is_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows only epochs asks for no true speed that a job has not shown; who knows the course does."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise LookupError

    for holder, name in ((Course, "highest_speeds_on"), (Course, "highest_speeds"), (TraineeView, "rate")):
        monkeypatch.setattr(holder, name, refuse)
    scenario = _slow(200.0, 0.0, 250.0, 500.0)
    run = simulate(scenario, marginal, knows="epochs", bound=False)
    assert run.metrics.completed == 3
    with pytest.raises(LookupError):
        simulate(scenario, marginal, bound=False)


def test_jobs_learn_by_growing() -> None:
    """A charge that forbids all growth holds where speeds are known; the first jobs grow to learn them."""
    scenario = _slow(1000.0, 0.0)
    learned, known = (
        simulate(scenario, marginal, knows=knows, charge=1e9, record=True, round_length=60).schedule
        for knows in ("epochs", "course")
    )
    assert learned is not None
    assert known is not None
    assert [segment.gpus for segment in known.segments] == [4]
    assert next(segment.gpus for segment in learned.segments) == 1
    assert max(segment.gpus for segment in learned.segments) > 1
