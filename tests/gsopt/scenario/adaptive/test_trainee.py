"""An adaptive job by itself, its true speed, and what policies see of it."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf, nextafter
from random import Random
from typing import Any, Literal

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch, split
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measurements import MeasuredPlacement, Spread
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.adaptive.view import TraineeView
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, typed
from tests.strategies.applications import application
from tests.unwrap import unwrap

# An adaptive job by itself


SHAPES = [(1,), (2,), (1, 1), (2, 1), (2, 2), (2, 1, 1), (2, 2, 2), (2, 2, 2, 2)]


def _even(epochs: int = 3, length: float = 1000.0) -> Application:
    """Return an application that takes a tenth of a second for one unit of progress on its only GPU."""
    course = [Epoch(progress=length * n, iterations=length * n, sqr=1, var=3) for n in range(1, epochs + 1)]
    return Application(
        name="even",
        placements=[MeasuredPlacement(shape=[1], points=[(8, 0.1, 0.0), (16, 0.2, 0.0)])],
        validations=[Validation(batch=8, epochs=course)],
        limits=Limits(initial_batch=8, most_batch=8, least_local=8, most_local=16),
        epochs=epochs,
    )


def placed(
    own: Application,
    shape: Sequence[int],
    batch: int | None,
    *,
    agents: Agents | None = None,
    slowdown: float = 1.0,
    until: float = 0.0,
) -> Trainee:
    """Return a job that is placed at time 0 and has run until some time."""
    trainee = Trainee(own, agents or Agents(), batch, 0.0)
    trainee.place(shape, 0.0, 0.0, slowdown, batch)
    trainee.advance(until)
    return trainee


def _course(trainee: Trainee, seed: int, *, looks: bool) -> list[Any]:
    """Put a job through restarts, stops, slowdowns and losses, perhaps looking at it in between."""
    draw, look = Random(seed), Random(seed + 1)
    now, seen = 0.0, []
    for _ in range(12):
        batch = draw.choice([None, 32, trainee.batch_size])
        event = draw.random()
        if trainee.completed_at is not None:
            break
        if event < 0.6:
            trainee.place(draw.choice(SHAPES), now, now + draw.choice([0, 30, 70.5]), 1.0, batch)
        elif event < 0.7:
            trainee.place((), now, now)
        elif event < 0.85:
            trainee.slow(draw.uniform(1, 2), now)
        else:
            trainee.lose(draw.uniform(0, 0.2), now)
        later = now + draw.choice([60.0, 90.0, 333.3])
        for time in sorted(look.uniform(now, later) for _ in range(5 if looks else 0)):
            trainee.advance(time)
            assert trainee.share >= 0
            trainee.goodput(1, 1)
            trainee.rate((2, 1))
        trainee.advance(later)
        state = (trainee.shape, trainee.batch, trainee.epoch, trainee.restarts, trainee.gradient, trainee.model)
        seen.append((*state, trainee.share, trainee.next_change(), trainee.completed_at))
        now = later
    return seen


def test_whoever_looks_changes_nothing() -> None:
    """A job that is looked at all the time goes the same way as one that is looked at now and then."""
    completed = 0
    for seed in range(cases(32)):
        agents = Agents(whole_seconds=seed % 2 == 0, progress="samples" if seed % 3 == 0 else "statistical")
        pair = [Trainee(application(), agents, 32, 0.0) for _ in range(2)]
        first, second = (
            _course(each, seed, looks=looks) for each, looks in zip(pair, (False, True), strict=True)
        )
        assert first == second, seed
        completed += pair[0].completed_at is not None
    assert completed


def test_it_completes_when_it_says() -> None:
    """Followed from change to change a job completes at the time that it names, and changes no more."""
    for tunes in (False, True):
        for whole in (False, True):
            trainee = Trainee(application(), Agents(whole_seconds=whole), None if tunes else 32, 0.0)
            trainee.place((2, 1), 10.0, 40.0, batch_size=trainee.batch_size)
            changes = []
            while trainee.completed_at is None:
                changes.append(trainee.next_change())
                trainee.advance(changes[-1])
            assert all(late > early for early, late in pairwise([10.0, *changes]))
            assert changes[-1] == trainee.completed_at
            assert trainee.next_change() == inf
            assert trainee.share == 1.0


def test_types_are_measured_one_by_one() -> None:
    """A job's speed is that of its type; it fits each type by itself, or all of them as if they were alike."""
    given = typed(APPLICATION)
    trainee = Trainee(given, Agents(whole_seconds=False, interval=1), None, 0.0)
    trainee.place((1,), 0.0, 0.0, gpu_type="old")
    assert (
        trainee.rate((1,), 4, "new")
        == Course(given.on("new"), trainee.agents, 4).speed((1,), Batch(4, 0), 0) / 36
    )
    trainee.advance(1.5)
    assert trainee.gpu_type == "old"
    assert trainee.model_on("old") == trainee.model
    assert trainee.model_on("new") is None
    assert trainee.goodput(1, 1, "new") is None
    trainee.place((1,), 2.0, 2.0, gpu_type="new")
    assert trainee.batch == Batch(4, 0)  # as nothing is known of the type
    trainee.advance(2.5)
    old, new = (unwrap(trainee.model_on(gpu_type)) for gpu_type in ("old", "new"))
    local = unwrap(trainee.batch).local
    assert new.step_time(1, 1, local) == pytest.approx(
        unwrap(given.on("new").step_time((1,), local))[0], rel=0.1
    )
    assert float(old.step_time(1, 1, 4)) > 2 * float(new.step_time(1, 1, 4))
    assert unwrap(trainee.goodput(1, 1, "new")).goodput > 2 * unwrap(trainee.goodput(1, 1, "old")).goodput
    assert trainee.model == old  # the first of two times in one configuration counts


