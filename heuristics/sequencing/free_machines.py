"""Free machines: the best orders of all jobs on the machines that become free first."""

import numpy as np

from gsopt.core.method import NoSolution, heuristic
from gsopt.core.numbers.assignment import sequence
from gsopt.problems.sequencing import Sequences, Sequencing


@heuristic
def free_machines(problem: Sequencing) -> Sequences | NoSolution:
    """Minimize the total completion time, using only the machines that become free first.

    There is no solution if a job cannot run on any of these machines.

    Complexity: that of `gsopt.core.numbers.assignment.sequence`.

    Notes
    -----
    Source: AlloX as in Gavel's code, which assigns positions only on free workers, because it does not know
    when the others will be free.

    Departures from the code: Gavel's code may assign a job to a machine on which it cannot run.

    Examples
    --------
    >>> from heuristics.sequencing import earliest_end
    >>> from instances.sequencing import unit_jobs
    >>> problem = unit_jobs(jobs=40, busy=0.5, seed=1)
    >>> free_machines(problem).objective > earliest_end(problem).objective
    True
    """
    first = min(machine.available for machine in problem.machines)
    free = [machine for machine in problem.machines if machine.available == first]
    seconds = [[job.seconds.get(machine.gpu_type, np.inf) for machine in free] for job in problem.jobs]
    for job, own in zip(problem.jobs, seconds, strict=True):
        if min(own) == np.inf:
            return NoSolution(f"{job.name!r} runs on no machine that is free first")
    found = sequence(np.array(seconds)) if seconds else []
    return Sequences(
        order={
            machine.name: [problem.jobs[job].name for job in jobs]
            for machine, jobs in zip(free, found, strict=False)
            if jobs
        }
    )
