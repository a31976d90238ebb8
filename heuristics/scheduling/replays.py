"""Replays: online policies as heuristics of scheduling, each simulated on the problem's jobs and GPUs."""

from typing import Any

from gsopt.method import NoSolution, heuristic
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.simulation import Policy, replay
from heuristics import policies


def replayed(problem: Scheduling, policy: Policy, **options: Any) -> SchedulingSolution | NoSolution:
    """Simulate a policy at exact event times and without overhead.

    Policies know nothing of a problem's fairness, so where there is one their schedule may break it.

    Returns
    -------
    SchedulingSolution or NoSolution
        The schedule; NoSolution, with the job that is served unfairly, where it breaks the fairness.
    """
    run = replay(problem.scenario, policy, record=True, **options)
    if run.schedule is None:  # only without recording
        raise AssertionError
    solution = SchedulingSolution.of(run.schedule)
    if problem.fairness is not None and (broken := problem.violations(solution)):
        return NoSolution(broken[0])
    return solution


@heuristic
def efq(problem: Scheduling, *, alpha: float = 0.75, skip: bool = True) -> SchedulingSolution | NoSolution:
    """Replay elastic fair queuing.

    Source: Ares, sections 3.2-3.3; options as those of `heuristics.policies.efq`.

    Examples
    --------
    >>> import gsopt
    >>> efq(gsopt.load("scheduling/small/ares-figure-4")).objective
    4.833333333333333
    """
    return replayed(problem, policies.efq, alpha=alpha, skip=skip)


@heuristic
def elastic_srtf(problem: Scheduling, *, alpha: float = 0.75) -> SchedulingSolution | NoSolution:
    """Replay shortest remaining time first with the allocation of elastic fair queuing.

    Source: none; see `heuristics.policies.elastic_srtf`.

    Examples
    --------
    >>> import gsopt
    >>> elastic_srtf(gsopt.load("scheduling/small/ares-figure-1")).objective
    4.6000000000000005
    """
    return replayed(problem, policies.elastic_srtf, alpha=alpha)


@heuristic
def elastic_las(problem: Scheduling, *, alpha: float = 0.75) -> SchedulingSolution | NoSolution:
    """Replay least attained service with the allocation of elastic fair queuing.

    Source: none; see `heuristics.policies.elastic_las`.

    Examples
    --------
    >>> import gsopt
    >>> elastic_las(gsopt.load("scheduling/small/ares-figure-1")).method
    'elastic_las'
    """
    return replayed(problem, policies.elastic_las, alpha=alpha)


@heuristic
def equal_share(problem: Scheduling) -> SchedulingSolution | NoSolution:
    """Replay an equal share of the GPUs in whole GPUs.

    Source: the instantaneous fair sharing that Ares, section 2.3, sets out from; see
    `heuristics.policies.equal_share`.

    Examples
    --------
    >>> import gsopt
    >>> equal_share(gsopt.load("scheduling/small/ares-figure-4")).method
    'equal_share'
    """
    return replayed(problem, policies.equal_share)


@heuristic
def fifo(problem: Scheduling) -> SchedulingSolution | NoSolution:
    """Replay first in, first out, every job on the GPUs that it demands.

    Source: a baseline of every evaluation; see `heuristics.policies.fifo`.

    Examples
    --------
    >>> import gsopt
    >>> fifo(gsopt.load("scheduling/small/ares-figure-4")).method
    'fifo'
    """
    return replayed(problem, policies.fifo)


@heuristic
def srtf(problem: Scheduling) -> SchedulingSolution | NoSolution:
    """Replay shortest remaining time first, every job on the GPUs that it demands.

    Source: a baseline of many evaluations; see `heuristics.policies.srtf`.

    Examples
    --------
    >>> import gsopt
    >>> srtf(gsopt.load("scheduling/small/ares-figure-4")).method
    'srtf'
    """
    return replayed(problem, policies.srtf)


@heuristic
def las(problem: Scheduling, *, quantum: float | None = None) -> SchedulingSolution | NoSolution:
    """Replay two-dimensional least attained service, every job on the GPUs that it demands.

    Source: Tiresias (NSDI 2019), section 3; see `heuristics.policies.las`.

    Examples
    --------
    >>> import gsopt
    >>> las(gsopt.load("scheduling/small/ares-figure-4")).method
    'las'
    """
    return replayed(problem, policies.las, quantum=quantum)
