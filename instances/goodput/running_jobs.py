"""Running jobs: nodes that run adaptive jobs, and newly arrived jobs."""

from random import Random

from gsopt.core.problem import About
from gsopt.problems.goodput import Goodput, GoodputJob
from instances.arguments import at_least, fractions
from instances.speed_up import SpeedUp


def running_jobs(
    *,
    nodes: int = 16,
    gpus_per_node: int = 4,
    jobs: int = 30,
    running: float = 0.8,
    busy: float = 0.9,
    most_gpus: int = 64,
    most_nodes: int = 16,
    seed: int = 0,
) -> Goodput:
    """Generate a typical decision in a scheduler's round: most jobs are running and some have just arrived.

    On k GPUs, a step takes 1 + r (k - 1) times as long as on one GPU, where separate values of r are drawn for
    one node and for several nodes. Its batch has k times the samples and makes k (h + 1) / (h + k) times as
    much progress, where h is the gradient noise, which is also drawn. The speed-up is the progress divided by
    the time, relative to the same quotient for an equal share of all GPUs, as if that share were on one node. A
    running job may have at most twice its current number of GPUs, and a job that has just arrived may have only
    one GPU. All distributions are gsopt's own. As in the program of Pollux (OSDI 2021), jobs are listed in
    ascending order of the GPU time that they have used.

    Parameters
    ----------
    nodes, gpus_per_node, jobs
        Number of nodes, of GPUs per node, and of jobs.
    running
        Share of the jobs that are running. If GPUs run out, fewer jobs are running.
    busy
        Largest share of the GPUs that the running jobs may hold together.
    most_gpus, most_nodes
        Largest number of GPUs, and of nodes, that a job may get. A running job may currently have more GPUs,
        which it then cannot keep.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = running_jobs(nodes=2, jobs=3, seed=1)
    >>> problem.headline(), [job.current for job in problem.jobs]
    ({'jobs': 3, 'nodes': 2, 'gpus': 8}, [(), (0, 4), (2, 0)])
    """
    at_least(1, gpus_per_node=gpus_per_node, most_gpus=most_gpus, most_nodes=most_nodes)
    at_least(0, nodes=nodes, jobs=jobs)
    fractions(running=running, busy=busy)
    random = Random(seed)
    state = _state(random, [gpus_per_node] * nodes, round(running * jobs), busy, most_nodes)
    fair = max(-(-nodes * gpus_per_node // max(jobs, 1)), 1)
    vectors = [*state, *[[0] * nodes] * (jobs - len(state))]
    made = [
        _job(random, f"j{number}", vector, gpus_per_node, fair, most_gpus, most_nodes)
        for number, vector in enumerate(vectors, start=1)
    ]
    return Goodput(
        name="running-jobs",
        about=About(source=f"running_jobs, {running:g} of the jobs on {busy:g} of the GPUs", seed=seed),
        nodes=[gpus_per_node] * nodes,
        jobs=sorted(made, key=lambda job: sum(job.current) * job.age),
    )


def _state(random: Random, free: list[int], jobs: int, busy: float, most_nodes: int) -> list[list[int]]:
    """Draw the GPUs of each running job, on a single node if there is room, otherwise on several nodes."""
    left, typical = int(busy * sum(free)), busy * sum(free) / max(jobs, 1)
    narrow = list(range(len(free)))  # nodes without a part of a job on several
    vectors: list[list[int]] = []
    for _ in range(jobs):
        gpus = min(max(round(typical * 10 ** random.uniform(-0.5, 0.5)), 1), left)
        vector = [0] * len(free)
        room = [node for node, count in enumerate(free) if count >= gpus]
        several = random.sample(narrow, min(len(narrow), most_nodes))
        for node in [random.choice(room)] if room else several:
            vector[node] = min(free[node], gpus - sum(vector))
            free[node] -= vector[node]
        if sum(count > 0 for count in vector) > 1:
            narrow = [node for node in narrow if not vector[node]]
        left -= sum(vector)
        vectors.append(vector)
    return vectors


def _job(
    random: Random, name: str, vector: list[int], per_node: int, fair: int, most_gpus: int, most_nodes: int
) -> GoodputJob:
    speed_up = SpeedUp.drawn(random)
    held = sum(vector)
    cap = min(max(2 * held, 1), most_gpus)
    rows = [
        [
            speed_up.on(number, gpus) / speed_up.on(1, fair)
            for gpus in range(number, min(cap, number * per_node) + 1)
        ]
        for number in range(1, min(cap, most_nodes, max(len(vector), 1)) + 1)
    ]
    age = round(60 * 10 ** random.uniform(0, 2.5)) if held else random.randrange(60)
    return GoodputJob(
        name=name,
        speedups=[[float(f"{value:.6g}") for value in row] for row in rows],
        current=vector if held else [],
        age=float(age),
        restarts=min(random.randrange(1 + age // 120), 20) if held else 0,
        max_gpus=cap,
    )
