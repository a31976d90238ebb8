"""Latest: the latest end of each job in any schedule whose value does not exceed a given value."""

from fractions import Fraction

from formulations.waiting.instance import SlottedInstance
from gsopt.core.numbers.grid import Exact


def latest_ends(instance: SlottedInstance, value: Exact) -> list[Exact]:
    """Return the latest end of each job, in seconds after the earliest release date, for the given value.

    For the mean completion time, the other jobs take at least their shortest run times, and the job in question
    may use up the rest of the total.
    """
    jobs = range(len(instance.demand))
    if instance.problem.minimize == "makespan":
        return [value for _ in jobs]
    shortest = [instance.shortest(job) for job in jobs]
    spare = Fraction(value) * len(jobs) - sum(shortest)
    return [instance.exact_release[job] + shortest[job] + spare for job in jobs]
