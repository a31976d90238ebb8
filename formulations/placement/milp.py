"""MILP: the model that assigns workers to individual servers, for every variant of the problem."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gsopt.core.errors import Unsupported
from gsopt.problems.placement import Placed, PlacedPart, Placement, PlacementSolution, Server
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import LARGEST_BIG_M

#: Largest number of lines of workers times servers. Beyond it, the many symmetric servers make the model too
#: slow.
_LARGEST = 1_000


class Milp(Formulation[Placement, PlacementSolution]):
    """A model that decides how many workers of each line run on each individual server.

    It is slow, and serves to test the other methods on small instances.

    Sets
    ----
    i: lines (entries) of workers. s: individual servers. r: resources. j: jobs. k: racks. v: GPUs of a server
    that have a free part.

    Parameters
    ----------
    n_i: workers of line i. d_ir: amount of resource r per worker. g_i: whole GPUs per worker. q_i: thousandths
    of a GPU per worker; 0 for most lines. e_sr: free amount of resource r on server s. a_sv: free thousandths
    of GPU v. u_is: workers of line i that fit on server s; 0 if its GPU type is unsuitable. c_s: 0 if server s
    is already in use, otherwise 1 or, for fragmentation, its GPUs. W: weight of a misplaced GPU.

    Variables
    ---------
    x[i, s], integer, at most u_is: workers of line i on server s. y[s], binary: server s is in use.

    For preferences, on inference servers: f[s], binary: the server is for flexible workers only. m[i, s],
    integer, at most u_is: flexible workers of line i that share the server with other kinds.

    If jobs must not be split: h[j], binary: job j runs on inference servers. For racks: z[k], binary: rack k is
    used.

    For lines with q_i > 0, instead of x: p[i, s, v], integer: workers of line i on GPU v. b[s, v], binary: GPU
    v, of which no part is in use yet, is shared.

    If server s is already in use, y[s] = 1, f[s] = 0, and z[k] = 1 for its rack k.

    Objective
    ---------
    Minimize the sum of c_s y[s], plus a constant. For preferences, add W times the misplaced GPUs: the g_i m[i,
    s], and the g_i x[i, s] of inelastic lines on inference servers and of others on training servers. For
    racks, instead: the sum of z[k]. For unallocated GPUs, instead: a constant minus the thousandths of the
    workers placed.

    Constraints
    -----------
    If q_i > 0, x[i, s] stands for the sum of the p[i, s, v] over v.

    place[i]: the x[i, s] + m[i, s] add up to n_i or, for unallocated GPUs, to at most n_i.

    hold[s, r]: the d_ir (x[i, s] + m[i, s]), and for GPUs also the b[s, v], add up to at most e_sr y[s].

    share[s, v]: the q_i p[i, s, v] add up to at most a_sv b[s, v], or a_sv if part of the GPU is in use.

    alike[s, v]: b[s, v] >= b[s, v + 1]. order[s]: y[s] >= y[s + 1] if both servers belong to one entry.

    group[i, s]: x[i, s] <= u_is f[s] for flexible lines, and x[i, s] <= u_is (1 - f[s]) for others.

    touch[s]: y[s] <= z[k] for the rack k of server s.

    together[i]: the x[i, s] + m[i, s] on inference servers add up to n_i h[j] for the line's job j.

    Size
    ----
    Mainly one or two columns per line and server, and one row per server and line or resource. At most 1,000
    pairs of a line and a server (or a GPU that may be shared) are allowed.

    Source
    ------
    Aryl, section 5.3. Parts of GPUs: Weng et al., "Beware of fragmentation" (ATC 2023), section 2, which gives
    no model.

    Examples
    --------
    >>> import gsopt
    >>> milp(gsopt.load("placement/small/six-items")).objective
    2
    """

    name: ClassVar[str] = "milp"

    def obstacle(self, problem: Placement) -> str:
        """Return a message about a worker that must be placed but fits on no server, or an empty string."""
        return problem.misfit

    def build(self, problem: Placement) -> Any:
        """Build the Pyomo model.

        Raise `Unsupported` if the model would be too large or its amounts too fine.
        """
        lines, hosts = problem.workers, list(problem.hosts.values())
        sharing = _sharing(problem)
        gpus = [(s, h) for s, host in enumerate(hosts) for h in range(_useful_gpus(sharing, host))]
        if len(lines) * max(len(hosts), len(gpus)) > _LARGEST:
            raise Unsupported(
                f"milp: {len(lines):,} lines of workers times {len(hosts):,} servers: the reference model "
                f"takes at most {_LARGEST:,}; use patterns or column_generation"
            )
        import pyomo.environ as pyo  # late, as it takes seconds

        needs, rooms = _amounts(problem)
        fit = {
            (i, s): _most(lines[i].count, needs[i], rooms[s]) * lines[i].suits(hosts[s])
            for i in range(len(lines))
            for s in range(len(hosts))
        }
        whole = [(i, s) for i, s in fit if not lines[i].gpu_part]
        parts = {
            (i, s, h): min(fit[i, s], hosts[s].left(h) // line.gpu_part)
            for i, line in enumerate(lines)
            if line.gpu_part
            for s, h in gpus
        }
        fresh = [(s, h) for s, h in gpus if h >= len(hosts[s].shared)]
        grouped = [s for s in _pool(hosts, "inference") if problem.minimize == "preferences"]
        flexible = [i for i, line in enumerate(lines) if line.kind == "flexible"]

        model = pyo.ConcreteModel()
        model.x = pyo.Var(whole, domain=pyo.NonNegativeIntegers, bounds=lambda _, i, s: (0, fit[i, s]))
        model.m = pyo.Var(
            flexible, grouped, domain=pyo.NonNegativeIntegers, bounds=lambda _, i, s: (0, fit[i, s])
        )
        model.p = pyo.Var(
            list(parts), domain=pyo.NonNegativeIntegers, bounds=lambda _, i, s, h: (0, parts[i, s, h])
        )
        model.b = pyo.Var(fresh, domain=pyo.Binary)
        model.y = pyo.Var(range(len(hosts)), domain=pyo.Binary, bounds=lambda _, s: (int(hosts[s].in_use), 1))
        model.f = pyo.Var(grouped, domain=pyo.Binary, bounds=lambda _, s: (0, 1 - int(hosts[s].in_use)))
        touched = {host.rack for host in hosts if host.in_use}
        racks = list(dict.fromkeys(host.rack for host in hosts)) if problem.minimize == "racks" else []
        model.z = pyo.Var(racks, domain=pyo.Binary, bounds=lambda _, k: (int(k in touched), 1))
        model.h = pyo.Var(_undivided_jobs(problem), domain=pyo.Binary)
        model.place = pyo.Constraint(
            sorted({i for i, _ in whole} | {i for i, _, _ in parts}),
            rule=lambda m, i: (
                _on(m, i, range(len(hosts))) <= lines[i].count
                if problem.minimize == "unallocated"
                else _on(m, i, range(len(hosts))) == lines[i].count
            ),
        )
        model.hold = pyo.Constraint(
            range(len(hosts)),
            [
                r
                for r, name in enumerate(problem.resources)
                if any(need[r] for need in needs) or (fresh and name == "gpu")
            ],
            rule=lambda m, s, r: (
                sum(needs[i][r] * _on(m, i, [s]) for i in range(len(lines)))
                + sum(m.b[s, h] for t, h in fresh if t == s and problem.resources[r] == "gpu")
                <= rooms[s][r] * m.y[s]
            ),
        )
        model.share = pyo.Constraint(
            gpus,
            rule=lambda m, s, h: (
                sum(line.gpu_part * m.p[i, s, h] for i, line in enumerate(lines) if line.gpu_part)
                <= hosts[s].left(h) * (m.b[s, h] if h >= len(hosts[s].shared) else 1)
            ),
        )
        model.alike = pyo.Constraint(
            [(s, h) for s, h in fresh if (s, h + 1) in model.b],
            rule=lambda m, s, h: m.b[s, h] >= m.b[s, h + 1],
        )
        model.order = pyo.Constraint(
            [s for s, t in pairwise(range(len(hosts))) if hosts[s] is hosts[t]],
            rule=lambda m, s: m.y[s] >= m.y[s + 1],
        )
        model.group = pyo.Constraint(
            range(len(lines)),
            grouped,
            rule=lambda m, i, s: m.x[i, s] <= fit[i, s] * (m.f[s] if i in flexible else 1 - m.f[s]),
        )
        model.touch = pyo.Constraint(
            range(len(hosts) if racks else 0), rule=lambda m, s: m.y[s] <= m.z[hosts[s].rack]
        )
        model.together = pyo.Constraint(
            [i for i in range(len(lines)) if not problem.split_jobs],
            rule=lambda m, i: _on(m, i, _pool(hosts, "inference")) == lines[i].count * m.h[lines[i].job],
        )
        model.cost = pyo.Objective(expr=_objective(model, problem, hosts))
        return model

    def extract(self, values: Mapping[str, float], problem: Placement) -> PlacementSolution:
        """Read the placement from the values of x, m and p."""
        numbers = (
            (name, i, round(values.get(f"x[{i},{s}]", 0.0) + values.get(f"m[{i},{s}]", 0.0)))
            for s, name in enumerate(problem.hosts)
            for i in range(len(problem.workers))
        )
        parts = (
            (name, h, i, round(values.get(f"p[{i},{s},{h}]", 0.0)))
            for s, (name, host) in enumerate(problem.hosts.items())
            for h in range(_useful_gpus(_sharing(problem), host))
            for i, line in enumerate(problem.workers)
            if line.gpu_part
        )
        return PlacementSolution(
            placed=tuple(Placed(*number) for number in numbers if number[2]),
            parts=tuple(PlacedPart(*part) for part in parts if part[3]),
        )


milp = Milp()


def _amounts(problem: Placement) -> tuple[list[list[int]], list[list[int]]]:
    """Return the lines' needs and the servers' free amounts, divided by the needs' greatest common divisors."""
    needs = np.array(problem.demands, dtype=np.int64).reshape(-1, len(problem.resources))
    free = np.array([host.free(problem.resources) for host in problem.hosts.values()])
    counts = np.array([line.count for line in problem.workers], dtype=np.int64)
    asked, unit = needs.T @ counts, np.maximum(np.gcd.reduce(needs, axis=0), 1)
    if _has_parts(problem):  # each of these workers may use a GPU alone
        gpu = problem.resources.index("gpu")
        asked[gpu] += sum(line.count for line in problem.workers if line.gpu_part)
        unit[gpu] = 1
    rooms = np.minimum(free, asked) // unit
    if rooms.max() > LARGEST_BIG_M:
        raise Unsupported(f"milp: amounts up to {rooms.max():,} are too fine; use column_generation")
    return (needs // unit).tolist(), rooms.tolist()


def _most(count: int, need: list[int], room: list[int]) -> int:
    """Return how many identical workers fit, but at most `count`."""
    return min([count, *(free // amount for free, amount in zip(room, need, strict=True) if amount)])


def _has_parts(problem: Placement) -> bool:
    return any(line.gpu_part for line in problem.workers)


def _sharing(problem: Placement) -> int:
    """Count the workers that need part of a GPU."""
    return sum(line.count for line in problem.workers if line.gpu_part)


def _useful_gpus(sharing: int, host: Server) -> int:
    """Count the GPUs of a server that can be worth sharing: no more free ones than workers that need a part."""
    return len(host.shared) + min(host.free_gpus, sharing) if sharing else 0


def _pool(hosts: list[Server], pool: str) -> list[int]:
    return [s for s, host in enumerate(hosts) if host.pool == pool]


def _undivided_jobs(problem: Placement) -> list[str]:
    return [] if problem.split_jobs else list(dict.fromkeys(line.job for line in problem.workers))


def _on(model: Any, i: int, servers: Sequence[int]) -> Any:
    """Return the number of workers of a line on the given servers, as an expression."""
    if (i, 0) not in model.x:
        wanted = set(servers)
        return sum(model.p[line, s, h] for line, s, h in model.p if line == i and s in wanted)
    sharing = sum(model.m[i, s] for s in servers if (i, s) in model.m)
    return sum(model.x[i, s] for s in servers) + sharing


def _objective(model: Any, problem: Placement, hosts: list[Server]) -> Any:
    """Return the objective to minimize, as an expression."""
    if problem.minimize == "fragmentation":
        gpus = sum(line.demand.gpu * line.count for line in problem.workers)
        return sum(host.free_gpus * model.y[s] for s, host in enumerate(hosts)) - gpus
    if problem.minimize == "servers":
        return sum(model.y.values())
    if problem.minimize == "racks":
        return sum(model.z.values())
    if problem.minimize == "unallocated":
        free = sum(host.thousandths for host in hosts)
        everywhere = range(len(hosts))
        return free - sum(
            line.thousandths * _on(model, i, everywhere) for i, line in enumerate(problem.workers)
        )
    misplaced = sum(
        line.demand.gpu * _on(model, i, _pool(hosts, "inference" if line.kind == "inelastic" else "training"))
        for i, line in enumerate(problem.workers)
    ) + sum(problem.workers[i].demand.gpu * number for (i, _), number in model.m.items())
    return problem.preference_weight * misplaced + sum(model.y.values())
