"""Tiny adaptive scenarios, so small that the best schedule in rounds can be found by trying them all."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from gsopt.core.numbers.grid import decimal
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measurements import MeasuredPlacement
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Overhead, Scenario
from tests.gsopt.schedule.naive_training import Training

_CLUSTERS = {1: [(2,), (3,), (4,), (1, 2), (2, 2)], 2: [(2,), (3,), (4,), (1, 1), (1, 2), (2, 2)]}
_FEW = [(2,), (1, 1), (3,)]

#: Speeds in menus, which are no limits of what an adaptive job does.
_MENU_SPEED = 100.0


def draw_tiny(random: Random, *, whole_seconds: bool | None = None) -> tuple[Scenario, float]:
    """Draw one to three jobs on two to four GPUs, and the length of a round, a few of which they take."""
    number = random.choice([1, 1, 2, 2, 2, 3])
    machines = random.choice(_CLUSTERS.get(number, _FEW))
    whole = random.random() < 0.3 if whole_seconds is None else whole_seconds
    agents = Agents(
        interval=random.choice([1, 7, 60]),
        whole_seconds=whole,
        progress=random.choice(["statistical", "statistical", "samples"]),
        memory=random.choice(["model", "model", "placement"]),
    )
    scale = 2.0 ** (random.randint(-2, 5) if whole else random.choice([-14, -6, 0, 0, 3, 6, 16]))
    models = {name: _draw_application(random, machines, scale) for name in random.choice(["a", "ab"])}
    drawn: list[Job] = []
    while len(drawn) < number:
        job = _draw_job(random, str(len(drawn)), models, sum(machines))
        if ways_of(job, models[job.model], agents, machines):
            drawn.append(job)
    longest = max(_alone(job, models[job.model], agents, machines) for job in drawn)
    round_length = float(f"{float(longest) / random.choice([0.7, 1.1, 1.9, 2.8]):.2g}")
    first = random.choice([0.0, 0.0, 1.7e9 + 0.25])
    jobs = [
        each.model_copy(update={"release_date": first + round_length * random.choice([0, 0, 0.25, 1, 1.5])})
        for each in drawn
    ]
    least = min(job.release_date for job in jobs)
    if whole and random.random() < 0.5:
        round_length = max(round(round_length), 1.0)
    shares = [0.0, round_length / 8, round_length * 1.25]
    costs = random.choice([shares, [2.0, 3.0], [2.0, 2.75]]) if whole else shares
    overheads = {
        model: Overhead(start=random.choice(costs), stop=random.choice(costs), resize=random.choice(costs))
        for model in models
        if random.random() < 0.7
    }
    early = max(least - round_length * random.choice([0, 0.5, 3]), 0.0)
    scenario = Scenario(
        workload=Workload(jobs=jobs),
        cluster=_cluster(machines),
        applications=models,
        agents=agents,
        overheads=overheads,
        restarts=random.choice(["change", "change", "shape", "machines"]),
        clock_start=random.choice([None, None, early]),
    )
    return scenario, round_length


def _cluster(machines: tuple[int, ...]) -> Cluster:
    rows = tuple(Machine(name=f"m{place}", gpus=gpus) for place, gpus in enumerate(machines))
    return Cluster(racks=(Rack(name="r", machines=rows),))


def _draw_application(random: Random, machines: tuple[int, ...], scale: float) -> Application:
    """Draw measurements of every shape, and trainings that scale better and better."""
    initial = random.choice([4, 12])
    batches = [initial * 2**power for power in range(random.choice([1, 2, 3]))]
    most_local = random.choice([initial, 4 * initial, 4 * initial])
    base, each, pair, apart = (random.choice(few) for few in ([1, 4, 9], [1, 2], [0, 1, 2], [0, 3, 8]))

    def seconds(shape: tuple[int, ...], local: int) -> tuple[float, float]:
        sync = scale / 16 * (pair * (sum(shape) - 1) + apart * (len(shape) - 1) + max(shape) - 1)
        return scale / 16 * (base + each * local) + sync, sync

    sizes = sorted(
        {tuple(gpus for gpus in shape if gpus) for shape in product(*(range(m + 1) for m in machines))}
    )
    shapes = sorted({min(shape, shape[::-1]) for shape in sizes if shape})
    epochs = random.choice([1, 2, 2, 3])
    lengths = [random.choice([1, 2, 5]) for _ in range(epochs)]
    noise = sorted(random.choice([0, 0.25, 1, 4, 32]) for _ in range(epochs))
    if random.random() < 0.15:
        noise.reverse()
    return Application(
        name="tiny",
        placements=[
            MeasuredPlacement(
                shape=shape, points=[(local, *seconds(shape, local)) for local in (1, most_local)]
            )
            for shape in shapes
        ],
        validations=[
            Validation(batch=batch, epochs=_epochs(random, lengths, noise, batch)) for batch in batches
        ],
        limits=Limits(initial_batch=initial, most_batch=batches[-1], least_local=1, most_local=most_local),
        epochs=epochs,
        slowdown=random.choice([1.0, 1.0, 1.5]),
    )


def _epochs(random: Random, lengths: list[int], noise: list[float], batch: int) -> list[Epoch]:
    progress, found = 0, []
    for length, var in zip(lengths, noise, strict=True):
        progress += length
        more = random.choice([0, 0, 0.5])
        found.append(Epoch(progress=progress + more, iterations=64.0 * progress / batch, sqr=1.0, var=var))
    return found


def _draw_job(random: Random, name: str, models: dict[str, Application], gpus: int) -> Job:
    """Draw a job with its user's batch, perhaps another one, and perhaps one that it tunes."""
    model = random.choice(sorted(models))
    batches = [each.batch for each in models[model].validations]
    counts = random.choice(
        [[gpus], *(sorted(random.sample(range(1, gpus + 1), random.randint(1, gpus))) for _ in "ab")]
    )
    demanded = random.choice(counts)
    menu = tuple((count, 1.0 if count == demanded else _MENU_SPEED) for count in counts)
    modes: list[Any] = []
    if random.random() < 0.4:
        modes.append(Mode(name="other", menu=menu, batch_size=random.choice(batches)))
    if random.random() < 0.25:
        modes.append(Mode(name="tuned", menu=menu, tunes=True))
    return Job(
        name=name,
        release_date=0,
        duration=1.0,
        gpus=demanded,
        menu=menu,
        model=model,
        batch_size=random.choice(batches),
        modes=modes,
    )


