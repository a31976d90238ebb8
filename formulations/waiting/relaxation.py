"""Relaxation: jobs in places and slots, where GPUs of a place are counted and not told apart."""

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
    """A job that starts at a place in a slot."""

    job: int
    place: int
    start: int


@dataclass(frozen=True, eq=False)
class Relaxation:
    r"""The time-indexed model: who starts where and when, with nested places of counted GPUs.

    A job on a tier needs GPUs in one place of it, whichever; at any moment they can be found if each place has
    as many as are used within it. Over time the ones found first may not be free until the end, so a job would
    have to move: the optimum is a bound, and exact only where GPUs are found for it that stay.

    Sets: jobs j; places P of every tier, nested; slots t; for each job the places that can hold it, but for
    those that lie within a place where it runs as fast.
    Parameters: d_j GPUs of a job; p_jP its slots at a place; G_P GPUs of a place; r_j its first slot; H_j the
    last one in which it may end, from a known value (`latest_ends`).
    Variables: x_jPs = 1 if job j starts at place P in slot s, r_j <= s <= H_j - p_jP; M the last end, for the
    makespan only.
    Objective: the mean of release to end, s and p_jP in seconds, or M.
    Constraints: sum_{P,s} x_jPs = 1 for each job; sum of d_j x_jQs over Q within P and s <= t < s + p_jQ is at
    most G_P for each place and slot; M >= sum (s + p_jP) x_jPs for each job.
    Size: as many columns as jobs times places times slots of the horizon.
    Source: the time-indexed model of single-machine scheduling (Sousa and Wolsey, 1992), with the places nested
    as tiers are in Dally, section II-B.
    """

    instance: SlottedInstance  # jobs and places on a grid
    latest: Sequence[Exact]  # latest end of each job in seconds after the first release

    @cached_property
    def columns(self) -> tuple[StartColumn, ...]:
        """Every start that leaves a job in time."""
        return tuple(
            StartColumn(job, place, start)
            for job, places in enumerate(self.places)
            for place in places
            for start in range(self.instance.release[job], self._last_start(job, place) + 1)
        )

    @property
    def entries(self) -> int:
        """Number of entries of the capacity rows, at most, without listing the columns."""
        instance = self.instance
        return len(instance.problem.tiers) * sum(
            max(self._last_start(job, place) + 1 - instance.release[job], 0) * instance.length(job, place)
            for job, places in enumerate(self.places)
            for place in places
        )

    @property
    def horizon(self) -> int:
        """Slots until the last job must have ended, which are coefficients of rows for the makespan."""
        return self.instance.slots(max(self.latest)) if self.instance.problem.minimize == "makespan" else 0

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Places of each job."""
        return tuple(tuple(self._places_of(job)) for job in range(len(self.instance.demand)))

    def _places_of(self, job: int) -> list[int]:
        instance = self.instance
        able = instance.places_of(job)
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
        """What each column adds to the objective, in seconds."""
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
        """Return the model as arrays."""
        rows = SparseRows()
        for job in range(len(self.instance.demand)):
            own = ((index, 1.0) for index, column in enumerate(self.columns) if column.job == job)
            rows.add(f"once[{job}]", own, 1.0, 1.0)
        for (place, slot), within in self._capacity().items():
            rows.add(f"room[{place},{slot}]", within, upper=self.instance.places[place].gpus)
        number = len(self.costs)
        if number > len(self.columns):
            self._add_last_end(rows)
        return StandardForm.build(
            cost=[float(cost) for cost in self.costs],
            matrix=rows.matrix(number),
            row_lower=rows.lower,
            row_upper=rows.upper,
            column_upper=[1.0] * len(self.columns) + [inf] * (number - len(self.columns)),
        )

    def point(self, choices: Sequence[SlottedRun]) -> NDArray[np.float64]:
        """Return a schedule, by job, as values of the columns."""
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
        """Read place and start of each job."""
        chosen = [self.columns[index] for index in np.flatnonzero(values[: len(self.columns)] > 1 / 2)]
        return [SlottedRun(start, place) for _, place, start in sorted(chosen)]

    def without(self, form: StandardForm, choices: Sequence[SlottedRun], jobs: Sequence[int]) -> StandardForm:
        """Return the arrays with a row more: not all of some jobs have start and run time as chosen."""
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
        """Return the place with columns that stands for a place: itself, or the widest that is as fast."""
        own = self.instance.places[place]
        return max(
            each
            for each in self.places[job]
            if set(own.cells) <= set(self.instance.places[each].cells)
            and self.instance.seconds[job][self.instance.places[each].tier]
            == self.instance.seconds[job][own.tier]
        )

    def _capacity(self) -> dict[tuple[int, int], list[Entry]]:
        """Return the GPUs that columns hold of each place in each slot, where something of its own can be."""
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

    def _add_last_end(self, rows: SparseRows) -> None:
        """Let the last column be no earlier than any end."""
        last = len(self.columns)
        for job in range(len(self.instance.demand)):
            ends = [
                (index, -float(start + self.instance.length(job, place)))
                for index, (own, place, start) in enumerate(self.columns)
                if own == job
            ]
            rows.add(f"last[{job}]", [*ends, (last, 1.0)], 0.0)
