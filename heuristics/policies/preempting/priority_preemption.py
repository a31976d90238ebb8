"""Priority preemption: a policy that stops the least important jobs to make room for more important ones."""

from gsopt.simulation import Decider, State
from heuristics.policies.preempting.floor import Floor
from heuristics.policies.preempting.queue import Queue, Room, Victim


def priority_preemption(state: State, *, within: str = "") -> Decider:
    """Start jobs by priority. If one does not fit, stop less important jobs until it does.

    To make room for a job, running jobs of lower priority on machines that suit it stop in ascending order of
    priority, and among equals from the latest start to the earliest, until the job fits. If it would not fit
    even if all of them stopped, no job stops, and the next job in the queue is tried. Jobs are placed where the
    fewest GPUs are free. A job with more GPUs than the largest machine that suits it takes whole machines of
    that size, and the rest from one more machine; any other job runs on one machine. Jobs that have been
    stopped are tried again a second later, or at an earlier event.

    Source: gsopt; many schedulers preempt by priority, each in its own way. Key: priority. Ties: release date.
    Preemptive; does not know durations. Each job that does not fit takes O(R) searches for free machines, with
    R running jobs.

    Parameters
    ----------
    within
        Level of the cluster, such as ``rack``. All GPUs of a job must be in a single group of this level. Empty
        for no restriction.

    Raises
    ------
    InvalidInput
        `within` is no level of the cluster.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [
    ...     Job(name="minor", release_date=0, duration=9, gpus=2),
    ...     Job(name="vital", release_date=1, duration=2, gpus=2, priority=1),
    ... ]
    >>> simulate(Workload(jobs=jobs), priority_preemption, cluster=2).completion_times
    (11.0, 3.0)
    """
    return Queue(Floor(state.cluster, within), _stop_the_latest)


def _stop_the_latest(state: State, floor: Floor, job: int, victims: list[Victim]) -> Room | None:
    stops: list[int] = []
    for victim in sorted(victims, key=lambda victim: (victim.priority, -victim.started, -victim.job)):
        stops.append(victim.job)
        standing = floor.fit(state.jobs[job], stops)
        if standing is not None:
            return Room(stops, standing)
    return None
