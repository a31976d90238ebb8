"""Tiny reclaiming problems: the example of Aryl's Figure 5, and random instances of every variant."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from hypothesis import reject
from hypothesis import strategies as st

import instances.reclaiming
from formulations.reclaiming.reduction import Reduction, reduce
from gsopt.core.errors import Unsupported
from gsopt.problems.reclaiming import Job, Reclaiming, Server

T = TypeVar("T")

Costs = Literal["one", "integer", "fractional", "decimal", "tiny", "near", "wide", "any"]
Elasticity = Literal["tagged", "fungible"]
SecondObjective = Literal["none", "collateral"]

_COSTS: dict[Costs, st.SearchStrategy[float]] = {
    "one": st.just(1.0),
    "integer": st.integers(0, 5).map(float),
    "fractional": st.sampled_from([0.0, 0.25, 0.5, 1.5, 7.0]),  # exact as doubles
    "decimal": st.sampled_from([0.0, 0.1, 0.3, 1.1, 2.7]),  # not exact as doubles
    "tiny": st.integers(0, 9).map(lambda cost: cost / 10**8),
    "near": st.integers(0, 5).map(lambda cost: 1 + cost / 10**12),  # ties but for the last digits
    "wide": st.sampled_from([0.0, 1e-9, 1.1e-6, 0.7, 1.1, 3e5, 1e9, 1e12]),
    "any": st.floats(1e-9, 1e9),
}

#: Costs whose steps solvers of mixed-integer programs can tell apart, whatever else is added.
SOLVABLE: Sequence[Costs] = ("one", "integer", "fractional", "decimal")

#: Costs that collateral damage can be weighed against.
WHOLE: Sequence[Costs] = ("one", "integer")

#: What a server costs by a job of its own: nothing, or as much as to drown everything else.
_CONSTANT = st.sampled_from([0.0, 0.0, 0.0, 1.1, 1e6])


def figure_5(*, order: str = "123456", demand: int = 2) -> Reclaiming:
    """Return the example of Figure 5 with its servers in another order and another demand."""
    example = instances.reclaiming.figure_5()
    servers = {server.name: server for server in example.servers}
    ordered = tuple(servers[f"s{digit}"] for digit in order)
    return example.model_copy(update={"demand": demand, "servers": ordered})


def reducible(problem: Reclaiming) -> Reduction:
    """Return the reduction of a problem, and let hypothesis draw another one where it has none."""
    return unless_unsupported(reduce, problem)


def unless_unsupported(method: Callable[[Reclaiming], T], problem: Reclaiming) -> T:
    """Return what a method makes of a problem, and let hypothesis draw another one that it supports."""
    try:
        return method(problem)
    except Unsupported:
        reject()


@st.composite
def reclaiming_problems(
    draw: st.DrawFn,
    *,
    max_servers: int = 6,
    max_jobs: int = 6,
    elasticities: Sequence[Elasticity] = ("tagged", "fungible"),
    second_objectives: Sequence[SecondObjective] = ("none", "collateral"),
    costs: Sequence[Costs] = tuple(_COSTS),
    flexible: bool = True,
) -> Reclaiming:
    """Draw a problem that is small enough to enumerate.

    Parameters
    ----------
    draw
        Given by hypothesis.
    max_servers
        Largest number of servers.
    max_jobs
        Largest number of jobs.
    elasticities
        The kinds of elasticity to draw from.
    second_objectives
        The second objectives to draw from; collateral damage comes with integer costs only.
    costs
        The kinds of job cost to draw from. Where they are not whole, each server may have a job of its own that
        costs the same everywhere, and so no more than a constant.
    flexible
        Whether jobs may have flexible workers.
    """
    names = [f"s{number}" for number in range(1, draw(st.integers(1, max_servers)) + 1)]
    second_objective = draw(st.sampled_from(second_objectives))
    kind = draw(st.sampled_from([kind for kind in costs if second_objective == "none" or kind in WHOLE]))
    cost = _COSTS[kind]
    gpus = st.integers(1, 4)
    workers = st.dictionaries(st.sampled_from(names), gpus, min_size=1, max_size=4)
    extra = st.dictionaries(st.sampled_from(names), gpus, max_size=2) if flexible else st.just({})
    jobs = tuple(
        Job(
            name=f"j{number}",
            workers=draw(workers),
            flexible=draw(extra),
            cost=draw(cost),
            training_servers=draw(st.integers(0, 2)),
        )
        for number in range(draw(st.integers(0, max_jobs)))
    )
    constant = 0.0 if kind in WHOLE else draw(_CONSTANT)
    if constant:
        jobs += tuple(Job(name=f"own-{name}", workers={name: 1}, cost=constant) for name in names)
    return Reclaiming(
        demand=draw(st.integers(0, len(names))),
        servers=tuple(Server(name=name, gpus=max(1, sum(job.gpus_on(name) for job in jobs))) for name in names),
        jobs=jobs,
        elasticity=draw(st.sampled_from(elasticities)),
        second_objective=second_objective,
    )
