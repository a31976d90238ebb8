"""Aryl: the paper's examples of elastic allocation."""

from gsopt.core.problem import About
from gsopt.problems.allocation import Allocation, ElasticJob


def table_4() -> Allocation:
    """Create the two jobs of Table 4 on eight GPUs, four of which remain for workers beyond the minimum.

    Source: Aryl, Table 4. The table lists the running time in seconds with the maximum number of workers. With
    the minimum number, the running time is maximum / minimum times as long: 100 * 3 / 2 = 150 for A and 20 * 6
    / 2 = 60 for B.

    Examples
    --------
    >>> problem = table_4()
    >>> problem.objective(problem.solution_type(extra={"A": 1, "B": 3}))
    86
    """
    return Allocation(
        name="aryl-table-4",
        about=About(source="Aryl, Table 4"),
        capacity=4,
        jobs=(
            ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=1, time_at_min=150),
            ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=1, time_at_min=60),
        ),
    )


def figure_6() -> Allocation:
    """Create the jobs of Table 4 with two GPUs per worker of A, as in Figure 6.

    Source: Aryl, Figure 6. The text does not say how many GPUs remain; we assume four, as in Table 4.

    Examples
    --------
    >>> problem = figure_6()
    >>> problem.objective(problem.solution_type(extra={"A": 1, "B": 2}))
    80
    """
    a, b = table_4().jobs
    return Allocation(
        name="aryl-figure-6",
        about=About(source="Aryl, Figure 6, jobs of Table 4"),
        capacity=4,
        jobs=(a.model_copy(update={"gpus_per_worker": 2}), b),
    )
