"""Two elastic jobs on one cluster: the analysis of Aryl's Appendix C, with the rule that always holds."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Job:
    """A job of Table 11.

    Attributes
    ----------
    work
        L, in GPU-seconds; the same whatever the allocation (linear speed).
    least, most
        g_min and g_max, in GPUs.
    """

    work: int | Fraction
    least: int
    most: int


@dataclass(frozen=True)
class TwoJobs:
    """Two jobs that run side by side from the start on `capacity` GPUs, all of them in use (Equation 3a).

    The setting of Equation 2: both minima fit together, both maxima do not. When one job ends, the other goes
    on with its maximum. The paper calls p the job of the smaller maximum.
    """

    capacity: int
    p: Job
    q: Job

    @property
    def end_points(self) -> tuple[int, int]:
        """Fewest and most GPUs that p can get (Equations 5b and 5c)."""
        fewest = max(self.p.least, self.capacity - self.q.most)
        return fewest, min(self.p.most, self.capacity - self.q.least)

    def completion_times(self, gpus: int) -> tuple[Fraction, Fraction]:
        """Completion times of p and q when p gets a number of GPUs and q the others (below Equation 4)."""
        others = self.capacity - gpus
        work_p, work_q = Fraction(self.p.work), Fraction(self.q.work)
        alone_p, alone_q = work_p / gpus, work_q / others
        if alone_p <= alone_q:
            return alone_p, alone_p + (work_q - alone_p * others) / self.q.most
        return alone_q + (work_p - alone_q * gpus) / self.p.most, alone_q

    def average(self, gpus: int) -> Fraction:
        """Average completion time when p gets a number of GPUs (Equations 5 and 6)."""
        return sum(self.completion_times(gpus), Fraction(0)) / 2


def printed_rule(jobs: TwoJobs) -> int:
    """Return the GPUs of p by the two conclusions at the end of Appendix C.

    From a capacity of twice p's maximum on, p is favoured; below, the job of less work. The favoured job gets
    its maximum, or as much as the other's minimum leaves of it: the paper does not say what to do then, and
    then the rule can be wrong.

    Notes
    -----
    Source: Aryl, Appendix C, Equations 8 and 9. `TwoJobs.p` must be the job of the smaller maximum.
    """
    fewest, most = jobs.end_points
    favours_p = jobs.capacity >= 2 * jobs.p.most or jobs.p.work <= jobs.q.work
    return most if favours_p else fewest


def end_point_rule(jobs: TwoJobs) -> int:
    """Return the GPUs of p that minimise the average completion time of two jobs side by side.

    By Equation 7 the average first rises with p's GPUs (or falls all along, from a capacity of twice p's
    maximum on) and then falls, so one of the two end points is best. Both are evaluated; the smaller wins a
    tie.

    Notes
    -----
    Source: Aryl, Appendix C, Equation 7; corrected: the paper evaluates the allocations that give one job its
    maximum, which may break the other's minimum.
    """
    return min(jobs.end_points, key=jobs.average)


def one_after_the_other(jobs: TwoJobs) -> Fraction:
    """Return the smaller average completion time of the two orders in which one job waits for the other.

    Appendix C leaves this out, yet it can be better than every allocation side by side.
    """
    times = [Fraction(job.work) / min(job.most, jobs.capacity) for job in (jobs.p, jobs.q)]
    return (min(times) * 2 + max(times)) / 2
