"""ElasticFlow: a policy that admits jobs whose deadlines can be met, and grants the GPUs that they need."""

from collections.abc import Callable
from typing import Any, Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.simulation import Decider, State
from heuristics.policies.elasticflow.guaranteeing import DeadlineDecision, Guaranteeing, Rules
from heuristics.policies.elasticflow.plan import keeps_all
from heuristics.policies.elasticflow.relaxed import could_keep_all


def elasticflow(
    state: State,
    *,
    slot: float = 60,
    exact: bool = False,
    rejected: Literal["last", "never"] = "last",
    rules: Rules = "paper",
    on_admission: Callable[[DeadlineDecision], Any] | None = None,
) -> Decider:
    """Admit jobs whose deadlines can be met, grant each the fewest GPUs that suffice, and divide the rest.

    When jobs arrive or complete, or GPUs change, all time slots from the next one on are planned anew. Jobs are
    planned in order of deadline. Each job takes the smallest allowed number of GPUs with which it completes on
    time beside the jobs before it. In slots in which fewer GPUs are left, it runs on as many as it can. A new
    job is rejected if it would be late, or would make an admitted job late.

    Spare GPUs in the first slot go to jobs that have none, earliest deadline first. Further ones go, step by
    step, to the job whose total GPU time rises least per additional GPU.

    Comparisons include the policy only if it is named by its path,
    ``heuristics.policies.elasticflow:elasticflow``.

    Source: ElasticFlow (ASPLOS 2023), sections 4.1 and 4.2, Algorithms 1 and 2, with the slots of its authors'
    simulator. Key: as described above. Ties: earlier deadline, then lower job number. Preemptive; resizes;
    knows durations. O(J^2 L) per arrival for J jobs with L allowed numbers each, plus O(J G) for G steps with
    spare GPUs.

    Readings:

    - Only the full slots before a deadline count.
    - New jobs in a slot are considered one by one, in order of release.
    - A job's number of GPUs is at least that of the previous plan if more jobs are on time that way.
    - Jobs without a deadline get only spare GPUs.
    - Plans ignore overheads and changes of speed, so admitted jobs may be late.

    Parameters
    ----------
    slot
        Length of a slot, in seconds.
    exact
        Whether to admit a job whenever all deadlines could be met if GPUs and time were arbitrarily divisible.
        Admitted jobs may then be late, because they are planned as above. `gsopt.simulate` has an option of the
        same name, so set this one with `functools.partial`.
    rejected
        Whether rejected jobs run ``last``, on spare GPUs, or ``never``, as in the paper.
    rules
        ``paper``: as above. ``program``: as in the authors' code. New jobs in a slot are admitted or rejected
        together, and rejected while any admitted job is bound to be late. Slots begin at events, and the part
        of a slot before a deadline counts.
    on_admission
        A function called with every decision about a job with a deadline.

    Raises
    ------
    InvalidInput
        An option is out of range, or GPUs are of several kinds.
    Unsupported
        The GPUs do not suit a job in its default mode.

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
    require_one_of("rules", rules, get_args(Rules))
    sound = on_admission is None or callable(on_admission)
    require(sound, "on_admission", on_admission, "must be a function, or None")
    admits = could_keep_all if exact else keeps_all
    drops = rejected == "never"
    return Guaranteeing(state, admits, slot=slot, drops=drops, rules=rules, on_admission=on_admission)
