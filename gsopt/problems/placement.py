"""Placement: the choice of a server for each worker, for example so that few servers are used."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import ConfigDict, Field, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import PRINTABLE, Frozen, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.lean import Lean

#: Amount of one resource, in any unit, as long as servers and workers use the same one.
Amount = Annotated[int, Field(ge=0, le=1_000_000_000)]

#: Number of identical servers or workers.
Count = Annotated[int, Field(ge=1, le=1_000_000)]

#: Amounts of a problem's resources, in the order of `Placement.resources`.
Vector = tuple[int, ...]

Pool = Literal["training", "inference"]

_MOST = 1_000_000


#: A whole GPU in thousandths, the unit for parts of a GPU.
WHOLE_GPU = 1_000

#: Part of one GPU, in thousandths.
Part = Annotated[int, Field(ge=1, lt=WHOLE_GPU)]

#: Resources that every problem has. Fragmentation and preferences count the first one only.
_COMMON = ("gpu", "cpu", "memory")


class Resources(Frozen):
    """Amounts of GPUs, CPUs, memory, and any other resources, passed as keyword arguments.

    An amount that is not passed is 0.

    Examples
    --------
    >>> needs = Resources(gpu=2, cpu=16, disk=3)
    >>> needs.vector(), needs.vector(("gpu", "disk", "tape"))
    ((2, 16, 0), (2, 3, 0))
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Name, Amount] = Field(init=False)

    gpu: Amount = 0
    cpu: Amount = 0
    memory: Amount = 0

    @property
    def named(self) -> dict[str, int]:
        """All amounts, keyed by the name of the resource, with GPU, CPU and memory first."""
        return {"gpu": self.gpu, "cpu": self.cpu, "memory": self.memory, **self.__pydantic_extra__}

    def vector(self, names: Sequence[str] = _COMMON) -> Vector:
        """Return the amounts of the given resources, in the given order."""
        named = self.named
        return tuple([named.get(name, 0) for name in names])


