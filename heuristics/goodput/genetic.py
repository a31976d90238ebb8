"""The genetic search of Pollux: crossover, mutation and repair of the GPUs of jobs on nodes."""

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
    """Search by NSGA-II for the best fitness and utilisation, from the present GPUs; return the fittest.

    Source: Pollux (OSDI 2021), section 4.2, and the authors' program for what the text leaves open: the number
    of generations, the odds of the mutation, the most nodes of a job and the repair.

    Complexity: O(P J N) per generation for P candidates, J jobs and N nodes.

    Parameters
    ----------
    problem
        The problem. If nodes or GPUs are short, jobs that are listed first get them; the authors list those
        with the least attained service first.
    population, generations
        Number of candidates, and of generations with as many children.
    most_nodes
        Most nodes of a job.
    seed
        Seed of all random numbers.
    budget
        No generation begins once it is used up, so that the result depends on the machine.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Notes
    -----
    Crossover exchanges the jobs before a random point. Mutation resets some jobs to their present GPUs, takes
    the GPUs on some nodes from others, and on each node with idle GPUs gives more to about one job, and to one
    of those that run there. Repair takes GPUs from jobs that break a rule.

    Departures: the search begins with the present GPUs only, like the authors' first search, and not with the
    candidates of a minute ago, as `heuristics.policies.pollux` does. Duplicate candidates are not replaced. A
    job loses GPUs for which no speed-up is known.

    The order of the jobs matters: if new jobs are listed last, repair leaves them without GPUs. Of 45 jobs on
    64 busy GPUs not all are served then, and the fitness ends at a third to a fifteenth of what it is with new
    jobs first.

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
