"""Changes: ways to write an instance differently, of which it is known what they do to the optimum."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any, NamedTuple

from gsopt.core.problem import Frozen, Problem
from gsopt.problems.admission import Node
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.speed import TierPenalty

#: How an epoch clock differs from one that begins at 0, and how far away a far job is, in seconds.
EPOCH, FAR = "1.7e9", "1e8"

#: Longest number that every double tells apart from its neighbours.
_DIGITS = 15

#: Value of the changed instance, given that of the original.
Value = Callable[[Fraction], Fraction]


class Unwritable(Exception):
    """The changed number has more digits than a double holds, or the change has no meaning here."""


class Pair(NamedTuple):
    """An instance, the same written differently, and the value of the latter given that of the former."""

    first: Problem[Any]
    second: Problem[Any]
    value: Value = Fraction


class Change(NamedTuple):
    """A way to write an instance differently.

    `apply` raises `Unwritable` for an instance that cannot be changed like that. Heuristics that break ties in
    the order of the list need not follow a permutation, so not every change binds them.
    """

    name: str
    apply: Callable[[Any, Random], Pair]
    binds_heuristics: bool = True


def written(number: Fraction | Decimal) -> float:
    """Return the double that is written as a number, exactly, or raise `Unwritable` for too many digits."""
    exact = Decimal(number) if isinstance(number, Decimal) else _as_decimal(number)
    double = float(exact)
    if Decimal(repr(double)) != exact or len(exact.normalize().as_tuple().digits) > _DIGITS:
        raise Unwritable
    return double


def _as_decimal(number: Fraction) -> Decimal:
    found = Decimal(number.numerator) / Decimal(number.denominator)
    if Fraction(found) != number:
        raise Unwritable
    return found


def plus(time: float | None, seconds: str) -> float | None:
    """Return a time so many seconds later."""
    return None if time is None else written(Decimal(repr(float(time))) + Decimal(seconds))


def times(number: float | None, factor: str) -> float | None:
    """Return so many times a number."""
    return None if number is None else written(Decimal(repr(float(number))) * Decimal(factor))


def remade(thing: Frozen, **fields: Any) -> Any:
    """Return data with other fields, checked again; `Unwritable` where that breaks a rule."""
    try:
        return type(thing)(**{**dict(thing), **fields})
    except ValueError as error:
        raise Unwritable from error


def shuffled(values: Sequence[Any], random: Random) -> list[Any]:
    """Return the values in another order."""
    return random.sample(list(values), len(values))


def _scaled_values(factor: str) -> Value:
    return lambda value: value * Fraction(factor)


def _each(things: Sequence[Frozen], change: Callable[[Any], Mapping[str, Any]]) -> list[Any]:
    return [remade(thing, **change(thing)) for thing in things]


# What nearly every decision has: jobs with names, in a list


def _permuted(problem: Any, random: Random, fields: Sequence[str] = ("jobs",)) -> Pair:
    return Pair(problem, remade(problem, **{name: shuffled(getattr(problem, name), random) for name in fields}))


def _renamed(problem: Any, random: Random, fields: Sequence[str] = ("jobs",)) -> Pair:
    """Name things so that the alphabet has them in another order."""
    found = {}
    for name in fields:
        things = getattr(problem, name)
        order = shuffled(range(len(things)), random)
        found[name] = [
            remade(thing, name=f"{place:03} {thing.name}") for thing, place in zip(things, order, strict=True)
        ]
    return Pair(problem, remade(problem, **found))


def _scaled(problem: Any, random: Random, fields: Mapping[str, Sequence[str]], power: int = 1) -> Pair:
    """Scale some fields of the things in each list, and of the problem itself under the empty name."""
    factor = random.choice(("1e-6", "1e6"))
    found: dict[str, Any] = {
        name: _each(getattr(problem, name), partial(_times_fields, fields=own, factor=factor))
        for name, own in fields.items()
        if name
    }
    found |= _times_fields(problem, fields.get("", ()), factor)
    return Pair(problem, remade(problem, **found), _scaled_values(factor) if power else Fraction)


def _times_fields(thing: Any, fields: Sequence[str], factor: str) -> dict[str, Any]:
    return {name: _times_any(getattr(thing, name), factor) for name in fields}


def _times_any(value: Any, factor: str) -> Any:
    if isinstance(value, Mapping):
        return {key: times(each, factor) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [times(each, factor) for each in value]
    return times(value, factor)


def _with_job(problem: Any, job: Frozen, value: Value = Fraction) -> Pair:
    return Pair(problem, remade(problem, jobs=[*problem.jobs, job]), value)


def _first_of(problem: Any) -> Any:
    if not problem.jobs:
        raise Unwritable
    return problem.jobs[0]


# Decisions over time


def _release_of(job: Any) -> str:
    return "release" if "release" in type(job).model_fields else "release_date"


def _shifted(problem: Any, _: Random) -> Pair:
    return Pair(problem, _later(problem, EPOCH))


def _later(problem: Any, seconds: str) -> Any:
    return remade(
        problem,
        jobs=_each(problem.jobs, lambda job: {_release_of(job): plus(_release(job), seconds)}),
    )


def _release(job: Any) -> float:
    return float(getattr(job, _release_of(job)))


def _far(problem: Any, _: Random, *, after: bool) -> Pair:
    """Add a job of one GPU far before or far after the others."""
    if getattr(problem, "minimize", "mean_jct") != "mean_jct" or getattr(problem, "fairness", None) is not None:
        raise Unwritable
    if sum(job.duration for job in problem.jobs) > float(FAR) / 100:
        raise Unwritable  # nothing is far from them
    base = problem if after else _later(problem, FAR)
    own = _far_job(problem, (plus(max(map(_release, problem.jobs)), "1e9") or 0.0) if after else 0.0)
    seconds, jobs = Fraction(10), len(problem.jobs)
    if getattr(problem, "slot", None) is not None:
        slot = Fraction(repr(problem.slot))
        seconds = -(-seconds // slot) * slot
    changed = remade(base, jobs=[*base.jobs, own])
    return Pair(problem, changed, lambda value: (value * jobs + seconds) / (jobs + 1))


def _far_job(problem: Any, release: float) -> Any:
    first = _first_of(problem)
    if "rates" in type(first).model_fields:
        return remade(first, name="far", release=release, work=10.0, rates={1: 1.0}, gpus=None)
    fields = {
        "name": "far",
        "release_date": release,
        "duration": 10.0,
        "gpus": 1,
        "model": "none of the others",
    }
    return remade(first, **fields, memory=None)


def _racks_split(problem: Any, _: Random) -> Pair:
    """Put every machine into a rack of its own, where racks are no closer than the network."""
    penalties = {
        name: TierPenalty(machine=each.machine, rack=each.network, network=each.network)
        for name, each in problem.penalties.items()
    }
    if problem.cluster.network is not None:
        raise Unwritable
    machines = [machine for rack in problem.cluster.racks for machine in rack.machines]
    base = remade(problem, penalties=penalties)
    apart = [Rack(name=f"rack of {machine.name}", machines=[machine]) for machine in machines]
    return Pair(base, remade(base, cluster=Cluster(racks=apart)))


# Single decisions


def _servers_renamed(problem: Any, random: Random) -> Pair:
    names = [server.name for server in problem.servers]
    places = shuffled(range(len(names)), random)
    new = {name: f"{place:03} {name}" for name, place in zip(names, places, strict=True)}

    def moved(counts: Mapping[str, int]) -> dict[str, int]:
        return {new[name]: count for name, count in counts.items()}

    jobs = _each(problem.jobs, lambda job: {"workers": moved(job.workers), "flexible": moved(job.flexible)})
    servers = _each(problem.servers, lambda server: {"name": new[server.name]})
    return Pair(problem, remade(problem, servers=servers, jobs=jobs))


def _costs_scaled(problem: Any, random: Random) -> Pair:
    if problem.second_objective != "none":
        raise Unwritable
    return _scaled(problem, random, {"jobs": ["cost"]})


def _gang_costs_scaled(problem: Any, random: Random) -> Pair:
    if problem.second_objective != "none" and not any(gang.cost or gang.move_cost for gang in problem.running):
        raise Unwritable  # then each gang counts as much as before
    return _scaled(problem, random, {"running": ["cost", "move_cost"]})


def _racks_reordered(problem: Any, random: Random) -> Pair:
    if problem.cluster.network is not None:
        raise Unwritable
    return Pair(problem, remade(problem, cluster=Cluster(racks=shuffled(problem.cluster.racks, random))))


def _closed_rack(problem: Any, _: Random) -> Pair:
    """Add a rack on which nothing may be placed."""
    if problem.cluster.network is not None:
        raise Unwritable
    rack = Rack(name="closed", machines=[Machine(name=f"closed {n}", gpus=8) for n in range(2)])
    nodes = {**problem.nodes, **{machine.name: Node(closed=True) for machine in rack.machines}}
    return Pair(problem, remade(problem, cluster=Cluster(racks=[*problem.cluster.racks, rack]), nodes=nodes))


def _dear_server(problem: Any, _: Random) -> Pair:
    """Add a server that costs more than all others together, which nobody has to return."""
    if problem.second_objective != "none" or problem.demand > len(problem.servers) or not problem.servers:
        raise Unwritable
    total = sum(Fraction(repr(job.cost)) for job in problem.jobs)
    cost = float(2 * total + 1)
    job = remade(
        problem.jobs[0] if problem.jobs else _raise(),
        name="dear",
        workers={"dear": 1},
        flexible={},
        cost=cost,
        training_servers=0,
    )
    server = remade(problem.servers[0], name="dear", gpus=1)
    return Pair(problem, remade(problem, servers=[*problem.servers, server], jobs=[*problem.jobs, job]))


def _raise() -> Any:
    raise Unwritable


def _inelastic_job(problem: Any, _: Random) -> Pair:
    """Add a job that takes no further worker."""
    first = _first_of(problem)
    fields: dict[str, Any] = {"name": "far", "max_workers": None, "counts": [], "values": None, "queued": False}
    return _with_job(problem, remade(first, **fields, time_at_min=1.0, remaining_work=None))


def _wide_pending(problem: Any, _: Random) -> Pair:
    """Add a job that is wider than every running one."""
    if not problem.pending:
        raise Unwritable
    widest = max((job.gpus for job in problem.running), default=0)
    job = remade(problem.pending[0], name="far", gpus=widest + 1)
    return Pair(problem, remade(problem, pending=[*problem.pending, job]))


def _hopeless_configuration(problem: Any, _: Random) -> Pair:
    """Add a job that runs in no configuration."""
    first = _first_of(problem)
    nowhere = [None] * len(problem.configurations)
    penalty = Fraction(repr(float(problem.penalty)))
    job = remade(first, name="far", goodputs=nowhere, current=None, pinned=False)
    return _with_job(problem, job, lambda value: value + penalty)


def _configurations_permuted(problem: Any, random: Random) -> Pair:
    order = shuffled(range(len(problem.configurations)), random)
    place = {old: new for new, old in enumerate(order)}

    def moved(job: Any) -> dict[str, Any]:
        current = None if job.current is None else place[job.current]
        return {"goodputs": [job.goodputs[old] for old in order], "current": current}

    menu = [problem.configurations[old] for old in order]
    return Pair(problem, remade(problem, configurations=menu, jobs=_each(problem.jobs, moved)))


def _type_of_single_gpus_split(problem: Any, random: Random) -> Pair:
    """Make two types of one whose configurations all have one GPU."""
    kinds = [
        kind
        for kind, count in problem.gpus.items()
        if count > 1 and all(shape.gpus == 1 for shape in problem.configurations if shape.type == kind)
    ]
    held = [job.current for job in problem.jobs if job.current is not None]
    if not kinds or held:
        raise Unwritable
    kind = random.choice(kinds)
    twins = [place for place, shape in enumerate(problem.configurations) if shape.type == kind]
    menu = [
        *problem.configurations,
        *(remade(problem.configurations[place], type=f"{kind} too") for place in twins),
    ]
    jobs = _each(
        problem.jobs, lambda job: {"goodputs": [*job.goodputs, *(job.goodputs[place] for place in twins)]}
    )
    gpus = dict(problem.gpus) | {kind: problem.gpus[kind] - 1, f"{kind} too": 1}
    return Pair(problem, remade(problem, gpus=gpus, configurations=menu, jobs=jobs))


def _weights_scaled(problem: Any, random: Random) -> Pair:
    if problem.maximize == "lexicographic" or not any(job.weight for job in problem.jobs):
        raise Unwritable  # whole numbers, or a unit of its own, stand beside the weights
    return _scaled(problem, random, {"jobs": ["weight"]})


def _too_wide(problem: Any, _: Random) -> Pair:
    """Add a job that wants more GPUs than there are."""
    if problem.maximize != "value":
        raise Unwritable
    return _with_job(problem, remade(_first_of(problem), name="far", gpus=problem.cluster.gpus + 1))


def _nodes_permuted(problem: Any, random: Random) -> Pair:
    order = shuffled(range(len(problem.nodes)), random)
    jobs = _each(
        problem.jobs, lambda job: {"current": [job.current[node] for node in order] if job.current else []}
    )
    return Pair(problem, remade(problem, nodes=[problem.nodes[node] for node in order], jobs=jobs))


def _ages_scaled(problem: Any, random: Random) -> Pair:
    """Measure ages and the restart time in another unit, which changes no speed-up."""
    return _scaled(problem, random, {"jobs": ["age"], "": ["restart_time"]}, power=0)


def _resources_scaled(problem: Any, random: Random) -> Pair:
    if problem.minimize in {"fragmentation", "preferences"}:
        raise Unwritable  # they count GPUs
    if problem.beyond_amounts:
        raise Unwritable  # parts of a GPU do not scale
    factor = random.choice((3, 1_000))

    def more(amounts: Any) -> Any:
        return remade(amounts, **{name: count * factor for name, count in amounts.model_dump().items()})

    servers = _each(problem.servers, lambda each: {"capacity": more(each.capacity), "used": more(each.used)})
    workers = _each(problem.workers, lambda each: {"demand": more(each.demand)})
    return Pair(problem, remade(problem, servers=servers, workers=workers))


def _racks_of_their_own(problem: Any, _: Random) -> Pair:
    if problem.minimize == "racks":
        raise Unwritable
    servers = [remade(each, rack=f"rack {index}") for index, each in enumerate(problem.servers)]
    return Pair(problem, remade(problem, servers=servers))


def _workers_renamed(problem: Any, random: Random) -> Pair:
    jobs = sorted({line.job for line in problem.workers})
    new = dict(zip(jobs, shuffled([f"job {index}" for index in range(len(jobs))], random), strict=True))
    return Pair(problem, remade(problem, workers=_each(problem.workers, lambda line: {"job": new[line.job]})))


def _steps_scaled(problem: Any, random: Random) -> Pair:
    fields = {"jobs": ["steps", "age", "isolated"]}
    return _scaled(problem, random, fields, power=problem.criterion == "makespan")


def _shares_permuted(problem: Any, random: Random) -> Pair:
    if problem.criterion == "fifo":
        raise Unwritable  # goes by the order of the list
    return _permuted(problem, random)


def _type_split(problem: Any, random: Random) -> Pair:
    """Make two types of one that stays wide enough for every job."""
    widest = max(job.gpus for job in problem.jobs)
    kinds = [kind for kind, count in problem.gpus.items() if count >= 2 * widest]
    if not kinds:
        raise Unwritable
    kind = random.choice(kinds)

    def both(job: Any) -> dict[str, Any]:
        rate = job.throughputs.get(kind)
        more = {} if rate is None else {f"{kind} too": rate}
        return {"throughputs": dict(job.throughputs) | more}

    gpus = dict(problem.gpus) | {kind: problem.gpus[kind] - widest, f"{kind} too": widest}
    return Pair(problem, remade(problem, gpus=gpus, jobs=_each(problem.jobs, both)))


def _machine_type_split(problem: Any, random: Random) -> Pair:
    """Assign a type of its own to one machine, on which jobs take as long as on the old one."""
    if not problem.machines:
        raise Unwritable
    place = random.randrange(len(problem.machines))
    kind = problem.machines[place].gpu_type
    jobs = _each(
        problem.jobs,
        lambda job: {"seconds": {**job.seconds, **({"new": job.seconds[kind]} if kind in job.seconds else {})}},
    )
    machines = list(problem.machines)
    machines[place] = remade(machines[place], gpu_type="new")
    return Pair(problem, remade(problem, machines=machines, jobs=jobs))


def _machines_later(problem: Any, _: Random) -> Pair:
    """Let all machines be free so many seconds later, by which every job completes later."""
    machines = _each(problem.machines, lambda machine: {"available": plus(machine.available, EPOCH)})
    jobs = len(problem.jobs)
    return Pair(problem, remade(problem, machines=machines), lambda value: value + jobs * Fraction(EPOCH))


def _job_apart(problem: Any, _: Random) -> Pair:
    """Add a machine of another type and a job that runs on no other."""
    first = _first_of(problem)
    job = remade(first, name="far", seconds={"new": 10.0})
    machine = remade(problem.machines[0], name="far", gpu_type="new", available=float(FAR))
    changed = remade(problem, jobs=[*problem.jobs, job], machines=[*problem.machines, machine])
    return Pair(problem, changed, lambda value: value + Fraction(FAR) + 10)


def _batching_permuted(problem: Any, random: Random) -> Pair:
    if problem.forced != "none":
        raise Unwritable  # the first ones of those that want to must run
    return _permuted(problem, random)


def _samples_scaled(problem: Any, random: Random) -> Pair:
    """Scale what is left of all jobs, and what a change costs with it."""
    factor = random.choice(("1e-6", "1e6"))

    def scaled(job: Any) -> dict[str, Any]:
        progress = job.progress
        if progress is not None:
            progress = remade(progress, processed=times(progress.processed, factor))
        return {"remaining": times(job.remaining, factor), "progress": progress}

    if problem.criterion == "rate":
        raise Unwritable  # a rate falls while its cost would have to
    cost = times(problem.reconfiguration, factor)
    changed = remade(problem, jobs=_each(problem.jobs, scaled), reconfiguration=cost)
    return Pair(problem, changed, _scaled_values(factor))


_over_time = (
    Change("shift by 1.7e9 s", _shifted),
    Change("a job far after", partial(_far, after=True), binds_heuristics=False),  # it waits for its interval
    Change("a job far before", partial(_far, after=False), binds_heuristics=False),  # intervals begin with it
    Change("permute", _permuted, binds_heuristics=False),
    Change("rename", _renamed),
)
_permute = Change("permute", _permuted, binds_heuristics=False)
_rename = Change("rename", _renamed)

#: Changes by decision.
CHANGES: Mapping[str, Sequence[Change]] = {
    "reclaiming": (
        Change("permute", partial(_permuted, fields=("servers", "jobs")), binds_heuristics=False),
        Change("rename servers", _servers_renamed),
        _rename,
        Change("scale costs", _costs_scaled),
        Change("a dear server", _dear_server, binds_heuristics=False),
    ),
    "admission": (
        Change("permute", partial(_permuted, fields=("running", "pending")), binds_heuristics=False),
        Change("rename", partial(_renamed, fields=("running", "pending"))),
        Change("scale costs", _gang_costs_scaled),
        Change("permute racks", _racks_reordered, binds_heuristics=False),
        Change("a closed rack", _closed_rack, binds_heuristics=False),
    ),
    "allocation": (
        _permute,
        _rename,
        Change("scale times", partial(_scaled, fields={"jobs": ["time_at_min", "remaining_work", "values"]})),
        Change("an inelastic job", _inelastic_job),
    ),
    "batching": (
        Change("permute", _batching_permuted, binds_heuristics=False),
        _rename,
        Change("scale samples", _samples_scaled, binds_heuristics=False),
    ),
    "colocation": (
        Change("permute", partial(_permuted, fields=("running", "pending")), binds_heuristics=False),
        Change("rename", partial(_renamed, fields=("running", "pending"))),
        Change("scale times", partial(_scaled, fields={"running": ["seconds"], "pending": ["seconds"]})),
        Change("a job wider than all", _wide_pending),
    ),
    "configuration": (
        _permute,
        _rename,
        Change("permute configurations", _configurations_permuted, binds_heuristics=False),
        Change("split a type", _type_of_single_gpus_split, binds_heuristics=False),
        Change("a job that runs nowhere", _hopeless_configuration),
    ),
    "consolidation": (
        _permute,
        _rename,
        Change("scale weights", _weights_scaled, binds_heuristics=False),
        Change("a job wider than all", _too_wide, binds_heuristics=False),
        Change("split racks", _racks_split, binds_heuristics=False),
    ),
    "goodput": (
        _permute,
        _rename,
        Change("permute nodes", _nodes_permuted, binds_heuristics=False),
        Change("scale ages", _ages_scaled),
    ),
    "placement": (
        Change("permute", partial(_permuted, fields=("servers", "workers")), binds_heuristics=False),
        Change("rename servers", partial(_renamed, fields=("servers",))),
        Change("rename jobs", _workers_renamed),
        Change("scale resources", _resources_scaled),
        Change("split racks", _racks_of_their_own),
    ),
    "scheduling": (
        *_over_time,
        Change("scale times", partial(_scaled, fields={"jobs": ["release", "work"], "": ["fairness"]})),
    ),
    "sequencing": (
        Change("permute", partial(_permuted, fields=("machines", "jobs")), binds_heuristics=False),
        Change("rename", partial(_renamed, fields=("machines", "jobs"))),
        Change("scale times", partial(_scaled, fields={"machines": ["available"], "jobs": ["seconds"]})),
        Change("all machines later", _machines_later),
        Change("split a type", _machine_type_split),
        Change("a job apart", _job_apart, binds_heuristics=False),
    ),
    "shares": (
        Change("permute", _shares_permuted, binds_heuristics=False),
        _rename,
        Change("scale steps", _steps_scaled),
        Change("split a type", _type_split, binds_heuristics=False),
    ),
    "sharing": (
        *_over_time,
        Change("scale times", partial(_scaled, fields={"jobs": ["release_date", "duration"]})),
    ),
    "waiting": (
        *_over_time,
        Change("scale times", partial(_scaled, fields={"jobs": ["release_date", "duration"], "": ["slot"]})),
        Change("split racks", _racks_split, binds_heuristics=False),
    ),
}


def pairs(word: str, problem: Any, random: Random) -> Iterator[tuple[Change, Pair]]:
    """Yield the changes of a decision that an instance allows, with what they make of it."""
    for change in CHANGES[word]:
        try:
            yield change, change.apply(problem, random)
        except Unwritable:
            continue
