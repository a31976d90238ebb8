"""Optimus: one GPU at a time to the job whose time left falls most."""

from functools import partial
from typing import Literal

from gsopt.core.errors import require_one_of
from gsopt.evaluation.catalogue import find_method
from gsopt.simulation import Decider, State
from heuristics.policies.optimus.contender import Contenders
from heuristics.policies.optimus.convergence import Convergence
from heuristics.policies.optimus.granting import Grant, Granting
from heuristics.policies.optimus.growth import by_method, by_race


def optimus(
    state: State,
    *,
    interval: float | None = 60,
    exact: bool = False,
    stops: bool = False,
    knowledge: Literal["known", "predicted"] = "known",
    doubled: bool = True,
) -> Decider:
    """Grant every job its fewest GPUs, then one more to the job whose time left falls most, again and again.

    All GPUs are granted anew at every interval. A job whose number of GPUs stays keeps them; the others are
    placed from the fewest GPUs up, each on the machines with the most free ones.

    Source: Optimus (EuroSys 2018), section 4.1, in the form in which Pollux (OSDI 2021) compares itself with
    it, "Optimus+Oracle", and as its authors' public simulator has it: true times left, no parameter servers,
    a decision every 60 s. Key: the reduction of the time left by a step, for each GPU of it, while that is
    positive. Ties: the job released first. Preemptive: jobs beyond the capacity wait, in the order of their
    release, those that do not fit skipped; resizes; knows durations. O(J + W log J) for W steps of J jobs.

    With ``interval=600``, `stops` and predicted knowledge it is Optimus itself, as far as there is anything to
    predict: parameter servers, which take no GPUs, and fitted speeds are left out.

    Departures: a job begins with the fewest GPUs of its menu and takes the steps of its menu, where Optimus
    knows single GPUs; one whose next step does not fit leaves the race.

    Parameters
    ----------
    interval
        Seconds between decisions, which are taken at its multiples; None for a decision at every event.
    exact
        Whether to divide the GPUs beyond the fewest of each job so that the sum of the times left is least, as
        the decision `gsopt.problems.Allocation`, instead of step by step. The steps find that too where each
        saves less than the one before it. A better decision need not give shorter times in the end.
    stops
        Whether the first step that does not fit ends the decision, as in the code of Optimus' authors; else its
        job gets no more.
    knowledge
        Whether the work that is left is ``known``, or ``predicted`` from a curve fitted to the losses that were
        seen, for jobs with a training; such a job keeps its fewest GPUs until three losses were seen.
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
    rule: Grant = partial(by_race, stops=stops)
    if exact:
        rule = partial(by_method, method=find_method("allocation", "exact"))
    convergence = Convergence() if knowledge == "predicted" else None
    contenders = Contenders(state, doubled=doubled, convergence=convergence)
    return Granting(state, rule, interval=interval, contenders=contenders)
