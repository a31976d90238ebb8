"""Two jobs: Aryl's analysis of two elastic jobs on one cluster (Appendix C), and a corrected rule."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class LinearJob:
    """A job with linear speed-up, in the notation of Aryl's Table 11.

    Attributes
    ----------
    work
        L, in GPU-seconds. It does not depend on the allocation, because the speed-up is linear.
    least, most
        g_min and g_max, in GPUs.
    """

    work: int | Fraction
    least: int
    most: int


@dataclass(frozen=True)
class TwoJobs:
    """Two jobs that both run from the start and together use all `capacity` GPUs (Equation 3a).

    As in Equation 2, both minima fit together, but both maxima do not. When one job ends, the other continues
    on its maximum number of GPUs, or on all GPUs if these are fewer. The job with the smaller maximum is p.
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
        """Return the completion times of p and q if p gets `gpus` GPUs and q the rest (below Equation 4)."""
        others = self.capacity - gpus
        work_p, work_q = Fraction(self.p.work), Fraction(self.q.work)
        alone_p, alone_q = work_p / gpus, work_q / others
        most_p, most_q = (min(job.most, self.capacity) for job in (self.p, self.q))
        if alone_p <= alone_q:
            return alone_p, alone_p + (work_q - alone_p * others) / most_q
        return alone_q + (work_p - alone_q * gpus) / most_p, alone_q

    def average(self, gpus: int) -> Fraction:
        """Return the average completion time if p gets the given number of GPUs (Equations 5 and 6)."""
        return sum(self.completion_times(gpus), Fraction(0)) / 2


def printed_rule(jobs: TwoJobs) -> int:
    """Return how many GPUs p gets according to the conclusions of Appendix C (Equations 8 and 9).

    If the capacity is at least twice p's maximum, p is favoured; otherwise, the job with less work is, or p
    if both have the same. The favoured job gets its maximum or, if the other job's minimum leaves fewer GPUs,
    all of these. The paper does not cover the latter case, in which the rule can be wrong.
    """
    least, most = jobs.end_points
    favours_p = jobs.capacity >= 2 * jobs.p.most or jobs.p.work <= jobs.q.work
    return most if favours_p else least


def end_point_rule(jobs: TwoJobs) -> int:
    """Return the number of GPUs for p that minimizes the average completion time of jobs run side by side.

    By Equation 7, as p gets more GPUs, the average first rises and then falls (or only falls, if the capacity
    is at least twice p's maximum). One of the two end points is therefore best, and both are evaluated. Ties go
    to the smaller number.

    Notes
    -----
    Source: Aryl, Appendix C, Equation 7, with a correction: the paper evaluates the allocations that give one
    job its maximum, which may violate the other's minimum.
    """
    return min(jobs.end_points, key=jobs.average)


def one_after_the_other(jobs: TwoJobs) -> Fraction:
    """Return the average completion time if the jobs run one after the other, in the better order.

    Appendix C omits this case, although it can be better than running the jobs side by side with any
    allocation.
    """
    times = [Fraction(job.work) / min(job.most, jobs.capacity) for job in (jobs.p, jobs.q)]
    return (min(times) * 2 + max(times)) / 2
