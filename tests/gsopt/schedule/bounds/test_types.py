"""Bounds on clusters of several types of GPU, between which adaptive jobs choose."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import pytest

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measured_type import MeasuredType
from gsopt.scenario.adaptive.measurements import MeasuredPlacement
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.bounds.epochs import epoch_times
from gsopt.schedule.bounds.prices import price_bound
from gsopt.schedule.bounds.relaxation import Relaxation
from gsopt.simulation import replay
from heuristics.policies import sia
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.unwrap import unwrap

#: Where a job may run: on which type, and on how many GPUs.
Way = tuple[str, int]

#: The GPUs of each type.
GPUS = {"x": 1, "y": 2}

#: Where one job may run.
WAYS = [("x", 1), ("y", 1), ("y", 2)]


def _application(name: str, steps: dict[Way, int], epochs: Sequence[int], batch: int = 8) -> Application:
    """Return a training run whose steps take whole seconds, so many in each epoch, with one batch."""
    ends = [sum(epochs[: number + 1]) for number in range(len(epochs))]
    course = [Epoch(progress=end, iterations=end, sqr=1, var=0) for end in ends]

    def placements(gpu_type: str) -> list[MeasuredPlacement]:
        own = [(count, seconds) for (kind, count), seconds in steps.items() if kind == gpu_type]
        return [
            MeasuredPlacement(shape=[count], points=[(batch // count, float(seconds), 0.0)])
            for count, seconds in own
        ]

    return Application(
        name=name,
        placements=placements("x"),
        gpu_types={"y": MeasuredType(placements=placements("y"), least_local=4, most_local=batch)},
        validations=[Validation(batch=batch, epochs=course)],
        limits=Limits(initial_batch=batch, most_batch=batch, least_local=4, most_local=batch),
        epochs=len(epochs),
    )


def _job(name: str, release: float) -> Job:
    mode = Mode(name="tuned", menu=[(1, 9.0), (2, 9.0)], tunes=True)
    job = Job(name=name, release_date=release, duration=9, gpus=1, model=name, batch_size=8, modes=[mode])
    return job.model_copy(update={"menu": ((1, 1.0), (2, 9.0))})


def _divisions(jobs: int) -> Iterator[tuple[Way | None, ...]]:
    """Yield what jobs may have at once."""
    ways: list[Way | None] = [
        None,
        *((kind, count) for kind, most in GPUS.items() for count in range(1, most + 1)),
    ]
    for own in product(ways, repeat=jobs):
        if all(sum(way[1] for way in own if way and way[0] == kind) <= most for kind, most in GPUS.items()):
            yield own


def _least_total(steps: Sequence[dict[Way, int]], work: Sequence[int], releases: Sequence[int]) -> Fraction:
    """Return the least sum of job completion times if jobs change their GPUs in whole seconds only."""
    divisions = list(_divisions(len(work)))

    @cache
    def least(now: int, left: tuple[Fraction, ...]) -> Fraction:
        if not any(left):
            return Fraction(0)
        best = Fraction(10**6)
        there = [bool(rest) and date <= now for rest, date in zip(left, releases, strict=True)]
        for own in divisions:
            if any(way is not None and not here for way, here in zip(own, there, strict=True)):
                continue
            if any(way is None and here for way, here in zip(own, there, strict=True)) and all(
                way is None for way in own
            ):
                continue  # idle GPUs help nobody
            spent, after = Fraction(0), []
            for job, (way, rest) in enumerate(zip(own, left, strict=True)):
                took = Fraction(1) if way is None else min(Fraction(1), rest * steps[job][way])
                spent += took if there[job] else 0
                after.append(rest if way is None else rest - took / steps[job][way])
            best = min(best, spent + least(now + 1, tuple(after)))
        return best

    return least(0, tuple(map(Fraction, work)))


@pytest.mark.parametrize("seed", range(cases(60)))
def test_no_schedule_of_tiny_jobs_beats_the_bounds(seed: int) -> None:
    """The best of all schedules that change in whole seconds is no better than any bound."""
    random = Random(seed)
    number = random.choice([2, 2, 3])
    steps = [{way: random.randint(1, 3) for way in WAYS} for _ in range(number)]
    epochs = [[1] * random.randint(1, 2) for _ in range(number)]
    releases = [0, *(random.randint(0, 2) for _ in range(number - 1))]
    names = [f"job {n}" for n in range(number)]
    machines = [Machine(name=kind, gpus=most, gpu_type=kind) for kind, most in GPUS.items()]
    scenario = Scenario.of(
        bundle(_job(name, float(date)) for name, date in zip(names, releases, strict=True)),
        Cluster(racks=[Rack(name="r", machines=machines)]),
        applications={
            name: _application(name, own, course)
            for name, own, course in zip(names, steps, epochs, strict=True)
        },
        agents=Agents(whole_seconds=False),
    )
    least = _least_total(steps, [sum(own) for own in epochs], releases) / number
    for compiled in (True, False):
        assert price_bound(scenario, evaluations=150, compiled=compiled).mean_jct <= least
    assert unwrap(mean_jct_bound(scenario)).mean_jct <= least
    assert replay(scenario, sia).metrics.mean_jct >= least * (1 - Fraction(1, 10**9))


def test_each_type_has_a_price() -> None:
    """If all jobs run well on one type only, its GPUs cost more, and the bound is that of a queue for them."""
    steps = {("x", 1): 50, ("y", 1): 1, ("y", 2): 1}
    names = [f"job {number}" for number in range(8)]
    machines = [Machine(name="x", gpus=8, gpu_type="x"), Machine(name="y", gpus=2, gpu_type="y")]
    scenario = Scenario.of(
        bundle(_job(name, 0.0) for name in names),
        Cluster(racks=[Rack(name="r", machines=machines)]),
        applications={name: _application(name, steps, [4]) for name in names},
        agents=Agents(whole_seconds=False),
    )
    found = price_bound(scenario, evaluations=300, compiled=True)
    assert 9.5 < found.mean_jct <= 10  # after 4, 8, 12 and 16 s
    assert max(found.type_prices["y"]) > max(found.type_prices["x"])
    assert set(found.type_prices) == {"x", "y"}
    assert unwrap(mean_jct_bound(scenario, evaluations=0)).mean_jct < 5


def test_a_job_is_at_least_as_long_as_on_its_fastest_type_with_a_validated_batch() -> None:
    """Least seconds are those of the fastest type, without numbers of GPUs on which no validated batch fits."""
    application = _application("job", {("x", 1): 3, ("y", 1): 2, ("y", 2): 1}, [2, 1], batch=9)
    machines = [Machine(name=kind, gpus=most, gpu_type=kind) for kind, most in GPUS.items()]
    scenario = Scenario.of(
        bundle([_job("job", 0.0).model_copy(update={"batch_size": 9})]),
        Cluster(racks=[Rack(name="r", machines=machines)]),
        applications={"job": application},
        agents=Agents(whole_seconds=False),
    )
    assert set(epoch_times(scenario)["job"].columns) == {("x", 1), ("y", 1)}  # 2 GPUs would have 8 samples
    assert 6 * (1 - 1e-9) < Relaxation.of(scenario).heights() <= 6
    assert 6 * (1 - 1e-9) < unwrap(mean_jct_bound(scenario, evaluations=0)).mean_jct <= 6
