"""Genetic: Pollux's search by crossover, mutation and repair of the jobs' GPUs on each node."""

from typing import Annotated

import numpy as np
from pydantic import Field

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require
from gsopt.core.method import heuristic
from gsopt.problems.goodput import Goodput, GoodputSolution
from heuristics.goodput.search import search
from heuristics.goodput.table import SpeedupTable


@heuristic
def genetic(
    problem: Goodput,
    *,
    population: Annotated[int, Field(ge=2)] = 100,
    generations: Annotated[int, Field(ge=0)] = 100,
    most_nodes: Annotated[int, Field(ge=1)] = 16,
    seed: int = 0,
    budget: Budget = UNLIMITED,
) -> GoodputSolution:
    """Search by NSGA-II for the best fitness and utilization, and return the fittest candidate.

    Crossover exchanges the GPUs of all jobs listed before a random one. Mutation resets random jobs to their
    current GPUs, takes GPUs from random jobs, and grants random jobs more GPUs on nodes with idle GPUs. Repair
    takes GPUs from jobs that violate a constraint.

    Source: Pollux (OSDI 2021), section 4.2, and the authors' code where the text is silent.

    Complexity: O(P J N) per generation for P candidates, J jobs and N nodes.

    Parameters
    ----------
    problem
        The problem. If nodes or GPUs are scarce, repair favours the jobs listed first. The authors list those
        with the least attained service first.
    population, generations
        Number of candidates (and of children per generation), and number of generations.
    most_nodes
        Largest number of nodes that a job may use.
    seed
        Seed of all random numbers.
    budget
        If there is a time limit, no generation begins after it, and the result depends on the machine.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Notes
    -----
    Departures: the search starts from the current GPUs, whereas the authors' later searches start from the
    previous candidates, as in `heuristics.policies.pollux`. Duplicate candidates are removed, not replaced. A
    job loses all its GPUs if its speed-up on them is not known.

    Examples
    --------
    >>> from instances.goodput import running_jobs
    >>> result = genetic(running_jobs(nodes=2, jobs=3, seed=1), generations=20)
    >>> result.solution.gpus
    {'j3': (1, 0), 'j2': (0, 4), 'j1': (3, 0)}
    """
    options = (("population", population, 2), ("generations", generations, 0), ("most_nodes", most_nodes, 1))
    for name, value, least in options:
        require(value >= least, name, value, f"must be at least {least}")
    table = SpeedupTable.of(problem)
    if not table.current.size:
        return GoodputSolution(gpus={})
    found = search(
        table,
        table.current[None],
        np.random.default_rng(seed),
        population=population,
        generations=generations,
        most_nodes=most_nodes,
        budget=budget,
    )
    return table.solution(found[0])
