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

    All GPUs are reallocated at multiples of `interval`. If the number of a job's GPUs does not change, the job
    keeps its GPUs. The other jobs are placed in ascending order of their numbers of GPUs, each on the machines
    with the most free GPUs. If GPUs are of several kinds, each job instead keeps as many of its GPUs as
    possible, and additional ones are chosen close together.

    Source: Optimus (EuroSys 2018), section 4.1, in the version of the baseline "Optimus+Oracle" of Pollux (OSDI
    2021) and its authors' public simulator: with true remaining times, without parameter servers, and with a
    decision every 60 s. Key: the reduction in remaining time by a step, per GPU of the step, if positive. Ties:
    the job released first. Preemptive: if there are too few GPUs for all jobs, jobs get their smallest numbers
    in order of release, and jobs that do not fit are skipped. Resizes; knows durations. O(J + W log J) for W
    steps of J jobs.

    With ``interval=600``, ``stops=True`` and ``knowledge="predicted"``, this is Optimus itself, except that
    speeds are not fitted, there are no parameter servers, a job ends when it reaches its target loss instead of
    when its loss hardly decreases, and the following departures apply.

    Departures: a job begins with its smallest number of GPUs, and a step takes it from one of its allowed
    numbers to the next, whereas Optimus adds single GPUs. Unless `stops` is set, a step that does not fit ends
    the growth of its job only.

    Parameters
    ----------
    interval
        Time between decisions, in seconds; they are taken at its multiples, or at every event if None.
    exact
        Whether to divide the GPUs beyond each job's smallest number so as to minimize the sum of remaining
        times, by solving the decision `gsopt.problems.Allocation`, instead of step by step. Granting them step
        by step is also optimal if every step adds a single GPU and no step of a job saves more than the one
        before it. A better decision does not necessarily lead to shorter completion times. `gsopt.simulate` has
        an option of the same name, so set this one with `functools.partial`.
    solver
        The method for that decision, or its name.
    stops
        Whether the first step that does not fit ends the decision, as in the code of Optimus' authors.
        Otherwise, only the job of that step gets no more GPUs.
    knowledge
        Whether the remaining work is ``known`` or ``predicted``. A prediction uses a curve fitted to the
        observed losses, for jobs whose training is described. Such a job gets its smallest number of GPUs until
        its remaining work can be predicted, which takes at least three observed losses.
    doubled
        Whether the policy assumes that an adaptive job on a single GPU always divides its batch in two, as the
        Optimus policy in Pollux' simulator does. Otherwise, it assumes this only for batch sizes above the
        initial one, which is how jobs in that simulator behave.

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
    it from one of its allowed numbers of GPUs to the next. To choose a job for each step, a scan over the jobs
    keeps the winner so far. Of two jobs without GPUs, the one with less remaining time on its smallest number
    wins. Otherwise, the job with less remaining time on its current GPUs is called the shorter one. It wins if
    its gain in speed, relative to its current speed, exceeds the gain of the other job, relative to that job's
    speed after the step. For a job without GPUs, the remaining time is infinite, and the relative gain is 1.

    Source: AFS-L from AFS (NSDI 2021), which knows job lengths; AFS-P, which does not, is left out. The
    authors' code is not public. Key: as above. Ties: if neither job has GPUs, the later one in the scan wins;
    otherwise, the winner so far is taken to be the shorter job. Preemptive; resizes; knows durations. Placement
    as in `optimus`. O(J G) for G steps granted among J jobs.

    Readings: the comparison is not transitive, so the order of the scan matters; here it is the order of
    release. The gain of a step of several GPUs is divided by their number, except for a job's first step. A
    step is not taken if it does not make the job faster. A job whose next step does not fit gets no more GPUs.

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
