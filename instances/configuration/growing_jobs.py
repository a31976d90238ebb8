"""Growing jobs: adaptive jobs that run on several GPU types and may double their number of GPUs."""

from collections.abc import Sequence
from random import Random

from gsopt.core.problem import About
from gsopt.problems.configuration import AdaptiveJob, Configuration, Shape, shapes
from instances.arguments import at_least, fractions
from instances.speed_up import SpeedUp, log_uniform

#: Limits of the factor by which a GPU type changes the speed of a job.
_SPEED = (0.5, 4.0)

#: Duration of a restart in seconds.
_RESTART = 30

#: Probability that a running job's goodput is known on a type other than its current one.
_MEASURED = 0.5


def growing_jobs(
    *,
    nodes: int = 16,
    gpus_per_node: int = 4,
    types: int = 1,
    jobs: int = 30,
    running: float = 0.8,
    busy: float = 0.9,
    most_gpus: int = 64,
    seed: int = 0,
) -> Configuration:
    """Generate a typical decision in a scheduler's round: most jobs are running and some have just arrived.

    Jobs scale as in `instances.goodput.running_jobs`. The speed of each job on each type is multiplied by a
    random factor. A running job may have at most twice its current number of GPUs. On a type where a job's
    goodput is not known, it may have only one GPU, and its goodput there is assumed to equal its lowest known
    goodput. For a job that has just arrived, no goodput is known, and 1 is assumed. All distributions are
    gsopt's own.

    Parameters
    ----------
    nodes, gpus_per_node
        Number of nodes of each type, and number of GPUs per node.
    types
        Number of GPU types.
    jobs
        Number of jobs.
    running
        Share of the jobs that are running. If GPUs run out, fewer jobs are running.
    busy
        Largest share of the GPUs that the running jobs may hold together.
    most_gpus
        Largest number of GPUs of a job.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = growing_jobs(nodes=2, jobs=3, seed=1)
    >>> problem.headline(), [job.current for job in problem.jobs]
    ({'jobs': 3, 'gpus': 8, 'types': 1, 'configurations': 4}, [0, 0, None])
    """
    at_least(1, nodes=nodes, gpus_per_node=gpus_per_node, types=types, most_gpus=most_gpus)
    at_least(0, jobs=jobs)
    fractions(running=running, busy=busy)
    random = Random(seed)
    gpus = {f"type {number}": nodes * gpus_per_node for number in range(1, types + 1)}
    listed = [shape for kind in gpus for shape in shapes(kind, nodes, gpus_per_node)]
    held = _state(random, listed, gpus, round(running * jobs), busy, most_gpus)
    return Configuration(
        name="growing-jobs",
        about=About(source=f"growing_jobs, {running:g} of the jobs on {busy:g} of the GPUs", seed=seed),
        gpus=gpus,
        configurations=listed,
        jobs=[
            _job(random, f"j{number}", current, listed, most_gpus)
            for number, current in enumerate([*held, *[None] * (jobs - len(held))], start=1)
        ],
    )


def _state(
    random: Random, listed: Sequence[Shape], gpus: dict[str, int], jobs: int, busy: float, most_gpus: int
) -> list[int | None]:
    """Draw the configurations of running jobs, each with about its fair share of the GPUs, all of one type."""
    left = {kind: int(busy * count) for kind, count in gpus.items()}
    typical = max(sum(left.values()) / max(jobs, 1), 1)
    held: list[int | None] = []
    for _ in range(jobs):
        most = min(max(typical * 10 ** random.uniform(-0.5, 0.5), 1), most_gpus)
        fitting = [place for place, shape in enumerate(listed) if shape.gpus <= min(most, left[shape.type])]
        if not fitting:
            break
        kind = listed[random.choice(fitting)].type
        place = max(place for place in fitting if listed[place].type == kind)
        left[kind] -= listed[place].gpus
        held.append(place)
    return held


def _job(
    random: Random, name: str, current: int | None, listed: Sequence[Shape], most_gpus: int
) -> AdaptiveJob:
    speed_up = SpeedUp.drawn(random)
    own = None if current is None else listed[current]
    kinds = list(dict.fromkeys(shape.type for shape in listed))
    speeds = {kind: log_uniform(random, *_SPEED) for kind in kinds}
    known = {kind for kind in kinds if own and (kind == own.type or random.random() < _MEASURED)}
    cap = min(2 * own.gpus, most_gpus) if own else 1

    def goodput(shape: Shape) -> float | None:
        gain = speed_up.on(shape.nodes, shape.gpus)
        return speeds[shape.type] * gain if shape.gpus <= cap and shape.type in known else None

    measured = [goodput(shape) for shape in listed]
    least = min((value for value in measured if value is not None), default=1.0)
    age = round(60 * 10 ** random.uniform(0, 2.5)) if own else 0
    restarts = min(random.randrange(1 + age // 120), 20) if own else 0
    return AdaptiveJob(
        name=name,
        goodputs=[
            float(f"{value / least:.6g}")
            if value is not None
            else (1.0 if shape.gpus == 1 and shape.type not in known else None)
            for value, shape in zip(measured, listed, strict=True)
        ],
        current=current,
        restart_factor=round(max(age - restarts * _RESTART, 0) / (age + _RESTART), 6) if own else 1.0,
    )
