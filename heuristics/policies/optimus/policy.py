"""Policy: the policies Optimus and AFS, which grant GPUs step by step, by remaining times and gains."""

from functools import partial
from typing import Literal

from gsopt.core.errors import require_one_of
from gsopt.core.method import MethodLike
from gsopt.evaluation.catalogue import find_method
from gsopt.simulation import Decider, State
from heuristics.policies.optimus.candidates import Candidates
from heuristics.policies.optimus.convergence import Convergence
from heuristics.policies.optimus.granting import Grant, Granting
from heuristics.policies.optimus.rules import by_method, by_pairs, by_steps


def optimus(
    state: State,
    *,
    interval: float | None = 60,
    exact: bool = False,
    solver: MethodLike | str = "exact",
    stops: bool = False,
    knowledge: Literal["known", "predicted"] = "known",
    doubled: bool = True,
) -> Decider:
    """Grant jobs their smallest numbers of GPUs, then repeatedly grow the one that saves most time per GPU.

    All GPUs are reallocated at multiples of `interval`. Jobs get their smallest numbers of GPUs in order of
    release, and jobs that do not fit are skipped. After that, each step takes a job from one of its allowed
    numbers of GPUs to the next, as long as this saves time. A job whose number of GPUs does not change keeps
    its GPUs. The other jobs are placed in ascending order of their numbers of GPUs, on the machines with the
    most free ones. If GPUs are of several kinds, each job keeps as many of its GPUs as possible instead.

    Source: Optimus (EuroSys 2018), section 4.1, as in the baseline "Optimus+Oracle" of Pollux (OSDI 2021) and
    its authors' simulator. Key: the reduction in remaining time by a step, per GPU of the step. Ties: the job
    released first. Preemptive; resizes; knows durations (see `knowledge`). O(J + W log J) for W steps of J
    jobs.

    With ``interval=600``, ``stops=True`` and ``knowledge="predicted"``, this is Optimus itself, with a few
    exceptions. Optimus estimates speeds from measurements, has parameter servers, and adds single GPUs. Its
    jobs end when their loss hardly decreases; here, they end at their target loss.

    Parameters
    ----------
    interval
        Time between decisions, in seconds; None for a decision at every event.
    exact
        Whether to divide the GPUs beyond the smallest numbers by solving the decision
        `gsopt.problems.Allocation`, which minimizes the sum of remaining times. Without `exact`, this sum is
        also minimal if each step adds a single GPU and saves no more than the job's previous step. Set `exact`
        with `functools.partial`, because `gsopt.simulate` has an option of the same name.
    solver
        The method for that decision, or its name.
    stops
        Whether the first step that does not fit ends the decision, as in the code of Optimus' authors.
        Otherwise, only the job of that step gets no more GPUs.
    knowledge
        Whether the remaining work is ``known`` or, for jobs whose training is described, ``predicted`` by a
        curve fitted to the observed losses. This takes at least three losses. Until then, such a job gets at
        most its smallest number of GPUs.
    doubled
        Whether the policy assumes that an adaptive job on a single GPU always divides its batch in two, as in
        Pollux' simulator. Otherwise, it assumes this only for batch sizes above the initial one.

    Raises
    ------
    InvalidInput
        An option is out of range, or GPUs are of several kinds with `exact`.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.5), (3, 1.8)]
    >>> sizes = [("a", 90), ("b", 360)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in sizes]
    >>> simulate(Workload(jobs=jobs), optimus, cluster=4).completion_times
    (90.0, 200.0)
    """
    require_one_of("knowledge", knowledge, ("known", "predicted"))
    rule: Grant = partial(by_steps, stops=stops)
    if exact:
        rule = partial(by_method, method=find_method("allocation", solver, field="solver"))
    convergence = Convergence() if knowledge == "predicted" else None
    candidates = Candidates(state, doubled=doubled, convergence=convergence)
    return Granting(state, rule, interval=interval, candidates=candidates)


def afs(
    state: State,
    *,
    interval: float | None = None,
    exact: bool = False,
    solver: MethodLike | str = "exact",
    doubled: bool = True,
) -> Decider:
    """Grant GPUs step by step to the winner of pairwise comparisons of remaining times and speed-ups.

    At every event, all GPUs are reallocated in steps. A step gives a job its smallest number of GPUs, or takes
    it from one of its allowed numbers to the next. For each step, the jobs are compared in order of release,
    each with the winner so far:

    - Two jobs without GPUs: the one with less remaining time on its smallest number wins.
    - Two jobs with GPUs: the one with less remaining time on them is the shorter one. It wins if its gain in
      speed, relative to its present speed, exceeds the other's gain, relative to the other's speed after the
      step.
    - Otherwise, the job with GPUs wins if its gain exceeds its present speed.

    Gains are divided by the number of GPUs of the step. A job gets no more GPUs once its next step does not fit
    or does not make it faster.

    Source: AFS-L from AFS (NSDI 2021), without public code. The order of comparisons and the division of gains
    are our interpretation. Key: as above. Ties: if neither job has GPUs, the later one wins; otherwise, the
    winner so far counts as the shorter job. Preemptive; resizes; knows durations. Placement as in `optimus`.
    O(J G) for G steps granted among J jobs.

    Parameters
    ----------
    interval, solver, doubled
        As in `optimus`, but by default a decision is taken at every event.
    exact
        As in `optimus`, but jobs with less remaining time get their smallest numbers of GPUs first.

    Raises
    ------
    InvalidInput
        An option is out of range, or GPUs are of several kinds with `exact`.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.5), (3, 1.8)]
    >>> sizes = [("a", 90), ("b", 360)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in sizes]
    >>> simulate(Workload(jobs=jobs), afs, cluster=4).completion_times
    (60.0, 210.0)
    """
    rule: Grant = by_pairs
    if exact:
        method = find_method("allocation", solver, field="solver")
        rule = partial(by_method, method=method, shortest_first=True)
    return Granting(state, rule, interval=interval, candidates=Candidates(state, doubled=doubled))
