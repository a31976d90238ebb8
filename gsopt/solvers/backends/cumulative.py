"""Cumulative: a CP-SAT model, with interval variables, of multi-mode activities on resources."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gsopt.solvers.backends.following import solve_followed

if TYPE_CHECKING:
    from gsopt.solvers.backends.worker import ParentLink


class Way(NamedTuple):
    """A mode of an activity: its length, and the total number of units that it takes from given resources."""

    length: int  # in periods
    units: int  # held from start to end
    resources: tuple[int, ...]  # numbers of the resources that supply the units, in any constant split


class Activity(NamedTuple):
    """An activity that runs once, in one of several modes."""

    # First period in which it may start, and end of the last one in which it may run.
    release: int
    deadline: int
    ways: tuple[Way, ...]  # one of which is chosen


class Chosen(NamedTuple):
    """A scheduled activity: its start, the index of its mode, and its number of units from each resource."""

    start: int
    way: int
    units: dict[int, int]


class ActivityTask(NamedTuple):
    """A task for the worker: activities, resources and the objective."""

    activities: tuple[Activity, ...]
    sizes: tuple[int, ...]  # units of each resource
    # Numbers of resources that ways may use together; also modelled as one resource each, for better bounds.
    groups: tuple[tuple[int, ...], ...]
    last: bool  # whether to minimise the last end instead of the sum of the ends
    # Known lower bound of the objective, and wanted upper bound.
    lower: int
    upper: int
    hint: tuple[Chosen, ...] | None  # a known solution
    parameters: dict[str, Any]  # CP-SAT's parameters by name


class CumulativeAnswer(NamedTuple):
    """CP-SAT's own status, the best schedule that it found, and the bound."""

    status: str
    chosen: tuple[Chosen, ...] | None
    bound: float


def solve(task: ActivityTask, link: "ParentLink") -> CumulativeAnswer:
    """Solve a task. This function runs in the worker.

    Every mode is an optional interval of fixed length. A mode on a single resource takes its units from that
    resource. A mode on several resources may divide its units among these resources in any way that stays the
    same from start to end. A cumulative constraint limits each resource, and each group of resources, to its
    units.
    """
    from ortools.sat.python.cp_model import CpModel

    model = _CumulativeModel(CpModel(), task)
    status, chosen, bound = solve_followed(model.model, task.parameters, link, model.chosen)
    if bound is None:
        bound = float(task.upper + 1 if status == "INFEASIBLE" else task.lower)
    return CumulativeAnswer(status, chosen, bound)


class _CumulativeModel:
    """CP-SAT's own model of a task."""

    def __init__(self, model: Any, task: ActivityTask) -> None:
        self.model, self.task = model, task
        self.starts = [
            model.new_int_var(each.release, max(each.release, each.deadline), "") for each in task.activities
        ]
        self.literals = [[model.new_bool_var("") for _ in each.ways] for each in task.activities]
        self.units = [[self._units_of(way) for way in each.ways] for each in task.activities]
        self._ends = [self._end(number) for number in range(len(task.activities))]
        self._hold()
        self._minimize()
        self._hint(task.hint or ())

    def chosen(self, value: Any) -> tuple[Chosen, ...]:
        """Return the schedule, given a function that maps variables to values."""
        found = []
        for number, literals in enumerate(self.literals):
            way = next(index for index, literal in enumerate(literals) if value(literal))
            units = {resource: int(value(each)) for resource, each in self.units[number][way].items()}
            own = {resource: count for resource, count in units.items() if count}
            found.append(Chosen(int(value(self.starts[number])), way, own))
        return tuple(found)

    def _units_of(self, way: Way) -> dict[int, Any]:
        if len(way.resources) == 1:
            return {way.resources[0]: way.units}
        sizes = self.task.sizes
        return {each: self.model.new_int_var(0, min(way.units, sizes[each]), "") for each in way.resources}

    def _end(self, number: int) -> Any:
        each, literals = self.task.activities[number], self.literals[number]
        self.model.add_exactly_one(literals)
        for way, literal, units in zip(each.ways, literals, self.units[number], strict=True):
            if len(way.resources) > 1:
                self.model.add(sum(units.values()) == way.units).only_enforce_if(literal)
        end = self.model.new_int_var(each.release, max(each.release, each.deadline), "")
        lengths = sum(way.length * literal for way, literal in zip(each.ways, literals, strict=True))
        self.model.add(end == self.starts[number] + lengths)
        return end

    def _hold(self) -> None:
        """Limit the use of each resource and group to its units."""
        single: list[list[tuple[Any, Any]]] = [[] for _ in self.task.sizes]
        grouped: list[list[tuple[Any, Any]]] = [[] for _ in self.task.groups]
        for number, each in enumerate(self.task.activities):
            for way, literal, units in zip(each.ways, self.literals[number], self.units[number], strict=True):
                interval = self.model.new_optional_fixed_size_interval_var(
                    self.starts[number], way.length, literal, ""
                )
                for resource, count in units.items():
                    single[resource].append((interval, count))
                for group, own in zip(self.task.groups, grouped, strict=True):
                    if set(way.resources) <= set(group):
                        own.append((interval, way.units))
        sizes = [
            *self.task.sizes,
            *(sum(self.task.sizes[each] for each in group) for group in self.task.groups),
        ]
        for held, size in zip([*single, *grouped], sizes, strict=True):
            if held:
                intervals, counts = zip(*held, strict=True)
                self.model.add_cumulative(intervals, counts, size)

    def _minimize(self) -> None:
        if self.task.last:
            value = self.model.new_int_var(self.task.lower, self.task.upper, "")
            self.model.add_max_equality(value, self._ends)
        else:
            value = sum(self._ends)
            self.model.add_linear_constraint(value, self.task.lower, self.task.upper)
        self.model.minimize(value)

    def _hint(self, hint: Sequence[Chosen]) -> None:
        for number, chosen in enumerate(hint):
            self.model.add_hint(self.starts[number], chosen.start)
            for index, literal in enumerate(self.literals[number]):
                self.model.add_hint(literal, index == chosen.way)
            ways = self.task.activities[number].ways
            if len(ways[chosen.way].resources) > 1:
                for resource, units in self.units[number][chosen.way].items():
                    self.model.add_hint(units, chosen.units.get(resource, 0))