def test_tuning_pays() -> None:
    """A job that chooses its batch completes earlier than with its user's small batch."""
    fixed, tuned = (unwrap(placed(application(), (2, 2), each, until=1e6).completed_at) for each in (16, None))
    assert tuned < fixed


def test_epochs_end_in_whole_seconds() -> None:
    """The end of an epoch is rounded to a whole number of seconds after the last tuning, to one at least.

    The last bits of half a second do not matter.
    """
    for length, end in [(104, 10.0), (106, 11.0), (1, 1.0), (115, 12.0), (nextafter(115, 0), 12.0)]:
        assert placed(_even(1, length), [1], 8, until=100.0).completed_at == end
    exact = placed(_even(1, 104), [1], 8, agents=Agents(whole_seconds=False), until=100.0)
    assert exact.completed_at == pytest.approx(10.4, rel=SUM)


def test_a_rest_of_half_a_second_ends_with_the_interval() -> None:
    """An epoch with less than half a second left at the end of an interval is over, with more it is not."""
    for length, epochs in [(604, 1), (606, 0)]:
        assert placed(_even(2, length), [1], 8, until=60.0).epoch == epochs


def test_a_restart_takes_its_time() -> None:
    """A restarted job works from the given time on; another restart before that replaces the first."""
    trainee = Trainee(_even(), Agents(), 8, 0.0)
    trainee.place([1], 0.0, 30.0, batch_size=8)
    trainee.advance(20.0)
    assert (trainee.share, trainee.restarts, trainee.model) == (0.0, 0, None)
    trainee.place([1], 20.0, 50.0, batch_size=8)
    trainee.advance(60.0)
    assert trainee.share == pytest.approx(10 / 300, rel=SUM)
    assert trainee.restarts == 1
    trainee.place((), 60.0, 60.0)
    trainee.advance(600.0)
    assert trainee.share == pytest.approx(10 / 300, rel=SUM)
    assert not trainee.shape


