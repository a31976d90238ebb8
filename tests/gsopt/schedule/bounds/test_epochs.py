"""Least seconds of epochs: no training is faster, whatever GPUs it has and whenever it restarts."""

from random import Random
from typing import Any, Literal

import numpy as np
import pytest

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measured_type import MeasuredType
from gsopt.scenario.adaptive.measurements import MeasuredPlacement
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.bounds.epochs import EpochTimes, epoch_times
from gsopt.schedule.bounds.prices import price_bound
from gsopt.simulation import replay
from heuristics.policies import equal_share, fifo, marginal, sia, srtf
from tests.effort import cases
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.scenarios import bundle
from tests.unwrap import unwrap

SHAPES = [(1,), (1, 1), (2,), (1, 2), (2, 2)]


def draw_application(random: Random, *, types: bool = False) -> Application:
    """Draw measurements on up to four GPUs, and a training run of a few epochs, or of many, of any length.

    Perhaps there are others on GPUs of the type ``new``.
    """
    size = random.choice([0.02, 0.1, 0.3, 1.0, 3.0])

    def seconds(shape: tuple[int, ...]) -> tuple[float, float]:
        step = size * random.uniform(0.3, 1) / sum(shape) ** random.choice([0.0, 0.5, 1.0])
        return step, random.choice([0.0, 0.5]) * step

    epochs = random.choice([1, 2, 3, 40])
    alike = random.random() < 0.5
    steps = [[1.0 if alike else random.uniform(0.2, 20) for _ in range(epochs)] for _ in "ab"]
    ends, noise = np.cumsum(steps, axis=1), [3.0] if alike else [0.0, 3.0, 40.0]

    def placements() -> list[MeasuredPlacement]:
        return [
            MeasuredPlacement(shape=shape, points=[(local, *seconds(shape)) for local in (1, 16)])
            for shape in SHAPES
        ]

    return Application(
        name="cnn",
        placements=placements(),
        gpu_types={"new": MeasuredType(placements=placements(), least_local=1, most_local=16)} if types else {},
        validations=[
            Validation(
                batch=batch,
                epochs=[
                    Epoch(progress=end, iterations=end * 4 / batch, sqr=1.0, var=random.choice(noise))
                    for end in own.tolist()
                ],
            )
            for batch, own in zip((4, 16), ends, strict=True)
        ],
        limits=Limits(initial_batch=4, most_batch=16, least_local=1, most_local=16),
        epochs=epochs,
    )


def draw_job(random: Random, name: str = "a", release: float = 0.0) -> Job:
    """Draw an adaptive job that may run on one to four GPUs; its own menus say nothing."""
    menu = [(count, 100.0) for count in (1, 2, 3, 4)]
    gpus = random.choice([1, 2])
    return Job(
        name=name,
        release_date=release,
        duration=1.0,
        gpus=gpus,
        menu=[(gpus, 1.0), *(entry for entry in menu if entry[0] != gpus)],
        model="cnn",
        batch_size=random.choice([4, 7, 16]),
        modes=[Mode(name="tuned", menu=menu, tunes=True)],
    )


def draw_scenario(
    random: Random, *, overhead: Overhead, agents: Agents, types: bool = False, **physics: Any
) -> Scenario:
    """Draw one job of a drawn application on two nodes of two GPUs, perhaps of each of two types."""
    application = draw_application(random, types=types)
    given = {"applications": {"cnn": application}, "agents": agents, "overheads": overhead}
    return Scenario.of(bundle([draw_job(random)]), _cluster(types=types), **given, **physics)


def _cluster(*, types: bool) -> Cluster:
    if not types:
        return Cluster.uniform(machines=2, gpus=2)
    machines = [
        Machine(name=f"{name} {number}", gpus=2, gpu_type=name)
        for name in ("old", "new")
        for number in range(2)
    ]
    return Cluster(racks=[Rack(name="r", machines=machines)])


def _agents(random: Random, *, whole_seconds: bool) -> Agents:
    interval, counts_samples = random.choice([7, 60]), random.random() < 0.5
    progress: Literal["statistical", "samples"] = "samples" if counts_samples else "statistical"
    return Agents(interval=interval, whole_seconds=whole_seconds, progress=progress)


def _position(job: Trainee, course: Course) -> float:
    """Return the completed epochs, with the part of the current one."""
    if job.completed_at is not None:
        return float(course.application.epochs)
    begin, end = course.work_at(job.epoch), course.work_at(job.epoch + 1)
    return float(job.epoch + (job.share * course.work - begin) / (end - begin))


