"""Filled: a cluster on which gangs have come and gone for a while, and gangs that are pending."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from gsopt.core.errors import require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.admission import Admission, Gang, Node, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster, Machine, Switch
from instances.arguments import at_least, fractions

Workload = Literal["philly", "openb", "llm"]
Costs = Literal["ones", "gpus", "gpu_hours"]

#: Weights, out of 1,000, of jobs like those in the Philly trace, keyed by number of GPUs.
_PHILLY = {1: 480, 2: 120, 4: 130, 8: 160, 16: 60, 24: 10, 32: 25, 64: 10, 128: 5}

#: Weights, out of 1,000, of jobs on an LLM cluster, keyed by number of GPUs.
_LLM = {8: 180, 16: 120, 32: 220, 64: 200, 128: 120, 256: 100, 512: 45, 1024: 15}

#: Weights, out of 1,000, of machines, keyed by GPU type, number of GPUs, number of CPUs, and GiB of memory.
_OPENB_MACHINES = {
    ("G2", 8, 96, 384): 452,
    ("T4", 2, 104, 512): 319,
    ("P100", 2, 16, 120): 88,
    ("G3", 8, 128, 768): 32,
    ("V100", 4, 32, 128): 48,
    ("V100", 8, 96, 768): 24,
    ("V100", 1, 8, 32): 16,
    ("T4", 4, 96, 384): 21,
}

#: Weights, out of 1,000, of pods, keyed by number of GPUs, number of CPUs, and GiB of memory.
_OPENB_PODS = {
    (1, 3, 6): 180,
    (1, 11, 48): 320,
    (1, 19, 63): 60,
    (1, 8, 30): 160,
    (0, 12, 56): 60,
    (0, 32, 48): 40,
    (1, 16, 58): 120,
    (2, 24, 96): 30,
    (4, 32, 128): 15,
    (8, 64, 256): 15,
}

#: Numbers of machines in the racks of an LLM cluster, of which most are close to twenty.
_RACKS = (3, 8, 14, 15, 16, 20, 20, 21, 22, 22, 22, 23, 23, 24)

#: Maximum number of machines in a pod of racks.
_POD = 280

#: Number of rounds of departures and arrivals, and probability that a gang departs in a round.
_TURNS, _DEPARTING = 3, 0.3

#: Maximum number of seconds for which a gang has been running.
_LONGEST_RUN = 7 * 86_400.0

#: Number of consecutive gangs that do not fit, after which the cluster counts as full.
_FAILED = 50

#: Maximum number of groups at a level that are tried for a gang.
_TRIED = 8


class _Demand(NamedTuple):
    """The demand of a gang that has not been placed yet."""

    workers: int
    needs: Resources
    within: str = ""


def filled(
    *,
    workload: Workload = "philly",
    machines: int = 160,
    rack: int = 16,
    utilisation: float = 0.95,
    workers: int = 8,
    gpus: int = 8,
    within: str = "rack",
    slices: int = 1,
    slice_within: str = "rack",
    gangs: int = 1,
    costs: Costs = "gpu_hours",
    movable: float = 0.0,
    protected: float = 0.05,
    seed: int = 0,
) -> Admission:
    """Generate a cluster on which gangs have come and gone for a while, with pending gangs.

    A running gang is placed in the first of eight random racks in which it fits or, if there is none, anywhere
    in the cluster. On an LLM cluster, it is placed in a pod. The fullest machines are used first. Running gangs
    have one of three priorities, and pending gangs have the highest of them. Running gangs started at most a
    week ago.

    Parameters
    ----------
    workload
        ``philly``: machines with 8 GPUs, and jobs with 1 to 128 GPUs, distributed as in the Philly trace.
        ``openb``: machines with CPUs, memory, and GPUs of one of five types, and gangs of 1 to 16 workers like
        the tasks in Alibaba's cluster "openb". ``llm``: racks and pods (groups of racks) as in Alibaba's
        cluster "Lingjun", and jobs with 8 to 1,024 GPUs.
    machines, rack
        Number of machines, and number of machines per rack. The racks of an LLM cluster vary in size.
    utilisation
        Fraction of GPUs in use. Gangs are placed until it is reached or 50 of them in a row do not fit.
    workers, gpus
        Number of workers of a pending gang, and number of GPUs per worker. With ``openb``, a worker also needs
        CPUs and memory in proportion to its GPUs.
    within
        Level at which a single group must hold a pending gang; empty if it may run anywhere.
    slices, slice_within
        Number of equal slices of a pending gang, which must divide `workers`, and the level at which a single
        group must hold each slice. If there is one slice, `slice_within` is ignored.
    gangs
        Number of pending gangs.
    costs
        Cost of an eviction: 1 (``ones``), the gang's number of GPUs (``gpus``), or the GPU-hours since the last
        checkpoint, at most four hours ago (``gpu_hours``).
    movable, protected
        Probability that a running gang may be moved, and probability that it must not be evicted. A move costs
        the GPU-hours of six minutes.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> problem = filled(machines=32, rack=8, workers=4, seed=1)
    >>> problem.headline()
    {'machines': 32, 'gangs': 45, 'pending GPUs': 32}
    """
    at_least(1, machines=machines, rack=rack, workers=workers, gpus=gpus, gangs=gangs, slices=slices)
    fractions(utilisation=utilisation, movable=movable, protected=protected)
    require_one_of("workload", workload, get_args(Workload))
    require_one_of("costs", costs, get_args(Costs))
    require(workers % slices == 0, "slices", slices, f"must divide the {workers} workers")
    random, starts = Random(seed), Random(f"{seed} starts")
    cluster, nodes = _cluster(workload, machines, rack, random)
    stand = _Stand(cluster, nodes)
    running = [
        _running(f"r{number}", demand, on, costs, movable, protected, random, starts)
        for number, (demand, on) in enumerate(_churned(stand, workload, utilisation, random), start=1)
    ]
    part = Part(
        count=workers,
        needs=_openb_needs(gpus) if workload == "openb" else Resources(gpu=gpus),
        slice=workers // slices if slices > 1 else 0,
        slice_within=slice_within if slices > 1 else "",
    )
    return Admission(
        name=f"filled-{workload}-{machines}-{workers}x{gpus}-{seed}",
        about=About(source=f"filled, workload {workload}, utilisation {utilisation:g}", seed=seed),
        cluster=cluster,
        nodes=nodes,
        running=running,
        pending=[Gang(name=f"p{n}", parts=[part], within=within, priority=2) for n in range(1, gangs + 1)],
    )


def _cluster(workload: Workload, machines: int, rack: int, random: Random) -> tuple[Cluster, dict[str, Node]]:
    """Generate a cluster of racks, in pods if it is an LLM cluster, with the resources of its machines."""
    nodes: dict[str, Node] = {}
    racks: list[Switch] = []
    made = 0
    while made < machines:
        size = min(random.choice(_RACKS) if workload == "llm" else rack, machines - made)
        inside = []
        for number in range(made, made + size):
            name, machine = f"m{number}", Machine(name=f"m{number}", gpus=8)
            if workload == "openb":
                kinds = list(_OPENB_MACHINES)
                kind, own, cpus, memory = random.choices(kinds, list(_OPENB_MACHINES.values()))[0]
                machine = Machine(name=name, gpus=own, gpu_type=kind)
                nodes[name] = Node(capacity=Resources(gpu=own, cpu=cpus, memory=memory))
            inside.append(machine)
        racks.append(Switch(name=f"rack {len(racks)}", level="rack", machines=inside))
        made += size
    if workload != "llm":
        return Cluster(network=Switch(name="network", level="network", switches=racks)), nodes
    pods: list[list[Switch]] = [[]]
    for each in racks:
        if sum(len(other.machines) for other in pods[-1]) + len(each.machines) > _POD:
            pods.append([])
        pods[-1].append(each)
    above = [Switch(name=f"pod {n}", level="pod", switches=inside) for n, inside in enumerate(pods)]
    return Cluster(network=Switch(name="network", level="network", switches=above)), nodes


class _Stand:
    """The free resources of machines, on which gangs are placed by best fit."""

    def __init__(self, cluster: Cluster, nodes: Mapping[str, Node]) -> None:
        self.cluster = cluster
        self.names = [machine.name for machine in cluster.machines]
        self.free = np.array(
            [
                (nodes[machine.name].capacity or Resources()).vector() if nodes else (machine.gpus, 0, 0)
                for machine in cluster.machines
            ]
        )
        self.gpus = sum(machine.gpus for machine in cluster.machines)
        self.used = 0

    def place(self, demand: _Demand, random: Random) -> dict[int, int] | None:
        """Place a gang in a group at its level (or a rack, or anywhere); return None if it does not fit."""
        need = np.array(demand.needs.vector())
        asked = np.flatnonzero(need)
        for level in [demand.within] if demand.within else ["rack", "network"]:
            groups = self.cluster.groups[level]
            for group in random.sample(groups, min(len(groups), _TRIED)):
                free = self.free[group.machines.start : group.machines.stop]
                most = (free[:, asked] // need[asked]).min(axis=1)
                if most.sum() >= demand.workers:
                    on = self._tightest(most, free, demand.workers, group.machines.start)
                    self.use(demand, on, 1)
                    return on
        return None

    @staticmethod
    def _tightest(most: Any, free: Any, workers: int, start: int) -> dict[int, int]:
        """Distribute workers over machines, fullest machines first; return the number on each."""
        on: dict[int, int] = {}
        for machine in np.lexsort(free.T[::-1]).tolist():
            number = min(workers, int(most[machine]))
            if number:
                on[start + machine] = number
                workers -= number
            if not workers:
                break
        return on

    def use(self, demand: _Demand, on: Mapping[int, int], sign: int) -> None:
        """Take the resources that a gang uses, or give them back if the sign is negative."""
        for machine, number in on.items():
            self.free[machine] -= sign * number * np.array(demand.needs.vector())
        self.used += sign * demand.workers * demand.needs.gpu


def _churned(
    stand: _Stand, workload: Workload, utilisation: float, random: Random
) -> list[tuple[_Demand, dict[str, int]]]:
    """Fill the cluster, then repeatedly let some gangs depart and new ones arrive."""
    draw = _DEMANDS[workload]
    running: list[tuple[_Demand, dict[int, int]]] = []
    for turn in range(_TURNS + 1):
        staying = []
        for demand, on in running:
            if turn and random.random() < _DEPARTING:
                stand.use(demand, on, -1)
            else:
                staying.append((demand, on))
        running, failed = staying, 0
        while stand.used < utilisation * stand.gpus and failed < _FAILED:
            demand = draw(random)
            placed = stand.place(demand, random)
            failed = failed + 1 if placed is None else 0
            running += [] if placed is None else [(demand, placed)]
    return [(demand, {stand.names[machine]: on[machine] for machine in sorted(on)}) for demand, on in running]


def _philly(random: Random) -> _Demand:
    gpus = random.choices(list(_PHILLY), list(_PHILLY.values()))[0]
    return _Demand(max(1, gpus // 8), Resources(gpu=min(gpus, 8)))


def _openb(random: Random) -> _Demand:
    gpu, cpu, memory = random.choices(list(_OPENB_PODS), list(_OPENB_PODS.values()))[0]
    return _Demand(random.choice((1, 1, 1, 1, 2, 4, 8, 16)), Resources(gpu=gpu, cpu=cpu, memory=memory))


def _llm(random: Random) -> _Demand:
    gpus = random.choices(list(_LLM), list(_LLM.values()))[0]
    return _Demand(gpus // 8, Resources(gpu=8), "pod")


_DEMANDS: Mapping[str, Callable[[Random], _Demand]] = {"philly": _philly, "openb": _openb, "llm": _llm}


def _openb_needs(gpus: int) -> Resources:
    """Return the demand of a pod with the given number of GPUs, with CPUs and memory in proportion."""
    return Resources(gpu=gpus, cpu=11 * gpus, memory=44 * gpus)


def _running(
    name: str,
    demand: _Demand,
    on: dict[str, int],
    costs: Costs,
    movable: float,
    protected: float,
    random: Random,
    starts: Random,
) -> Running:
    gpus = demand.workers * demand.needs.gpu
    return Running(
        name=name,
        parts=[Part(count=demand.workers, needs=demand.needs)],
        within=demand.within,
        on=[on],
        priority=random.choice((0, 0, 1, 1, 2)),
        cost=_cost(costs, gpus, random),
        move_cost=round(0.1 * max(gpus, 0.5), 2) if random.random() < movable else None,
        protected=random.random() < protected,
        started=-round(starts.uniform(0, _LONGEST_RUN), 1),
    )


def _cost(costs: Costs, gpus: int, random: Random) -> float:
    """Return the cost of evicting a gang, which is random only for GPU-hours."""
    if costs == "gpu_hours":
        return round(max(gpus, 0.5) * random.uniform(0, 4), 2)
    return 1.0 if costs == "ones" else float(gpus)
