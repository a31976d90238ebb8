"""Beginning: a choice of groups and a bound that cost next to nothing."""

from collections import Counter
from fractions import Fraction

from formulations.consolidation.case import Case, Stays
from gsopt.grid import Exact, exact_total, whole
from gsopt.problems.consolidation import ConsolidationSolution


def begin(case: Case) -> tuple[ConsolidationSolution, Exact]:
    """Give a placement by value density, and the bound of a knapsack that may be filled with parts of jobs.

    Examples
    --------
    >>> from instances.consolidation import half_busy
    >>> problem = half_busy(racks=4, jobs=100, seed=1)
    >>> solution, bound = begin(Case.of(problem))
    >>> problem.violations(solution), float(problem.objective(solution) / bound) > 0.9
    ([], True)
    """
    stays = smallest_first(case) if case.required else densest_first(case)
    bonus = case.bonus + case.problem.machine_bonus * len(case.untouched)
    return case.placed(stays), whole(knapsack_bound(case) + bonus)


def densest_first(case: Case) -> Stays:
    """Choose a kind and a level again and again, the most valuable for each GPU first.

    Jobs go to the group of that level with the fewest free GPUs that has room. Unlike a policy that accepts
    any tier at once, this leaves the poor places of one kind until the good ones of all others are taken.
    """
    choices = [(kind.worths[level], k, level) for k, kind in enumerate(case.kinds) for level in kind.levels]
    choices.sort(key=lambda choice: (-Fraction(choice[0]) / case.kinds[choice[1]].gpus, *choice[1:]))
    return _take(case, [(k, level) for _, k, level in choices])


def smallest_first(case: Case) -> Stays:
    """Choose the smallest jobs, each on the innermost level that has room: no choice has more jobs."""
    order = sorted(range(len(case.kinds)), key=lambda k: (case.kinds[k].gpus, k))
    return _take(case, [(k, level) for k in order for level in case.kinds[k].levels])


def _take(case: Case, choices: list[tuple[int, int]]) -> Stays:
    """Place as many jobs of a kind on a level as fit, choice by choice."""
    nodes = case.vacancy.nodes
    free = [node.free for node in nodes]
    waiting = [len(kind.jobs) for kind in case.kinds]
    stays: Counter[tuple[int, int]] = Counter()
    for k, level in choices:
        need = case.kinds[k].gpus
        while waiting[k]:
            room = {v: min(free[u] for u in case.vacancy.path(v)) for v in case.vacancy.levels[level]}
            enough = [v for v, most in room.items() if most >= need]
            if not enough:
                break
            v = min(enough, key=lambda v: (free[v], v))
            count = min(waiting[k], room[v] // need)
            for u in case.vacancy.path(v):
                free[u] -= count * need
            stays[k, v] += count
            waiting[k] -= count
    return stays


def knapsack_bound(case: Case) -> Exact:
    """Fill all free GPUs with the most valuable jobs, each on its best level, the last one in part.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.problems.consolidation import Consolidation, Job
    >>> jobs = [Job(name="a", gpus=4), Job(name="b", gpus=4, weight=0.5)]
    >>> knapsack_bound(Case.of(Consolidation(cluster=Cluster.uniform(machines=1, gpus=6), jobs=jobs)))
    5
    """
    left = case.vacancy.nodes[-1].free
    worths: list[Exact] = []
    for kind in case.kinds:  # the most valuable for each GPU first
        gpus = min(left, kind.gpus * len(kind.jobs))
        worths.append(Fraction(kind.worths[kind.levels[0]]) * gpus / kind.gpus)
        left -= gpus
    return exact_total(worths)
