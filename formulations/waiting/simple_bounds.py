"""Simple bounds: lower bounds on the objective that need no solver."""

from fractions import Fraction
from itertools import accumulate

from formulations.waiting.best import BestRuns
from formulations.waiting.instance import SlottedInstance
from gsopt.core.numbers.grid import Exact, float_below
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.bounds.mean_busy_time import busy_times
from gsopt.schedule.bounds.position import positions
from gsopt.schedule.bounds.work import Steps


def simple_bound(instance: SlottedInstance) -> Exact:
    """Return a lower bound that follows from the jobs' run times on their best tiers, and from their GPU time.

    A job's best tier is the innermost one with a place that can hold it. For the makespan: no job ends before
    its release date plus its shortest run time, and the work released from any date on takes at least its GPU
    time divided by the number of GPUs. For the mean job completion time, the result is the larger of two
    bounds. First, at any time, no more jobs can have ended than under SRPT (shortest remaining processing time)
    on one machine as fast as all GPUs together, and no more than have been present for their shortest run
    times. Second, a job ends later than its mean busy time, the mean point in time at which its work is done,
    by at least half of its shortest run time. The sum of the mean busy times is smallest if such a machine
    always serves the available job with the least GPU time in total, with preemption.

    Source: the energy bound of a cumulative resource (Baptiste, Le Pape and Nuijten, 2001) and, for the mean,
    the formulas of `gsopt.schedule.bounds`, applied to the exact times of the problem.
    """
    steps = _steps(instance)
    if instance.problem.minimize == "makespan":
        alone = max(map(sum, zip(steps.release, steps.height, strict=True)))
        left = accumulate(reversed(steps.size))
        served = max(map(sum, zip(reversed(steps.release), left, strict=True)))
        return Fraction(max(alone, served) * steps.seconds)
    total = max(Fraction(sum(positions(steps))), busy_times(steps)) - sum(steps.release)
    return total * steps.seconds / len(steps.release)


def _steps(instance: SlottedInstance) -> Steps:
    """Return the jobs by release date, with times in units of a slot divided by the total number of GPUs."""
    gpus = sum(instance.sizes)
    order = sorted(range(len(instance.demand)), key=lambda job: instance.release[job])
    shortest = [min(instance.length(job, place) for place in instance.places_of(job)) for job in order]
    return Steps(
        seconds=instance.slot / gpus,
        origin=0,
        release=[instance.release[job] * gpus for job in order],
        height=[length * gpus for length in shortest],
        size=[length * instance.demand[job] for length, job in zip(shortest, order, strict=True)],
        twice_lag=[length * gpus for length in shortest],
    )


def bound_at_once(best: BestRuns) -> None:
    """Tighten the bound with `simple_bound` and, for the mean, with prices of GPU time.

    All bounds assume that each job runs on its best tier. Price bounds hold even if jobs may be interrupted and
    moved (`gsopt.schedule.bounds.mean_jct_bound`).
    """
    best.raise_bound(simple_bound(best.instance))
    if best.problem.minimize == "mean_jct" and not best.finished:
        found = mean_jct_bound(on_best_tiers(best.instance))
        if found is not None:
            best.raise_bound(found.mean_jct)


def on_best_tiers(instance: SlottedInstance) -> Scenario:
    """Return a scenario in which each job, wherever it is placed, runs as fast as on its best tier."""
    jobs = [
        Job(
            name=job.name,
            release_date=job.release_date,
            duration=float_below(instance.shortest(number)),
            gpus=job.gpus,
        )
        for number, job in enumerate(instance.problem.jobs)
    ]
    return Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(instance.problem.cluster.gpus))
