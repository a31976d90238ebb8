"""Reclaiming: which servers on loan to give back, so that preempting jobs costs the least."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from gsopt.core.numbers.grid import decimal, exact_total, step
from gsopt.core.problem import Frozen, Gpus, Many, Name, Number, Problem, RuleBroken, Sense
from gsopt.problems.names import Named


class Server(Frozen):
    """A server on loan."""

    name: Name
    gpus: Gpus


class Job(Frozen):
    """A job that has workers on servers on loan.

    Attributes
    ----------
    workers
        Number of GPUs that the job's base workers use on each server, keyed by server name.
    flexible
        Number of GPUs that the job's flexible workers use on each server, keyed by server name. Losing only
        these workers does not preempt the job.
    cost
        Cost of preempting the job: 1 to count preemptions or, for example, the GPU-seconds of lost work.
    training_servers
        Number of servers of the training cluster itself on which the job also runs. The problem ignores them,
        but `heuristics.reclaiming.greedy` can take them into account.
    """

    name: Name
    workers: Annotated[Mapping[Name, Gpus], Field(min_length=1)]
    flexible: Mapping[Name, Gpus] = Field(default_factory=dict)
    cost: Annotated[float, Field(ge=0, le=1e12)] = 1.0
    training_servers: Annotated[int, Field(ge=0, le=1_000_000)] = 0

    def gpus_on(self, server: str) -> int:
        """Return the number of GPUs that the job's base and flexible workers use on the given server."""
        return self.workers.get(server, 0) + self.flexible.get(server, 0)

    @property
    def gpus(self) -> int:
        """Total number of GPUs that the job uses on the servers on loan."""
        return sum(self.workers.values()) + sum(self.flexible.values())


class ReclaimingSolution(Frozen):
    """The servers to give back, in any order."""

    servers: Many[str]


