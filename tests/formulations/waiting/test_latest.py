"""Latest ends: what a value leaves to each job, and no more is taken for granted."""

from fractions import Fraction
from random import Random

from formulations.waiting.instance import SlottedInstance
from formulations.waiting.intervals import intervals
from formulations.waiting.latest import latest_ends
from formulations.waiting.relaxation import Relaxation
from formulations.waiting.time_indexed import time_indexed
from gsopt.core.budget import Budget
from gsopt.core.result import Status
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.solvers.scaling import optimize
from tests.exactness import waiting as oracle


def test_a_horizon_from_the_makespan_loses_the_optimum() -> None:
    """Jobs of 1, 1, 1 and 3 s on 2 GPUs end by 3 s at best, and by 4 s when their mean is best."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in zip("abcd", (1, 1, 1, 3), strict=True)]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    makespan = intervals(Waiting(cluster=problem.cluster, jobs=jobs, minimize="makespan"))
    assert makespan.objective == 3
    instance = SlottedInstance.of(problem)

    def best_until(latest: list[Fraction]) -> Fraction:
        model = Relaxation(instance, latest)
        proof = optimize(model.form(), Budget(), costs=model.costs)
        assert proof.status is Status.OPTIMAL
        assert proof.bound is not None
        return Fraction(proof.bound)

    trapped = best_until([Fraction(3)] * 4)
    valid = best_until([Fraction(end) for end in latest_ends(instance, trapped)])

    assert (trapped, valid) == (Fraction(9, 4), Fraction(2))
    assert time_indexed(problem).objective == intervals(problem).objective == 2


def test_no_optimal_schedule_ends_later() -> None:
    """On 30 tiny instances every job of an optimal schedule ends by its latest end for the optimum."""
    for seed in range(30):
        problem = oracle.draw(Random(seed))
        result = intervals(problem)
        assert result.solution is not None
        assert result.objective is not None
        instance = SlottedInstance.of(problem)
        latest = latest_ends(instance, Fraction(result.objective))
        ends = {segment.job: segment.end for segment in problem.schedule(result.solution).segments}
        for job, end in zip(problem.jobs, latest, strict=True):
            assert ends[job.name] <= float(end + instance.origin) * (1 + 1e-12), problem.name
