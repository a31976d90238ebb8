"""POP: a heuristic that randomly partitions the jobs, divides the GPUs, and solves each part separately."""

from collections.abc import Iterator, Mapping, Sequence

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import MethodLike, heuristic
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.configuration import AdaptiveJob, Configuration, ConfigurationSolution
from heuristics.common.partition import check_partition, dealt, divided, solutions


@heuristic
def pop(
    problem: Configuration,
    *,
    parts: int = 2,
    seed: int = 0,
    even: bool = True,
    solver: MethodLike | str = "exact",
    budget: Budget = UNLIMITED,
) -> ConfigurationSolution:
    """Distribute the jobs over parts at random, divide the GPUs evenly, and solve each part separately.

    Pinned jobs keep their GPUs and belong to no part. Of the other GPUs of each type, each part gets an equal
    number, rounded down, and the rest stays idle. Large jobs may have to shrink, change their type, or wait.

    Complexity for k parts: k times that of `solver` on problems with 1/k of the jobs and GPUs.

    Source: POP (SOSP 2021), section 3. The paper partitions Gavel's problems, not Sia's. It has no pinned jobs.
    Here, jobs cannot be split, because each has only one configuration.

    Parameters
    ----------
    problem
        The problem.
    parts
        Number of parts.
    seed
        Seed of the partition.
    even
        Whether the numbers of jobs in the parts differ by at most one, as in the paper's Figure 2. Otherwise,
        each job's part is drawn independently, as in the scheduler of the authors' program.
    solver
        The method that solves each part, or its name.
    budget
        Time limit. Each part may use an equal share of the remaining time.

    Raises
    ------
    InvalidInput
        The number of parts is below 1, the seed is not an integer, or there is no such method.

    Examples
    --------
    >>> from formulations.configuration import exact
    >>> from instances.configuration import growing_jobs
    >>> problem = growing_jobs(nodes=8, jobs=16, seed=1)
    >>> float(pop(problem, parts=2).objective), float(exact(problem).objective)
    (12.94, 12.88)
    """
    check_partition(parts, seed)
    method = find_method(problem.word, solver, field="solver")
    chosen = {job.name: job.current for job in problem.jobs if job.pinned and job.current is not None}
    hands = dealt([[job] for job in problem.jobs if not job.pinned], parts, seed, even=even)
    for solution in solutions(_problems(problem, hands, _left(problem, chosen), parts), method, budget):
        chosen |= {} if solution is None else solution.configurations
    return ConfigurationSolution(configurations=chosen)


def _left(problem: Configuration, pinned: Mapping[str, int]) -> dict[str, int]:
    """Return the GPUs of each type that remain beside the pinned jobs."""
    left = dict(problem.gpus)
    for place in pinned.values():
        left[problem.configurations[place].type] -= problem.configurations[place].gpus
    return left


def _problems(
    problem: Configuration, hands: Sequence[Sequence[AdaptiveJob]], gpus: Mapping[str, int], parts: int
) -> Iterator[Configuration]:
    """Yield the problem of each part.

    Configurations that do not fit keep their index, but no job can use them. Therefore, it does no harm that a
    type without GPUs in the part is given one GPU.
    """
    own = divided(gpus, parts)
    fits = [shape.gpus <= own[shape.type] for shape in problem.configurations]
    held = {kind: max(count, 1) for kind, count in own.items()}
    for jobs in hands:
        yield problem.model_copy(update={"gpus": held, "jobs": tuple(_fitting(job, fits) for job in jobs)})


def _fitting(job: AdaptiveJob, fits: Sequence[bool]) -> AdaptiveJob:
    """Return the job restricted to the configurations that fit."""
    measured = zip(job.goodputs, fits, strict=True)
    return job.model_copy(update={"goodputs": tuple(goodput if fit else None for goodput, fit in measured)})