class Server(Lean):
    """One server, or `count` identical servers.

    If the count is above 1, the servers are called ``name[0]``, ``name[1]``, ...

    Attributes
    ----------
    pool
        The cluster that owns the server: the training cluster, or the inference cluster that lends it.
    capacity
        Resources of each of the servers.
    used
        Resources that earlier workers use on each of the servers. These workers stay there.
    rack
        Name of the servers' rack or other network group; empty if racks do not matter.
    gpu_type
        Type of the GPUs; if empty, only workers that accept any type may run on the server.
    shared
        For each GPU that is partly in use, the part in use, in thousandths. `used` does not include these GPUs.
    """

    later = frozenset({"rack", "gpu_type", "shared"})

    name: Name
    pool: Pool = "training"
    count: Count = 1
    capacity: Resources
    used: Resources = Resources()
    rack: Annotated[str, Field(max_length=200, pattern=PRINTABLE)] = ""
    gpu_type: Annotated[str, Field(max_length=200, pattern=PRINTABLE)] = ""
    shared: Many[Part] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the individual servers.

        Examples
        --------
        >>> Server(name="s", count=2, capacity=Resources(gpu=8)).names
        ('s[0]', 's[1]')
        """
        if self.count == 1:
            return (self.name,)
        return tuple(f"{self.name}[{index}]" for index in range(self.count))

    def free(self, names: Sequence[str] = _COMMON) -> Vector:
        """Return the free amounts of the given resources on each of the servers.

        A GPU is free only if no worker uses any part of it.

        Examples
        --------
        >>> server = Server(name="s", capacity=Resources(gpu=8, disk=10), used=Resources(disk=4))
        >>> server.free(), server.free(("disk",))
        ((8, 0, 0), (6,))
        """
        capacity, used = self.capacity.vector(names), self.used.vector(names)
        free = tuple(amount - taken for amount, taken in zip(capacity, used, strict=True))
        if not self.shared:
            return free
        return tuple(
            amount - len(self.shared) * (name == "gpu") for name, amount in zip(names, free, strict=True)
        )

    @property
    def free_gpus(self) -> int:
        """Number of free GPUs on each of the servers."""
        return self.capacity.gpu - self.used.gpu - len(self.shared)

    @property
    def gpus_with_room(self) -> int:
        """Number of GPUs that are free or already shared, on each of the servers."""
        return len(self.shared) + self.free_gpus

    def left(self, gpu: int) -> int:
        """Return the free part of a GPU, in thousandths, given the index of the GPU.

        The shared GPUs come first, followed by the free ones. GPUs that are entirely in use have no index.

        Examples
        --------
        >>> server = Server(name="s", capacity=Resources(gpu=4), used=Resources(gpu=1), shared=[300])
        >>> [server.left(gpu) for gpu in range(server.gpus_with_room)]
        [700, 1000, 1000]
        """
        return WHOLE_GPU - self.shared[gpu] if gpu < len(self.shared) else WHOLE_GPU

    @property
    def thousandths(self) -> int:
        """Free GPU capacity of each server, in thousandths of a GPU, including free parts of shared GPUs."""
        return self.gpus_with_room * WHOLE_GPU - sum(self.shared)

    @property
    def in_use(self) -> bool:
        """Whether workers are already running on the servers."""
        return bool(self.shared) or any(self.used.named.values())


class Workers(Lean):
    """Identical workers that belong to one job.

    Attributes
    ----------
    job
        Name of the job. Several entries may belong to the same job.
    count
        Number of workers.
    demand
        Resources that one worker needs, all from the same server.
    kind
        Whether the workers belong to an inelastic job, or are base or flexible workers of an elastic one. An
        elastic job is preempted if it loses a base worker, but not if it loses only flexible ones.
    gpu_part
        Part of one GPU that a worker needs, in thousandths; 0 if it needs whole GPUs or none.
    gpu_types
        GPU types that the workers accept; empty if they accept any.
    """

    later = frozenset({"gpu_part", "gpu_types"})

    job: Name
    count: Count = 1
    demand: Resources
    kind: Literal["inelastic", "base", "flexible"] = "inelastic"
    gpu_part: Annotated[int, Field(ge=0, lt=WHOLE_GPU)] = 0
    gpu_types: Many[Name] = ()

    @property
    def thousandths(self) -> int:
        """GPU capacity that one worker needs, in thousandths of a GPU.

        Examples
        --------
        >>> Workers(job="a", demand=Resources(gpu=2)).thousandths
        2000
        """
        return self.demand.gpu * WHOLE_GPU + self.gpu_part

    def suits(self, server: Server) -> bool:
        """Check whether the workers accept the server's GPU type.

        Examples
        --------
        >>> server = Server(name="s", capacity=Resources(gpu=8), gpu_type="V100")
        >>> Workers(job="a", demand=Resources(gpu=2), gpu_types=["T4"]).suits(server)
        False
        """
        return not self.gpu_types or server.gpu_type in self.gpu_types


class Placed(NamedTuple):
    """Identical workers placed on a server.

    Attributes
    ----------
    server
        Name of an individual server, such as ``s1`` or ``s1[3]``.
    workers
        Index of their entry in the problem's `workers`.
    number
        Number of these workers on the server.
    """

    server: str
    workers: int
    number: int


class PlacedPart(NamedTuple):
    """Identical workers that each use a part of the same GPU.

    Attributes
    ----------
    server
        Name of an individual server.
    gpu
        Index among the server's GPUs that are not entirely in use: first those already shared, then the free
        ones.
    workers
        Index of their entry in the problem's `workers`.
    number
        Number of these workers on the GPU.
    """

    server: str
    gpu: int
    workers: int
    number: int


class PlacementSolution(Lean):
    """A placement: the server of each worker, and the GPU of each worker that needs part of one.

    In files, each entry of `placed` is ``[server, index in workers, number]``, and each entry of `parts` is
    ``[server, gpu, index in workers, number]``. A worker that needs whole GPUs may use any free ones of its
    server, so `placed` does not name them.
    """

    later = frozenset({"parts"})

    placed: Many[Placed]
    parts: Many[PlacedPart] = ()

    @property
    def everywhere(self) -> tuple[Placed, ...]:
        """The entries of `placed`, followed by those of `parts` without their GPU.

        Examples
        --------
        >>> PlacementSolution(placed=[("s", 0, 1)], parts=[("s", 2, 1, 3)]).everywhere[1]
        Placed(server='s', workers=1, number=3)
        """
        if not self.parts:
            return tuple(self.placed)
        return (*self.placed, *(Placed(server, line, number) for server, _, line, number in self.parts))


class Placement(Problem[PlacementSolution]):
    """The problem of placing workers on as few servers as possible, or so as to minimize another objective.

    Every worker must be placed, except with ``minimize="unallocated"``. On each server, the placed workers must
    not need more of any resource than is free. Instead of whole GPUs, a worker may need part of one GPU
    (`Workers.gpu_part`), which several such workers can share. A worker may accept only some GPU types
    (`Workers.gpu_types`).

    Source: Aryl, section 5.3. For parts of GPUs, GPU types and ``"unallocated"``: Weng et al., "Beware of
    fragmentation" (ATC 2023), sections 2 and 6.

    Attributes
    ----------
    minimize
        Objective. ``"servers"``: the number of servers in use, that is, with a worker placed now or earlier.
        ``"fragmentation"``: the number of free GPUs on the servers in use. ``"preferences"``: the number of
        misplaced GPUs times `preference_weight`, plus the number of servers in use, which thus breaks ties.
        ``"racks"``: the number of racks with a server in use; every server must name its rack.
        ``"unallocated"``: the free GPU capacity of all servers, in thousandths of a GPU. With
        ``"fragmentation"`` and ``"preferences"``, no worker may need part of a GPU.

        These GPUs are misplaced: those of inelastic workers on inference servers, of base or flexible workers
        on training servers, and of flexible workers on inference servers that also host other kinds of workers.
        Workers placed earlier count as not flexible.
    split_jobs
        Whether the workers of a job may be in different pools (`Server.pool`).
    servers, workers
        The servers, and the workers to place.

    Examples
    --------
    >>> problem = Placement(
    ...     servers=[Server(name="s", count=2, capacity=Resources(gpu=8))],
    ...     workers=[Workers(job="a", count=2, demand=Resources(gpu=4))],
    ... )
    >>> problem.objective(PlacementSolution(placed=[("s[0]", 0, 1), ("s[1]", 0, 1)]))
    2
    >>> problem.objective(PlacementSolution(placed=[("s[0]", 0, 2)]))
    1
    """

    word: ClassVar[str] = "placement"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = PlacementSolution

    problem: Literal["placement"] = "placement"
    minimize: Literal["servers", "fragmentation", "preferences", "racks", "unallocated"] = "servers"
    split_jobs: bool = True
    servers: Annotated[Many[Server], Field(min_length=1)]
    workers: Many[Workers]

    @property
    def unit(self) -> str:
        """Unit of the objective, which depends on `minimize`."""
        return {
            "servers": "servers",
            "fragmentation": "free GPUs",
            "preferences": "misplaced GPUs, servers",
            "racks": "racks",
            "unallocated": "thousandths of a GPU",
        }[self.minimize]

    @classmethod
    def on_cluster(
        cls,
        cluster: Cluster,
        workers: Sequence[Workers],
        *,
        level: str = "rack",
        taken: Collection[int] = (),
        **fields: Any,
    ) -> "Placement":
        """Create the problem of placing workers on the machines of a cluster.

        Parameters
        ----------
        cluster
            The cluster. Each of its machines becomes a server.
        workers
            The workers, which must need nothing but GPUs and accept any GPU type.
        level
            Level of the cluster at which each group of machines counts as a rack.
        taken
            Indices of the GPUs that are already in use.
        fields
            Further fields of the problem. The default of `minimize` is ``"racks"``.

        Raises
        ------
        InvalidInput
            The cluster is plain or has no such level, the level is inside machines, or a taken GPU does not
            exist.

        Examples
        --------
        >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=8)
        >>> lines = [Workers(job="a", count=2, demand=Resources(gpu=8))]
        >>> problem = Placement.on_cluster(Cluster.from_graph(cluster.graph()), lines)
        >>> problem.objective(PlacementSolution(placed=[("machine 0.0", 0, 1), ("machine 0.1", 0, 1)]))
        1
        """
        if cluster.is_plain:
            raise InvalidInput("cluster", f"{cluster.gpus} plain GPUs", "must have machines")
        groups, group_of = cluster.groups.get(level, ()), cluster.group_of(level)
        for gpu in taken:
            if not 0 <= gpu < cluster.gpus:
                raise InvalidInput("taken", shorten(gpu), f"must be numbers from 0 to {cluster.gpus - 1}")
        used = Counter(cluster.machine_of[gpu] for gpu in set(taken))
        servers = tuple(
            Server(
                name=machine.name,
                capacity=Resources(gpu=machine.gpus),
                used=Resources(gpu=used[number]),
                rack=groups[group_of[number]].name,
            )
            for number, machine in enumerate(cluster.machines)
        )
        return cls(**{"minimize": "racks", **fields, "servers": servers, "workers": tuple(workers)})

    @model_validator(mode="after")
    def _lines_are_valid(self) -> "Placement":
        for field, lines in (("servers", self.servers), ("workers", self.workers)):
            total = sum(line.count for line in lines)
            if total > _MOST:
                raise RuleBroken(field, total, f"must be at most {_MOST:,} in all")
        seen: set[str] = set()
        for index, server in enumerate(self.servers):
            for name in server.names:
                if name in seen:
                    raise RuleBroken(f"servers[{index}].name", name, "must differ from every other name")
                seen.add(name)
        if self.minimize == "racks":
            for index, server in enumerate(self.servers):
                if not server.rack:
                    raise RuleBroken(f"servers[{index}].rack", "", "must be named where racks are minimized")
        return self

    @model_validator(mode="after")
    def _resources_and_kinds_are_valid(self) -> "Placement":
        for index, server in enumerate(self.servers):
            capacity = server.capacity.named
            for resource, used in server.used.named.items():
                if used > capacity.get(resource, 0):
                    rule = f"must be at most the capacity of {capacity.get(resource, 0)}"
                    raise RuleBroken(f"servers[{index}].used.{resource}", used, rule)
            if server.free_gpus < 0:
                rule = f"must be at most the {server.capacity.gpu - server.used.gpu} GPUs that `used` leaves"
                raise RuleBroken(f"servers[{index}].shared", f"{len(server.shared)} GPUs", rule)
        for index, line in enumerate(self.workers):
            if not line.gpu_part and not any(line.demand.named.values()):
                raise RuleBroken(f"workers[{index}].demand", 0, "must request some resource")
        elastic: dict[str, bool] = {}
        for index, line in enumerate(self.workers):
            is_elastic = line.kind != "inelastic"
            if elastic.setdefault(line.job, is_elastic) != is_elastic:
                rule = "must suit the job's other lines: all inelastic, or all base or flexible"
                raise RuleBroken(f"workers[{index}].kind", line.kind, rule)
        return self

    @model_validator(mode="after")
    def _parts_are_valid(self) -> "Placement":
        for index, line in enumerate(self.workers):
            if line.gpu_part and line.demand.gpu:
                rule = f"must be 0 for workers that need whole GPUs, here {line.demand.gpu}"
                raise RuleBroken(f"workers[{index}].gpu_part", line.gpu_part, rule)
            if line.gpu_part and self.minimize in {"fragmentation", "preferences"}:
                rule = f"must be 0 where whole GPUs are counted, to minimize {self.minimize}"
                raise RuleBroken(f"workers[{index}].gpu_part", line.gpu_part, rule)
        return self

    @property
    def step(self) -> Fraction:
        """Step between objective values: 1, because they are integers."""
        return Fraction(1)

    @property
    def size(self) -> int:
        """Number of individual servers."""
        return sum(server.count for server in self.servers)

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources: GPU, CPU, memory, then all others in the order in which they first appear.

        Examples
        --------
        >>> server = Server(name="s", capacity=Resources(gpu=8, disk=10))
        >>> Placement(servers=[server], workers=[]).resources
        ('gpu', 'cpu', 'memory', 'disk')
        """
        named = (*(server.capacity for server in self.servers), *(line.demand for line in self.workers))
        further = (name for amounts in named for name in amounts.__pydantic_extra__)
        return tuple(dict.fromkeys([*_COMMON, *further]))

    @cached_property
    def demands(self) -> tuple[Vector, ...]:
        """For each entry of `workers`, the resources that one worker needs, in the order of `resources`."""
        return tuple(line.demand.vector(self.resources) for line in self.workers)

    @cached_property
    def rooms(self) -> tuple[Vector, ...]:
        """For each entry of `servers`, the free resources of one server, in the order of `resources`."""
        return tuple(server.free(self.resources) for server in self.servers)

    @cached_property
    def hosts(self) -> dict[str, Server]:
        """The `Server` entry of every individual server, keyed by the server's name."""
        return {name: server for server in self.servers for name in server.names}

    @cached_property
    def beyond_amounts(self) -> str:
        """Message that says why amounts of resources alone do not describe the problem; empty if they do.

        They do not suffice if workers may stay unplaced, or need parts of GPUs or certain GPU types.
        """
        if self.minimize == "unallocated":
            return "workers may stay unplaced"
        if any(line.gpu_part for line in self.workers):
            return "workers need parts of GPUs"
        return "workers need types of GPUs" if any(line.gpu_types for line in self.workers) else ""

    @cached_property
    def misfit(self) -> str:
        """Message about the first worker that must be placed but fits on no server; empty if there is none."""
        if self.minimize == "unallocated":
            return ""
        rooms = {
            (
                room,
                server.gpu_type,
                WHOLE_GPU - min([0] if server.free_gpus else [*server.shared, WHOLE_GPU]),
            ): server
            for server, room in zip(self.servers, self.rooms, strict=True)
        }
        roomy: set[Any] = set()
        for index, (line, demand) in enumerate(zip(self.workers, self.demands, strict=True)):
            key = demand, line.gpu_part, line.gpu_types
            if key in roomy:
                continue
            if not any(
                _fits(demand, room) and line.gpu_part <= part and line.suits(server)
                for (room, _, part), server in rooms.items()
            ):
                needs = f"{line.demand.gpu} GPU, {line.demand.cpu} CPU, {line.demand.memory} memory"
                further = (f", {amount} {name}" for name, amount in line.demand.__pydantic_extra__.items())
                part = f", {line.gpu_part} thousandths of a GPU" if line.gpu_part else ""
                types = f", GPU type {' or '.join(line.gpu_types)}" if line.gpu_types else ""
                needed = f"{needs}{''.join(further)}{part}{types}"
                return f"workers[{index}] of job {line.job} ({needed}) fits on no server"
            roomy.add(key)
        return ""

    def objective(self, solution: PlacementSolution) -> Number:
        """Return the value of the objective that `minimize` selects."""
        if self.minimize == "racks":
            return len(self.racks_touched(solution))
        if self.minimize == "servers":
            return self.servers_in_use(solution)
        if self.minimize == "fragmentation":
            return self.free_gpus(solution)
        if self.minimize == "unallocated":
            return self.unallocated(solution)
        return self.misplaced_gpus(solution).total() * self.preference_weight + self.servers_in_use(solution)

    @property
    def preference_weight(self) -> int:
        """Weight of one misplaced GPU in the objective: 1 more than the number of servers."""
        return self.size + 1

    def servers_in_use(self, solution: PlacementSolution) -> int:
        """Count the servers with a worker, whether the solution places it there or it ran there before."""
        return sum(server.count for server in self.servers if server.in_use) + len(self._opened(solution))

    def racks_touched(self, solution: PlacementSolution) -> tuple[str, ...]:
        """Return the names of the racks with a server in use, each once."""
        hosts = self.hosts
        before = (server.rack for server in self.servers if server.in_use)
        return tuple(dict.fromkeys([*before, *(hosts[placed.server].rack for placed in solution.everywhere)]))

    def free_gpus(self, solution: PlacementSolution) -> int:
        """Count the entirely free GPUs on the servers in use."""
        hosts = self.hosts
        parts = {(part.server, part.gpu) for part in solution.parts}
        before = sum(server.free_gpus * server.count for server in self.servers if server.in_use)
        opened = sum(server.free_gpus for server in self._opened(solution).values())
        taken = sum(self.workers[line].demand.gpu * number for _, line, number in solution.placed)
        return before + opened - taken - sum(gpu >= len(hosts[server].shared) for server, gpu in parts)

    def unallocated(self, solution: PlacementSolution) -> int:
        """Return the GPU capacity that a solution leaves free on all servers, in thousandths of a GPU."""
        free = sum(server.thousandths * server.count for server in self.servers)
        return free - sum(self.workers[line].thousandths * number for _, line, number in solution.everywhere)

    def misplaced_gpus(self, solution: PlacementSolution) -> Counter[str]:
        """Count the misplaced GPUs for each kind of worker."""
        hosts = self.hosts
        stays = {name for name, line, _ in solution.placed if self.workers[line].kind != "flexible"}
        misplaced: Counter[str] = Counter()
        for name, index, number in solution.placed:
            line, server = self.workers[index], hosts[name]
            training = server.pool == "training"
            shared = line.kind == "flexible" and (server.in_use or name in stays)
            if shared or training != (line.kind == "inelastic"):
                misplaced[line.kind] += line.demand.gpu * number
        return misplaced

    def _opened(self, solution: PlacementSolution) -> dict[str, Server]:
        hosts = self.hosts
        names = dict.fromkeys(placed.server for placed in solution.everywhere)
        return {name: hosts[name] for name in names if not hosts[name].in_use}

    def violations(self, solution: PlacementSolution) -> list[str]:
        """Return a message for each broken rule, such as a missing worker or an overfull server or GPU.

        If an entry of the solution is invalid by itself (for example, its server does not exist), only such
        entries are reported.
        """
        hosts = self.hosts
        found = [
            f"placed[{index}]: {rule}"
            for index, placed in enumerate(solution.placed)
            for rule in self._unreadable(placed, hosts)
        ]
        for index, part in enumerate(solution.parts):
            found += [f"parts[{index}]: {rule}" for rule in self._unreadable_part(part, hosts)]
        if found:
            return found
        return [
            *self._unplaced(solution),
            *self._overfull(solution, hosts),
            *self._overfull_gpus(solution, hosts),
            *self._unsuited(solution, hosts),
            *self._split(solution, hosts),
        ]

    def _unreadable(self, placed: Placed, hosts: dict[str, Server]) -> Iterator[str]:
        if placed.server not in hosts:
            yield f"{placed.server!r} is not a server of the instance"
        if not 0 <= placed.workers < len(self.workers):
            yield f"{placed.workers} is not a line of workers"
        elif self.workers[placed.workers].gpu_part:
            yield f"line {placed.workers} needs part of a GPU, which must be named in parts"
        if placed.number < 1:
            yield f"{placed.number} workers are placed, must be at least 1"

    def _unreadable_part(self, part: PlacedPart, hosts: dict[str, Server]) -> Iterator[str]:
        if part.server not in hosts:
            yield f"{part.server!r} is not a server of the instance"
        elif not 0 <= part.gpu < hosts[part.server].gpus_with_room:
            yield f"{part.gpu} is not a GPU of {part.server} with a free part"
        if not 0 <= part.workers < len(self.workers):
            yield f"{part.workers} is not a line of workers"
        elif not self.workers[part.workers].gpu_part:
            yield f"line {part.workers} needs no part of a GPU"
        if part.number < 1:
            yield f"{part.number} workers are placed, must be at least 1"

    def _unplaced(self, solution: PlacementSolution) -> Iterator[str]:
        placed: Counter[int] = Counter()
        for _, index, number in solution.everywhere:
            placed[index] += number
        may_miss = self.minimize == "unallocated"
        for index, line in enumerate(self.workers):
            if placed[index] > line.count or (placed[index] < line.count and not may_miss):
                yield f"workers[{index}] of job {line.job}: {placed[index]} of {line.count} are placed"

    def _overfull(self, solution: PlacementSolution, hosts: dict[str, Server]) -> Iterator[str]:
        rooms = dict(zip(map(id, self.servers), self.rooms, strict=True))
        loads: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(self.resources))
        for name, index, number in solution.everywhere:
            load = loads[name]
            for position, amount in enumerate(self.demands[index]):
                load[position] += amount * number
        for name, load in loads.items():
            room = rooms[id(hosts[name])]
            for resource, taken, free in zip(self.resources, load, room, strict=True):
                if taken > free:
                    yield f"{name}: {taken} {resource} are placed, {free} are free"

    def _overfull_gpus(self, solution: PlacementSolution, hosts: dict[str, Server]) -> Iterator[str]:
        """Check that no GPU is overfull and that enough whole GPUs remain for the workers that need them."""
        loads: Counter[tuple[str, int]] = Counter()
        for name, gpu, index, number in solution.parts:
            loads[name, gpu] += self.workers[index].gpu_part * number
        newly_shared: Counter[str] = Counter()
        for (name, gpu), taken in loads.items():
            free = hosts[name].left(gpu)
            if taken > free:
                yield f"{name}: {taken} thousandths of GPU {gpu} are placed, {free} are free"
            newly_shared[name] += gpu >= len(hosts[name].shared)
        whole: Counter[str] = Counter()
        for name, index, number in solution.placed:
            whole[name] += self.workers[index].demand.gpu * number
        for name, gpus in newly_shared.items():
            free = hosts[name].free_gpus
            if gpus and whole[name] + gpus > free:
                yield f"{name}: {whole[name]} gpu and parts of {gpus} more are placed, {free} are free"

    def _unsuited(self, solution: PlacementSolution, hosts: dict[str, Server]) -> Iterator[str]:
        for name, index, _ in solution.everywhere:
            if not self.workers[index].suits(hosts[name]):
                kind = hosts[name].gpu_type
                yield f"workers[{index}] of job {self.workers[index].job}: {name} has GPUs of type {kind!r}"

    def _split(self, solution: PlacementSolution, hosts: dict[str, Server]) -> Iterator[str]:
        if self.split_jobs:
            return
        pool: dict[str, Pool] = {}
        for name, index, _ in solution.everywhere:
            job, here = self.workers[index].job, hosts[name].pool
            if pool.setdefault(job, here) != here:
                yield f"job {job}: runs on both training and inference servers"

    def headline(self) -> dict[str, int | float | str]:
        """Return the name of the objective, the number of workers and the number of servers."""
        workers = sum(line.count for line in self.workers)
        return {"minimize": self.minimize, "workers": workers, "of servers": self.size}

    def measures(self, solution: PlacementSolution) -> dict[str, Number]:
        """Return the numbers of servers in use, free GPUs on them, and misplaced GPUs by kind of worker.

        If racks are minimized, the number of racks in use is included. If workers may stay unplaced, or need
        parts of GPUs or certain GPU types, the free GPU capacity in thousandths of a GPU and the number of
        unplaced workers are included.
        """
        misplaced = self.misplaced_gpus(solution)
        return {
            "servers_in_use": self.servers_in_use(solution),
            "free_gpus": self.free_gpus(solution),
            **({"racks_touched": len(self.racks_touched(solution))} if self.minimize == "racks" else {}),
            **self._measures_of_parts(solution),
            "misplaced_inelastic_gpus": misplaced["inelastic"],
            "misplaced_base_gpus": misplaced["base"],
            "misplaced_flexible_gpus": misplaced["flexible"],
        }

    def _measures_of_parts(self, solution: PlacementSolution) -> dict[str, Number]:
        """Return the measures that matter only if GPUs are shared or workers may stay unplaced."""
        if not self.beyond_amounts:
            return {}
        placed = sum(number for _, _, number in solution.everywhere)
        return {
            "unallocated_thousandths": self.unallocated(solution),
            "unplaced_workers": sum(line.count for line in self.workers) - placed,
        }

    def candidates(self) -> Iterator[PlacementSolution]:
        """Yield every distribution of workers over servers or, if they need part of a GPU, over single GPUs."""
        spreads = [list(self._spreads_of(line)) for line in self.workers]
        for choice in product(*spreads):
            entries = [
                (place, index, number)
                for index, spread in enumerate(choice)
                for place, number in spread.items()
                if number
            ]
            yield PlacementSolution(
                placed=tuple(Placed(name, index, number) for (name, gpu), index, number in entries if gpu < 0),
                parts=tuple(
                    PlacedPart(name, gpu, index, number) for (name, gpu), index, number in entries if gpu >= 0
                ),
            )

    def _spreads_of(self, line: Workers) -> Iterator[dict[tuple[str, int], int]]:
        """Yield every distribution of an entry's workers over pairs of a server and a GPU (-1: any GPU)."""
        if line.gpu_part:
            places = [(name, gpu) for name, host in self.hosts.items() for gpu in range(host.gpus_with_room)]
        else:
            places = [(name, -1) for name in self.hosts]
        least = 0 if self.minimize == "unallocated" else line.count
        for count in range(least, line.count + 1):
            for spread in _spreads(count, len(places)):
                yield dict(zip(places, spread, strict=True))


def _fits(demand: Vector, free: Vector) -> bool:
    return all(amount <= room for amount, room in zip(demand, free, strict=True))


def _spreads(count: int, servers: int) -> Iterator[tuple[int, ...]]:
    if servers == 0:
        if count == 0:
            yield ()
        return
    if servers == 1:
        yield (count,)
        return
    for here in range(count + 1):
        for rest in _spreads(count - here, servers - 1):
            yield (here, *rest)
