"""Far apart: the division of a workload at long breaks, into parts that are bounded one by one."""

from collections.abc import Sequence
from itertools import pairwise

from gsopt.scenario.job import Job, Workload
from gsopt.schedule.bounds.work import height

#: Minimum ratio of a break to the time before it for a division, and the largest number of parts.
_FAR, _MOST_PARTS = 1_000, 100


def far_apart(workload: Workload) -> list[Sequence[Job]]:
    """Divide a workload at long breaks between arrivals, and return the jobs of each part.

    The bounds of the parts add up to a bound for the whole workload. Without the division, long breaks would
    cost precision and time cells. A break is long if it lasts over 1,000 times as long as all jobs since the
    previous break would take one after another. Therefore, the division does not weaken the bound if every job
    has enough GPUs.
    """
    jobs, breaks = workload.jobs, list[tuple[float, int]]()
    begin = busy = before = 0.0
    counted = 0  # jobs of which it is known how long they take
    for number, job in enumerate(jobs):
        date = job.release_date
        # However long jobs take, there is no long break where not even their dates are far apart.
        if not number or date - before > _FAR * (before - begin):
            for other in jobs[counted:number]:
                busy = max(busy, other.release_date) + float(height(other))
            counted = number
            pause = date - busy
            if not number or pause > _FAR * (busy - begin):
                breaks.append((pause, number))
                begin = busy = date
        before = date
    first, *others = breaks
    chosen = sorted(number for _, number in [first, *sorted(others, reverse=True)[: _MOST_PARTS - 1]])
    return [jobs[number:end] for number, end in pairwise([*chosen, len(jobs)])]
