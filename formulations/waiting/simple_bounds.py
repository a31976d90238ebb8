"""Simple bounds: what no schedule is below, by formulas."""

from fractions import Fraction

from formulations.waiting.best import Best
from formulations.waiting.instance import Instance
from gsopt.bounds import mean_jct_bound
from gsopt.grid import Exact


def simple_bound(instance: Instance) -> Exact:
    """Bound the objective by run times on the best tier, and by the GPU time that they take.

    A job's best tier is the innermost of which some place holds it, whatever else runs. For the makespan: no
    job ends before its release and best run time, and after each release date all GPUs have to do what is
    released from then on. For the mean completion time: the best run times; and when k jobs have ended, the GPU
    time of at least the k smallest is done.

    Source: energy bound of a cumulative resource (Baptiste, Le Pape and Nuijten, 2001).

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
    return max(sum(shortest, Fraction(0)), _served(instance, area)) / len(shortest)


def bound_at_once(best: Best) -> None:
    """Raise the bound by formulas, and for the mean by prices of GPU time, with each job on its best tier.

    Those hold for jobs that may be interrupted and moved too (`gsopt.bounds.mean_jct_bound`).

    Examples
    --------
    >>> from gsopt.budget import Budget
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Job
    >>> from gsopt.problems.waiting import Waiting
    >>> jobs = [Job(name=n, release_date=0, duration=6, gpus=4) for n in "abcd"]
    >>> best = Best(Instance.of(Waiting(cluster=Cluster.uniform(machines=1, gpus=4), jobs=jobs)), Budget(), "")
    >>> bound_at_once(best)
    >>> best.bound
    15
    """
    best.raise_bound(simple_bound(best.instance))
    if best.problem.minimize == "mean_jct" and not best.finished:
        found = mean_jct_bound(best.problem.scenario)
        if found is not None:
            best.raise_bound(found.mean_jct)


def _served(instance: Instance, area: list[Fraction]) -> Fraction:
    """Bound the total of release to end by the time that all GPUs together need for the jobs that end first.

    When k jobs have ended, the GPU time of k jobs is done, and that is at least that of the k smallest.
    """
    total, done = Fraction(0), Fraction(0)
    for own in sorted(area):
        done += own
        total += done
    return total - sum(map(Fraction, instance.exact_release))