def test_it_knows_only_what_it_has_run_on() -> None:
    """Before it works a job knows nothing; afterwards the most GPUs, its gradients, and a model."""
    trainee = Trainee(application(), Agents(), None, 0.0)
    assert (trainee.model, trainee.goodput(1, 1), trainee.most_gpus) == (None, None, 0)
    trainee.place((2, 1), 0.0, 30.0)
    assert trainee.batch == Batch(local=4, steps=0)
    trainee.advance(30.0)
    assert trainee.model is None
    trainee.advance(30.5)
    assert trainee.most_gpus == 3
    assert trainee.gradient == trainee.application.gradient(12, 0)
    best = unwrap(trainee.goodput([1, 2], [1, 4]))
    assert best.goodput[1] > best.goodput[0] > 0


def test_batches_are_divided_as_by_the_authors() -> None:
    """A batch is divided evenly, accumulated where too large, and above the initial one on a single GPU."""
    trainee = Trainee(application(), Agents(), 128, 0.0)
    for batch, shape, expected in [
        (128, (2, 2), (32, 0)),
        (128, (2,), (32, 1)),
        (128, (1,), (32, 3)),
        (32, (1,), (16, 1)),
        (8, (1,), (8, 0)),
        (100, (2, 1), (17, 1)),
        (128, (2, 1), (21, 1)),
    ]:
        trainee.place(shape, 0.0, 0.0, batch_size=batch)
        assert trainee.batch == expected, (batch, shape)


def test_sharing_slows_down() -> None:
    """Half the speed from the middle on doubles the second half, and is no restart."""
    trainee = placed(_even(1, 500), [1], 8)
    trainee.slow(2.0, 25.0)
    trainee.advance(200.0)
    assert (trainee.completed_at, trainee.restarts) == (75.0, 0)
    assert placed(_even(1, 500), [1], 8, slowdown=2.0, until=200.0).completed_at == 100.0
    slower = _even(1, 500).model_copy(update={"slowdown": 2.0})
    assert placed(slower, [1], 8, until=200.0).completed_at == 100.0


def test_work_is_lost() -> None:
    """Lost work is done again from the epoch in which it was done; measurements are kept."""
    trainee = placed(_even(), [1], 8, until=150.0)
    trainee.lose(0.25, 150.0)
    assert trainee.share == pytest.approx(0.25, rel=SUM)
    assert (trainee.epoch, trainee.most_gpus) == (0, 1)
    trainee.lose(1.0, 150.0)
    trainee.advance(450.0)
    assert (trainee.share, trainee.completed_at) == (1.0, 450.0)


def test_options_of_agents() -> None:
    """All samples count alike where progress is in samples, and the tolerance is that of the fit."""
    small = application()
    trainee = placed(small, (2,), 32, agents=Agents(progress="samples", whole_seconds=False))
    seconds = unwrap(small.step_time((2,), 16))[0] * small.iterations(32, 5)
    assert trainee.rate((2,), 32) == pytest.approx(1 / seconds, rel=SUM)
    trainee.advance(1e6)
    assert trainee.completed_at == pytest.approx(seconds, rel=SUM)
    fine, rough = (
        placed(small, (2, 1), None, agents=Agents(tolerance=each), until=300.0).model for each in (None, 0.5)
    )
    assert fine != rough


def test_its_speed_elsewhere() -> None:
    """The speed with a batch on other GPUs is what it has when it is placed there."""
    for batch in (16, 32, None):
        trainee = placed(application(length=4000), (1,), batch, until=45.0)
        foreseen = trainee.rate((2, 2), batch)
        trainee.place((2, 2), 45.0, 45.0, batch_size=batch)
        before = trainee.share
        trainee.advance(50.0)
        assert trainee.rate((2, 2), batch) == foreseen
        assert trainee.share - before == pytest.approx(5 * foreseen, rel=SUM)


def test_limits_of_placements() -> None:
    """A batch beyond what fits is accumulated, and one that was not measured there is not chosen."""
    small = application()
    short = small.placements[0].model_copy(update={"points": small.placements[0].points[:2]})
    less = small.model_copy(update={"placements": (short, *small.placements[1:])})
    assert placed(less, (1,), 32, agents=Agents(memory="placement")).batch == Batch(local=8, steps=3)
    assert placed(less, (1,), None, until=1e6).completed_at is not None


