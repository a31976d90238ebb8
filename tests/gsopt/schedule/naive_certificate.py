"""Naive certificate: what the prices of a certificate prove, from the definitions and in fractions.

Jobs are adaptive, on GPUs of one type. From the library come only the order of the kinds of jobs, and the
rounding of their least seconds: seconds that are slightly shorter than those found here are taken as they are.
"""

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.certificate import Certificate
from gsopt.schedule.verify_epochs import Training as Given
from gsopt.schedule.verify_epochs import trainings_of
from tests.gsopt.schedule.bounds.tiny import exact, machines_of, ways_of
from tests.gsopt.schedule.naive_training import Training

#: By how much rounding may shorten seconds: a billionth for the speeds, and what follows the ninth digit.
_SHORTER = Fraction(12, 10**9)

#: The fewest seconds of each epoch, by number of GPUs.
Epochs = list[dict[int, Fraction]]


class NaiveCertificate:
    """The proof of a certificate, in grains: units of costs and times, to which each cost is rounded down."""

    def __init__(self, scenario: Scenario, known: Certificate) -> None:
        self.scenario, self.known = scenario, known
        self.origin = min(exact(job.release_date) for job in scenario.workload.jobs)
        self.edges = [Fraction(edge, known.ticks) for edge in known.edges]
        self.grain = Fraction(1, known.ticks * known.unit)

    def total(self) -> Fraction:
        """Return what the sum of all JCTs is at least, in seconds."""
        total, ticks = -self.supply(), self.known.ticks
        trainings = trainings_of(self.scenario, self.known.round_length)
        for job in self.scenario.workload.jobs:
            own = self.epochs(job)
            fits = [n for n, each in enumerate(trainings) if _fits(each, own)]
            place = max(fits, key=lambda n: sum(map(len, trainings[n].epochs)))
            begin = floor(self.first_progress(job) * ticks)
            starts = {begin, *(floor(first * ticks) for _, first in trainings[place].starts)}
            cost = self.costs(trainings[place], place, starts)[begin]
            total += Fraction(begin, ticks) - exact(job.release_date) + self.origin + cost * self.grain
        return total

    def supply(self) -> Fraction:
        """Return the price of all GPU-seconds that there are."""
        gpus, total, none = self.scenario.cluster.gpus, Fraction(0), Fraction(0)
        given = self.scenario.capacity_changes
        changes = [(exact(each.time) - self.origin, min(each.gpus, gpus)) for each in given]
        changes = [(none, gpus), *changes]
        for (low, high), price in zip(pairwise(self.edges), self.known.prices, strict=True):
            ends = [*(since for since, _ in changes[1:]), high]
            for (since, number), until in zip(changes, ends, strict=True):
                spent = number * Fraction(price, self.known.unit)
                total += max(min(high, until) - max(low, since), none) * spent
        return total

    def first_progress(self, job: Job) -> Fraction:
        """Return when a job can first make progress, after its first overhead and in rounds."""
        first = exact(job.release_date)
        if self.known.round_length is not None:
            start, length = self.scenario.clock_start, exact(self.known.round_length)
            clock = self.origin if start is None else exact(start)
            span = (first - clock) * (1 - Fraction(1, 10**12))  # a hair after a round, floats count as on it
            first = max(clock + ceil(span / length) * length, first)
        early = 1 if self.saving(job) in ("half", "whole") else 0
        return first + max(exact(self.scenario.overhead(job).start) - early, Fraction(0)) - self.origin

    def saving(self, job: Job) -> str:
        """Return what an epoch of a job can save by ending at a whole second."""
        given, paid = self.scenario, self.scenario.overhead(job)
        if not given.agents.whole_seconds:
            return "none"
        if given.restarts == "machines" or min(paid.start, paid.resize) < 2:
            return "share"
        times = [paid.start, paid.stop, paid.resize, self.known.round_length or 0.5]
        is_whole = all(float(time).is_integer() for time in times) and not given.capacity_changes
        return "whole" if is_whole else "half"

    def epochs(self, job: Job) -> Epochs:
        """Return the fewest seconds of each epoch with work, by number of GPUs, less all that can be saved."""
        application, agents = self.scenario.applications[job.model], self.scenario.agents
        training = Training(application, agents, job.batch_size or 1)
        ways = ways_of(job, application, agents, machines_of(self.scenario))
        half, saving, found = Fraction(1, 2), self.saving(job), []
        for epoch in range(application.epochs):
            seconds: dict[int, Fraction] = {}
            for way in ways:
                span = (training.goal(epoch + 1) - training.goal(epoch)) / way.rates[epoch]
                seconds[way.gpus] = min(seconds.get(way.gpus, span), span)
            share = min(half / (min(seconds.values()) or 1), Fraction(1, 3))
            for gpus, span in seconds.items():
                if saving == "share":
                    seconds[gpus] = span * (1 - share)
                elif saving == "half":
                    seconds[gpus] = max(span - half, Fraction(1))
                elif saving == "whole":
                    seconds[gpus] = Fraction(max(ceil(span * (1 - _SHORTER) - half), 1))
            found += [seconds] if training.goal(epoch + 1) > training.goal(epoch) else []
        return found

    def costs(self, training: Given, place: int, starts: set[int]) -> dict[int, int]:
        """Return what is left to pay before the first part, by time in ticks."""
        edges, unit, ticks = self.known.edges, self.known.unit, self.known.ticks
        clock = {edges[-1], *(time for time in starts if time < edges[-1])}
        for (low, high), number in zip(pairwise(edges), self.known.steps[place], strict=True):
            clock |= {low + (high - low) * n // number for n in range(number)}
        rows = [
            [(gpus, floor(Fraction(seconds) * ticks / number)) for (_, gpus), seconds in ways]
            for ways, number in zip(training.epochs, self.known.parts[place], strict=True)
            for _ in range(number)
        ][::-1]
        after = [0]
        for ways in rows:
            after.append(after[-1] + min(seconds for _, seconds in ways) * unit)
        found = dict.fromkeys({edges[-1], *starts}, after[-1])
        for begin, end in reversed([*pairwise(sorted(clock))]):
            price, span = self.known.prices[sum(edge <= begin for edge in edges) - 1], end - begin
            now = [0]
            for ways, same, less in zip(rows, after[1:], after, strict=False):
                limits = [Fraction(same + span * unit)]
                for gpus, seconds in ways:
                    second = unit + gpus * price
                    limits.append(same + span * second - Fraction(span * (same - less), seconds))
                    limits.append(now[-1] + seconds * second + Fraction(seconds * (less - now[-1]), span))
                now.append(floor(min(limits)))
            after, found[begin] = now, now[-1]
        return found


def _fits(given: Given, own: Epochs) -> bool:
    """Check that given seconds are those found here, rounded, and that no cheaper way is missing."""
    pairs = [*zip(given.epochs, own, strict=False)]
    are_rounded = all(
        gpus in mine and mine[gpus] * (1 - 2 * _SHORTER) <= seconds <= mine[gpus]
        for ways, mine in pairs
        for (_, gpus), seconds in ways
    )
    are_best = all(
        min((1 + price * gpus) * seconds for (_, gpus), seconds in ways) <= (1 + price * own_gpus) * span
        for price in (0, Fraction(1, 8), 1, 8)
        for ways, mine in pairs
        for own_gpus, span in mine.items()
    )
    return len(given.epochs) == len(own) and are_rounded and are_best
