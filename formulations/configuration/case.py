"""Case: each job's options and their costs, as integers that break ties in favour of fewer changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import NamedTuple

from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, decimal, exact_total
from gsopt.problems.configuration import Configuration, ConfigurationSolution

#: Limit on the total cost of all jobs. Below it, sums fit into 64 bits even if they include the cost that marks
#: infeasible table cells.
LARGEST_TOTAL = 2**60


class Option(NamedTuple):
    """An option of a job: one of the configurations, or no configuration."""

    place: int | None  # index of the configuration in the list; None for no configuration
    kind: int  # index of its GPU type
    gpus: int  # its GPUs
    cost: int  # its cost, an integer


@dataclass(frozen=True, eq=False)
class ConfigurationCase:
    """A problem as a list of options per job, with integer costs that break ties."""

    problem: Configuration
    # options of each job in order of preference: the current one, then the others in the order of the list,
    # and last no configuration; without options that cost more than one with no more GPUs of the same type
    options: tuple[tuple[Option, ...], ...]

    @classmethod
    def of(cls, problem: Configuration) -> "ConfigurationCase":
        """List each job's options, except those that are never worth choosing.

        Each cost is expressed as a multiple of the common step of all costs. It is then multiplied by the
        number of jobs plus one, and options that change a job's configuration cost one more. So among all
        solutions with the minimum value, the one with the lowest total has the fewest changes. Raises
        `Unsupported` if a total might be too large for 64-bit integers.
        """
        unit = _unit(problem)
        options = tuple(tuple(_options(problem, job, unit)) for job in range(len(problem.jobs)))
        if sum(max(abs(option.cost) for option in each) for each in options) >= LARGEST_TOTAL:
            raise Unsupported("the total cost has too many digits for 64-bit integers")
        return cls(problem, options)

    def solution(self, chosen: Iterable[Option]) -> ConfigurationSolution:
        """Convert one option per job, in job order, to a solution."""
        return solution_of(self.problem, [option.place for option in chosen])


def solution_of(problem: Configuration, places: Sequence[int | None]) -> ConfigurationSolution:
    """Convert one configuration per job (its index or None, in job order) to a solution."""
    named = zip(problem.jobs, places, strict=True)
    return ConfigurationSolution(configurations={job.name: place for job, place in named if place is not None})


def current_configurations(problem: Configuration) -> ConfigurationSolution:
    """Return the current configurations that are still allowed and fit; pinned jobs are served first."""
    left = dict(problem.gpus)
    places: list[int | None] = [None] * len(problem.jobs)
    for number in sorted(range(len(places)), key=lambda number: not problem.jobs[number].pinned):
        place = problem.jobs[number].current
        if place is None or place not in problem.costs[number]:
            continue
        shape = problem.configurations[place]
        if left[shape.type] >= shape.gpus:
            left[shape.type] -= shape.gpus
            places[number] = place
    return solution_of(problem, places)


def bound_alone(problem: Configuration) -> Exact:
    """Return a lower bound on the total cost: the sum of all jobs' lowest costs, ignoring contention."""
    waits, unit = decimal(problem.penalty), _unit(problem)
    return exact_total(
        min([*costs.values(), *[waits] * (not job.pinned)], key=lambda cost: _steps(cost, unit))
        for job, costs in zip(problem.jobs, problem.costs, strict=True)
    )


def _unit(problem: Configuration) -> tuple[int, int]:
    """Return the common step of all costs as a numerator and a denominator."""
    return (problem.step or Fraction(1)).as_integer_ratio()


def _steps(cost: Exact, unit: tuple[int, int]) -> int:
    """Convert a cost to an integer number of steps. Integers are faster to compare than fractions."""
    above, below = cost.as_integer_ratio()
    return above * unit[1] // (below * unit[0])


def _options(problem: Configuration, number: int, unit: tuple[int, int]) -> list[Option]:
    job, costs = problem.jobs[number], problem.costs[number]
    kinds = {kind: place for place, kind in enumerate(problem.gpus)}
    scale = len(problem.jobs) + 1

    def option(place: int | None, cost: Exact) -> Option:
        counted = _steps(cost, unit) * scale + (place != job.current)
        if place is None:
            return Option(None, 0, 0, counted)
        shape = problem.configurations[place]
        return Option(place, kinds[shape.type], shape.gpus, counted)

    found = [option(place, costs[place]) for place in sorted(costs, key=lambda place: place != job.current)]
    if not job.pinned:
        found.append(option(None, decimal(problem.penalty)))
    return _worthwhile(found)


def _worthwhile(options: Sequence[Option]) -> list[Option]:
    """Drop options that are never worth choosing.

    They cost more than no configuration, or more than an option of the same type with at most as many GPUs.
    """
    waits: float = min((option.cost for option in options if option.place is None), default=inf)
    cheapest: dict[int, int] = {}
    left_out: set[int | None] = set()
    for option in sorted(options, key=lambda option: (option.gpus, option.cost)):
        least = min(waits, cheapest.get(option.kind, inf))
        if option.cost > least:
            left_out.add(option.place)
        elif option.gpus:
            cheapest[option.kind] = option.cost
    return [option for option in options if option.place not in left_out]
