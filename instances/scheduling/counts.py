"""Counts: the GPU counts on which the jobs of an instance may run."""

from typing import Literal

from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.scenario.speed import efficient_counts
from instances.suites import changed

#: The allowed doublings of the demanded number of GPUs: those that elastic fair queuing may use, or all. The
#: optimum over fewer counts is not a bound for policies that use other counts.
Counts = Literal["alpha", "all"]


def restricted(problem: Scheduling, alpha: float) -> Scheduling:
    """Return a problem whose jobs are restricted to the GPU counts that elastic fair queuing may use.

    `alpha` is the scaling control threshold. Source: Ares, section 3.3; see
    `gsopt.scenario.speed.efficient_counts`.
    """
    allowed = {job.name: efficient_counts(job, alpha) for job in problem.workload.jobs}

    def only(job: ElasticJob) -> ElasticJob:
        rates = {count: rate for count, rate in job.rates.items() if count in allowed[job.name]}
        return job.model_copy(update={"rates": rates})

    return changed(problem, jobs=tuple(map(only, problem.jobs)))
