"""Placement: on which server each worker runs, so that few servers are used and preferences respected."""

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

#: Amount of one resource, in a unit that the file chooses; the unit is the same for servers and workers.
Amount = Annotated[int, Field(ge=0, le=1_000_000_000)]

#: Number of identical servers or workers.
Count = Annotated[int, Field(ge=1, le=1_000_000)]

#: Amounts of a problem's resources, in their order.
Vector = tuple[int, ...]

Pool = Literal["training", "inference"]

_MOST = 1_000_000


#: The resources that every problem has; the first one is what fragmentation and preferences count.
_COMMON = ("gpu", "cpu", "memory")


class Resources(Frozen):
    """Amounts of GPUs, CPUs, memory, and any other resources by name.

    Resources that are left out are 0.

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
        """Return all amounts by name, with GPU, CPU and memory first."""
        return {"gpu": self.gpu, "cpu": self.cpu, "memory": self.memory, **self.__pydantic_extra__}

    def vector(self, names: Sequence[str] = _COMMON) -> Vector:
        """Return the amounts of the given resources, in their order."""
        further = self.__pydantic_extra__
        common = self.gpu, self.cpu, self.memory
        if tuple(names[:3]) == _COMMON:
            return (*common, *(further.get(name, 0) for name in names[3:]))
        named = {**dict(zip(_COMMON, common, strict=True)), **further}
        return tuple(named.get(name, 0) for name in names)


class Server(Lean):
    """One server, or `count` identical servers.

    With a count above 1, the servers are called ``name[0]``, ``name[1]``, ...

    Attributes
    ----------
    pool
        The cluster that owns the server: the training cluster, or the inference cluster that lends it.
    capacity
        Resources of one server.
    used
        Resources of one server in use by workers that stay there.
    rack
        Name of the rack, or other network group, of the servers; empty to ignore racks.
    """

    later = frozenset({"rack"})

    name: Name
    pool: Pool = "training"
    count: Count = 1
    capacity: Resources
    used: Resources = Resources()
    rack: Annotated[str, Field(max_length=200, pattern=PRINTABLE)] = ""

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
        """Return the free amounts of the given resources on one of the servers.

        Examples
        --------
        >>> server = Server(name="s", capacity=Resources(gpu=8, disk=10), used=Resources(disk=4))
        >>> server.free(), server.free(("disk",))
        ((8, 0, 0), (6,))
        """
        capacity, used = self.capacity.vector(names), self.used.vector(names)
        return tuple(amount - taken for amount, taken in zip(capacity, used, strict=True))

    @property
    def free_gpus(self) -> int:
        """Number of free GPUs on one of the servers."""
        return self.capacity.gpu - self.used.gpu

    @property
    def in_use(self) -> bool:
        """Whether workers are already running on the servers."""
        return any(self.used.named.values())


class Workers(Frozen):
    """Identical workers of one job.

    Attributes
    ----------
    job
        Name of the job, which may have several entries.
    count
        Number of workers.
    demand
        Resources that one worker needs, all on one server.
    kind
        Kind of the workers: those of an inelastic job, or the base or flexible workers of an elastic one. A job
        that loses a base worker is preempted, while flexible workers may be released.
    """

    job: Name
    count: Count = 1
    demand: Resources
    kind: Literal["inelastic", "base", "flexible"] = "inelastic"


class Placed(NamedTuple):
    """A number of workers on a server.

    Attributes
    ----------
    server
        Name of an individual server, such as ``s1`` or ``s1[3]``.
    workers
        Index in the problem's `workers`.
    number
        Number of these workers on the server.
    """

    server: str
    workers: int
    number: int


class PlacementSolution(Frozen):
    """The servers of all workers.

    In files, each entry is ``[server, index in workers, number]``.
    """

    placed: Many[Placed]


class Placement(Problem[PlacementSolution]):
    """Place all workers on as few servers as possible, or with as few broken preferences as possible.

    The workers on a server must not need more of any resource than it has. `minimize` selects the objective:

    ``"servers"``
        the number of servers in use, that is, servers with a worker, whether placed now or before.
    ``"fragmentation"``
        the number of free GPUs on the servers in use.
    ``"preferences"``
        first the number of misplaced GPUs, then the number of servers in use, as one integer ``misplaced *
        (servers + 1) + servers in use``. GPUs are misplaced if they serve an inelastic worker on an inference
        server, a base or flexible worker on a training server, or a flexible worker on an inference server that
        also hosts other workers. An inference server that hosts only flexible workers can be returned without
        preempting a job. Resources in `used` count as other workers.
    ``"racks"``
        the number of racks with a server in use. Every server names its rack; `on_cluster` derives it from the
        network.

    With ``split_jobs=False`` all workers of a job go to one pool, as a job may not run on two types of GPU.

    Source: Aryl, section 5.3.

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
    minimize: Literal["servers", "fragmentation", "preferences", "racks"] = "servers"
    split_jobs: bool = True
    servers: Annotated[Many[Server], Field(min_length=1)]
    workers: Many[Workers]

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        return {
            "servers": "servers",
            "fragmentation": "free GPUs",
            "preferences": "misplaced GPUs, servers",
            "racks": "racks",
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
            The cluster, each machine of which is a server with its GPUs.
        workers
            The workers, which need only GPUs.
        level
            Level of the network whose groups count as racks.
        taken
            Indices of the GPUs that are already in use.
        fields
            Further fields of the problem. The default of `minimize` is ``"racks"``.

        Raises
        ------
        InvalidInput
            The cluster is plain, or has no such level or GPU.

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
        for index, line in enumerate(self.workers):
            if not any(line.demand.named.values()):
                raise RuleBroken(f"workers[{index}].demand", 0, "must request some resource")
        elastic: dict[str, bool] = {}
        for index, line in enumerate(self.workers):
            is_elastic = line.kind != "inelastic"
            if elastic.setdefault(line.job, is_elastic) != is_elastic:
                rule = "must suit the job's other lines: all inelastic, or all base or flexible"
                raise RuleBroken(f"workers[{index}].kind", line.kind, rule)
        return self

    @property
    def step(self) -> Fraction:
        """Step of the objective values, which is 1 as they are integers."""
        return Fraction(1)

    @property
    def size(self) -> int:
        """Number of individual servers."""
        return sum(server.count for server in self.servers)

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources: GPU, CPU, memory, then all others in order of appearance.

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
        """Resources that one worker of each entry needs, in the order of `resources`."""
        return tuple(line.demand.vector(self.resources) for line in self.workers)

    @cached_property
    def rooms(self) -> tuple[Vector, ...]:
        """Free resources of one server of each entry, in the order of `resources`."""
        return tuple(server.free(self.resources) for server in self.servers)

    @cached_property
    def hosts(self) -> dict[str, Server]:
        """The `Server` entry of every individual server, by its name."""
        return {name: server for server in self.servers for name in server.names}

    @cached_property
    def misfit(self) -> str:
        """Message naming the first worker that fits on no server, empty if there is none."""
        rooms = set(self.rooms)
        roomy: set[Vector] = set()
        for index, (line, demand) in enumerate(zip(self.workers, self.demands, strict=True)):
            if demand in roomy:
                continue
            if not any(_fits(demand, room) for room in rooms):
                needs = f"{line.demand.gpu} GPU, {line.demand.cpu} CPU, {line.demand.memory} memory"
                further = (f", {amount} {name}" for name, amount in line.demand.__pydantic_extra__.items())
                return f"workers[{index}] of job {line.job} ({needs}{''.join(further)}) fits on no server"
            roomy.add(demand)
        return ""

    def objective(self, solution: PlacementSolution) -> Number:
        """Return the number that `minimize` selects."""
        if self.minimize == "racks":
            return len(self.racks_touched(solution))
        if self.minimize == "servers":
            return self.servers_in_use(solution)
        if self.minimize == "fragmentation":
            return self.free_gpus(solution)
        return self.misplaced_gpus(solution).total() * self.preference_weight + self.servers_in_use(solution)

    @property
    def preference_weight(self) -> int:
        """Weight of one misplaced GPU in the objective: more than all servers."""
        return self.size + 1

    def servers_in_use(self, solution: PlacementSolution) -> int:
        """Count the servers with a worker, whether placed now or before."""
        return sum(server.count for server in self.servers if server.in_use) + len(self._opened(solution))

    def racks_touched(self, solution: PlacementSolution) -> tuple[str, ...]:
        """Return the set of names of the racks with a server in use."""
        hosts = self.hosts
        before = (server.rack for server in self.servers if server.in_use)
        return tuple(dict.fromkeys([*before, *(hosts[placed.server].rack for placed in solution.placed)]))

    def free_gpus(self, solution: PlacementSolution) -> int:
        """Count the free GPUs on the servers in use."""
        before = sum(server.free_gpus * server.count for server in self.servers if server.in_use)
        opened = sum(server.free_gpus for server in self._opened(solution).values())
        taken = sum(self.workers[line].demand.gpu * number for _, line, number in solution.placed)
        return before + opened - taken

    def misplaced_gpus(self, solution: PlacementSolution) -> Counter[str]:
        """Count the misplaced GPUs by kind of worker."""
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
        names = dict.fromkeys(placed.server for placed in solution.placed)
        return {name: hosts[name] for name in names if not hosts[name].in_use}

    def violations(self, solution: PlacementSolution) -> list[str]:
        """Check that every worker is on a server of the instance and that no server is overfull."""
        hosts = self.hosts
        found = [
            f"placed[{index}]: {rule}"
            for index, placed in enumerate(solution.placed)
            for rule in self._unreadable(placed, hosts)
        ]
        if found:
            return found
        return [*self._unplaced(solution), *self._overfull(solution, hosts), *self._split(solution, hosts)]

    def _unreadable(self, placed: Placed, hosts: dict[str, Server]) -> Iterator[str]:
        if placed.server not in hosts:
            yield f"{placed.server!r} is not a server of the instance"
        if not 0 <= placed.workers < len(self.workers):
            yield f"{placed.workers} is not a line of workers"
        if placed.number < 1:
            yield f"{placed.number} workers are placed, must be at least 1"

    def _unplaced(self, solution: PlacementSolution) -> Iterator[str]:
        placed: Counter[int] = Counter()
        for _, index, number in solution.placed:
            placed[index] += number
        for index, line in enumerate(self.workers):
            if placed[index] != line.count:
                yield f"workers[{index}] of job {line.job}: {placed[index]} of {line.count} are placed"

    def _overfull(self, solution: PlacementSolution, hosts: dict[str, Server]) -> Iterator[str]:
        rooms = dict(zip(map(id, self.servers), self.rooms, strict=True))
        loads: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(self.resources))
        for name, index, number in solution.placed:
            load = loads[name]
            for position, amount in enumerate(self.demands[index]):
                load[position] += amount * number
        for name, load in loads.items():
            room = rooms[id(hosts[name])]
            for resource, taken, free in zip(self.resources, load, room, strict=True):
                if taken > free:
                    yield f"{name}: {taken} {resource} are placed, {free} are free"

    def _split(self, solution: PlacementSolution, hosts: dict[str, Server]) -> Iterator[str]:
        if self.split_jobs:
            return
        pool: dict[str, Pool] = {}
        for name, index, _ in solution.placed:
            job, here = self.workers[index].job, hosts[name].pool
            if pool.setdefault(job, here) != here:
                yield f"job {job}: runs on both training and inference servers"

    def headline(self) -> dict[str, int | float | str]:
        """Return the objective, the number of workers and the number of servers."""
        workers = sum(line.count for line in self.workers)
        return {"minimize": self.minimize, "workers": workers, "of servers": self.size}

    def measures(self, solution: PlacementSolution) -> dict[str, Number]:
        """Return the servers in use, the free GPUs on them, and the misplaced GPUs by kind of worker."""
        misplaced = self.misplaced_gpus(solution)
        return {
            "servers_in_use": self.servers_in_use(solution),
            "free_gpus": self.free_gpus(solution),
            **({"racks_touched": len(self.racks_touched(solution))} if self.minimize == "racks" else {}),
            "misplaced_inelastic_gpus": misplaced["inelastic"],
            "misplaced_base_gpus": misplaced["base"],
            "misplaced_flexible_gpus": misplaced["flexible"],
        }

    def candidates(self) -> Iterator[PlacementSolution]:
        """Yield every way to spread the workers of each entry over the individual servers."""
        names = list(self.hosts)
        spreads = [list(_spreads(line.count, len(names))) for line in self.workers]
        for choice in product(*spreads):
            yield PlacementSolution(
                placed=tuple(
                    Placed(names[host], index, number)
                    for index, spread in enumerate(choice)
                    for host, number in enumerate(spread)
                    if number
                )
            )


def _fits(demand: Vector, free: Vector) -> bool:
    return all(amount <= room for amount, room in zip(demand, free, strict=True))


def _spreads(count: int, servers: int) -> Iterator[tuple[int, ...]]:
    if servers == 1:
        yield (count,)
        return
    for here in range(count + 1):
        for rest in _spreads(count - here, servers - 1):
            yield (here, *rest)
