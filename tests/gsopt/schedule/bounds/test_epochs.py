"""Least seconds of epochs: no training is faster, whatever GPUs it has and whenever it restarts."""

from random import Random
from typing import Any, Literal

import numpy as np
import pytest

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measurements import MeasuredPlacement
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.schedule.bounds.epochs import EpochTimes, epoch_times
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle

SHAPES = [(1,), (1, 1), (2,), (1, 2), (2, 2)]


def draw_application(random: Random) -> Application:
    """Draw measurements on up to four GPUs, and a training of a few epochs, or of many, of any length."""
    size = random.choice([0.02, 0.1, 0.3, 1.0, 3.0])

    def seconds(shape: tuple[int, ...]) -> tuple[float, float]:
        step = size * random.uniform(0.3, 1) / sum(shape) ** random.choice([0.0, 0.5, 1.0])
        return step, random.choice([0.0, 0.5]) * step

    epochs = random.choice([1, 2, 3, 40])
    alike = random.random() < 0.5
    steps = [[1.0 if alike else random.uniform(0.2, 20) for _ in range(epochs)] for _ in "ab"]
    ends, noise = np.cumsum(steps, axis=1), [3.0] if alike else [0.0, 3.0, 40.0]
    return Application(
        name="cnn",
        placements=[
            MeasuredPlacement(shape=shape, points=[(local, *seconds(shape)) for local in (1, 16)])
            for shape in SHAPES
        ],
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


def draw_scenario(random: Random, *, overhead: Overhead, agents: Agents, **physics: Any) -> Scenario:
    """Draw one job of a drawn application on two nodes of two GPUs."""
    given = {"applications": {"cnn": draw_application(random)}, "agents": agents, "overheads": overhead}
    return Scenario.of(bundle([draw_job(random)]), Cluster.uniform(machines=2, gpus=2), **given, **physics)


def _agents(random: Random, *, whole_seconds: bool) -> Agents:
    progress: Literal["statistical", "samples"] = random.choice(["statistical", "samples"])
    return Agents(interval=random.choice([1, 7, 60]), whole_seconds=whole_seconds, progress=progress)


def _position(job: Trainee, course: Course) -> float:
    """Return the completed epochs, with the part of the current one."""
    if job.completed_at is not None:
        return float(course.application.epochs)
    begin, end = course.work_at(job.epoch), course.work_at(job.epoch + 1)
    return float(job.epoch + (job.share * course.work - begin) / (end - begin))


def _least(times: EpochTimes, visits: list[tuple[float, float, int]], position: float) -> float:
    """Return how far a job is that goes through epochs as fast as they count, on these GPUs at these times."""
    epochs = len(times.seconds)
    for begin, end, count in visits:
        seconds = times.seconds[:, times.counts.tolist().index(count)]
        left = end - begin
        while left > 0 and position < epochs - 1e-12:
            epoch = int(position + 1e-12)
            step = min(left, (epoch + 1 - position) * seconds[epoch])
            position, left = min(position + step / seconds[epoch], float(epoch + 1)), left - step
    return position


@pytest.mark.parametrize("kind", ["exact", "dear", "whole", "free"])
@pytest.mark.parametrize("part", range(4))
def test_no_training_is_faster_than_its_epochs_count(kind: str, part: int) -> None:
    """At the end of each visit to GPUs a job is no further than the seconds of its epochs say.

    It is moved at random or just before and after its epochs end; with free moves it pays no overhead.
    """
    for seed in range(cases(400)):
        random = Random(f"{kind} {part} {seed}")
        is_dear = kind in ("dear", "whole")
        least = 2 if is_dear else 0
        paid = [float(random.choice([least, least, 3, 5])) for _ in range(3)]
        if kind == "dear":
            paid = [seconds + random.choice([0.0, 0.3]) for seconds in paid]
        overhead = Overhead(start=paid[0], resize=paid[1], stop=paid[2] if random.random() < 0.5 else 0.0)
        agents = _agents(random, whole_seconds=kind != "exact")
        scenario = draw_scenario(random, overhead=overhead, agents=agents)
        job = scenario.workload.jobs[0]
        times = epoch_times(scenario, 1.0 if kind == "whole" else None)["a"]
        course = Course(scenario.applications["cnn"], agents, job.batch_size)
        trainee = Trainee(scenario.applications["cnn"], agents, job.batch_size, 0.0)
        now, works_from, visits = 0.0, 0.0, list[tuple[float, float, int]]()
        begun = None
        for _ in range(8):
            if begun is None or random.random() < 0.3:
                trainee.place((), now, now)
                now += random.choice([0, 1, 2, 3]) if kind == "whole" else random.uniform(0, 3)
                works_from = now + overhead.start + (0.0 if begun is None else overhead.stop)
            elif is_dear or random.random() < 0.3:
                works_from = max(works_from, now + overhead.resize)
            begun = now if begun is None else begun
            shape, batch = random.choice(SHAPES), random.choice([None, *4 * [job.batch_size]])
            trainee.place(shape, now, works_from, 1.0, batch)
            wanted = random.choice([0.0, random.uniform(0, 30), random.uniform(0, 3), 1e6])
            end = max(now, works_from) + wanted
            if random.random() < 0.5 and trainee.next_change() < float("inf"):
                end = trainee.next_change() + random.choice([0.0, -0.3, 1e-6, 0.4])
            end = float(max(round(end), now) if kind == "whole" else max(end, now))
            trainee.advance(end)
            done = trainee.completed_at
            visits.append((now, end if done is None else done, sum(shape)))
            first = begun + overhead.start - times.advance
            counted = [(max(begin, first), end, count) for begin, end, count in visits if end > first]
            reached = _position(trainee, course)
            assert _least(times, counted, 0.0) >= reached - 1e-9, (seed, visits)
            if done is not None:
                break
            now = end


def _times(random: Random, **physics: Any) -> EpochTimes:
    given = {"overhead": Overhead(start=3, resize=3), "agents": Agents()} | physics
    return epoch_times(draw_scenario(random, **given), physics.get("round_length"))["a"]
