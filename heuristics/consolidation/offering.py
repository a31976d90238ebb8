"""Offering: free GPUs granted to one job after another, as close together as possible."""

from collections.abc import Iterable

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from gsopt.simulation.placer import FreeGpus, consolidated


def offer(problem: Consolidation, order: Iterable[Job], budget: Budget = UNLIMITED) -> ConsolidationSolution:
    """Grant each job GPUs as close together as possible. A job that needs more than are free keeps waiting.

    The GPUs come from the innermost level with a group that has enough: an island inside a machine (for at
    least two GPUs), a machine, a rack, and so on outwards. At this level, the group with the fewest free GPUs
    that suffice is chosen. In a group that is wider than a machine, the machines with the most free GPUs are
    used first (`gsopt.simulation.placer.consolidated`).

    Source: Dally, Algorithm 1, with both timers at zero: every offer is accepted. The algorithm does not say
    which machine or rack is offered; here it is the one that fits best.
    """
    busy = frozenset(problem.busy)
    left = [[gpu for gpu in gpus if gpu not in busy] for gpus in problem.cluster.gpus_of.values()]
    free = FreeGpus(problem.cluster, range(len(left)), left)
    placed: dict[str, tuple[int, ...]] = {}
    for job in order:
        if budget.passed:
            break
        if job.gpus > free.count:
            continue
        placed[job.name] = tuple(consolidated(free, job.gpus))
        for machine in {problem.cluster.machine_of[gpu] for gpu in placed[job.name]}:
            before = len(left[machine])
            left[machine] = [gpu for gpu in left[machine] if gpu not in placed[job.name]]
            free.recount(machine, before, len(left[machine]))
    return ConsolidationSolution(placed=placed)
