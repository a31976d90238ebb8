"""Queue: permanent GPUs for jobs in order of arrival, each on its fastest type with room."""

from gsopt.core.method import NoSolution, heuristic
from gsopt.core.problem import Sense
from gsopt.problems.shares import Shares, TimeShares


@heuristic
def queue(problem: Shares) -> TimeShares | NoSolution:
    """Grant GPUs permanently to one job after another, until one does not fit.

    Each job gets GPUs of the type on which it is fastest among those with enough free GPUs. If the objective
    depends on completion times, there is no solution unless all jobs fit, because the others would never end.

    Complexity: O(J T) for J jobs and T types.

    Notes
    -----
    Source: the FIFO policy with throughputs (``FIFOPolicyWithPerf``) in the code of Gavel (OSDI 2020). It is a
    strict queue, whereas the paper solves a linear program.

    Departures from the code: ties between equally fast types go to the first type in the job's `throughputs`,
    not to the first by name.

    Examples
    --------
    >>> from instances.shares import typed_jobs
    >>> queue(typed_jobs(jobs=40, criterion="fifo", seed=1)).solution.shares["j1"]
    {'v100': 1.0}
    """
    left, running = dict(problem.gpus), dict[str, str]()
    for job in problem.jobs:
        rates = {kind: rate for kind, rate in problem.rates[job.name].items() if left[kind] >= job.gpus}
        if not rates:
            break
        kind = max(rates, key=rates.__getitem__)
        left[kind] -= job.gpus
        running[job.name] = kind
    if problem.sense is Sense.MINIMIZE and len(running) < len(problem.jobs):
        return NoSolution("jobs that wait would never end")
    return TimeShares(shares={name: {kind: 1.0} for name, kind in running.items()})
