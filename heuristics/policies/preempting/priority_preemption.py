"""Priority preemption: the least important jobs stop, the latest first, until a more important one fits."""

from gsopt.simulation import Decider, State
from heuristics.policies.preempting.floor import Floor
from heuristics.policies.preempting.queue import Queue, Room, Victim


def priority_preemption(state: State, *, within: str = "") -> Decider:
    """Start jobs by priority. For a job that does not fit, less important jobs stop, the latest first.

    Running jobs of lower priority stop by ascending priority, the latest start first, until the job fits. If it
    would not fit even then, nothing stops, and other jobs may start. A job that does not fit on one machine
    takes whole machines.

    Source: preemption by priority, as in many schedulers; in none of them exactly this. Key: priority. Ties:
    release date. Preemptive; does not know durations. O(R M) for each job that does not fit, with R running
    jobs and M machines.

    Parameters
    ----------
    within
        Level of the cluster, such as ``rack``: a single group of this level must hold all GPUs of a job. Empty
        for no such rule.

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
