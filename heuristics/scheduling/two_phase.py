"""Two-phase over time: Aryl's Algorithm 2, repeated whenever a job arrives or completes."""

from collections.abc import Sequence
from math import inf

from gsopt.core.errors import Unsupported
from gsopt.core.method import NoSolution, heuristic
from gsopt.core.numbers.tolerances import WORK_DONE
from gsopt.problems import allocation
from gsopt.problems.scheduling import ElasticJob, Scheduling, SchedulingSolution
from gsopt.schedule.retiming import TaskStretch
from heuristics.allocation.two_phase import two_phase_allocation


@heuristic
def two_phase(problem: Scheduling) -> SchedulingSolution | NoSolution:
    """At every event, start jobs on the fewest GPUs, shortest first, and divide the rest by a knapsack.

    Running jobs keep at least their fewest GPUs until they complete, so no job is preempted. There is no
    solution if the schedule is less fair than the problem requires.

    Raises
    ------
    Unsupported
        The problem allows preemption.

    Notes
    -----
    Source: Aryl, section 5.2 and Appendix D, Algorithm 2, which decides for one point in time.

    Complexity: O(I C) for the knapsack at each of at most 2 n events, with n jobs, I allowed numbers of GPUs in
    total, and C GPUs.

    Departures from the paper: additional GPUs of a running job are valued by its remaining time. A job may have
    any allowed number of GPUs, and its speeds determine the value of additional GPUs.

    The mean job completion time may be arbitrarily many times the optimum that
    `formulations.scheduling.resizing` finds: jobs that start on their fewest GPUs may hold GPUs with which
    another job would complete almost immediately.

    Examples
    --------
    >>> rates = {count: float(count) for count in range(2, 7)}
    >>> a = ElasticJob(name="A", release=0, work=300, rates={2: 2, 3: 3})
    >>> b = ElasticJob(name="B", release=0, work=120, rates=rates)
    >>> 2 * two_phase(Scheduling(gpus=8, jobs=[a, b], preemptive=False)).objective
    124.0
    """
    if problem.preemptive:
        raise Unsupported("two_phase: the problem must not allow preemption")
    solution = problem.made_of(_runs(problem))
    broken = problem.violations(solution) if problem.fairness is not None else []
    return NoSolution(broken[0]) if broken else solution


def _runs(problem: Scheduling) -> list[TaskStretch]:
    """Simulate from event to event, beginning at the first release date, and return the runs."""
    jobs = {job.name: job for job in problem.jobs}
    ahead = list(problem.own_clock.workload.jobs)
    left: dict[str, float] = {}  # remaining work of released jobs
    begun: set[str] = set()
    runs: list[TaskStretch] = []
    now = 0.0
    while ahead or left:
        if not left:
            now = max(now, ahead[0].release_date)
        while ahead and ahead[0].release_date <= now:
            name = ahead.pop(0).name
            left[name] = jobs[name].work
        gpus = _divided(problem, [(jobs[name], work) for name, work in left.items()], begun)
        begun.update(gpus)
        ends = {name: now + left[name] / jobs[name].rates[count] for name, count in gpus.items()}
        following = min([*ends.values(), ahead[0].release_date if ahead else inf])
        for name, count in gpus.items():
            if following > now:
                runs.append(TaskStretch(name, now, following, count))
            left[name] -= (following - now) * jobs[name].rates[count]
            if ends[name] <= following or left[name] <= WORK_DONE * jobs[name].work:
                del left[name]
        now = following
    return runs


def _divided(problem: Scheduling, left: Sequence[tuple[ElasticJob, float]], begun: set[str]) -> dict[str, int]:
    """Return the GPUs of each job that runs now, keyed by job name."""
    elastic = {job.name: _elastic(job, work, problem.gpus) for job, work in left}
    running = [job for name, job in elastic.items() if name in begun]
    queued = [job for name, job in elastic.items() if name not in begun]
    decision = two_phase_allocation(queued, running, problem.gpus - sum(job.base_gpus for job in running))
    chosen = decision.result.solution
    extra = {} if chosen is None else chosen.extra
    return {job.name: job.min_workers + extra.get(job.name, 0) for job in (*decision.started, *running)}


def _elastic(job: ElasticJob, work: float, gpus: int) -> allocation.ElasticJob:
    """Return a job as an item of the decision `allocation`, where each GPU is a worker."""
    (least, slowest), *others = sorted((count, rate) for count, rate in job.rates.items() if count <= gpus)
    time = work / slowest
    return allocation.ElasticJob(
        name=job.name,
        min_workers=least,
        counts=[count - least for count, _ in others],
        values=[time - work / rate for _, rate in others],
        time_at_min=time,
    )
