"""Instance: a waiting problem in time slots and nested places, the form that the exact methods use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from gsopt.core.numbers.grid import Exact, decimal, step
from gsopt.problems.waiting import CellShare, Waiting, WaitingSolution

#: Maximum sum of the jobs' ends in slots for solvers. Doubles represent such sums exactly; with larger sums,
#: CP-SAT takes minutes for three jobs.
_MOST_SLOTS = 2**42


class Place(NamedTuple):
    """A group of GPUs at some tier, as a set of cells. A cell is a group at the innermost tier.

    A job whose GPUs are all in these cells takes at most its run time on this tier.
    """

    tier: int  # index of the tier, innermost first
    cells: tuple[int, ...]  # indices of the cells; one cell for a place on the innermost tier
    gpus: int  # GPUs of all its cells


class SlottedRun(NamedTuple):
    """The start of a job in slots, and its place."""

    start: int  # first slot
    place: int  # index of the place
    counts: Mapping[int, int] | None = None  # GPUs by index of the cell; None if undecided


@dataclass(frozen=True)
class SlottedInstance:
    """The jobs and places of a problem on a grid of slots.

    By default, a slot is the greatest common divisor of all times, no matter how short that is. For solvers
    that cannot handle so many slots, slots are longer, and all times are rounded down. A schedule stays
    feasible when starts and run times are rounded down: jobs that overlap in the rounded schedule also overlap
    in the original one. So the optimum on such a grid is a bound.
    """

    problem: Waiting
    slot: Fraction  # length of a slot in seconds

    @classmethod
    def of(cls, problem: Waiting) -> "SlottedInstance":
        """Return the problem on the grid whose slot is the greatest common divisor of all times."""
        times = [time for job in problem.jobs for time in problem.run_times(job)]
        releases = (decimal(job.release_date) - problem.origin for job in problem.jobs)
        return cls(problem, step([*times, *releases]) or Fraction(1))

    @cached_property
    def limited(self) -> "SlottedInstance":
        """The same problem, with slots long enough for solvers to handle their number."""
        longest = sum(map(max, self.seconds)) + max(self.exact_release)
        least = Fraction(longest * len(self.demand), _MOST_SLOTS)
        return self if self.slot >= least else SlottedInstance(self.problem, least)

    def coarser(self, factor: int) -> "SlottedInstance":
        """Return the same problem with slots that are longer by the given factor."""
        return SlottedInstance(self.problem, self.slot * factor)

    @cached_property
    def is_exact(self) -> bool:
        """Whether all times are integer numbers of slots."""
        exact = [*self.exact_release, *(time for own in self.seconds for time in own)]
        return all((Fraction(time) / self.slot).denominator == 1 for time in exact)

    @cached_property
    def origin(self) -> Exact:
        """The earliest release date, in seconds."""
        return self.problem.origin

    @cached_property
    def exact_release(self) -> tuple[Exact, ...]:
        """The jobs' release dates, in seconds after the earliest one."""
        return tuple(decimal(job.release_date) - self.origin for job in self.problem.jobs)

    @cached_property
    def seconds(self) -> tuple[tuple[Exact, ...], ...]:
        """The run times in seconds, by job and tier."""
        return tuple(self.problem.run_times(job) for job in self.problem.jobs)

    @cached_property
    def release(self) -> tuple[int, ...]:
        """The jobs' release dates, in slots."""
        return tuple(self.slots(time) for time in self.exact_release)

    @cached_property
    def lengths(self) -> tuple[tuple[int, ...], ...]:
        """The run times in slots, by job and tier."""
        return tuple(tuple(map(self.slots, own)) for own in self.seconds)

    @cached_property
    def demand(self) -> tuple[int, ...]:
        """The number of GPUs that each job needs."""
        return tuple(job.gpus for job in self.problem.jobs)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of GPUs in each cell."""
        return tuple(map(len, self.problem.cells))

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The places, innermost first. No two places have the same cells."""
        found: dict[tuple[int, ...], Place] = {}
        for tier, groups in enumerate(self.problem.groups):
            for group in groups:
                cells = tuple(c for c, own in enumerate(self.problem.cells) if own.start in group)
                found.setdefault(cells, Place(tier, cells, len(group)))
        return tuple(found.values())

    def places_of(self, job: int) -> tuple[int, ...]:
        """Return the indices of the places that a job can use: only single cells if it has one GPU."""
        need = self.demand[job]
        single = need == 1
        return tuple(
            number
            for number, place in enumerate(self.places)
            if place.gpus >= need and not (single and len(place.cells) > 1)
        )

    def slots(self, seconds: Exact) -> int:
        """Convert a time in seconds to slots, rounding down."""
        return int(Fraction(seconds) // self.slot)

    def length(self, job: int, place: int) -> int:
        """Return the run time of a job at a place, in slots."""
        return self.lengths[job][self.places[place].tier]

    def shortest(self, job: int) -> Exact:
        """Return a job's run time in seconds on the best tier that has a place for it."""
        return min(self.seconds[job][self.places[place].tier] for place in self.places_of(job))

    def value(self, ends: Sequence[Exact]) -> Exact:
        """Return the objective value for given job ends, in seconds after the earliest release date."""
        if self.problem.minimize == "makespan":
            return max(ends)
        total = sum(end - release for end, release in zip(ends, self.exact_release, strict=True))
        return Fraction(total) / len(ends)

    def solution(self, choices: Sequence[SlottedRun]) -> WaitingSolution:
        """Convert one choice per job to a schedule with exact times.

        Jobs start in the order of the chosen starts, each as early as it can but not before its predecessor.
        """
        order = sorted(range(len(choices)), key=lambda job: (choices[job].start, job))
        return self.problem.started([CellShare(job, choices[job].counts or {}) for job in order])

    def choices(self, solution: WaitingSolution) -> list[SlottedRun]:
        """Convert a schedule to one choice per job: its innermost place, and its start rounded down."""
        number = {job.name: index for index, job in enumerate(self.problem.jobs)}
        cell_of = [cell for cell, own in enumerate(self.problem.cells) for _ in own]
        found: dict[int, SlottedRun] = {}
        for run in solution.runs:
            counts: dict[int, int] = {}
            for gpu in run.gpus:
                counts[cell_of[gpu]] = counts.get(cell_of[gpu], 0) + 1
            place = next(i for i, each in enumerate(self.places) if counts.keys() <= set(each.cells))
            start = self.slots(decimal(run.start) - self.origin)
            found[number[run.job]] = SlottedRun(start, place, counts)
        return [found[job] for job in range(len(found))]
