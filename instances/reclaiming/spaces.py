"""Spaces: finite sets of small reclaiming problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import combinations, permutations, product

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from instances.arguments import at_least

__all__ = ["tiny"]

#: A job: the indices of the servers on which it has one worker each, and its cost.
_Spread = tuple[tuple[int, ...], int]


def tiny(*, jobs: int = 3, servers: int = 3, costs: int = 2) -> Space:
    """Return the space of all problems with a few jobs, each of which has one worker on each of its servers.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    servers
        Largest number of servers. At least one must be returned, and at least one is kept.
    costs
        Largest cost of preempting a job; costs are positive integers.

    Examples
    --------
    >>> tiny(jobs=1, servers=2, costs=1).size
    2
    """
    at_least(1, jobs=jobs, costs=costs)
    at_least(2, servers=servers)
    about = f"at most {jobs} jobs that cost at most {costs} each, on at most {servers} servers"
    settings = [_setting(count, demand, costs) for count in range(2, servers + 1) for demand in range(1, count)]
    return Space("reclaiming", about, tuple(settings), jobs)


def _setting(servers: int, demand: int, costs: int) -> Setting:
    numbers = range(servers)
    subsets = [some for size in range(1, servers + 1) for some in combinations(numbers, size)]
    items: list[_Spread] = [*product(subsets, range(1, costs + 1))]

    def make(chosen: Sequence[_Spread]) -> Reclaiming:
        jobs = [
            Job(name=f"j{place}", workers={f"s{number}": 1 for number in on}, cost=cost)
            for place, (on, cost) in enumerate(chosen)
        ]
        return Reclaiming(
            demand=demand, servers=[Server(name=f"s{number}", gpus=8) for number in numbers], jobs=jobs
        )

    index = {item: place for place, item in enumerate(items)}
    renamings = [*permutations(numbers)][1:]
    symmetries = [
        tuple(index[tuple(sorted(names[number] for number in on)), cost] for on, cost in items)
        for names in renamings
    ]
    return Setting(tuple(items), make, tuple(symmetries))
