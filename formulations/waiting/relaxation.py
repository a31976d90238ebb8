"""Relaxation: a time-indexed model of jobs at places, in which GPUs are counted instead of fixed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from formulations.common.rows import Entry, SparseRows
from formulations.waiting.instance import SlottedInstance, SlottedRun
from gsopt.core.numbers.grid import Exact
from gsopt.solvers.standard_form import StandardForm


class StartColumn(NamedTuple):
    """A column of the model: a job, the place where it runs, and the slot in which it starts."""

    job: int
    place: int
    start: int


def raised_demand(demand: int, gpus: int) -> int:
    """Raise or lower a demand such that all jobs that fit into a place together still do.

    A demand above half of the GPUs is raised to all of them, and a demand below half is lowered to none. A
    demand of exactly half is kept.

    Notes
    -----
    Source: the dual feasible functions of Fekete and Schepers, New classes of fast lower bounds for bin packing
    problems (Mathematical Programming 91, 2001), section 3.

    Examples
    --------
    >>> [raised_demand(demand, 8) for demand in range(1, 9)]
    [0, 0, 0, 4, 8, 8, 8, 8]
    """
    return demand if 2 * demand == gpus else gpus * (2 * demand > gpus)


@dataclass(frozen=True, eq=False)
class Relaxation:
    r"""The time-indexed model of starts, which counts the GPUs in use at each of the nested places.

    The model decides where and when each job starts. A job on a tier may use any GPUs of one of the tier's
    places. At any time, such GPUs exist if no place is overloaded. But the same GPUs may not remain available
    until the job ends, so the job might have to move. The optimum is therefore a bound. If fixed GPUs are
    found for its schedule, and no times were rounded, that schedule is optimal. If the places of each tier are
    equally large and together hold all GPUs, the places of a tier are merged (`merged`). The model is then much
    smaller and has no interchangeable places, but single places may be overloaded.

    Sets: jobs j; places P of every tier, nested; slots t; for each job, the places that can hold it, except
    those inside a place where it runs equally fast. Parameters: d_j: GPUs of a job; p_jP: its slots at a place;
    G_P: GPUs of a place; n_P: number of places for which it stands; r_j: a job's first slot; H_j: its latest
    end, given a known value (`latest_ends`). Variables: x_jPs = 1 if job j starts at place P in slot s, r_j <=
    s <= H_j - p_jP; M: the latest end (makespan only). Objective: the mean time from release to end, with s and
    p_jP in seconds, or M. Constraints: sum_{P,s} x_jPs = 1 for each job; sum of d_j x_jQs over Q within P and s
    <= t < s + p_jQ is at most n_P G_P for each place and slot; the same with raised demands (`raised_demand`),
    because two jobs of 5 GPUs do not fit into a place of 8; M >= sum (s + p_jP) x_jPs for each job. Size: at
    most a column for each job, place and slot of the horizon; a row for each job, or two for the makespan; at
    most two rows for each place and slot. Source: the time-indexed model of single-machine scheduling (Sousa
    and Wolsey, 1992), with nested places as in Dally, section III.
    """

    instance: SlottedInstance  # jobs and places on a grid
    latest: Sequence[Exact]  # latest end of each job in seconds after the first release

    @cached_property
    def columns(self) -> tuple[StartColumn, ...]:
        """The columns: all starts with which a job ends by its latest end."""
        return tuple(
            StartColumn(job, place, start)
            for job, places in enumerate(self.places)
            for place in places
            for start in range(self.instance.release[job], self._last_start(job, place) + 1)
        )

    @property
    def entries(self) -> int:
        """An upper bound on the number of entries in the capacity rows, found without listing columns."""
        instance = self.instance
        return len(instance.problem.tiers) * sum(
            max(self._last_start(job, place) + 1 - instance.release[job], 0) * instance.length(job, place)
            for job, places in enumerate(self.places)
            for place in places
        )

    @property
    def horizon(self) -> int:
        """The number of slots until the latest end of any job, for the makespan; 0 for the mean.

        No coefficient in the rows of the makespan is larger.
        """
        return self.instance.slots(max(self.latest)) if self.instance.problem.minimize == "makespan" else 0

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """For each job, the places at which it may start in the model."""
        return tuple(tuple(self._places_of(job)) for job in range(len(self.instance.demand)))

    @cached_property
    def merged(self) -> tuple[int, ...]:
        """For each place, the one that stands for it: the first of its tier if places are merged, or itself."""
        places = self.instance.places
        total = sum(self.instance.sizes)
        first: dict[int, int] = {}
        for number, place in enumerate(places):
            first.setdefault(place.tier, number)
        alike = all(
            {place.gpus for place in own} == {own[0].gpus} and len(own) * own[0].gpus == total
            for tier in first
            for own in ([place for place in places if place.tier == tier],)
        )
        return tuple(first[place.tier] if alike else number for number, place in enumerate(places))

    def _places_of(self, job: int) -> list[int]:
        instance = self.instance
        able = [place for place in instance.places_of(job) if self.merged[place] == place]
        return [
            place
            for place in able
            if not any(
                instance.seconds[job][instance.places[wide].tier]
                == instance.seconds[job][instance.places[place].tier]
                and set(instance.places[place].cells) < set(instance.places[wide].cells)
                for wide in able
            )
        ]

    def _last_start(self, job: int, place: int) -> int:
        run = self.instance.seconds[job][self.instance.places[place].tier]
        return self.instance.slots(self.latest[job] - run)

    @cached_property
    def costs(self) -> list[Exact]:
        """The objective costs of the columns, in seconds."""
        instance = self.instance
        if instance.problem.minimize == "makespan":
            return [*(0 for _ in self.columns), instance.slot]
        jobs = len(instance.demand)
        return [
            (start * instance.slot + instance.seconds[job][instance.places[place].tier] - release) / jobs
            for job, place, start in self.columns
            for release in (instance.exact_release[job],)
        ]

    def form(self) -> StandardForm:
        """Return the model in standard form."""
        rows = SparseRows()
        for job in range(len(self.instance.demand)):
            own = ((index, 1.0) for index, column in enumerate(self.columns) if column.job == job)
            rows.add(f"once[{job}]", own, 1.0, 1.0)
        for (place, slot), within in self._capacity().items():
            room = self.instance.places[place].gpus * self.merged.count(place)
            rows.add(f"room[{place},{slot}]", within, upper=room)
        self._add_packing(rows)
        number = len(self.costs)
        if number > len(self.columns):
            self._add_last_end(rows)
        return StandardForm.build(
            cost=[float(cost) for cost in self.costs],
            matrix=rows.matrix(number),
            row_lower=rows.lower,
            row_upper=rows.upper,
            column_upper=[1.0] * len(self.columns) + [inf] * (number - len(self.columns)),
            rows=tuple(rows.names),
        )

    def point(self, choices: Sequence[SlottedRun]) -> NDArray[np.float64]:
        """Return the column values of a schedule, which is given by one choice per job."""
        number = {column: index for index, column in enumerate(self.columns)}
        point = np.zeros(len(self.costs))
        ends = []
        for job, choice in enumerate(choices):
            place = self._kept(job, choice.place)
            point[number[StartColumn(job, place, choice.start)]] = 1
            ends.append(choice.start + self.instance.length(job, place))
        if len(point) > len(self.columns):
            point[-1] = max(ends)
        return point

    def choices(self, values: NDArray[np.float64]) -> list[SlottedRun]:
        """Return the place and start of each job according to the given column values."""
        chosen = [self.columns[index] for index in np.flatnonzero(values[: len(self.columns)] > 1 / 2)]
        return [SlottedRun(start, place) for _, place, start in sorted(chosen)]

    def without(self, form: StandardForm, choices: Sequence[SlottedRun], jobs: Sequence[int]) -> StandardForm:
        """Return `form` with another row, so that the given jobs do not all keep their choices.

        At least one of these jobs must get a different start or run time than in `choices`.
        """
        alike = [
            index
            for index, column in enumerate(self.columns)
            if column.job in jobs
            and column.start == choices[column.job].start
            and self._run_time(column.job, column.place)
            == self._run_time(column.job, choices[column.job].place)
        ]
        row = csr_array(([1.0] * len(alike), ([0] * len(alike), alike)), shape=(1, len(self.costs)))
        return replace(
            form,
            matrix=csr_array(vstack([form.matrix, row], format="csr")),
            row_lower=np.append(form.row_lower, -inf),
            row_upper=np.append(form.row_upper, float(len(jobs) - 1)),
            rows=(*form.rows, f"conflict[{len(form.rows)}]"),
        )

    def _run_time(self, job: int, place: int) -> Exact:
        return self.instance.seconds[job][self.instance.places[place].tier]

    def _kept(self, job: int, place: int) -> int:
        """Return the place whose columns stand for the given place: itself, or the widest equally fast one."""
        own = self.instance.places[self.merged[place]]
        return max(
            each
            for each in self.places[job]
            if set(own.cells) <= set(self.instance.places[each].cells)
            and self.instance.seconds[job][self.instance.places[each].tier]
            == self.instance.seconds[job][own.tier]
        )

    def _capacity(self) -> dict[tuple[int, int], list[Entry]]:
        """Return the columns that use GPUs of each place in each slot, for places with columns of their own."""
        instance, found = self.instance, dict[tuple[int, int], list[Entry]]()
        own = {place for _, place, _ in self.columns}
        around = [
            [p for p, wide in enumerate(instance.places) if p in own and set(place.cells) <= set(wide.cells)]
            for place in instance.places
        ]
        for index, (job, place, start) in enumerate(self.columns):
            entry = index, instance.demand[job]
            for slot in range(start, start + instance.length(job, place)):
                for wide in around[place]:
                    found.setdefault((wide, slot), []).append(entry)
        return found

    def _add_packing(self, rows: SparseRows) -> None:
        """Add rows for jobs that do not fill a place together."""
        for (place, slot), within in self._capacity().items():
            gpus = self.instance.places[place].gpus
            room = gpus * self.merged.count(place)
            raised = [(index, raised_demand(int(demand), gpus)) for index, demand in within]
            if any(gpus / 2 < demand < gpus for _, demand in within):
                rows.add(f"pack[{place},{slot}]", (entry for entry in raised if entry[1]), upper=room)

    def _add_last_end(self, rows: SparseRows) -> None:
        """Add rows that make the last column, the makespan, at least as late as the end of every job."""
        last = len(self.columns)
        for job in range(len(self.instance.demand)):
            ends = [
                (index, -float(start + self.instance.length(job, place)))
                for index, (own, place, start) in enumerate(self.columns)
                if own == job
            ]
            rows.add(f"last[{job}]", [*ends, (last, 1.0)], 0.0)
