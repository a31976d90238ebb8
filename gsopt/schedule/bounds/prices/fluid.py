"""Fluid: a rough schedule on divisible GPUs, from which the search for prices starts."""

from dataclasses import dataclass

import numpy as np

from gsopt.core.numbers.tolerances import WORK_DONE
from gsopt.schedule.bounds.prices.demand import Array, Demand
from gsopt.schedule.bounds.prices.supply import GpuSupply

#: Exponent of the efficiency of a segment in its rank, as in the policy `marginal`.
_EFFICIENCY = 4

#: Exponent of the position of a job among equal ones in its rank.
_TURN = 2

#: Part of the running jobs that may complete in a step.
_COMPLETING = 1 / 16

#: Fraction of the GPUs above which they count as all in use.
_BUSY = 0.99

#: Largest number of steps after the last release.
_MOST_STEPS = 500


@dataclass(frozen=True, eq=False)
class Fluid:
    """A rough schedule, in units of time after the first release date.

    Attributes
    ----------
    completion
        Completion times, one per job.
    times
        Points in time, from 0 on.
    worths
        For each point in time, the integral of the worth of GPUs until then. The worth is the percentage by
        which the total speed of all jobs would rise with one per cent more GPUs. It is 0 while GPUs are free,
        and at most 1. For rigid jobs, it is 1 while jobs wait.
    """

    completion: Array
    times: Array
    worths: Array

    def worth(self, demand: Demand, edges: Array, there: Array) -> Array:
        """Return what a GPU-second in each cell is worth.

        In each second, the weighted sum of the jobs' remaining times falls by the total weight of the jobs
        present. One per cent more GPUs would make it fall faster, by the percentage described at `worths`. This
        gain is divided by the available GPU-seconds of each cell (`there`).
        """
        waited = _integral(edges, self.completion, demand.weight)
        waited = np.diff(_integral(edges, demand.release, demand.weight) - waited)
        part = np.diff(np.interp(edges, self.times, self.worths)) / np.diff(edges)
        found: Array = np.divide(waited * part, there, out=np.zeros_like(there), where=there > 0)
        return found


def _integral(times: Array, begins: Array, weights: Array) -> Array:
    """Return, for each time, the weighted sum of the seconds since the times in `begins`."""
    order = np.argsort(begins, kind="stable")
    places = np.searchsorted(begins[order], times, side="right")
    weight = np.append(0.0, weights[order].cumsum())[places]
    found: Array = weight * times - np.append(0.0, (weights * begins)[order].cumsum())[places]
    return found


def fluid_schedule(demand: Demand, supply: GpuSupply) -> Fluid:
    """Schedule jobs on divisible GPUs, with decisions after arrivals, capacity changes and some completions.

    The segments of the jobs' concave hulls (`Demand`) run in descending order of rank. The rank of a segment is
    the fourth power of its speed per GPU relative to the job's first segment, times the job's weight, divided
    by the job's remaining area.
    For rigid jobs of equal weight, this is shortest remaining service first. Equal jobs run one after another.
    GPU types are ignored.

    Parameters
    ----------
    demand, supply
        The jobs, and the GPUs that are available.
    """
    return _Course(demand, supply).run()


def _turn(demand: Demand) -> Array:
    """Return a factor for each job, which differs between equal jobs, so that they run in turn."""
    first = demand.first[:-1]
    columns = np.stack([demand.release, demand.work, demand.gpus[first], demand.speed[first], demand.weight])
    order = np.lexsort(columns)
    alike = np.append(False, (np.diff(columns[:, order], axis=1) == 0).all(axis=0))
    places = np.arange(len(order))
    begins = np.maximum.accumulate(np.where(alike, 0, places))
    found = np.empty(len(order))
    found[order] = (places - begins + 1.0) ** _TURN
    return found


class _Course:
    def __init__(self, demand: Demand, supply: GpuSupply) -> None:
        self.demand, self.supply = demand, supply
        first, steps = demand.first[:-1], np.diff(demand.first)
        self.efficiency = demand.speed / demand.gpus
        relative = self.efficiency / np.repeat(self.efficiency[first], steps)
        self.key = relative**_EFFICIENCY * np.repeat(_turn(demand) * demand.weight / demand.area, steps)
        self.next = np.append(self.efficiency[1:], 0.0)  # of the job's next segment, or of its last one
        self.next[demand.first[1:] - 1] = self.efficiency[demand.first[1:] - 1]
        self.dates = np.union1d(demand.release, supply.times)
        self.left, self.completion = demand.work.copy(), np.full(len(demand), np.inf)
        self.has_waited = False  # whether a job has had fewer GPUs than it can use

    def run(self) -> Fluid:
        """Return the whole schedule."""
        now, worth, late = 0.0, 0.0, 0
        times, worths = [now], [worth]
        while (self.left > 0).any() and late < _MOST_STEPS:
            place = int(np.searchsorted(self.dates, now, side="right"))
            until = float(self.dates[place]) if place < len(self.dates) else np.inf
            late += until == np.inf
            gpus = float(self.supply.gpus[0, np.searchsorted(self.supply.times, now, side="right") - 1])
            active = np.flatnonzero((self.demand.release <= now) & (self.left > 0))
            length = until - now
            if len(active) and gpus > 0:
                length, part = self._step(active, gpus, now, until - now)
                worth += length * part
            if length == np.inf:
                break
            now = min(until, now + length)
            times.append(now)
            worths.append(worth)
        unfinished = np.isinf(self.completion)
        self.completion[unfinished] = np.maximum(now, self.demand.release[unfinished])
        self.completion[unfinished] += self.demand.height[unfinished]
        return Fluid(self.completion, np.array(times), np.array(worths) * self.has_waited)

    def _step(self, active: Array, gpus: float, now: float, most: float) -> tuple[float, float]:
        """Run the active jobs for a step. Return its length, and what the GPUs are worth (`Fluid.worths`)."""
        demand, jobs = self.demand, len(active)
        counts = np.diff(demand.first)[active]
        owner = np.repeat(np.arange(jobs), counts)
        segment = np.concatenate([np.arange(*demand.first[[job, job + 1]]) for job in active])
        left = self.left[active]
        order = np.argsort(-self.key[segment] * (demand.work[active] / left)[owner], kind="stable")
        owner, segment = owner[order], segment[order]
        held, speed = demand.gpus[segment], demand.speed[segment]
        share = np.clip((gpus - (held.cumsum() - held)) / held, 0.0, 1.0)
        self.has_waited |= bool((share < 1).any())
        pace = np.bincount(owner, weights=speed * share, minlength=jobs)
        alone = left / np.where(pace > 0, pace, demand.speed[demand.first[active]])
        running = np.sort(alone[pace > 0])
        length = min(most, float(running[int(_COMPLETING * (len(running) - 1))]))
        seconds = np.minimum(alone, length)[owner]
        before = (held * seconds).cumsum() - held * seconds
        given = seconds * np.clip((gpus * length - before) / (held * seconds), 0.0, 1.0)
        done = np.bincount(owner, weights=speed * given, minlength=jobs)
        complete = done >= left * (1 - WORK_DONE)
        self.left[active] = np.where(complete, 0.0, left - done)
        self.completion[active[complete]] = now + alone[complete]
        if float(held @ given) < _BUSY * gpus * length:
            return length, 0.0
        after = self.next if (pace > 0).all() else self.efficiency
        margin = np.full(jobs, np.inf)
        taken = share > 0
        np.minimum.at(margin, owner[taken], (0.5 * (self.efficiency + after))[segment[taken]])
        return length, min(1.0, gpus / float((pace / margin).sum()))
