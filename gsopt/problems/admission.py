"""Admission: which running gangs to evict or move, at minimum cost, so that pending gangs fit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.numbers.grid import Exact, decimal, exact_total, step, whole
from gsopt.core.problem import Frozen, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named
from gsopt.problems.placement import Count, Resources, Vector
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.lean import Lean
from gsopt.scenario.cluster.levels import Group
from gsopt.scenario.job import MOST_PRIORITY

#: The number of workers on each machine, keyed by machine name; one mapping per part of the gang, in order.
Places = Many[Mapping[Name, Count]]


class Node(Lean):
    """Additional facts about one machine of the cluster.

    Attributes
    ----------
    capacity
        Resources of the machine. By default, it has its GPUs and no other resources.
    used
        Resources used by work that belongs to no gang and stays on the machine.
    closed
        Whether the machine is closed to new workers. Workers that already run there may stay.

    Examples
    --------
    >>> Node(capacity=Resources(gpu=8, cpu=64), used=Resources(cpu=2)).closed
    False
    """

    later = frozenset({"capacity", "used", "closed"})

    capacity: Resources | None = None
    used: Resources = Resources()
    closed: bool = False


class Part(Lean):
    """A group of identical workers in a gang.

    Attributes
    ----------
    count
        Number of workers.
    needs
        Resources that each worker needs; a worker runs on a single machine.
    gpu_type
        GPU type that the workers need; empty if any type will do.
    memory
        Minimum memory of each GPU, in bytes. Machines that do not state their memory are assumed to have
        enough.
    where
        Name of the set of machines (a key of the problem's `places`) on which the workers may run; empty if
        they may run on any machine.
    slice
        Number of workers in each slice; 0 if the workers form no slices. Must divide `count`.
    slice_within
        Level of the cluster, such as ``rack``; all workers of a slice must be in the same group of machines at
        this level. Empty if there are no slices.

    Examples
    --------
    >>> Part(count=16, needs=Resources(gpu=8), slice=4, slice_within="rack").slices
    4
    """

    later = frozenset({"count", "gpu_type", "memory", "where", "slice", "slice_within"})

    count: Count = 1
    needs: Resources
    gpu_type: Annotated[str, Field(max_length=200)] = ""
    memory: Annotated[int, Field(ge=0)] = 0
    where: Annotated[str, Field(max_length=200)] = ""
    slice: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    slice_within: Annotated[str, Field(max_length=200)] = ""

    @property
    def slices(self) -> int:
        """Number of slices; 0 if the workers form none."""
        return self.count // self.slice if self.slice else 0

    @model_validator(mode="after")
    def _asks_for_something(self) -> "Part":
        if not any(self.needs.named.values()):
            raise RuleBroken("needs", 0, "must ask for some resource")
        return self

    @model_validator(mode="after")
    def _whole_slices(self) -> "Part":
        if bool(self.slice) != bool(self.slice_within):
            raise RuleBroken("slice_within", self.slice_within, "must be given exactly if there are slices")
        if self.slice and self.count % self.slice:
            raise RuleBroken("slice", self.slice, f"must divide the {self.count} workers")
        return self


class Gang(Lean):
    """A gang: workers that must all run at the same time.

    Attributes
    ----------
    name
        Name of the gang.
    parts
        The workers of the gang, one part for each kind of worker.
    within
        Level of the cluster, such as ``rack``, at which a single group of machines must hold all workers of the
        gang; empty if they may run anywhere.
    priority
        Priority of the gang; higher is more important.
    queue
        Name of the queue that the gang belongs to; empty if there is only one. The problem ignores the queue,
        but some heuristics use it.

    Examples
    --------
    >>> Gang(name="llm", parts=[Part(count=16, needs=Resources(gpu=8))], within="rack").gpus
    128
    """

    later = frozenset({"within", "priority", "queue"})

    name: Name
    parts: Annotated[Many[Part], Field(min_length=1)]
    within: Annotated[str, Field(max_length=200)] = ""
    priority: Annotated[int, Field(ge=-MOST_PRIORITY, le=MOST_PRIORITY)] = 0
    queue: Annotated[str, Field(max_length=200)] = ""

    @property
    def gpus(self) -> int:
        """Total number of GPUs that the workers need."""
        return sum(part.count * part.needs.gpu for part in self.parts)


class Running(Gang):
    """A running gang, which can be evicted or moved only as a whole.

    Attributes
    ----------
    on
        Number of workers on each machine, keyed by machine name; one mapping per part of the gang.
    cost
        Cost of evicting the gang: 1 to count evictions or, for example, the GPU-hours of lost work.
    move_cost
        Cost of moving the gang: stopping it and restarting it, usually on other machines. None if it must not
        be moved.
    protected
        Whether the gang must not be evicted. It may still be moved if it has a `move_cost`.
    started
        Time at which the gang started, in seconds from an arbitrary origin; None if unknown. The problem
        ignores this time, but some heuristics use it.

    Examples
    --------
    >>> Running(name="a", parts=[Part(needs=Resources(gpu=4))], on=[{"m0": 1}], move_cost=0.1).cost
    1.0
    """

    later = Gang.later | {"cost", "move_cost", "protected", "started"}

    on: Places
    cost: Annotated[float, Field(ge=0, le=1e12)] = 1.0
    move_cost: Annotated[float, Field(ge=0, le=1e12)] | None = None
    protected: bool = False
    started: Annotated[float, Field(ge=-1e12, le=1e12)] | None = None

    @model_validator(mode="after")
    def _all_workers_run(self) -> "Running":
        if len(self.on) != len(self.parts):
            raise RuleBroken("on", len(self.on), f"must have one entry for each of the {len(self.parts)} parts")
        for index, (part, machines) in enumerate(zip(self.parts, self.on, strict=True)):
            if sum(machines.values()) != part.count:
                rule = f"must add up to the {part.count} workers of the part"
                raise RuleBroken(f"on[{index}]", sum(machines.values()), rule)
        return self


class AdmissionSolution(Frozen):
    """The names of evicted gangs, and the machines given to moved and pending gangs, keyed by gang name.

    The machines are given in the same form as in `Running.on`.
    """

    evicted: Many[str] = ()
    moved: Mapping[str, Places] = Field(default_factory=dict)
    placed: Mapping[str, Places]


class Admission(Problem[AdmissionSolution]):
    """The problem of evicting or moving running gangs, at minimum total cost, so that all pending gangs fit.

    A gang is evicted or moved as a whole. A gang may be evicted if it is not protected and its priority is
    lower than that of every pending gang. Any gang with a `move_cost` may be moved: it stops and restarts on
    machines that satisfy its own requirements. All evicted and moved gangs stop before any gang starts, so a
    moved gang may also use the room that it has freed itself.

    Attributes
    ----------
    cluster
        The cluster, which must have racks or a network.
    nodes
        Additional facts about machines, keyed by machine name. Machines that are not listed are open and have
        no resources except their GPUs.
    places
        Sets of machines that the `where` of a part can refer to, keyed by name.
    running
        The running gangs.
    pending
        The gangs to be placed.
    second_objective
        ``gangs`` to break ties in cost by the number of evicted and moved gangs; ``none`` by default. With
        ``gangs``, each of them adds a small cost to the objective: the greatest common divisor of all costs (1
        if all are 0), divided by 1 plus the number of running gangs.

    Examples
    --------
    >>> four = [Part(needs=Resources(gpu=4))]
    >>> problem = Admission(
    ...     cluster=Cluster.uniform(machines=2, gpus=8),
    ...     running=[
    ...         Running(name="a", parts=four, on=[{"machine 0.0": 1}], cost=3.0),
    ...         Running(name="b", parts=four, on=[{"machine 0.1": 1}], cost=2.0, move_cost=0.5),
    ...     ],
    ...     pending=[Gang(name="c", parts=[Part(needs=Resources(gpu=8))], priority=1)],
    ... )
    >>> evicting = AdmissionSolution(evicted=["b"], placed={"c": [{"machine 0.1": 1}]})
    >>> moving = AdmissionSolution(moved={"b": [{"machine 0.0": 1}]}, placed={"c": [{"machine 0.1": 1}]})
    >>> [(problem.violations(each), problem.objective(each)) for each in (evicting, moving)]
    [([], 2), ([], Fraction(1, 2))]
    """

    word: ClassVar[str] = "admission"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = AdmissionSolution

    problem: Literal["admission"] = "admission"
    cluster: Cluster
    nodes: Mapping[Name, Node] = Field(default_factory=dict)
    places: Mapping[Name, Many[Name]] = Field(default_factory=dict)
    running: Named[Running]
    pending: Annotated[Named[Gang], Field(min_length=1)]
    second_objective: Literal["none", "gangs"] = "none"

    @model_validator(mode="after")
    def _machines_are_known(self) -> "Admission":
        if self.cluster.is_plain:
            rule = "must be 0, with racks or a network: gangs run on machines"
            raise RuleBroken("cluster.plain_gpus", self.cluster.plain_gpus, rule)
        named = [("nodes", name) for name in self.nodes]
        named += [(f"places.{place}", name) for place, names in self.places.items() for name in names]
        for index, gang in enumerate(self.running):
            named += [(f"running[{index}].on", name) for machines in gang.on for name in machines]
        for field, name in named:
            if name not in self.position:
                raise RuleBroken(field, name, "must name a machine of the cluster")
        return self

    @model_validator(mode="after")
    def _levels_and_places_are_known(self) -> "Admission":
        levels = {"", *self._levels}
        for kind, gangs in (("running", self.running), ("pending", self.pending)):
            for index, gang in enumerate(gangs):
                given = [("within", gang.within)]
                for number, part in enumerate(gang.parts):
                    given.append((f"parts[{number}].slice_within", part.slice_within))
                    if part.where and part.where not in self.places:
                        field = f"{kind}[{index}].parts[{number}].where"
                        raise RuleBroken(field, part.where, "must name one of the places")
                for field, level in given:
                    if level not in levels:
                        rule = f"must be one of {', '.join(self._levels)}"
                        raise RuleBroken(f"{kind}[{index}].{field}", level, rule)
                    if level and gang.within and self._levels.index(level) > self._levels.index(gang.within):
                        rule = f"must not be wider than the {gang.within} of the gang"
                        raise RuleBroken(f"{kind}[{index}].{field}", level, rule)
        return self

    @model_validator(mode="after")
    def _running_gangs_fit(self) -> "Admission":
        for machine, room, free in zip(self.cluster.machines, self.rooms, self.free, strict=True):
            for resource, has, left in zip(self.resources, room, free, strict=True):
                if has < 0:
                    rule = f"must be at most the capacity, {-has} less"
                    raise RuleBroken(f"nodes.{machine.name}.used.{resource}", self._used(machine.name), rule)
                if left < 0:
                    rule = f"must be at most the {has} {resource} of {machine.name!r} in all"
                    raise RuleBroken("running", has - left, rule)
        return self

    def _used(self, machine: str) -> dict[str, int]:
        return self.nodes[machine].used.named

    @property
    def unit(self) -> str:
        """Unit of the objective: evictions if only their number is minimized; otherwise, cost."""
        counted = all(gang.cost == 1 and gang.move_cost is None for gang in self.running)
        return "evictions" if counted and self.second_objective == "none" else "cost"

    @property
    def _levels(self) -> tuple[str, ...]:
        """The levels of the cluster that consist of whole machines, innermost first."""
        levels = self.cluster.levels
        return levels[levels.index("machine") :]

    @cached_property
    def position(self) -> dict[str, int]:
        """Index of each machine in cluster order, keyed by machine name."""
        return {machine.name: number for number, machine in enumerate(self.cluster.machines)}

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources that running or pending gangs need; no other resource can be scarce.

        Examples
        --------
        >>> gang = Gang(name="a", parts=[Part(needs=Resources(gpu=1, disk=3))])
        >>> Admission(cluster=Cluster.uniform(machines=1, gpus=8), running=[], pending=[gang]).resources
        ('gpu', 'disk')
        """
        needs = {part.needs: None for gang in (*self.running, *self.pending) for part in gang.parts}
        named = [amounts.named for amounts in needs]
        return tuple(dict.fromkeys(name for each in named for name, amount in each.items() if amount))

    @cached_property
    def rooms(self) -> tuple[Vector, ...]:
        """Resources that gangs may use on each machine, including those that running gangs hold.

        There is one vector per machine, with its entries in the order of `resources`.
        """
        names, found = self.resources, []
        for machine in self.cluster.machines:
            node = self.nodes.get(machine.name)
            if node is None or node.capacity is None:
                capacity: Vector = tuple(machine.gpus if name == "gpu" else 0 for name in names)
            else:
                capacity = node.capacity.vector(names)
            if node is not None:
                used = node.used.vector(names)
                capacity = tuple(has - taken for has, taken in zip(capacity, used, strict=True))
            found.append(capacity)
        return tuple(found)

    @cached_property
    def free(self) -> tuple[Vector, ...]:
        """Free resources: one vector per machine, with its entries in the order of `resources`."""
        used = self.load((gang, gang.on) for gang in self.running)
        return tuple(
            tuple(has - taken for has, taken in zip(room, used[machine], strict=True))
            if machine in used
            else room
            for machine, room in enumerate(self.rooms)
        )

    def load(self, standing: Iterable[tuple[Gang, Places]]) -> dict[int, list[int]]:
        """Return the resources that the gangs' workers need on each machine, keyed by machine index.

        Examples
        --------
        >>> gang = Gang(name="a", parts=[Part(count=3, needs=Resources(gpu=2))])
        >>> problem = Admission(cluster=Cluster.uniform(machines=2, gpus=8), running=[], pending=[gang])
        >>> problem.load([(gang, [{"machine 0.0": 1, "machine 0.1": 2}])])
        {0: [2], 1: [4]}
        """
        workers: Counter[tuple[str, Resources]] = Counter()
        for gang, places in standing:
            for part, machines in zip(gang.parts, places, strict=True):
                for name, number in machines.items():
                    workers[name, part.needs] += number
        needs = {amounts: amounts.vector(self.resources) for _, amounts in workers}
        found: dict[int, list[int]] = {}
        for (name, amounts), number in workers.items():
            here = found.setdefault(self.position[name], [0] * len(self.resources))
            for index, amount in enumerate(needs[amounts]):
                here[index] += amount * number
        return found

    @cached_property
    def _closed(self) -> frozenset[int]:
        return frozenset(self.position[name] for name, node in self.nodes.items() if node.closed)

    @cached_property
    def _eligible(self) -> dict[tuple[str, int, str], frozenset[int]]:
        return {}

    def eligible(self, part: Part) -> frozenset[int]:
        """Return the indices of the machines on which a part's workers may be placed if there is room.

        Examples
        --------
        >>> part = Part(needs=Resources(gpu=1), where="left")
        >>> problem = Admission(
        ...     cluster=Cluster.uniform(machines=2, gpus=8),
        ...     places={"left": ["machine 0.0"]},
        ...     running=[],
        ...     pending=[Gang(name="a", parts=[part])],
        ... )
        >>> problem.eligible(part)
        frozenset({0})
        """
        key = (part.gpu_type, part.memory, part.where)
        if key not in self._eligible:
            machines = self.cluster.machines
            among = (
                [self.position[name] for name in self.places[part.where]]
                if part.where
                else range(len(machines))
            )
            self._eligible[key] = frozenset(
                number
                for number in among
                if number not in self._closed
                and part.gpu_type in {"", machines[number].gpu_type}
                and (machines[number].memory or part.memory) >= part.memory
            )
        return self._eligible[key]

    @cached_property
    def lowest_priority(self) -> int:
        """Lowest priority among the pending gangs; only running gangs below it may be evicted."""
        return min(gang.priority for gang in self.pending)

    def evictable(self, gang: Running) -> bool:
        """Check whether a running gang is unprotected and of lower priority than every pending gang."""
        return not gang.protected and gang.priority < self.lowest_priority

    @cached_property
    def _costs(self) -> Fraction:
        """Greatest common divisor of all eviction and move costs; 1 if all are 0."""
        evictions = (decimal(gang.cost) for gang in self.running)
        moves = (decimal(gang.move_cost) for gang in self.running if gang.move_cost is not None)
        return step([*evictions, *moves]) or Fraction(1)

    @cached_property
    def tie(self) -> Exact:
        """Small cost added for each evicted or moved gang, to break ties; 0 without a second objective.

        Even summed over all gangs, it is smaller than the difference between any two different total costs.
        """
        return self._costs / (1 + len(self.running)) if self.second_objective == "gangs" else 0

    @cached_property
    def step(self) -> Fraction | None:
        """Greatest common divisor of all costs, including the small cost that breaks ties; 1 if all are 0.

        Floats are read as decimals: 0.1 is exactly 1/10.
        """
        return whole_step(self._costs, self.tie)

    def objective(self, solution: AdmissionSolution) -> Exact:
        """Return the total cost of evictions and moves, plus the small costs that break ties."""
        gangs = self._by_name
        evictions = (gangs[name].cost for name in solution.evicted)
        moves = (gangs[name].move_cost or 0 for name in solution.moved)
        touched = len(solution.evicted) + len(solution.moved)
        return exact_total([*evictions, *moves, self.tie * touched])

    @cached_property
    def _by_name(self) -> dict[str, Running]:
        return {gang.name: gang for gang in self.running}

    def violations(self, solution: AdmissionSolution) -> list[str]:
        """Return a message for each broken rule about evictions, moves, or the machines given to gangs.

        Whether machines have enough resources is checked only if no other rule is broken.
        """
        found = [*self._wrongly_evicted(solution), *self._wrongly_moved(solution)]
        pending = {gang.name: gang for gang in self.pending}
        found += [f"placed: {name!r} is no pending gang" for name in solution.placed if name not in pending]
        found += [f"placed: {name!r} is missing" for name in pending if name not in solution.placed]
        given: list[tuple[str, Gang, Places]] = []
        for kind, gangs, chosen in (
            ("moved", self._by_name, solution.moved),
            ("placed", pending, solution.placed),
        ):
            given += [(f"{kind}: {name!r}", gangs[name], chosen[name]) for name in chosen if name in gangs]
        for where, gang, places in given:
            found += (f"{where} {fault}" for fault in self._misplaced(gang, places))
        return found or self._overfull(solution, [(gang, places) for _, gang, places in given])

    def _wrongly_evicted(self, solution: AdmissionSolution) -> Iterator[str]:
        for name, number in Counter(solution.evicted).items():
            gang = self._by_name.get(name)
            if gang is None:
                yield f"evicted: {name!r} is no running gang"
            elif number > 1:
                yield f"evicted: {name!r} is listed {number} times"
            elif gang.protected:
                yield f"evicted: {name!r} is protected"
            elif not self.evictable(gang):
                yield (
                    f"evicted: {name!r} has priority {gang.priority}, not below the {self.lowest_priority} "
                    "of the pending gangs"
                )

    def _wrongly_moved(self, solution: AdmissionSolution) -> Iterator[str]:
        evicted = set(solution.evicted)
        for name in solution.moved:
            gang = self._by_name.get(name)
            if gang is None:
                yield f"moved: {name!r} is no running gang"
            elif gang.move_cost is None:
                yield f"moved: {name!r} must not be moved"
            elif name in evicted:
                yield f"moved: {name!r} is evicted"

    def _misplaced(self, gang: Gang, places: Places) -> Iterator[str]:
        """Yield the rules that one gang breaks on its machines, regardless of other gangs there."""
        if len(places) != len(gang.parts):
            yield f"has places for {len(places)} parts, not {len(gang.parts)}"
            return
        unknown = [name for machines in places for name in machines if name not in self.position]
        if unknown:
            yield f"is on {unknown[0]!r}, which is no machine of the cluster"
            return
        for part, machines in zip(gang.parts, places, strict=True):
            if sum(machines.values()) != part.count:
                yield f"has {sum(machines.values())} workers of a part, not {part.count}"
            eligible = self.eligible(part)
            wrong = next((name for name in machines if self.position[name] not in eligible), None)
            if wrong is not None:
                yield f"is on {wrong!r}, where it may not run"
            if part.slice:
                yield from self._broken_slices(part, machines)
        if gang.within:
            group_of, groups = self.cluster.group_of(gang.within), self.cluster.groups[gang.within]
            held = {group_of[self.position[name]]: None for machines in places for name in machines}
            if len(held) > 1:
                names = [groups[number].name for number in held]
                yield f"is on {names[0]!r} and {names[1]!r}, not within one {gang.within}"

    def _broken_slices(self, part: Part, machines: Mapping[str, int]) -> Iterator[str]:
        group_of = self.cluster.group_of(part.slice_within)
        groups = self.cluster.groups[part.slice_within]
        numbers: Counter[int] = Counter()
        for name, number in machines.items():
            numbers[group_of[self.position[name]]] += number
        for group, number in numbers.items():
            if number % part.slice:
                yield f"has {number} workers on {groups[group].name!r}, not whole slices of {part.slice}"
                return

    def _overfull(self, solution: AdmissionSolution, given: Sequence[tuple[Gang, Places]]) -> list[str]:
        """List the machines that lack resources for the workers placed on them."""
        gone = [self._by_name[name] for name in (*solution.evicted, *solution.moved)]
        more, less = self.load(given), self.load((gang, gang.on) for gang in gone)
        nothing = [0] * len(self.resources)
        found = []
        for machine, needed in more.items():
            freed, room = less.get(machine, nothing), self.rooms[machine]
            for index, resource in enumerate(self.resources):
                left = self.free[machine][index] + freed[index] - needed[index]
                if left < 0:
                    name, has = self.cluster.machines[machine].name, room[index]
                    found.append(f"machine {name!r} has {has} {resource} for gangs, they need {has - left}")
        return found

    def headline(self) -> dict[str, int | float | str]:
        """Return the numbers of machines, of running gangs, and of GPUs that pending gangs need."""
        return {
            "machines": len(self.cluster.machines),
            "gangs": len(self.running),
            "pending GPUs": sum(gang.gpus for gang in self.pending),
        }

    def measures(self, solution: AdmissionSolution) -> dict[str, Number]:
        """Return the numbers of evicted and of moved gangs, and the numbers of GPUs that they hold."""
        gangs = self._by_name
        return {
            "evicted_gangs": len(solution.evicted),
            "evicted_gpus": sum(gangs[name].gpus for name in solution.evicted),
            "moved_gangs": len(solution.moved),
            "moved_gpus": sum(gangs[name].gpus for name in solution.moved),
        }

    def groups(self, gang: Gang) -> Sequence[Group]:
        """Return the groups at the gang's level; one of them must hold all of the gang's workers.

        For a gang without a level, the only group is the whole cluster.

        Examples
        --------
        >>> gang = Gang(name="a", parts=[Part(needs=Resources(gpu=1))], within="rack")
        >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=8)
        >>> [group.name for group in Admission(cluster=cluster, running=[], pending=[gang]).groups(gang)]
        ['rack 0', 'rack 1']
        """
        levels = self.cluster.groups
        return levels[gang.within or self.cluster.levels[-1]]

    @cached_property
    def obstacle(self) -> str:
        """Message about the first part of a pending gang that cannot fit even if all gangs that may stop do so.

        Gangs may stop if they may be evicted or moved. The message is empty if every part of every pending gang
        fits on its own. Even then, there might be no room for all parts and gangs together.

        Examples
        --------
        >>> gang = Gang(name="a", parts=[Part(count=3, needs=Resources(gpu=8))], within="rack")
        >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=8)
        >>> Admission(cluster=cluster, running=[], pending=[gang]).obstacle
        "'a' needs 3 workers (8 gpu) within one rack, and at most 2 fit even if all that may stop does"
        """
        rooms = [list(room) for room in self.rooms]
        stays = (gang for gang in self.running if not self.evictable(gang) and gang.move_cost is None)
        for machine, taken in self.load((gang, gang.on) for gang in stays).items():
            _take(rooms[machine], taken, 1)
        for pending in self.pending:
            for part in pending.parts:
                most = max(self._fitting(part, group, rooms) for group in self.groups(pending))
                if most < part.count:
                    return f"{pending.name!r} needs {_asked(part, pending.within)}, and " + (
                        f"at most {most} fit even if all that may stop does"
                        if self.eligible(part)
                        else "no machine is eligible"
                    )
        return ""

    def _fitting(self, part: Part, group: Group, rooms: Sequence[Sequence[int]]) -> int:
        """Return how many workers of a part fit into a group's free resources, counting only whole slices."""
        eligible, need = self.eligible(part), part.needs.vector(self.resources)
        able = [machine for machine in group.machines if machine in eligible]
        if not part.slice:
            return sum(_copies(need, rooms[machine]) for machine in able)
        group_of = self.cluster.group_of(part.slice_within)
        held: Counter[int] = Counter()
        for machine in able:
            held[group_of[machine]] += _copies(need, rooms[machine])
        return sum(number // part.slice * part.slice for number in held.values())

    def candidates(self) -> Iterator[AdmissionSolution]:
        """Yield every choice of gangs to evict and to move, with every placement of moved and pending gangs.

        Placements for which there is no room are left out. Slices are ignored, so some solutions may be
        infeasible.
        """
        for fates in product(*(self._fates(gang) for gang in self.running)):
            stopped = [gang for gang, fate in zip(self.running, fates, strict=True) if fate != "stays"]
            moved = [gang for gang, fate in zip(self.running, fates, strict=True) if fate == "moves"]
            rooms = [list(room) for room in self.free]
            for machine, freed in self.load((gang, gang.on) for gang in stopped).items():
                _take(rooms[machine], freed, -1)
            evicted = tuple(gang.name for gang in stopped if gang not in moved)
            for places in self._placements([*moved, *self.pending], rooms):
                yield AdmissionSolution(
                    evicted=evicted,
                    moved={gang.name: each for gang, each in zip(moved, places, strict=False)},
                    placed={
                        gang.name: each for gang, each in zip(self.pending, places[len(moved) :], strict=True)
                    },
                )

    def _fates(self, gang: Running) -> list[str]:
        evicted = ["is evicted"] if self.evictable(gang) else []
        return ["stays", *evicted, *(["moves"] if gang.move_cost is not None else [])]

    def _placements(self, gangs: Sequence[Gang], rooms: list[list[int]]) -> Iterator[list[Places]]:
        """Yield every placement of the gangs, one after another, each within one group at its level."""
        if not gangs:
            yield []
            return
        for group in self.groups(gangs[0]):
            for places in self._spreads(gangs[0].parts, group, rooms):
                rest = self._placements(gangs[1:], rooms)
                yield from ([tuple(places), *others] for others in rest)

    def _spreads(
        self, parts: Sequence[Part], group: Group, rooms: list[list[int]]
    ) -> Iterator[list[dict[str, int]]]:
        """Yield every placement of the parts on the machines of one group.

        While a placement is yielded, `rooms` excludes the resources that it uses.
        """
        if not parts:
            yield []
            return
        able = [machine for machine in group.machines if machine in self.eligible(parts[0])]
        for machines in self._stands(parts[0], parts[0].count, able, rooms):
            yield from ([machines, *rest] for rest in self._spreads(parts[1:], group, rooms))

    def _stands(
        self, part: Part, count: int, able: Sequence[int], rooms: list[list[int]]
    ) -> Iterator[dict[str, int]]:
        """Yield every placement of `count` workers of a part on the given machines."""
        if not count:
            yield {}
            return
        if not able:
            return
        need, machine = part.needs.vector(self.resources), able[0]
        for number in range(min(count, _copies(need, rooms[machine])) + 1):
            _take(rooms[machine], need, number)
            here = {self.cluster.machines[machine].name: number} if number else {}
            for others in self._stands(part, count - number, able[1:], rooms):
                yield {**here, **others}
            _take(rooms[machine], need, -number)


def whole_step(costs: Fraction, tie: Exact) -> Fraction:
    """Return the greatest common divisor of `costs` and `tie`.

    `costs` is itself the greatest common divisor of all costs (1 if all are 0). `tie` is the small cost that
    breaks ties.
    """
    return step([whole(costs), tie]) or costs


def _take(room: list[int], need: Sequence[int], number: int) -> None:
    for index, amount in enumerate(need):
        room[index] -= amount * number


def _copies(need: Vector, room: Sequence[int]) -> int:
    """Return how many workers with the given needs fit into the free resources of one machine."""
    return max(0, min(free // amount for amount, free in zip(need, room, strict=True) if amount))


def _asked(part: Part, within: str) -> str:
    """Describe, for messages, a part's workers and where they must run."""
    needs = ", ".join(f"{amount} {name}" for name, amount in part.needs.named.items() if amount)
    workers = f"{part.count} worker{'s' * (part.count > 1)} ({needs})"
    slices = f" in slices of {part.slice} within a {part.slice_within}" if part.slice else ""
    place = f" within one {within}" if within else ""
    return f"{workers}{slices}{place}"
