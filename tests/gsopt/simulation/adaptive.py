"""Adaptive scenarios for the tests: jobs whose speed depends on where their GPUs are, beside others."""

from itertools import product
from random import Random
from typing import Any

from hypothesis import strategies as st

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measured_type import MeasuredType
from gsopt.scenario.adaptive.measurements import MeasuredPlacement
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed
from tests.gsopt.simulation.scenarios import bundle, rich_scenarios

_LOCALS = (1, 16)
_MOST_MACHINES, _MOST_GPUS = 4, 3


def _seconds(shape: tuple[int, ...], local: int) -> tuple[float, float]:
    """Return the seconds of a step, and of its exchange: more on several machines, and on uneven ones."""
    sync = 0.0 if sum(shape) == 1 else 0.02 * sum(shape) + 0.06 * (len(shape) - 1) + 0.01 * max(shape)
    return 0.1 + 0.03 * local + sync, sync


def application(*, most_machines: int = _MOST_MACHINES, most_gpus: int = _MOST_GPUS) -> Application:
    """Return measurements of every placement on a few small machines, and a training run of three epochs."""
    sizes = range(1, most_gpus + 1)
    shapes = [shape for count in range(1, most_machines + 1) for shape in product(sizes, repeat=count)]
    rings = {min(shape[place:] + shape[:place] for place in range(len(shape))) for shape in shapes}
    return Application(
        name="cnn",
        placements=[
            MeasuredPlacement(shape=ring, points=[(local, *_seconds(ring, local)) for local in _LOCALS])
            for ring in sorted(rings)
        ],
        validations=[
            Validation(
                batch=batch,
                epochs=[
                    Epoch(progress=12.0 * epoch, iterations=48.0 * epoch / batch, sqr=1.0, var=2.0 * epoch)
                    for epoch in (1, 2, 3)
                ],
            )
            for batch in (4, 16)
        ],
        limits=Limits(initial_batch=4, most_batch=16, least_local=1, most_local=16),
        epochs=3,
    )


APPLICATION = application()


def typed(given: Application = APPLICATION) -> Application:
    """Return the same model measured on GPUs of two further types, faster ones that hold less among them."""
    types = {}
    for name, step, exchange, most_local in (("new", 0.4, 0.7, 12), ("large", 0.75, 0.25, 16)):
        placements = [
            MeasuredPlacement(
                shape=each.shape,
                points=[
                    (local, (seconds - sync) * step + sync * exchange, sync * exchange)
                    for local in (1, most_local)
                    for seconds, sync in filter(None, [given.step_time(each.shape, local)])
                ],
            )
            for each in given.placements
        ]
        types[name] = MeasuredType(placements=placements, least_local=1, most_local=most_local)
    return given.model_copy(update={"gpu_types": types})


#: Types of the machines of typed scenarios; the first one has the model's own measurements.
TYPES = ("old", "new", "large", "new")


def typed_scenario(random: Random) -> Scenario:
    """Draw jobs that run on one type of GPU at a time, beside one that may mix types, and any physics."""
    machines = [
        Machine(name=str(number), gpus=random.choice([2, 3]), gpu_type=gpu_type)
        for number, gpu_type in enumerate(TYPES)
    ]
    menu = tuple((count, 1.0) for count in (1, 2, 3))
    jobs = []
    for name in "abc":
        gpus, date = random.choice([1, 2]), random.choice([0.0, random.uniform(0, 9)])
        job = adaptive(
            Job(name=name, release_date=date, duration=12, gpus=gpus, menu=menu), random.randint(4, 16)
        )
        own = Mode(name="own", menu=((1, 100.0), (2, 100.0)), tunes=True, gpu_type=random.choice(TYPES))
        jobs.append(job.model_copy(update={"modes": (*job.modes, own)}))
    other = Job(name="d", release_date=0, duration=random.uniform(1, 9), gpus=2)
    return Scenario.of(
        bundle([*jobs, other]),
        Cluster(racks=[Rack(name="r", machines=machines)]),
        applications={"cnn": typed().model_copy(update={"slowdown": random.choice([1.0, 1.3])})},
        agents=Agents(
            interval=random.choice([1, 3, 60]),
            whole_seconds=random.random() < 0.5,
            progress=random.choice(["statistical", "samples"]),
            memory=random.choice(["model", "placement"]),
        ),
        overheads=Overhead(
            start=random.choice([0, 0.4, 3]), stop=random.choice([0, 0.7]), resize=random.choice([0, 0.3, 2.2])
        ),
        restarts=random.choice(["change", "shape", "machines"]),
        share_limit=random.choice([1, 1, 2]),
        speed=Speed(default_interference=1.5, gpu_types=random.choice([{}, {"old": 1.25}])),
    )


def adaptive(job: Job, batch: int) -> Job:
    """Return a job that is adaptive, with its user's batch, or tuned; its menus say more than it can reach."""
    menus = {count: 100.0 for menu in job.speeds.values() for count in menu}
    return Job(
        name=job.name,
        release_date=job.release_date,
        duration=12.0,
        gpus=job.gpus,
        menu=tuple((menus | {job.gpus: 1.0}).items()),
        model="cnn",
        memory=job.memory,
        gpu_type=job.gpu_type,
        batch_size=batch,
        checkpoints=job.checkpoints,
        modes=[
            Mode(name="adaptive", menu=tuple(menus.items()), tunes=True),
            Mode(name="large", menu=((job.gpus, 100.0),), batch_size=16),
        ],
    )


def learning(*jobs: Job, **physics: Any) -> Scenario:
    """Return adaptive jobs on two nodes of two GPUs."""
    return Scenario(
        workload=bundle(adaptive(each, 16) for each in jobs),
        cluster=Cluster.uniform(machines=2, gpus=2),
        applications={"cnn": APPLICATION},
        agents=Agents(interval=1),
        **physics,
    )


@st.composite
def adaptive_scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a scenario with everything that there is, in which some jobs are adaptive."""
    scenario = draw(rich_scenarios().filter(lambda given: not given.cluster.is_plain))
    jobs = [
        adaptive(job, draw(st.integers(4, 16))) if job.model in ("cnn", "transformer") else job
        for job in scenario.workload.jobs
    ]
    agents = Agents(
        interval=draw(st.sampled_from([3, 60])),
        whole_seconds=draw(st.booleans()),
        progress=draw(st.sampled_from(["statistical", "samples"])),
    )
    update = {
        "workload": bundle(jobs),
        "speed": scenario.speed.model_copy(update={"tiers": {}}),
        "applications": {"cnn": APPLICATION},
        "agents": agents,
        "restarts": draw(st.sampled_from(["change", "shape", "machines"])),
    }
    return Scenario.model_validate(scenario.model_copy(update=update).__dict__)
