"""Admission: random small clusters, and the cheapest evictions and moves by trying every choice."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, NamedTuple

from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Node, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster, Machine, Rack, Switch
from tests.exactness.numbers import FAMILIES, Draw, exactly

#: Levels of a gang, and of its slices, from the innermost out; a cluster of racks has no pods.
_LEVELS = ("machine", "rack", "pod", "network")

#: Which amounts are scarce: GPUs, CPUs, or both, small or with many digits.
_SCALES = (("gpu", 1), ("gpu", 1), ("gpu", 1), ("cpu", 1), ("both", 1), ("both", 12_345_677))


class _Style(NamedTuple):
    """What the parts of an instance have in common."""

    scarce: str
    scale: int
    types: Sequence[str]
    levels: Sequence[str]
    shape: str  # "plain", "slices", or "parts" for unlike ones


def draw(random: Random) -> Admission:
    """Draw an instance, in most cases again and again until gangs have to stop, and enough of them can."""
    problem = _draw(random)
    for _ in range(random.choice((0, 2, 6, 12))):
        if optimum(problem):
            break
        problem = _draw(random)
    return problem


def _draw(random: Random) -> Admission:
    """Draw up to six machines, up to five running gangs and up to two pending ones."""
    family = random.choice(list(FAMILIES))
    cost = FAMILIES[family](random)
    scarce, scale = random.choice(_SCALES)
    deep = random.random() < 0.3
    levels = _LEVELS if deep else (*_LEVELS[:2], "network")
    types = ("",) if random.random() < 0.7 else ("A", "B")
    style = _Style(scarce, scale, types, levels, random.choice(("plain", "plain", "slices", "parts")))
    cluster = _cluster(random, types, deep=deep)
    names = [machine.name for machine in cluster.machines]
    nodes = {} if scarce == "gpu" and random.random() < 0.8 else _nodes(random, cluster, style)
    left = {name: _capacity(cluster, nodes, name) for name in names}
    moves = random.random() < 0.6
    running = []
    for index in range(random.choice((0, 2, 3, 4, 4, 5, 5))):
        gang = _running(random, f"r{index}", left, style, cost, moves=moves)
        running += [] if gang is None else [gang]
    places = {"some": random.sample(names, random.randint(1, len(names)))}
    pending = [
        _gang(random, f"p{index}", style, most=random.choice((1, 2, 2, 3, 4)), places=places)
        for index in range(random.choice((1, 1, 1, 2)))
    ]
    ties = random.random() < 0.2
    return Admission(
        name=f"{family}, {style.shape}, {scarce}{', moves' * moves}{', ties' * ties}",
        cluster=cluster,
        nodes=nodes,
        places=places,
        running=running,
        pending=pending,
        second_objective="gangs" if ties else "none",
    )


def _cluster(random: Random, types: Sequence[str], *, deep: bool) -> Cluster:
    most = random.choice((1, 2, 4, 4))
    number = 0

    def machines() -> list[Machine]:
        nonlocal number
        found = []
        for _ in range(random.randint(1, 2)):
            memory = random.choice((None, 40, 80))
            gpus, kind = random.randint(1, most), random.choice(types)
            found.append(Machine(name=f"m{number}", gpus=gpus, gpu_type=kind, memory=memory))
            number += 1
        return found

    if not deep:
        return Cluster(
            racks=[Rack(name=f"k{rack}", machines=machines()) for rack in range(random.randint(1, 3))]
        )
    pods = [
        Switch(
            name=f"pod {pod}",
            level="pod",
            switches=[
                Switch(name=f"k{pod}.{rack}", level="rack", machines=machines())
                for rack in range(random.randint(1, 2))
            ],
        )
        for pod in range(2)
    ]
    return Cluster(network=Switch(name="all", level="network", switches=pods))


def _nodes(random: Random, cluster: Cluster, style: _Style) -> dict[str, Node]:
    found = {}
    for machine in cluster.machines:
        if style.scarce == "gpu" and random.random() < 0.5:
            continue
        capacity = Resources(
            gpu=machine.gpus, cpu=random.randint(1, 4) * style.scale + random.choice((0, 0, 1)), disk=2
        )
        used = Resources(gpu=random.choice((0, 0, 1)), disk=random.choice((0, 1)))
        found[machine.name] = Node(
            capacity=capacity if style.scarce != "gpu" else None,
            used=used if random.random() < 0.3 and style.scarce != "gpu" else Resources(),
            closed=random.random() < 0.1,
        )
    return found


def _capacity(cluster: Cluster, nodes: Mapping[str, Node], name: str) -> dict[str, int]:
    """Return what a machine has for gangs."""
    machine = next(each for each in cluster.machines if each.name == name)
    node = nodes.get(name, Node())
    has = {"gpu": machine.gpus} if node.capacity is None else node.capacity.named
    return {resource: amount - node.used.named.get(resource, 0) for resource, amount in has.items()}


def _rooms(problem: Admission) -> dict[str, dict[str, int]]:
    """Return what each machine has for gangs."""
    names = [machine.name for machine in problem.cluster.machines]
    return {name: _capacity(problem.cluster, problem.nodes, name) for name in names}


def _needs(random: Random, style: _Style) -> Resources:
    if style.scarce == "gpu":
        return Resources(gpu=random.choice((1, 1, 1, 2, 2, 3)))
    cpu = random.randint(0, 2) * style.scale + random.choice((0, 1))
    gpu = 0 if style.scarce == "cpu" and random.random() < 0.3 else random.randint(0, 2)
    disk = random.choice((0, 0, 0, 1))
    return Resources(gpu=gpu, cpu=cpu or int(gpu == 0), disk=disk)


def _part(random: Random, style: _Style, most: int, places: Mapping[str, Any] | None) -> Part:
    slice_size = random.choice((1, 2)) if style.shape == "slices" and random.random() < 0.7 else 0
    count = random.randint(1, most)
    if slice_size:
        count = max(1, count // slice_size) * slice_size
    return Part(
        count=count,
        needs=_needs(random, style),
        gpu_type=random.choice((*style.types, "", "")),
        memory=random.choice((0, 0, 0, 0, 60)),
        where="some" if places and random.random() < 0.15 else "",
        slice=slice_size,
        slice_within=random.choice(style.levels) if slice_size else "",
    )


def _gang(
    random: Random, name: str, style: _Style, *, most: int, places: Mapping[str, Any] | None = None
) -> Gang:
    number = random.choice((1, 2)) if style.shape == "parts" else 1
    parts = [_part(random, style, max(1, most // number), places) for _ in range(number)]
    narrowest = max([0, *(style.levels.index(part.slice_within) for part in parts if part.slice)])
    within = random.choice(("", "", *style.levels[max(narrowest, random.choice((0, 1))) :]))
    return Gang(name=name, parts=parts, within=within, priority=random.choice((0, 1, 1)))


def _running(
    random: Random, name: str, left: dict[str, dict[str, int]], style: _Style, cost: Draw, *, moves: bool
) -> Running | None:
    """Draw a gang, and put its workers on random machines; None where they do not fit."""
    gang = _gang(random, name, style, most=random.choice((1, 2, 3)))
    before = {machine: dict(amounts) for machine, amounts in left.items()}
    on: list[dict[str, int]] = []
    for part in gang.parts:
        here: dict[str, int] = {}
        for _ in range(part.count):
            able = [machine for machine in left if _fits(part.needs, left[machine])]
            if not able:
                left.update(before)
                return None
            machine = random.choice(able)
            _use(left[machine], part.needs, 1)
            here[machine] = here.get(machine, 0) + 1
        on.append(here)
    return Running(
        **{**dict(gang), "priority": random.choice((0, 0, 0, 0, 1)) - 1},
        on=on,
        cost=cost(),
        move_cost=cost() if moves and random.random() < 0.6 else None,
        protected=random.random() < 0.1,
    )


def _fits(needs: Resources, left: Mapping[str, int]) -> bool:
    return all(left.get(resource, 0) >= amount for resource, amount in needs.named.items() if amount)


def _use(left: dict[str, int], needs: Resources, number: int) -> None:
    for resource, amount in needs.named.items():
        if amount:
            left[resource] = left.get(resource, 0) - number * amount


def optimum(problem: Admission) -> Fraction | None:
    """Try every choice of gangs to evict and to move, the cheapest first; None if none makes enough room."""
    choices = product(*(_fates(problem, gang) for gang in problem.running))
    priced = sorted(((_cost(problem, fates), fates) for fates in choices), key=lambda each: each[0])
    known: dict[tuple[str, ...], bool] = {}
    for cost, fates in priced:
        if fates not in known:
            known[fates] = _possible(problem, fates)
        if known[fates]:
            return cost
    return None


def _fates(problem: Admission, gang: Running) -> list[str]:
    lowest = min(each.priority for each in problem.pending)
    evict = ["evict"] if gang.priority < lowest and not gang.protected else []
    return ["stay", *evict, *(["move"] if gang.move_cost is not None else [])]


def _cost(problem: Admission, fates: Sequence[str]) -> Fraction:
    total = Fraction(0)
    for gang, fate in zip(problem.running, fates, strict=True):
        if fate != "stay":
            total += exactly(gang.cost if fate == "evict" else gang.move_cost or 0.0)
    if problem.second_objective == "gangs":
        total += sum(fate != "stay" for fate in fates) * _least(problem) / (1 + len(problem.running))
    return total


def _least(problem: Admission) -> Fraction:
    """Return the greatest common divisor of all costs; 1 if they are all 0."""
    costs = [
        exactly(cost) for gang in problem.running for cost in (gang.cost, gang.move_cost) if cost is not None
    ]
    found = Fraction(0)
    for cost in costs:
        while cost:
            found, cost = cost, found % cost  # noqa: PLW2901 - Euclid
    return found or Fraction(1)


def _possible(problem: Admission, fates: Sequence[str]) -> bool:
    """Check whether the gangs that move and the pending ones have a place."""
    left = {
        machine.name: _capacity(problem.cluster, problem.nodes, machine.name)
        for machine in problem.cluster.machines
    }
    moving: list[Gang] = []
    for gang, fate in zip(problem.running, fates, strict=True):
        if fate == "stay":
            for part, machines in zip(gang.parts, gang.on, strict=True):
                for machine, number in machines.items():
                    _use(left[machine], part.needs, number)
        elif fate == "move":
            moving.append(gang)
    return _all_placed(problem, [*moving, *problem.pending], left)


def _all_placed(problem: Admission, gangs: Sequence[Gang], left: dict[str, dict[str, int]]) -> bool:
    if not gangs:
        return True
    gang = gangs[0]
    for places in _placements(problem, gang.parts, left):
        if not _obeys(problem, gang, places):
            continue
        for part, machines in zip(gang.parts, places, strict=True):
            for machine, number in machines.items():
                _use(left[machine], part.needs, number)
        found = _all_placed(problem, gangs[1:], left)
        for part, machines in zip(gang.parts, places, strict=True):
            for machine, number in machines.items():
                _use(left[machine], part.needs, -number)
        if found:
            return True
    return False


def _placements(
    problem: Admission, parts: Sequence[Part], left: Mapping[str, Mapping[str, int]]
) -> Iterator[list[dict[str, int]]]:
    """Yield every way to place parts worker by worker, each into what is left without the others."""
    if not parts:
        yield []
        return
    able = [machine for machine in left if _may_run(problem, parts[0], machine)]
    for numbers in _numbers(parts[0].count, [_most(parts[0].needs, left[machine]) for machine in able]):
        here = {machine: number for machine, number in zip(able, numbers, strict=True) if number}
        after = {machine: dict(amounts) for machine, amounts in left.items()}
        for machine, number in here.items():
            _use(after[machine], parts[0].needs, number)
        yield from ([here, *rest] for rest in _placements(problem, parts[1:], after))


def _numbers(count: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not most:
        if not count:
            yield ()
        return
    for number in range(min(count, most[0]) + 1):
        yield from ((number, *rest) for rest in _numbers(count - number, most[1:]))


def _most(needs: Resources, left: Mapping[str, int]) -> int:
    return min(left.get(name, 0) // amount for name, amount in needs.named.items() if amount)


def _may_run(problem: Admission, part: Part, name: str) -> bool:
    machine = next(each for each in problem.cluster.machines if each.name == name)
    if problem.nodes.get(name, Node()).closed or (part.where and name not in problem.places[part.where]):
        return False
    enough = machine.memory is None or machine.memory >= part.memory
    return enough and (not part.gpu_type or part.gpu_type == machine.gpu_type)


def _obeys(problem: Admission, gang: Gang, places: Sequence[Mapping[str, int]]) -> bool:
    """Check that all workers are within one group of their level, and slices are whole."""
    if gang.within and len({_above(problem, name, gang.within) for here in places for name in here}) > 1:
        return False
    for part, here in zip(gang.parts, places, strict=True):
        if part.slice:
            numbers: dict[str, int] = {}
            for name, number in here.items():
                group = _above(problem, name, part.slice_within)
                numbers[group] = numbers.get(group, 0) + number
            if any(number % part.slice for number in numbers.values()):
                return False
    return True


def _above(problem: Admission, machine: str, level: str) -> str:
    """Return the switch of a level above a machine, or the machine itself."""
    if level == "machine":
        return machine
    pending = [(problem.cluster.root, "")]
    while pending:
        switch, above = pending.pop()
        here = switch.name if switch.level == level else above
        if any(each.name == machine for each in switch.machines):
            return here
        pending += [(child, here) for child in switch.switches]
    raise AssertionError


def value(problem: Admission, solution: AdmissionSolution) -> Fraction | None:
    """Return what a solution costs; None when it breaks a rule."""
    fates = _chosen(problem, solution)
    if fates is None or set(solution.placed) != {gang.name for gang in problem.pending}:
        return None
    left = _rooms(problem)
    for gang, fate in zip(problem.running, fates, strict=True):
        places = solution.moved[gang.name] if fate == "move" else gang.on
        if fate != "evict" and not _stands(problem, gang, places, left, new=fate == "move"):
            return None
    if not all(_stands(problem, gang, solution.placed[gang.name], left, new=True) for gang in problem.pending):
        return None
    full = any(amount < 0 for amounts in left.values() for amount in amounts.values())
    return None if full else _cost(problem, fates)


def _chosen(problem: Admission, solution: AdmissionSolution) -> list[str] | None:
    """Return what becomes of each running gang; None where that is not allowed."""
    names = [gang.name for gang in problem.running]
    touched = [*solution.evicted, *solution.moved]
    if len(set(touched)) < len(touched) or not set(touched) <= set(names):
        return None
    fates = [
        "evict" if name in solution.evicted else "move" if name in solution.moved else "stay" for name in names
    ]
    allowed = all(fate in _fates(problem, gang) for fate, gang in zip(fates, problem.running, strict=True))
    return fates if allowed else None


def _stands(
    problem: Admission,
    gang: Gang,
    places: Sequence[Mapping[str, int]],
    left: dict[str, dict[str, int]],
    *,
    new: bool,
) -> bool:
    """Take what a gang uses, and check that it may be there, if that is a new place."""
    if len(places) != len(gang.parts) or any(name not in left for here in places for name in here):
        return False
    for part, here in zip(gang.parts, places, strict=True):
        for name, number in here.items():
            _use(left[name], part.needs, number)
        right = sum(here.values()) == part.count and all(_may_run(problem, part, name) for name in here)
        if new and not right:
            return False
    return not new or _obeys(problem, gang, places)
