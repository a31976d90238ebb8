"""Latest: until when each job has ended in every schedule of at most some value."""

from fractions import Fraction

from formulations.waiting.instance import SlottedInstance
from gsopt.core.numbers.grid import Exact


def latest_ends(instance: SlottedInstance, value: Exact) -> list[Exact]:
    """List the latest end of each job in a schedule of at most some value, in seconds after the first release.

    For the mean completion time, all other jobs take at least their shortest run times, which leaves the rest
    of the total for one. The end of a schedule that is good for another objective proves nothing.
    """
    jobs = range(len(instance.demand))
    if instance.problem.minimize == "makespan":
        return [value for _ in jobs]
    shortest = [instance.shortest(job) for job in jobs]
    spare = Fraction(value) * len(jobs) - sum(shortest)
    return [instance.exact_release[job] + shortest[job] + spare for job in jobs]