def _least(times: EpochTimes, visits: list[tuple[float, float, tuple[str, int]]], position: float) -> float:
    """Return how far a job is that goes through epochs as fast as they count, on these GPUs at these times."""
    epochs = len(times.seconds)
    for begin, end, way in visits:
        seconds = times.seconds[:, times.columns[way]]
        left = end - begin
        while left > 0 and position < epochs - 1e-12:
            epoch = int(position + 1e-12)
            step = min(left, (epoch + 1 - position) * seconds[epoch])
            position, left = min(position + step / seconds[epoch], float(epoch + 1)), left - step
    return position


@pytest.mark.parametrize("types", [False, True], ids=["alike", "types"])
@pytest.mark.parametrize("kind", ["exact", "dear", "whole", "free"])
@pytest.mark.parametrize("part", range(4))
def test_no_training_is_faster_than_its_epochs_count(kind: str, part: int, types: bool) -> None:
    """At the end of each visit to GPUs a job is no further than the seconds of its epochs say.

    It is moved at random or just before and after its epochs end; with free moves it pays no overhead.
    """
    for seed in range(cases(200)):
        random = Random(f"{kind} {part} {seed}")
        is_dear = kind in ("dear", "whole")
        least = 2 if is_dear else 0
        paid = [float(random.choice([least, least, 3, 5])) for _ in range(3)]
        if kind == "dear":
            paid = [seconds + random.choice([0.0, 0.3]) for seconds in paid]
        overhead = Overhead(start=paid[0], resize=paid[1], stop=paid[2] if random.random() < 0.5 else 0.0)
        agents = _agents(random, whole_seconds=kind != "exact")
        scenario = draw_scenario(random, overhead=overhead, agents=agents, types=types)
        job = scenario.workload.jobs[0]
        times = epoch_times(scenario, 1.0 if kind == "whole" else None)["a"]
        course = Course(scenario.applications["cnn"], agents, job.batch_size)
        trainee = Trainee(scenario.applications["cnn"], agents, job.batch_size, 0.0)
        now, works_from, visits = 0.0, 0.0, list[tuple[float, float, tuple[str, int]]]()
        begun = None
        for _ in range(8):
            if begun is None or random.random() < 0.3:
                trainee.place((), now, now)
                now += random.choice([0, 1, 2, 3]) if kind == "whole" else random.uniform(0, 3)
                works_from = now + overhead.start + (0.0 if begun is None else overhead.stop)
            elif is_dear or random.random() < 0.3:
                works_from = max(works_from, now + overhead.resize)
            begun = now if begun is None else begun
            shape, batch = random.choice(SHAPES), random.choice([None, *9 * [job.batch_size]])
            gpu_type = random.choice(["old", "new"]) if types else ""
            trainee.place(shape, now, works_from, 1.0, batch, gpu_type)
            wanted = random.choice([0.0, random.uniform(0, 30), random.uniform(0, 3), 1e3])
            end = max(now, works_from) + wanted
            if random.random() < 0.5 and trainee.next_change() < float("inf"):
                end = trainee.next_change() + random.choice([0.0, -0.3, 1e-6, 0.4])
            end = float(max(round(end), now) if kind == "whole" else max(end, now))
            trainee.advance(end)
            done = trainee.completed_at
            visits.append((now, end if done is None else done, (gpu_type, sum(shape))))
            first = begun + overhead.start - times.advance
            counted = [(max(begin, first), end, way) for begin, end, way in visits if end > first]
            reached = _position(trainee, course)
            assert _least(times, counted, 0.0) >= reached - 1e-9, (seed, visits)
            if done is not None:
                break
            now = end