@pytest.mark.parametrize(("shape", "batch"), [((9, 9), 32), ((2,), 4)])
def test_where_it_cannot_run(shape: tuple[int, ...], batch: int) -> None:
    """Placements where its local batch was not measured are refused in one line, and nothing has happened."""
    trainee = Trainee(application(), Agents(), 32, 0.0)
    line = r"^shape: .* must be placements of small measured with \d+ samples per GPU$"
    for ask in (lambda: trainee.place(shape, 0.0, 0.0, batch_size=batch), lambda: trainee.rate(shape, batch)):
        with pytest.raises(InvalidInput, match=line):
            ask()
    assert (trainee.shape, trainee.batch, trainee.next_change()) == ((), None, inf)


# The true course of a training run


SETTINGS = [
    Agents(whole_seconds=False),
    Agents(whole_seconds=False, progress="samples"),
    Agents(memory="placement"),
]


def _shapes(course: Course, gpus: int) -> list[tuple[int, ...]]:
    """Return a placement of every kind on which something is known of the steps with a batch of 32."""
    own = course.application
    return [each for each in own.shapes(gpus) if own.step_time(each, -(-32 // gpus)) is not None]


@pytest.mark.parametrize("agents", SETTINGS[:2], ids=["statistical", "samples"])
def test_a_training_takes_as_long_as_it_says(agents: Agents) -> None:
    """On the best placement of some GPUs a job completes after the given seconds, elsewhere not before."""
    course = Course(application(), agents, 32)
    for gpus in (1, 3, 6):
        seconds = course.seconds(gpus, 32)
        jobs = [placed(application(), shape, 32, agents=agents, until=1e6) for shape in _shapes(course, gpus)]
        ends = [job.completed_at for job in jobs if job.completed_at is not None]
        assert min(ends) == pytest.approx(seconds, rel=SUM)
    assert course.seconds(16, 32) is None


@pytest.mark.parametrize("agents", SETTINGS[:2], ids=["statistical", "samples"])
def test_iterations_are_those_of_the_validation(agents: Agents) -> None:
    """At the ends of epochs they are as validated, between them in proportion, and a whole run has all."""
    course = Course(application(), agents, 32)
    own, counts = course.application, [0.0]
    for epoch in range(own.epochs):
        counts.append(own.iterations(32, epoch))
        begin, end = course.work_at(epoch), course.work_at(epoch + 1)
        assert course.iterations(32, end) == pytest.approx(counts[-1], rel=SUM)
        assert course.iterations(32, begin + (end - begin) / 4) == pytest.approx(
            counts[-2] + (counts[-1] - counts[-2]) / 4, rel=SUM
        )


def test_iterations_per_second_are_those_of_a_step() -> None:
    """They are one by the time of a step, with the accumulations that a large batch takes, and slowed down."""
    course = Course(application(), Agents(), 32)
    for shape, batch in (((2,), 32), ((1, 1), 32), ((1,), 128)):
        parts = split(batch, sum(shape), course.limits(shape))
        step, sync = course.times(shape, parts)
        seconds = (step + parts.steps * (step - sync)) * course.application.slowdown
        assert course.iteration_rate(shape, batch) == pytest.approx(1 / seconds, rel=SUM)


@pytest.mark.parametrize("agents", SETTINGS, ids=["statistical", "samples", "placement"])
@pytest.mark.parametrize("batch", [16, 32, 128, None])
def test_no_job_is_ever_faster(agents: Agents, batch: int | None) -> None:
    """On no placement and at no time a job is faster than the highest rate, and with a fixed batch one is."""
    course = Course(application(), agents, 32)
    for gpus in (1, 4):
        highest, reached = course.highest_rate(gpus, batch), 0.0
        for shape in _shapes(course, gpus):
            trainee = Trainee(application(), agents, 32, 0.0)
            trainee.place(shape, 0.0, 0.0, batch_size=batch)
            while trainee.completed_at is None:
                trainee.advance(trainee.next_change())
                reached = max(reached, trainee.rate(shape, batch))
        assert reached <= highest * (1 + SUM)
        assert batch is None or reached == pytest.approx(highest, rel=SUM)
    assert course.highest_rate(16, 32) == 0


@pytest.mark.parametrize("progress", ["statistical", "samples"])
def test_a_batch_that_was_never_validated_runs_nowhere(progress: Literal["statistical", "samples"]) -> None:
    """Eight samples at most leave two for each of three GPUs, and a run with six is not known."""
    even = _even()
    three = MeasuredPlacement(shape=[3], points=[(1, 0.1, 0.0), (8, 0.2, 0.0)])
    course = Course(
        even.model_copy(update={"placements": (*even.placements, three)}), Agents(progress=progress), 8
    )
    assert course.highest_rate(1, 8) > 0
    assert (course.highest_rate(3, 8), course.seconds(3, 8)) == (0, None)


def test_every_kind_of_placement_is_looked_at() -> None:
    """The placements that were measured are listed, and one other on every number of nodes that counts."""
    small = application()
    assert small.shapes(1) == [(1,)]
    assert sorted(small.shapes(3)) == [(1, 1, 1), (1, 2)]
    assert sorted(small.shapes(3, largest=3)) == [(1, 1, 1), (1, 2), (3,)]
    assert sorted(small.shapes(4)) == [(1, 1, 1, 1), (1, 1, 2), (2, 2)]
    assert small.shapes(8) == [(2, 2, 2, 2)]
    assert small.shapes(9) == [(1, 2, 2, 2, 2)]


def _measured(shape: list[int], seconds: float, *locals_: int) -> MeasuredPlacement:
    return MeasuredPlacement(shape=shape, points=[(local, seconds, 0.0) for local in locals_])


@pytest.mark.parametrize(
    ("spread", "shape"),
    [([Spread(nodes=1, gpus=4, points=[(8, 0.1, 0.0), (64, 0.1, 0.0)])], (4,)), ([], (1, 1, 2))],
    ids=["on a larger node", "on more nodes"],
)
def test_the_highest_rate_holds_for_nodes_that_were_not_measured(
    spread: list[Spread], shape: tuple[int, ...]
) -> None:
    """Steps that are fast by their numbers alone count, whatever is slow on placements that were measured."""
    slow = [_measured([1], 0.5, 8, 64), _measured([1, 1], 0.5, 8, 64), _measured([2, 2], 0.5, 8, 64)]
    epochs = [Epoch(progress=1000, iterations=1000, sqr=1, var=3)]
    given = Application(
        name="uneven",
        placements=[*slow, _measured([1, 3], 0.1, 8)],
        spread=spread,
        validations=[Validation(batch=batch, epochs=epochs) for batch in (8, 256)],
        limits=Limits(initial_batch=8, most_batch=256, least_local=8, most_local=64),
        epochs=1,
    )
    course = Course(given, Agents(), 64)
    rate = course.speed(shape, Batch(local=16, steps=0), 0) / course.work
    assert rate > course.speed((2, 2), Batch(local=16, steps=0), 0) / course.work
    assert rate <= course.highest_rate(4, 64, largest=4) * (1 + SUM)


# What a policy sees of an adaptive job


_SHOWN = ("application", "model", "gradient", "most_gpus", "restarts", "epoch", "share", "batch", "batch_size")


def test_a_view_shows_the_job_and_changes_nothing() -> None:
    """Every answer is that of the job, and none of its fields can be set."""
    trainee = placed(application(), [2], None, until=10.0)
    view = TraineeView(trainee)
    for name in _SHOWN:
        assert getattr(view, name) == getattr(trainee, name)
        with pytest.raises(AttributeError):
            setattr(view, name, None)
    assert view.rate([2]) == trainee.rate([2])
    assert view.rate([1, 1], 8) == trainee.rate([1, 1], 8)
    assert view.goodput(1, 2) == trainee.goodput(1, 2)
