"""Slotted: a sharing problem in time slots and units of work, rounded so that no job becomes faster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd

from gsopt.core.numbers.grid import Exact
from gsopt.problems.sharing import Sharing, SharingSolution, run_at
from gsopt.solvers.backends.slotted import USERS, Planned

#: Units of work in a slot. They are divisible by 1 to 10, so slowdowns such as 1.25 or 1.5 need no rounding.
FULL = 2520

#: Time by which a plan may end after the known schedule, as a fraction of the length of that schedule.
_SPARE = Fraction(1, 4)


@dataclass(frozen=True)
class Slotted:
    """The slot model of a sharing problem: jobs start at the beginning of a slot and end at the end of one.

    Release dates, work, and the speed in shared slots are rounded so that no job is faster than in the problem.
    With the same starts on the same GPUs, no job ends later in the problem than in the slot model, because an
    earlier end only makes other jobs faster. So a plan is a schedule for starts at any time that is at least as
    good as its value here, but the optimum here is not a bound.
    """

    problem: Sharing
    slot: Fraction  # length of a slot in seconds
    horizon: int  # slot by which all jobs end
    # release, work: first slot of each job, and its work, in units of which a slot without sharing does
    # `FULL`
    release: tuple[int, ...]
    work: tuple[int, ...]
    # ``beside[j][k]``: the work that job j does in a slot beside job k, for every k with which it may share
    beside: tuple[Mapping[int, int], ...]

    @classmethod
    def of(cls, problem: Sharing, known: SharingSolution, most: int) -> "Slotted":
        """Return a slot model in which a known schedule takes at most `most` slots, and more than half of them.

        If the number of slots allows it, a slot divides all run times and release dates. Otherwise, a slot
        divides only the run times. If this takes too many slots as well, the known schedule is divided into the
        allowed number of slots.
        """
        jobs = range(len(problem.jobs))
        length = Fraction(max(end for _, end in problem.spans(known)) - problem.origin)
        slot = _slot(problem, length, most)
        release = tuple(ceil((each - problem.origin) / slot) for each in problem.releases)
        work = tuple(ceil(each / slot * FULL) for each in problem.durations)
        return cls(
            problem=problem,
            slot=slot,
            horizon=ceil(length * (1 + _SPARE) / slot),
            release=release,
            work=work,
            beside=tuple(
                {
                    other: floor(FULL / Fraction(max(problem.slowdown(job, other), 1)))
                    for other in jobs
                    if other != job and problem.may_share(job, other)
                }
                for job in jobs
            ),
        )

    @property
    def shortest(self) -> tuple[int, ...]:
        """The number of slots that each job takes without sharing."""
        return tuple(-(-work // FULL) for work in self.work)

    def value(self, total: int) -> Fraction:
        """Convert a sum of ends in slots to the mean job completion time in seconds."""
        late = sum(release - self.problem.origin for release in self.problem.releases)
        return (total * self.slot - late) / len(self.work)

    def ends(self, plan: Mapping[int, Planned]) -> dict[int, int] | None:
        """Return, for each job in a plan, the first slot after its end.

        Returns None if three jobs hold the same GPU, if two jobs that must not share a GPU do so, or if a job
        ends after the horizon.
        """
        left, ended = {job: self.work[job] for job in plan}, dict[int, int]()
        for slot in range(min(self.release), self.horizon):
            active = [job for job in left if plan[job].start <= slot]
            partners = {job: self._partners(plan, job, active) for job in active}
            if self._is_crowded(plan, active, partners):
                return None
            for job in active:
                left[job] -= min([FULL, *(self.beside[job][other] for other in partners[job])])
                if left[job] <= 0:
                    ended[job] = slot + 1
                    del left[job]
            if not left:
                break
        return None if left else ended

    def solution(self, plan: Mapping[int, Planned]) -> SharingSolution:
        """Convert a plan to a schedule of the problem, with starts at the beginning of slots."""
        return SharingSolution(
            runs=[
                run_at(
                    self.problem.jobs[job].name,
                    self.problem.origin + planned.start * self.slot,
                    planned.gpus,
                )
                for job, planned in plan.items()
            ]
        )

    def _partners(self, plan: Mapping[int, Planned], job: int, active: Sequence[int]) -> list[int]:
        own = set(plan[job].gpus)
        return [other for other in active if other != job and own & set(plan[other].gpus)]

    def _is_crowded(
        self, plan: Mapping[int, Planned], active: Sequence[int], partners: Mapping[int, Sequence[int]]
    ) -> bool:
        if any(other not in self.beside[job] for job in active for other in partners[job]):
            return True
        held = [gpu for job in active for gpu in plan[job].gpus]
        return any(held.count(gpu) > USERS for gpu in set(held))


def _slot(problem: Sharing, length: Fraction, most: int) -> Fraction:
    gaps = [Fraction(release - problem.origin) for release in problem.releases]
    times = [Fraction(duration) for duration in problem.durations]
    for common in (_divisor([*times, *gaps]), _divisor(times)):
        if length <= most * common:
            return common / (most * common // length)
    return length / most


def _divisor(values: Sequence[Exact]) -> Fraction:
    """Return the greatest common divisor of the given fractions."""
    found = Fraction(0)
    for value in map(Fraction, values):
        found = Fraction(
            gcd(found.numerator * value.denominator, value.numerator * found.denominator),
            found.denominator * value.denominator,
        )
    return found
