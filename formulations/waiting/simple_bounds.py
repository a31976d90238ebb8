"""Simple bounds: what no schedule is below, by formulas."""

from fractions import Fraction

from formulations.waiting.instance import Instance
from gsopt.grid import Exact


def simple_bound(instance: Instance) -> Exact:
    """Bound the objective by run times on the best tier, and by the GPU time that they take.

    A job's best tier is the innermost of which some place holds it, whatever else runs. For the makespan: no job
    ends before its release and best run time, and after each release date all GPUs have to do what is released
    from then on. For the mean completion time: the best run times; and in a cluster that is one large machine
    serving the GPU time of the jobs, shortest first, the jobs k of least GPU time need as much as they have.

    Source: energy bound of a cumulative resource; Eastman, Even and Isaacs (1964) for the mean.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Job
    >>> from gsopt.problems.waiting import Waiting
    >>> jobs = [Job(name=n, release_date=0, duration=6, gpus=3) for n in "abcd"]
    >>> problem = Waiting(cluster=Cluster.uniform(machines=2, gpus=4), jobs=jobs, minimize="makespan")
    >>> simple_bound(Instance.of(problem))
    Fraction(9, 1)
    """
    jobs = range(len(instance.demand))
    shortest = [Fraction(instance.shortest(job)) for job in jobs]
    gpus = sum(instance.sizes)
    area = [shortest[job] * instance.demand[job] / gpus for job in jobs]
    release = instance.exact_release
    if instance.problem.minimize == "makespan":
        alone = max(release[job] + shortest[job] for job in jobs)
        served = (
            begin + sum(area[job] for job in jobs if release[job] >= begin) for begin in sorted(set(release))
        )
        return max(alone, *served)
    return max(sum(shortest), _served(instance, shortest, area)) / len(shortest)


def _served(instance: Instance, shortest: list[Fraction], area: list[Fraction]) -> Fraction:
    """Bound the total of release to end by one fast machine, all jobs there from the first release on.

    On parallel GPUs, sum of C_j is at least the fast machine's sum of completions in order of area, each
    corrected by half of its own run time on the GPUs less half of that on the fast machine.
    """
    total, done = Fraction(0), Fraction(0)
    for job in sorted(range(len(area)), key=lambda job: area[job]):
        done += area[job]
        total += done
    del shortest
    return total - sum(map(Fraction, instance.exact_release))
