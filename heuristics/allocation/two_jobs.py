"""Two jobs: Aryl's analysis of two elastic jobs on one cluster (Appendix C), and a corrected rule."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class LinearJob:
    """A job as in Aryl's Table 11.

    Attributes
    ----------
    work
        L, in GPU-seconds, independent of the allocation (linear speed-up).
    least, most
        g_min and g_max, in GPUs.
    """

    work: int | Fraction
    least: int
    most: int


@dataclass(frozen=True)
class TwoJobs:
    """Two jobs that both run from the start and use all `capacity` GPUs together (Equation 3a).

    As in Equation 2, both minima fit together, and both maxima do not. When one job ends, the other continues
    with its maximum. The job with the smaller maximum is p.
    """

    capacity: int
    p: LinearJob
    q: LinearJob

    @property
    def end_points(self) -> tuple[int, int]:
        """The fewest and the most GPUs that p can get (Equations 5b and 5c)."""
        least = max(self.p.least, self.capacity - self.q.most)
        return least, min(self.p.most, self.capacity - self.q.least)

    def completion_times(self, gpus: int) -> tuple[Fraction, Fraction]:
        """Return both completion times if p gets `gpus` GPUs and q the others (below Equation 4)."""
        others = self.capacity - gpus
        work_p, work_q = Fraction(self.p.work), Fraction(self.q.work)
        alone_p, alone_q = work_p / gpus, work_q / others
        if alone_p <= alone_q:
            return alone_p, alone_p + (work_q - alone_p * others) / self.q.most
        return alone_q + (work_p - alone_q * gpus) / self.p.most, alone_q

    def average(self, gpus: int) -> Fraction:
        """Return the average completion time if p gets the given number of GPUs (Equations 5 and 6)."""
        return sum(self.completion_times(gpus), Fraction(0)) / 2


def printed_rule(jobs: TwoJobs) -> int:
    """Return how many GPUs p gets by the two conclusions at the end of Appendix C (Equations 8 and 9).

    If the capacity is at least twice p's maximum, p is favoured, and otherwise the job with less work. The
    favoured job gets its maximum, or as many GPUs as the other job's minimum leaves. The paper does not cover
    the case in which fewer than the maximum are left; there the rule can be wrong.
    """
    least, most = jobs.end_points
    favours_p = jobs.capacity >= 2 * jobs.p.most or jobs.p.work <= jobs.q.work
    return most if favours_p else least


def end_point_rule(jobs: TwoJobs) -> int:
    """Return the number of GPUs for p that minimizes the average completion time of two jobs side by side.

    By Equation 7, as p gets more GPUs the average first rises and then falls (or only falls, if the capacity is
    at least twice p's maximum), so one of the two end points is best. Both are evaluated. Ties go to the
    smaller number.

    Notes
    -----
    Source: Aryl, Appendix C, Equation 7; corrected: the paper evaluates the allocations that give one job its
    maximum, which may break the other's minimum.
    """
    return min(jobs.end_points, key=jobs.average)


def one_after_the_other(jobs: TwoJobs) -> Fraction:
    """Return the smaller average completion time of the two orders of running the jobs in sequence.

    Appendix C omits this case, although it can be better than running the jobs side by side with any
    allocation.
    """
    times = [Fraction(job.work) / min(job.most, jobs.capacity) for job in (jobs.p, jobs.q)]
    return (min(times) * 2 + max(times)) / 2