class Reclaiming(Problem[ReclaimingSolution]):
    """The problem of giving `demand` servers on loan back to their owner, at minimum preemption cost.

    A preempted job loses all its workers on every server. With ``elasticity="tagged"``, a job is preempted if
    it loses any base worker. With ``"fungible"``, flexible workers can replace base workers, so a job
    survives if it keeps at least as many GPUs as its base workers had.

    With ``second_objective="collateral"``, ties between equal costs are broken by collateral damage: the
    number of GPUs that preempted jobs lose on servers that are kept. Costs must then be integers, and the
    objective is ``cost * (1 + GPUs in use) + collateral``, which ranks solutions by cost and then by collateral
    damage.

    Source: Aryl, section 4. With ``elasticity="tagged"``, costs of 1 and no second objective, this is the
    minimum k-union problem: choose k sets with the smallest union. The set of a server contains the jobs that
    have base workers there.

    Examples
    --------
    >>> problem = Reclaiming(
    ...     demand=1,
    ...     servers=[Server(name="s1", gpus=8), Server(name="s2", gpus=8)],
    ...     jobs=[Job(name="a", workers={"s1": 8})],
    ... )
    >>> [problem.objective(solution) for solution in problem.candidates()]
    [1, 0]
    """

    word: ClassVar[str] = "reclaiming"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = ReclaimingSolution

    problem: Literal["reclaiming"] = "reclaiming"
    demand: Annotated[int, Field(ge=0)]
    servers: Annotated[Named[Server], Field(min_length=1)]
    jobs: Named[Job]
    elasticity: Literal["tagged", "fungible"] = "tagged"
    second_objective: Literal["none", "collateral"] = "none"

    @model_validator(mode="after")
    def _demand_can_be_met(self) -> "Reclaiming":
        if self.demand > len(self.servers):
            raise RuleBroken("demand", self.demand, f"must be at most the {len(self.servers)} servers")
        known = {server.name for server in self.servers}
        for index, job in enumerate(self.jobs):
            for kind in ("workers", "flexible"):
                for name in getattr(job, kind):
                    if name not in known:
                        raise RuleBroken(f"jobs[{index}].{kind}", name, "must name one of the servers")
        used = self.used_gpus
        for index, server in enumerate(self.servers):
            if used[server.name] > server.gpus:
                rule = f"must be at least the {used[server.name]} GPUs that the jobs use there"
                raise RuleBroken(f"servers[{index}].gpus", server.gpus, rule)
        return self

    @model_validator(mode="after")
    def _collateral_needs_integer_costs(self) -> "Reclaiming":
        if self.second_objective == "collateral":
            for index, job in enumerate(self.jobs):
                if not job.cost.is_integer():
                    rule = 'must be an integer when second_objective is "collateral"'
                    raise RuleBroken(f"jobs[{index}].cost", job.cost, rule)
        return self

    @property
    def unit(self) -> str:
        """Unit of the objective: preemptions if each costs 1 and nothing else is minimized; otherwise, cost."""
        counted = self.second_objective == "none" and all(job.cost == 1 for job in self.jobs)
        return "preemptions" if counted else "cost"

    @property
    def used_gpus(self) -> Counter[str]:
        """Number of GPUs in use on each server, keyed by server name."""
        used: Counter[str] = Counter()
        for job in self.jobs:
            used.update(job.workers)
            used.update(job.flexible)
        return used

    def preempted(self, solution: ReclaimingSolution) -> list[Job]:
        """Return the jobs that are preempted when the solution's servers are given back."""
        returned = set(solution.servers)
        lost = self._loses_base if self.elasticity == "tagged" else self._falls_below_base
        return [job for job in self.jobs if lost(job, returned)]

    @staticmethod
    def _loses_base(job: Job, returned: set[str]) -> bool:
        return not returned.isdisjoint(job.workers)

    @staticmethod
    def _falls_below_base(job: Job, returned: set[str]) -> bool:
        lost = sum(gpus for server, gpus in _placements(job) if server in returned)
        return lost > sum(job.flexible.values())

    def collateral(self, solution: ReclaimingSolution) -> int:
        """Count the GPUs that preempted jobs lose on servers that are kept."""
        returned = set(solution.servers)
        return sum(
            gpus
            for job in self.preempted(solution)
            for server, gpus in _placements(job)
            if server not in returned
        )

    @cached_property
    def step(self) -> Fraction | None:
        """Greatest common divisor of the costs (None if all are 0), or 1 if collateral damage breaks ties.

        Floats are read as decimals: 0.1 is exactly 1/10.
        """
        if self.second_objective == "collateral":
            return Fraction(1)
        return step(decimal(job.cost) for job in self.jobs)

    @property
    def cost_weight(self) -> int:
        """Weight of a unit of cost: 1, plus the number of GPUs in use if collateral damage breaks ties."""
        return 1 + self.used_gpus.total() if self.second_objective == "collateral" else 1

    def objective(self, solution: ReclaimingSolution) -> Number:
        """Return the total cost of preempted jobs, combined with collateral damage if that breaks ties."""
        cost = exact_total(job.cost for job in self.preempted(solution))
        if self.second_objective == "none":
            return cost
        return cost * self.cost_weight + self.collateral(solution)

    def violations(self, solution: ReclaimingSolution) -> list[str]:
        """Return messages about unknown or repeated servers, and about a wrong number of servers."""
        known = {server.name for server in self.servers}
        count = Counter(solution.servers)
        found = [f"servers: {name!r} is not a server of the instance" for name in count if name not in known]
        found += [f"servers: {name!r} is returned {n} times" for name, n in count.items() if n > 1]
        if len(solution.servers) != self.demand:
            found.append(f"servers: {len(solution.servers)} are returned, the demand is {self.demand}")
        return found

    def graph(self, solution: ReclaimingSolution | None = None) -> Any:
        """Return the networkx graph that links each job to the servers on which it has workers.

        The graph is bipartite. Its nodes are ``("server", name)`` and ``("job", name)``. Their attributes are
        `kind`, `name`, `bipartite` (0 for servers, 1 for jobs), `gpus` (how many a server has or a job uses),
        and `component`, the index of the node's connected component. The component of the first server has
        index 0. Jobs also have a `cost`. Edges have two attributes: `gpus`, the GPUs of base workers, and
        `flexible`, the GPUs of flexible workers.

        Parameters
        ----------
        solution
            The servers to give back. If it is not None, servers have a `returned` flag, and jobs have a
            `preempted` flag.

        Examples
        --------
        >>> problem = Reclaiming(
        ...     demand=1,
        ...     servers=[Server(name="s1", gpus=8), Server(name="s2", gpus=8)],
        ...     jobs=[Job(name="a", workers={"s1": 8})],
        ... )
        >>> graph = problem.graph(ReclaimingSolution(servers=["s2"]))
        >>> [graph.nodes["server", name]["component"] for name in ("s1", "s2")]
        [0, 1]
        >>> graph.nodes["job", "a"]["preempted"]
        False
        """
        import networkx as nx

        graph = nx.Graph()
        for server in self.servers:
            graph.add_node(
                ("server", server.name), kind="server", name=server.name, bipartite=0, gpus=server.gpus
            )
        for job in self.jobs:
            node = ("job", job.name)
            graph.add_node(node, kind="job", name=job.name, bipartite=1, gpus=job.gpus, cost=job.cost)
            for name in dict.fromkeys(server for server, _ in _placements(job)):
                base, flexible = job.workers.get(name, 0), job.flexible.get(name, 0)
                graph.add_edge(node, ("server", name), gpus=base, flexible=flexible)
        for number, nodes in enumerate(nx.connected_components(graph)):
            for node in nodes:
                graph.nodes[node]["component"] = number
        if solution is not None:
            returned, preempted = set(solution.servers), {job.name for job in self.preempted(solution)}
            for (kind, name), data in graph.nodes(data=True):
                if kind == "server":
                    data["returned"] = name in returned
                else:
                    data["preempted"] = name in preempted
        return graph

    def headline(self) -> dict[str, int | float | str]:
        """Return the number of servers to give back."""
        return {"demand": self.demand}

    def measures(self, solution: ReclaimingSolution) -> dict[str, Number]:
        """Return the numbers of preemptions, of GPUs lost as collateral damage, and of released GPUs.

        Released GPUs are those that jobs lose on returned servers without being preempted.
        """
        preempted = self.preempted(solution)
        gone = {job.name for job in preempted}
        returned = set(solution.servers)
        released = sum(
            gpus
            for job in self.jobs
            if job.name not in gone
            for server, gpus in _placements(job)
            if server in returned
        )
        return {
            "preemptions": len(preempted),
            "collateral_gpus": self.collateral(solution),
            "released_gpus": released,
        }

    def candidates(self) -> Iterator[ReclaimingSolution]:
        """Yield every set of `demand` servers."""
        names = [server.name for server in self.servers]
        return (ReclaimingSolution(servers=pick) for pick in combinations(names, self.demand))


def _placements(job: Job) -> Iterator[tuple[str, int]]:
    return chain(job.workers.items(), job.flexible.items())
