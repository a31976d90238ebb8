"""Figure 5: Aryl's example of preemptions due to reclaiming."""

from gsopt.core.problem import About
from gsopt.problems.reclaiming import Job, Reclaiming
from instances.reclaiming.layout import eight_gpu_servers


def figure_5() -> Reclaiming:
    """Create the example of four jobs on six servers, of which two must be returned.

    Returning s1 and s2 preempts only job a, while every other pair preempts at least two jobs. For demands of 0
    to 6 servers, the smallest numbers of preemptions are 0, 1, 1, 2, 3, 3 and 4.

    Source: Aryl, Figure 5 and Table 1. The numbers of GPUs are reconstructed so that every column of Table 1
    matches.

    Examples
    --------
    >>> problem = figure_5()
    >>> problem.objective(problem.solution_type(servers=["s1", "s2"]))
    1
    """
    return Reclaiming(
        name="aryl-figure-5",
        about=About(source="Aryl, Figure 5 and Table 1 (reconstruction)"),
        demand=2,
        servers=eight_gpu_servers(6),
        jobs=(
            Job(name="a", workers={"s1": 4, "s2": 4}),
            Job(name="b", workers={"s3": 8}),
            Job(name="c", workers={"s4": 4, "s5": 1}),
            Job(name="d", workers={"s5": 1, "s6": 4}),
        ),
    )
