"""Optimus: one GPU at a time to the job whose time left falls most."""

from collections.abc import Sequence
from functools import partial

from gsopt.method import MethodLike
from gsopt.simulation import Decider, State
from gsopt.simulation.deciders.granting.contender import Contender
from gsopt.simulation.deciders.granting.granting import Granting
from gsopt.simulation.deciders.granting.grants import Grants
from gsopt.simulation.deciders.granting.growth import by_method, by_race
from gsopt.studies.catalogue import find_method


def optimus(state: State, *, interval: float | None = 60, exact: bool = False) -> Decider:
    """Give every job its fewest GPUs, then one more to the job whose time left falls most, again and again.

    All GPUs are granted anew at every interval. A job whose number of GPUs stays keeps them; the others are
    placed from the fewest GPUs up, each on the machines with the most free ones.

    Source: Optimus (EuroSys 2018), section 4.1, in the form in which Pollux (OSDI 2021) compares itself with
    it, "Optimus+Oracle", and as its authors' public simulator has it: true times left, no parameter servers,
    a decision every 60 s. Key: the reduction of the time left by a step, for each GPU of it, while that is
    positive. Ties: the job released first. Preemptive: jobs beyond the capacity wait, in the order of their
    release, those that do not fit skipped; resizes; knows durations. O(J + W log J) for W steps of J jobs.

    Departures: a job begins with the fewest GPUs of its menu and takes the steps of its menu, where Optimus
    knows single GPUs; one whose next step does not fit leaves the race.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    interval
        Seconds between decisions, which are taken at its multiples; None for a decision at every event.
    exact
        Whether to divide the GPUs beyond the fewest of each job so that the sum of the times left is least, as
        the decision `gsopt.problems.Allocation`, instead of step by step. The steps find that too where each
        saves less than the one before it. A better decision need not give shorter times in the end.

    Raises
    ------
    InvalidInput
        The interval is no number of seconds; or GPUs are of several kinds where `exact`.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 1.5), (3, 1.8)]
    >>> sizes = [("a", 90), ("b", 360)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in sizes]
    >>> simulate(Workload(jobs=jobs), optimus, cluster=4).completion_times
    (90.0, 200.0)
    """
    method = find_method("allocation", "exact") if exact else None
    return Granting(state, partial(_grant, method=method), interval=interval)


def _grant(jobs: Sequence[Contender], grants: Grants, *, method: MethodLike | None) -> None:
    started = [job for job in jobs if grants.grow(job)]
    if method is None:
        by_race(started, grants)
    else:
        by_method(started, grants, method)
