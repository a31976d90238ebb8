"""Beginning: a first placement and a bound, both cheap to compute."""

from bisect import bisect_left, insort
from collections import Counter
from fractions import Fraction

from formulations.consolidation.case import ConsolidationCase, Stays
from formulations.consolidation.vacancy import Vacancy
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact, exact_total, whole
from gsopt.problems.consolidation import ConsolidationSolution

#: Seconds after which the first placement stops, no matter how many groups are left to examine.
_MOMENT = 0.25


def begin(case: ConsolidationCase) -> tuple[ConsolidationSolution, Exact]:
    """Return a greedy placement and a bound.

    Jobs are placed in ascending order of size if the number of jobs is the primary objective, and otherwise in
    descending order of value per GPU. Placement ends after 0.25 s even if more jobs would fit.
    """
    stays = smallest_first(case) if case.required else densest_first(case)
    bonus = case.bonus + case.problem.machine_bonus * len(case.untouched)
    return case.placed(stays), whole(knapsack_bound(case) + bonus)


def densest_first(case: ConsolidationCase) -> Stays:
    """Choose kinds of jobs and levels greedily, in descending order of value per GPU.

    Of the groups with room on the chosen level, each job goes to the one with the fewest free GPUs.
    """
    choices = [(kind.worths[level], k, level) for k, kind in enumerate(case.kinds) for level in kind.levels]
    choices.sort(key=lambda choice: (-Fraction(choice[0]) / case.kinds[choice[1]].gpus, *choice[1:]))
    return _take(case, [(k, level) for _, k, level in choices])


def smallest_first(case: ConsolidationCase) -> Stays:
    """Choose the smallest jobs, each on the innermost level with room, to place as many jobs as possible."""
    order = sorted(range(len(case.kinds)), key=lambda k: (case.kinds[k].gpus, k))
    return _take(case, [(k, level) for k in order for level in case.kinds[k].levels])


def _take(case: ConsolidationCase, choices: list[tuple[int, int]]) -> Stays:
    """For each chosen pair of a job kind and a level, place all jobs that fit, within a short time limit."""
    moment = Budget(time_limit=_MOMENT)
    room = _Room(case.vacancy)
    waiting = [len(kind.jobs) for kind in case.kinds]
    stays: Counter[tuple[int, int]] = Counter()
    for k, level in choices:
        need = case.kinds[k].gpus
        while waiting[k] and not moment.passed:
            v = room.tightest(level, need)
            if v is None:
                break
            count = min(waiting[k], room.within(v) // need)
            room.use(v, count * need)
            stays[k, v] += count
            waiting[k] -= count
    return stays


class _Room:
    """The free GPUs left in every group, and the groups of each level in ascending order of free GPUs."""

    def __init__(self, vacancy: Vacancy) -> None:
        self.vacancy = vacancy
        self.free = [node.free for node in vacancy.nodes]
        self.ordered = [sorted((self.free[v], v) for v in level) for level in vacancy.levels]

    def tightest(self, level: int, need: int) -> int | None:
        """Return the fullest group of a level that can take a job, or None if there is none.

        The group, and all groups around it, must have room for the job.
        """
        ordered = self.ordered[level]
        enough = (ordered[place][1] for place in range(bisect_left(ordered, (need, -1)), len(ordered)))
        return next((v for v in enough if self.within(v) >= need), None)

    def within(self, v: int) -> int:
        """Return the number of GPUs that jobs staying in a group can still take."""
        return min(self.free[u] for u in self.vacancy.path(v))

    def use(self, v: int, gpus: int) -> None:
        """Take GPUs from a group and from all groups around it."""
        for u in self.vacancy.path(v):
            ordered = self.ordered[self.vacancy.nodes[u].level]
            del ordered[bisect_left(ordered, (self.free[u], u))]
            self.free[u] -= gpus
            insort(ordered, (self.free[u], u))


def knapsack_bound(case: ConsolidationCase) -> Exact:
    """Return the value of the fractional knapsack in which all jobs are on their best levels."""
    left = case.vacancy.nodes[-1].free
    worths: list[Exact] = []
    for kind in case.kinds:  # the most valuable for each GPU first
        gpus = min(left, kind.gpus * len(kind.jobs))
        worths.append(Fraction(kind.worths[kind.levels[0]]) * gpus / kind.gpus)
        left -= gpus
    return exact_total(worths)