def _alone(job: Job, application: Application, agents: Agents, machines: tuple[int, ...]) -> Fraction:
    ways = ways_of(job, application, agents, machines)
    training = Training(application, agents, job.batch_size or 1)
    spans = range(application.epochs)
    return sum(
        ((training.goal(e + 1) - training.goal(e)) / max(way.rates[e] for way in ways) for e in spans),
        Fraction(0),
    )


class Way:
    """A way to run a job: GPUs on each machine, the mode, and the progress per second in every epoch."""

    def __init__(self, held: tuple[int, ...], mode: str, rates: tuple[Fraction, ...]) -> None:
        self.held, self.mode, self.rates = held, mode, rates
        self.shape = tuple(gpus for gpus in held if gpus)
        self.gpus = sum(held)


def ways_of(job: Job, application: Application, agents: Agents, machines: tuple[int, ...]) -> list[Way]:
    """Return every way to run a job; in one that tunes its batch, the fastest batch of every epoch counts."""
    training = Training(application, agents, job.batch_size or 1)
    found = []
    for held, mode in product(product(*(range(gpus + 1) for gpus in machines)), job.speeds):
        shape = tuple(gpus for gpus in held if gpus)
        if sum(held) not in job.speeds[mode]:
            continue
        if job.tunes_in(mode):
            limits, gpus = application.limits, sum(held)
            sizes = range(limits.initial_batch, limits.most_batch + 1)
            tried = {training.divide(size, shape) for size in sizes} | {training.divide(None, shape)}
            divisions = [each for each in tried if gpus * each[0] * (each[1] + 1) >= limits.initial_batch]
        else:
            divisions = [training.divide(job.batch_in(mode), shape)]
        by_epoch = [
            [rate for each in divisions if (rate := training.rate(shape, each, e)) is not None]
            for e in range(application.epochs)
        ]
        if all(by_epoch):
            found.append(Way(held, mode, tuple(map(max, by_epoch))))
    return found


def machines_of(scenario: Scenario) -> tuple[int, ...]:
    """Return the GPUs of each machine."""
    return tuple(machine.gpus for machine in scenario.cluster.machines)


def exact(time: float) -> Fraction:
    """Return a time as the decimal that it is written as."""
    return Fraction(decimal(time))
