"""Placement: random servers and workers, and the best placement by trying all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Literal

from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers

#: Workers by server, then by line.
_Counts = list[list[int]]

_OBJECTIVES: tuple[Literal["servers", "fragmentation", "preferences", "racks"], ...] = (
    "servers",
    "fragmentation",
    "preferences",
    "racks",
)
_RESOURCES = (
    ("gpu",),
    ("gpu", "cpu"),
    ("cpu", "memory"),
    ("gpu", "cpu", "memory"),
    ("gpu", "cpu", "memory", "disk", "network"),
)
_KINDS: tuple[Literal["base", "flexible"], ...] = ("base", "flexible")


def draw(random: Random) -> Placement:
    """Draw up to six servers and up to eight workers; in half of the instances hardly anything stays free.

    Amounts are small, or of hundreds of millions, one more or less. In one of four instances workers need parts
    of GPUs or types of them, or may stay unplaced.
    """
    if random.random() < 0.25:
        return draw_parts(random)
    scale = random.choice((1, 1, 1, 3 * 10**7))
    resources = random.choice(_RESOURCES)
    pools = random.random() < 0.5
    elastic = {job: pools and random.random() < 0.6 for job in "abc"}
    lines: list[Workers] = []
    for _ in range(random.randint(0, 4)):
        job = random.choice("abc")
        lines.append(
            Workers(
                job=job,
                count=random.choice((1, 1, 1, 2)),
                demand=Resources(**_demand(random, scale, resources)),
                kind=random.choice(_KINDS) if elastic[job] else "inelastic",
            )
        )
    servers = random.randint(1, 3)
    if random.random() < 0.5:
        amounts = _just_enough(random, lines, servers, resources)
    else:
        amounts = [
            {resource: random.randint(2, 8) * scale + random.choice((0, 0, 1)) for resource in resources}
            for _ in range(servers)
        ]
    minimize = random.choice(_OBJECTIVES)
    split = random.random() < 0.6
    return Placement(
        name=f"{minimize}{', whole jobs' * (not split)}{', large amounts' * (scale > 1)}",
        minimize=minimize,
        split_jobs=split,
        servers=[_server(random, f"s{index}", full) for index, full in enumerate(amounts)],
        workers=lines,
    )


#: Parts of a GPU, in thousandths: some fill one exactly, or are one too much.
_PARTS = (1, 160, 250, 333, 334, 470, 500, 501, 530, 810, 999)


def draw_parts(random: Random) -> Placement:
    """Draw up to three servers of up to three GPUs, and up to four workers that need parts, GPUs or neither."""
    types = random.choice(((), ("T4", "V100")))
    minimize: Literal["servers", "racks", "unallocated"] = random.choice(
        ("servers", "racks", "unallocated", "unallocated")
    )
    servers = []
    for index in range(random.randint(1, 2)):
        gpus = random.randint(0, 3)
        used = random.randint(0, gpus) if random.random() < 0.2 else 0
        shared = random.randint(0, gpus - used) if random.random() < 0.3 else 0
        servers.append(
            Server(
                name=f"s{index}",
                count=random.choice((1, 1, 2)),
                capacity=Resources(gpu=gpus, cpu=random.randint(1, 8)),
                used=Resources(gpu=used),
                shared=random.choices(_PARTS, k=shared),
                gpu_type=random.choice(types) if types else "",
                rack=random.choice("xy"),
            )
        )
    lines: list[Workers] = []
    for index in range(random.randint(0, 3)):
        part = random.choice(_PARTS) if random.random() < 0.6 else 0
        gpus = 0 if part else random.randint(0, 2)
        amounts = Resources(gpu=gpus, cpu=random.randint(0 if part or gpus else 1, 4))
        lines.append(
            Workers(
                job=f"j{index}",
                count=random.choice((1, 1, 2)),
                demand=amounts,
                gpu_part=part,
                gpu_types=random.choices(types, k=1) if types and random.random() < 0.4 else (),
            )
        )
    return Placement(name=f"{minimize}, parts of GPUs", minimize=minimize, servers=servers, workers=lines)


def _demand(random: Random, scale: int, resources: Sequence[str]) -> dict[str, int]:
    """Draw what one worker needs; some need nothing of a resource, GPUs among them."""
    most = random.choice((1, 2, 4))
    needs = {
        resource: random.choice((0, 1, 1)) * (random.randint(0, most) * scale + random.choice((0, 0, 1)))
        for resource in resources
    }
    return needs if any(needs.values()) else dict.fromkeys(resources, 1)


def _just_enough(
    random: Random, lines: Sequence[Workers], servers: int, resources: Sequence[str]
) -> list[dict[str, int]]:
    """Assign to each server what the workers need that a hidden placement puts there, or one more."""
    amounts = [{resource: random.choice((0, 0, 1)) for resource in resources} for _ in range(servers)]
    for line in lines:
        for _ in range(line.count):
            here = random.choice(amounts)
            here.update({name: here[name] + line.demand.model_dump()[name] for name in here})
    return amounts


def _server(random: Random, name: str, full: dict[str, int]) -> Server:
    used = {resource: random.randint(0, amount // 2) for resource, amount in full.items()}
    return Server(
        name=name,
        count=random.choice((1, 1, 2)),
        pool=random.choice(("training", "inference")),
        capacity=Resources(**full),
        used=Resources(**used) if random.random() < 0.2 else Resources(),
        rack=random.choice("xyz"),
    )


def optimum(problem: Placement) -> int | None:
    """Try every placement; None when there is none."""
    if _has_single_gpus(problem):
        return _optimum_of_parts(problem)
    hosts = [server for server in problem.servers for _ in range(server.count)]
    rooms = [_room(server) for server in hosts]
    demands = [line.demand.model_dump() for line in problem.workers]
    values = (_value(problem, hosts, counts) for counts in _fillings(problem, rooms, demands, 0))
    return min((value for value in values if value is not None), default=None)


def _fillings(
    problem: Placement, rooms: list[dict[str, int]], demands: list[dict[str, int]], line: int
) -> Iterator[_Counts]:
    """Yield every way to stand the workers from one line on in what is left of the rooms."""
    if line == len(demands):
        yield [[0] * len(demands) for _ in rooms]
        return
    for spread in _spreads(problem.workers[line].count, rooms, demands[line]):
        left = [_less(room, demands[line], number) for room, number in zip(rooms, spread, strict=True)]
        for counts in _fillings(problem, left, demands, line + 1):
            for here, number in zip(counts, spread, strict=True):
                here[line] = number
            yield counts


def _spreads(count: int, rooms: list[dict[str, int]], demand: dict[str, int]) -> Iterator[tuple[int, ...]]:
    if not rooms:
        if count == 0:
            yield ()
        return
    for here in range(count + 1):
        if min(_less(rooms[0], demand, here).values()) < 0:
            return
        for rest in _spreads(count - here, rooms[1:], demand):
            yield (here, *rest)


def value(problem: Placement, solution: PlacementSolution) -> int | None:
    """Return the value of a placement; None when it breaks a rule."""
    if _has_single_gpus(problem):
        return _value_of_parts(problem, solution)
    hosts = [server for server in problem.servers for _ in range(server.count)]
    numbers = {name: index for index, name in enumerate(_names(problem))}
    counts = [[0] * len(problem.workers) for _ in hosts]
    for name, line, number in solution.placed:
        if name not in numbers or not 0 <= line < len(problem.workers) or number < 1:
            return None
        counts[numbers[name]][line] += number
    for line, workers in enumerate(problem.workers):
        if sum(here[line] for here in counts) != workers.count:
            return None
    for server, here in zip(hosts, counts, strict=True):
        room = _room(server)
        for workers, number in zip(problem.workers, here, strict=True):
            room = _less(room, workers.demand.model_dump(), number)
        if min(room.values()) < 0:
            return None
    return _value(problem, hosts, counts)


def _names(problem: Placement) -> Iterator[str]:
    for server in problem.servers:
        if server.count == 1:
            yield server.name
        else:
            yield from (f"{server.name}[{index}]" for index in range(server.count))


def _value(problem: Placement, hosts: list[Server], counts: _Counts) -> int | None:
    """Return the value of a placement that overfills no server; None when a whole job is split."""
    pools: dict[str, set[str]] = {}
    in_use = misplaced = free = 0
    racks: set[str] = set()
    for server, here in zip(hosts, counts, strict=True):
        lines = [(line, number) for line, number in zip(problem.workers, here, strict=True) if number]
        occupied = any(server.used.model_dump().values())
        stays = occupied or any(line.kind != "flexible" for line, _ in lines)
        for line, number in lines:
            pools.setdefault(line.job, set()).add(server.pool)
            if not _well_placed(line.kind, server.pool, stays):
                misplaced += number * line.demand.gpu
        if lines or occupied:
            in_use += 1
            racks.add(server.rack)
            taken = sum(number * line.demand.gpu for line, number in lines)
            free += server.capacity.gpu - server.used.gpu - taken
    if not problem.split_jobs and any(len(pool) > 1 for pool in pools.values()):
        return None
    if problem.minimize == "servers":
        return in_use
    if problem.minimize == "racks":
        return len(racks)
    return free if problem.minimize == "fragmentation" else misplaced * (len(hosts) + 1) + in_use


def _well_placed(kind: str, pool: str, stays: bool) -> bool:
    if kind == "inelastic":
        return pool == "training"
    return pool == "inference" and not (kind == "flexible" and stays)


def _room(server: Server) -> dict[str, int]:
    used = server.used.model_dump()
    return {name: amount - used.get(name, 0) for name, amount in server.capacity.model_dump().items()}


def _less(room: dict[str, int], demand: dict[str, int], number: int) -> dict[str, int]:
    names = room.keys() | demand.keys()
    return {name: room.get(name, 0) - number * demand.get(name, 0) for name in names}


#: A worker's place: a server, and the GPU of which it gets a part, if any; no server if it stays unplaced.
_Place = tuple[str | None, int | None]


def _has_single_gpus(problem: Placement) -> bool:
    lines = any(line.gpu_part or line.gpu_types for line in problem.workers)
    return problem.minimize == "unallocated" or lines or any(server.shared for server in problem.servers)


def _single_servers(problem: Placement) -> dict[str, Server]:
    each = (server for server in problem.servers for _ in range(server.count))
    return dict(zip(_names(problem), each, strict=True))


def _optimum_of_parts(problem: Placement) -> int | None:
    """Try every server and every GPU for one worker after another."""
    servers = _single_servers(problem)
    workers = [index for index, line in enumerate(problem.workers) for _ in range(line.count)]
    best: list[int] = []

    def go_on(places: list[tuple[int, _Place]]) -> None:
        found = _value_of_places(problem, servers, places)
        if found is None:
            return
        if len(places) == len(workers):
            best[:] = [min([found, *best])]
            return
        index = workers[len(places)]
        for place in _places(problem, servers, problem.workers[index]):
            go_on([*places, (index, place)])

    go_on([])
    return best[0] if best else None


def _places(problem: Placement, servers: dict[str, Server], line: Workers) -> Iterator[_Place]:
    for name, server in servers.items():
        if line.gpu_types and server.gpu_type not in line.gpu_types:
            continue
        if line.gpu_part:
            yield from ((name, gpu) for gpu in range(server.capacity.gpu - server.used.gpu))
        else:
            yield name, None
    if problem.minimize == "unallocated":
        yield None, None


def _value_of_places(
    problem: Placement, servers: dict[str, Server], places: Sequence[tuple[int, _Place]]
) -> int | None:
    """Return the value of a placement of some workers; None when a server or a GPU is overfull."""
    in_use = {
        name for name, server in servers.items() if server.shared or any(server.used.model_dump().values())
    }
    free = 0
    for name, server in servers.items():
        here = [(problem.workers[index], gpu) for index, (where, gpu) in places if where == name]
        rest = _room(server)
        for line, _ in here:
            rest = _less(rest, line.demand.model_dump(), 1)
        shared = Counter(dict(enumerate(server.shared)))
        for line, gpu in here:
            if gpu is not None:
                shared[gpu] += line.gpu_part
        if min(rest.values()) < 0 or max(shared.values(), default=0) > 1000 or rest.get("gpu", 0) < len(shared):
            return None
        free += 1000 * rest.get("gpu", 0) - sum(shared.values())
        in_use |= {name} if here else set()
    if problem.minimize == "servers":
        return len(in_use)
    return len({servers[name].rack for name in in_use}) if problem.minimize == "racks" else free


def _value_of_parts(problem: Placement, solution: PlacementSolution) -> int | None:
    servers = _single_servers(problem)
    entries: list[tuple[str, int | None, int, int]] = [
        (*entry[:1], None, *entry[1:]) for entry in solution.placed
    ]
    entries += solution.parts
    places: list[tuple[int, _Place]] = []
    for name, gpu, index, number in entries:
        if name not in servers or not 0 <= index < len(problem.workers) or number < 1:
            return None
        line = problem.workers[index]
        if (name, gpu) not in _places(problem, servers, line):
            return None
        places += [(index, (name, gpu))] * number
    numbers = Counter(index for index, _ in places)
    for index, line in enumerate(problem.workers):
        least = 0 if problem.minimize == "unallocated" else line.count
        if not least <= numbers[index] <= line.count:
            return None
    return _value_of_places(problem, servers, places)
