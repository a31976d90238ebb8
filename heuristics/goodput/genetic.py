"""Genetic: the search of Pollux, by crossover, mutation and repair of GPUs by job and node."""

from typing import Annotated

import numpy as np
from pydantic import Field

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import InvalidInput, shorten
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
    """Search by NSGA-II for the best fitness and utilisation, from what jobs have now; the fittest is given.

    Source: Pollux (OSDI 2021), section 4.2, and the authors' program for what the text leaves open: the number
    of generations, the odds of the mutation, the most nodes of a job and the repair.

    Complexity: O(P J N) per generation for P candidates, J jobs and N nodes.

    Parameters
    ----------
    problem
        The problem. Where nodes or GPUs do not suffice jobs that are listed first have them; the authors list
        those with the least attained service first.
    population, generations
        Candidates, and how often as many are made of them.
    most_nodes
        Most nodes of a job.
    seed
        Seed of everything that is drawn.
    budget
        When no further generation begins, so that the result depends on the machine.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Notes
    -----
    Crossover exchanges the jobs before a point that is drawn. Mutation gives jobs what they have now, takes
    the GPUs on some nodes from some, and on each node with idle GPUs gives more to about one job, and to one
    of those that stand there. Repair takes from jobs what breaks a rule.

    Departures: the search begins with what jobs have now only, as the authors' does for the first time, and
    not with the candidates of a minute ago, as `heuristics.policies.pollux` does. A candidate that is drawn
    twice is not replaced by another one. A job on GPUs of which no speed-up is known loses them.

    The order of the jobs matters: with new jobs listed last, which repair then leaves without GPUs, the search
    serves not all of 45 jobs on 64 busy GPUs, and ends at a third to a fifteenth of the fitness that it has
    with them first.

    Examples
    --------
    >>> from instances.goodput import running_jobs
    >>> result = genetic(running_jobs(nodes=2, jobs=3, seed=1), generations=20)
    >>> result.solution.gpus
    {'j3': (1, 0), 'j2': (0, 4), 'j1': (3, 0)}
    """
    for name, value, least in (("population", population, 2), ("generations", generations, 0)):
        if value < least:
            raise InvalidInput("", name, shorten(value), f"must be at least {least}")
    if most_nodes < 1:
        raise InvalidInput("", "most_nodes", shorten(most_nodes), "must be at least 1")
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
