"""Random small instances of admission, with everything that the rules of schedulers regard."""

from random import Random

from gsopt.problems.admission import Admission, Gang, Node, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster


def draw(random: Random, *, plain: bool = False) -> Admission:
    """Return an instance; a plain one has one pending gang with one part, no slices, and one resource."""
    gpus = random.choice([2, 4, 8])
    cluster = Cluster.uniform(racks=random.randint(1, 3), machines=random.randint(1, 3), gpus=gpus)
    names = [machine.name for machine in cluster.machines]
    with_cpus = not plain and random.random() < 0.3
    nodes = {name: Node(closed=True) for name in names if random.random() < 0.1}
    if with_cpus:
        nodes = {name: Node(capacity=Resources(gpu=gpus, cpu=2 * gpus), closed=name in nodes) for name in names}
    free = {name: [gpus, 2 * gpus] for name in names}
    running = [_running(random, number, free, gpus, with_cpus, plain) for number in range(random.randint(0, 8))]
    pending = [_pending(random, number, gpus, with_cpus, plain) for number in range(_few(random, plain))]
    return Admission(
        cluster=cluster, nodes=nodes, running=[gang for gang in running if gang is not None], pending=pending
    )


def _few(random: Random, plain: bool) -> int:
    return 1 if plain else random.choice([1, 1, 1, 2])


def _running(
    random: Random, number: int, free: dict[str, list[int]], gpus: int, with_cpus: bool, plain: bool
) -> Running | None:
    parts, on = [], []
    for _ in range(_few(random, plain)):
        need, cpus = random.choice([1, 1, 2, gpus]), random.choice([0, 1, 2]) if with_cpus else 0
        places: dict[str, int] = {}
        for _ in range(random.choice([1, 1, 2, 3])):
            able = [name for name, (left, others) in free.items() if left >= need and others >= cpus]
            if able:
                name = random.choice(able)
                free[name][0] -= need
                free[name][1] -= cpus
                places[name] = places.get(name, 0) + 1
        if places:
            parts.append(Part(count=sum(places.values()), needs=Resources(gpu=need, cpu=cpus)))
            on.append(places)
    if not parts:
        return None
    return Running(
        name=f"g{number}",
        parts=parts,
        on=on,
        priority=random.choice([0, 0, 1, 5]),
        cost=random.choice([0.0, 1.0, 1.0, 2.5, 7.0]),
        move_cost=random.choice([None, None, 0.5, 1.0]),
        protected=random.random() < 0.1,
        queue=random.choice(["", "a"]),
        started=random.choice([None, 1.0, 2.0, 3.0]),
    )


def _pending(random: Random, number: int, gpus: int, with_cpus: bool, plain: bool) -> Gang:
    within = random.choice(["", "rack", "machine", "network"])
    parts = []
    for _ in range(_few(random, plain)):
        slices = 0 if plain else random.choice([0, 0, 2])
        count = random.choice([1, 2, 3, 4])
        level = "machine" if within == "machine" else random.choice(["machine", "rack"])
        parts.append(
            Part(
                count=max(count // slices, 1) * slices if slices else count,
                needs=Resources(gpu=random.choice([1, 2, gpus]), cpu=random.choice([0, 1]) if with_cpus else 0),
                slice=slices,
                slice_within=level if slices else "",
            )
        )
    priority, queue = random.choice([1, 2, 6]), random.choice(["", "a"])
    return Gang(name=f"p{number}", parts=parts, within=within, priority=priority, queue=queue)