def test_what_is_counted_depends_on_what_interrupts_a_job() -> None:
    """Half a second of each epoch is saved where restarts are dear, else a share of the fastest way."""
    random = Random(3)
    scenario = draw_scenario(random, overhead=Overhead(start=3, resize=3), agents=Agents())
    exact = epoch_times(scenario.model_copy(update={"agents": Agents(whole_seconds=False)}))["a"].seconds
    dear, whole = epoch_times(scenario)["a"], epoch_times(scenario, 60.0)["a"]
    assert dear.seconds == pytest.approx(np.maximum(exact - 0.5, 1.0))
    assert whole.seconds == pytest.approx(np.maximum(np.ceil(exact - 0.5), 1.0))
    assert (dear.advance, whole.advance) == (1.0, 1.0)
    share = np.minimum(0.5 / exact.min(axis=1), 1 / 3)
    update: dict[str, Any]
    for update in (
        {"overheads": {"": Overhead(start=3, resize=1)}},
        {"overheads": {"": Overhead(start=1, resize=3)}},
        {"restarts": "machines"},
        {"share_limit": 2, "speed": Speed(default_interference=1.5)},
        {"speed": Speed(gpu_types={"T4": 2.0})},
    ):
        free = epoch_times(scenario.model_copy(update=update), 60.0)["a"]
        assert free.seconds == pytest.approx(exact * (1 - share[:, None]))
        assert free.advance == 0
    for update in (
        {"overheads": {"": Overhead(start=3.5, resize=3)}},
        {"capacity_changes": (CapacityChange(time=5.5, gpus=3),)},
    ):
        assert epoch_times(scenario.model_copy(update=update), 60.0)["a"].seconds == pytest.approx(dear.seconds)
    assert epoch_times(scenario, 0.5)["a"].seconds == pytest.approx(dear.seconds)


def test_an_epoch_that_always_rounds_down_beats_nothing() -> None:
    """Forty epochs of 1.45 s that last 1 s each take 40 s, as they count, or nearly where moves are free."""
    points = [(1, 0.3625, 0.0), (16, 0.3625, 0.0)]
    epochs = [Epoch(progress=4.0 * end, iterations=4.0 * end, sqr=1, var=3) for end in range(1, 41)]
    given = Application(
        name="cnn",
        placements=[MeasuredPlacement(shape=[1], points=points)],
        validations=[Validation(batch=batch, epochs=epochs) for batch in (4, 16)],
        limits=Limits(initial_batch=4, most_batch=16, least_local=1, most_local=16),
        epochs=40,
    )
    job = Job(name="a", release_date=0, duration=58, gpus=1, model="cnn", batch_size=4)
    for overhead, round_length, least in ((0.0, None, 38.6), (3.0, None, 41.99), (3.0, 60.0, 41.99)):
        cost = Overhead(start=overhead, resize=overhead)
        scenario = Scenario.of(
            bundle([job]), Cluster.uniform(machines=1, gpus=1), applications={"cnn": given}, overheads=cost
        )
        bound = unwrap(mean_jct_bound(scenario, round_length=round_length)).mean_jct
        ran = replay(scenario, fifo, round_length=round_length).metrics.mean_jct
        assert ran == 40 + overhead
        assert least <= bound <= ran


@pytest.mark.parametrize("types", [False, True], ids=["alike", "types"])
@pytest.mark.parametrize("seed", range(cases(30)))
def test_no_simulated_run_beats_the_bounds(seed: int, types: bool) -> None:
    """Whatever policy runs some adaptive jobs, in rounds or at once, its mean is above both bounds."""
    random = Random(seed)
    seconds = [random.choice([0.0, 1.0, 2.0, 5.0]) for _ in range(3)]
    overhead = Overhead(start=seconds[0], resize=seconds[1], stop=seconds[2])
    jobs = [draw_job(random, str(number), random.choice([0.0, random.uniform(0, 30)])) for number in range(4)]
    scenario = Scenario.of(
        bundle(jobs),
        _cluster(types=types),
        applications={"cnn": draw_application(random, types=types)},
        agents=_agents(random, whole_seconds=random.random() < 0.7),
        overheads=overhead,
        restarts=random.choice(["change", "shape", "machines"]),
        clock_start=random.choice([None, 0.0]),
    )
    for round_length in (None, random.choice([1.0, 2.5, 20.0])):
        found = [
            unwrap(mean_jct_bound(scenario, evaluations=0, round_length=round_length)).mean_jct,
            price_bound(scenario, evaluations=200, compiled=True, round_length=round_length).mean_jct,
        ]
        policies = (sia, monkey) if types else (fifo, srtf, marginal, equal_share, sia)
        for policy in policies:
            options: dict[str, Any] = {"seed": seed, "share_limit": 1} if policy is monkey else {}
            run = replay(scenario, policy, round_length=round_length, **options)
            if len(run.jct) == len(jobs):
                assert max(found) <= run.metrics.mean_jct * (1 + 1e-9), run.metrics.policy
