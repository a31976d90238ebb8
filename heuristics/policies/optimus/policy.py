"""Optimus and AFS: GPUs are granted one by one to the job that gains most, by the time that jobs have left."""

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
    """Grant every job its fewest GPUs, then one more to the job whose time left falls most, again and again.

    All GPUs are granted anew at every interval. A job keeps its GPUs if their number stays; the others are
    placed from the fewest GPUs up, each on the machines with the most free ones.

    Source: Optimus (EuroSys 2018), section 4.1, in the form in which Pollux (OSDI 2021) compares itself with
    it, "Optimus+Oracle", and as its authors' public simulator has it: true times left, no parameter servers,
    a decision every 60 s. Key: the reduction of the time left by a step, per GPU of it, while that is
    positive. Ties: the job released first. Preemptive: jobs beyond the capacity wait, in the order of their
    release, those that do not fit skipped; resizes; knows durations. O(J + W log J) for W steps of J jobs.

    With ``interval=600``, `stops` and predicted knowledge it is Optimus itself, as far as there is anything to
    predict: parameter servers, which take no GPUs, and fitted speeds are left out.

    Departures: a job begins with the fewest GPUs of its menu and takes the steps of its menu, where Optimus
    knows single GPUs; one whose next step does not fit gets no more.

    Parameters
    ----------
    interval
        Seconds between decisions, which are taken at its multiples; None for a decision at every event.
    exact
        Whether to divide the GPUs beyond the fewest of each job so that the sum of the times left is least, as
        the decision `gsopt.problems.Allocation`, instead of step by step. The steps find that too where each
        saves less than the one before it. A better decision need not give shorter times in the end.
    solver
        The method of that decision, or its name.
    stops
        Whether the first step that does not fit ends the decision, as in the code of Optimus' authors; else its
        job gets no more.
    knowledge
        Whether the work that is left is ``known``, or ``predicted`` from a curve fitted to the observed losses,
        for jobs with a training; such a job keeps its fewest GPUs until three losses were observed.
    doubled
        Whether an adaptive job is expected to divide its batch in two on a single GPU, as in the simulator of
        Pollux; else only where the batch exceeds the initial one, as jobs there do.

    Raises
    ------
    InvalidInput
        An option is out of its range; or GPUs are of several kinds where `exact`.

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
    """Grant every further GPU to the job that gains more by it than those that it is compared with.

    All GPUs are granted anew at every event, one after the other. For each a scan keeps the winner of its
    comparisons: of two jobs without GPUs the one with less time left on its fewest; otherwise the one with
    less time left on what it has, if its speed grows by a larger share of what it has than that of the other
    grows by of what it would have. A job without GPUs has no end in sight, and its speed grows by all of it.

    Source: AFS (NSDI 2021), AFS-L, which knows lengths; AFS-P is left out. Its authors' code is not public.
    Key: as above. Ties: the job that the scan comes to last where neither has GPUs, else the winner so far
    counts as the one with less time left. Preemptive; resizes; knows durations. Placement as in `optimus`.
    O(J G) for G steps granted among J jobs.

    Readings: the comparison is not transitive, so the order of the scan decides; here it is that of release.
    A step of several GPUs counts for each of them, but for the first of a job; steps that make a job no faster
    are not taken; a job whose next step does not fit gets no more.

    Parameters
    ----------
    interval, solver, doubled
        As in `optimus`, but by default a decision is taken at every event.
    exact
        As in `optimus`, but jobs with less time left get their fewest GPUs first.

    Raises
    ------
    InvalidInput
        The interval is no number of seconds; or GPUs are of several kinds where `exact`.

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
