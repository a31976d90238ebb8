"""ElasticFlow: jobs are admitted if their deadlines can be kept, and get what that takes."""

from collections.abc import Callable
from typing import Any, Literal

from gsopt.core.errors import require, require_one_of
from gsopt.simulation import Decider, State
from heuristics.policies.elasticflow.guaranteeing import DeadlineDecision, Guaranteeing
from heuristics.policies.elasticflow.plan import keeps_all
from heuristics.policies.elasticflow.relaxed import could_keep_all


def elasticflow(
    state: State,
    *,
    slot: float = 60,
    exact: bool = False,
    rejected: Literal["last", "never"] = "last",
    on_admission: Callable[[DeadlineDecision], Any] | None = None,
) -> Decider:
    """Admit a job if its deadline can be kept, give each the least that keeps it, and share what is left over.

    Time is divided into slots. At the first slot after an arrival or completion everything is planned anew: by
    deadline, each job takes the lowest number of GPUs of its menu with which it completes in time on the GPUs
    that the jobs before it leave; in slots with fewer GPUs left it runs on as many as it can. That is its
    minimum satisfactory share. A newcomer that would make any job late is rejected. GPUs that are left over in
    the first slot go to jobs that have none, by deadline, and then level by level to the job whose GPU time
    rises least per GPU.

    Source: ElasticFlow (ASPLOS 2023), sections 4.1 and 4.2, Algorithms 1 and 2, with the slots of its authors'
    simulator. Key: as above. Ties: earlier deadline, then lower number. Preemptive; resizes; knows durations.
    O(J^2 L) for L levels of J jobs at an arrival, and where many GPUs are left over O(J G) for G steps.

    Readings: newcomers of one slot are admitted one by one, in the order of their release, where the authors'
    simulator rejects all of them together. Levels are not lowered below those of the plan before if that would
    make a job or a newcomer late. Rejected jobs and those without a deadline run on what is left over; the
    paper drops the former. Neither overheads nor phases are planned: a job has the speeds of the time of its
    admission. So jobs may be late because of them: the figure ``deadlines_kept`` says how many are not,
    `on_admission` how many were planned. An admitted job that loses its share because GPUs have gone comes
    first in what is left over.

    By its path only, as ``heuristics.policies.elasticflow:elasticflow``: it refuses GPUs of several kinds.

    Parameters
    ----------
    slot
        Seconds of a slot.
    exact
        Whether to admit whenever deadlines could be kept if GPUs and time were shared in any parts, which is
        the most that any rule could admit; jobs are planned as above all the same, so that some may be late.
    rejected
        Whether rejected jobs run ``last``, on what is left over, or ``never``, as in the paper.
    on_admission
        Called with every decision about a job with a deadline.

    Raises
    ------
    InvalidInput
        An option is out of its range, or GPUs are of several kinds.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 1.5)]
    >>> sizes = [("a", 120, 120), ("b", 120, 120), ("c", 60, 180)]
    >>> jobs = [Job(name=n, release_date=0, duration=w, gpus=1, menu=menu, deadline=d) for n, w, d in sizes]
    >>> run = simulate(Workload(jobs=jobs), elasticflow, cluster=2)
    >>> run.completion_times, run.metrics.deadlines_kept
    ((120.0, 120.0, 160.0), 1.0)
    """
    require_one_of("rejected", rejected, ("last", "never"))
    sound = on_admission is None or callable(on_admission)
    require(sound, "on_admission", on_admission, "must be a function, or None")
    admits = could_keep_all if exact else keeps_all
    return Guaranteeing(state, admits, slot=slot, drops=rejected == "never", on_admission=on_admission)
