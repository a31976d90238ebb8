"""Segments: list schedules and the policy of marginal efficiency from their definitions, in fractions.

A job's menu is replaced by its concave hull through the origin. At every event a list of hull segments is gone
through once, and each is accepted whose job is there, whose predecessor was accepted and for whose GPUs there
is room.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Any, NamedTuple

from gsopt.scenario.job import Job, Workload
from gsopt.simulation.policy import Action, Assign, Decider, State

#: Gives the segments in their order, each as job and number of its step, from the work that is left of the jobs
#: that are there, or what they have attained, and the steps that each of them holds.
Rank = Callable[[Mapping[int, Fraction], Mapping[int, int]], Iterable[tuple[int, int]]]


class Segment(NamedTuple):
    """A step of a job's hull: GPUs and speed that it adds."""

    gpus: int
    speed: Fraction


def hull(job: Job) -> list[Segment]:
    """Return the hull of a job's menu, with a corner at every entry that lies on it.

    Examples
    --------
    >>> menu = [(1, 0.5), (2, 1.0), (3, 1.1), (4, 1.5)]
    >>> [(step.gpus, step.speed) for step in hull(Job(name="a", release_date=0, duration=1, gpus=2, menu=menu))]
    [(1, Fraction(1, 2)), (1, Fraction(1, 2)), (2, Fraction(1, 2))]
    """
    entries = [(count, Fraction(speed)) for count, speed in job.speeds[""].items()]
    found, gpus, speed = [], 0, Fraction(0)
    while better := [entry for entry in entries if entry[0] > gpus and entry[1] > speed]:
        steepest = max((entry[1] - speed) / (entry[0] - gpus) for entry in better)
        count, top = min(entry for entry in better if entry[1] - speed == steepest * (entry[0] - gpus))
        found.append(Segment(count - gpus, top - speed))
        gpus, speed = count, top
    return found


def staircase(job: Job) -> list[Segment]:
    """List a step for every entry of a menu that is faster than all smaller ones, up to the hull's last corner.

    Its speed is that of the hull above it.

    Examples
    --------
    >>> menu = [(1, 0.5), (2, 1.0), (4, 1.25), (8, 2.0), (16, 2.0)]
    >>> steps = staircase(Job(name="a", release_date=0, duration=60, gpus=2, menu=menu))
    >>> [(step.gpus, float(step.speed)) for step in steps]
    [(1, 0.5), (1, 0.5), (2, 0.3333333333333333), (4, 0.6666666666666666)]
    """
    speeds = job.speeds[""]
    efficiencies = [step.speed / step.gpus for step in hull(job) for _ in range(step.gpus)]
    found, held = [], 0
    for count in sorted(speeds):
        if count <= len(efficiencies) and all(speeds[count] > speeds[less] for less in speeds if less < count):
            found.append(Segment(count - held, efficiencies[count - 1] * (count - held)))
            held = count
    return found


def accepted(order: Iterable[tuple[int, int]], hulls: Any, there: Iterable[int], gpus: int) -> dict[int, int]:
    """Go through segments once and accept what fits; give the steps of each job that runs, the first one first.

    Examples
    --------
    >>> wide, narrow = [Segment(1, Fraction(1)), Segment(2, Fraction(1))], [Segment(1, Fraction(1))]
    >>> accepted([(0, 0), (0, 1), (1, 0)], [wide, narrow], [0, 1], 2)
    {0: 1, 1: 1}
    """
    held: dict[int, int] = {}
    waiting = set(there)
    free = gpus
    for job, step in order:
        if job in waiting and held.get(job, 0) == step and hulls[job][step].gpus <= free:
            free -= hulls[job][step].gpus
            held[job] = step + 1
    return held


def in_order(order: Sequence[tuple[int, int]]) -> Rank:
    """Rank segments always in the same order."""

    def rank(left: Mapping[int, Fraction], held: Mapping[int, int]) -> Sequence[tuple[int, int]]:
        del left, held
        return order

    return rank


def completions(
    jobs: Sequence[Job], gpus: int, rank: Rank, steps_of: Callable[[Job], list[Segment]] = hull
) -> list[Fraction]:
    """Return the completion times of jobs on a plain cluster, if segments are accepted in the order of a rank.

    Examples
    --------
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    >>> [int(end) for end in completions(jobs, 1, in_order([(1, 0), (0, 0)]))]
    [4, 2]
    """
    hulls = [steps_of(job) for job in jobs]
    left = {number: Fraction(job.duration) for number, job in enumerate(jobs)}
    releases = [Fraction(job.release_date) for job in jobs]
    ends: dict[int, Fraction] = {}
    held: dict[int, int] = {}
    now = min(releases)
    while left:
        there = {job: work for job, work in left.items() if releases[job] <= now}
        held = accepted(rank(there, held), hulls, there, gpus)
        speed = {
            job: Fraction(jobs[job].speed(sum(step.gpus for step in hulls[job][:steps])))
            for job, steps in held.items()
        }
        ahead = [release for release in releases if release > now]
        then = min([*(now + left[job] / rate for job, rate in speed.items()), *ahead])
        for job, rate in speed.items():
            left[job] -= rate * (then - now)
            if not left[job]:
                ends[job] = then
                del left[job], held[job]
        now = then
    return [ends[job] for job in range(len(jobs))]


def marginal(jobs: Sequence[Job], *, exponent: int = 4, hysteresis: int = 1, charge: int = 0) -> Rank:
    """Rank by marginal efficiency, relative to the best, to a power over remaining area.

    The area of a job is the least GPU-seconds that it takes on any entry of its menu. Held segments
    count `hysteresis` times. A job that runs gets no segment that does not save `charge` seconds, together with
    those between. Ties: lower job.
    """

    def rank(left: Mapping[int, Fraction], held: Mapping[int, int]) -> list[tuple[int, int]]:
        def worth(job: int, step: int) -> Fraction:
            least = min(count / Fraction(speed) for count, speed in jobs[job].speeds[""].items())
            segment = staircase(jobs[job])[step]
            index = (segment.speed / segment.gpus * least) ** exponent / (least * left[job])
            return index * (hysteresis if step < held.get(job, 0) else 1)

        def pays(job: int, step: int) -> bool:
            if not charge or step < held.get(job, 0) or job not in held:
                return True
            counts = list(accumulate(segment.gpus for segment in staircase(jobs[job])))
            before, after = (Fraction(jobs[job].speed(counts[place])) for place in (held[job] - 1, step))
            return left[job] / before - left[job] / after > charge

        steps = [(job, step) for job in left for step in range(len(staircase(jobs[job])))]
        segments = [segment for segment in steps if pays(*segment)]
        return sorted(segments, key=lambda segment: (-worth(*segment), segment))

    return rank


class Anew:
    """A decider that decides at every event as if nothing had been decided before, in a plain cluster."""

    preemptive = True

    def __init__(self, rank: Rank, look: Callable[[int], Any]) -> None:
        self._rank, self._look = rank, look
        self._there: set[int] = set()

    def decide(self, state: State) -> list[Action]:
        """Take away everything and accept segments in their order."""
        self._there = self._there.union(state.arrived).difference(state.completed)
        hulls = {job: staircase(state.jobs[job]) for job in self._there}
        held = {job: _steps(hulls[job], gpus) for job, gpus in state.running.items()}
        known = {job: Fraction(self._look(job)) for job in sorted(self._there)}
        found = accepted(self._rank(known, held), hulls, known, state.capacity)
        return [Assign({job: sum(step.gpus for step in hulls[job][:steps]) for job, steps in found.items()})]


def _steps(steps: Sequence[Segment], gpus: int) -> int:
    """Count the steps that lead to a number of GPUs."""
    return [sum(step.gpus for step in steps[:number]) for number in range(len(steps) + 1)].index(gpus)


def marginal_policy(state: State, *, exponent: int = 4, hysteresis: int = 1, charge: int = 0) -> Decider:
    """Rank by marginal efficiency at every event, as a policy of the simulator."""
    return Anew(marginal(state.jobs, exponent=exponent, hysteresis=hysteresis, charge=charge), state.remaining)


def attained_policy(state: State, *, exponent: int = 8, hysteresis: int = 16, grace: int = 600) -> Decider:
    """Rank by marginal efficiency over attained service at every event, as a policy of the simulator."""

    def rank(attained: Mapping[int, Fraction], held: Mapping[int, int]) -> list[tuple[int, int]]:
        def worth(job: int, step: int) -> Fraction:
            first, segment = staircase(state.jobs[job])[0], staircase(state.jobs[job])[step]
            efficiency = segment.speed / segment.gpus / (first.speed / first.gpus)
            return (
                efficiency**exponent / (grace + attained[job]) * (hysteresis if step < held.get(job, 0) else 1)
            )

        segments = [(job, step) for job in attained for step in range(len(staircase(state.jobs[job])))]
        return sorted(segments, key=lambda segment: (-worth(*segment), segment))

    return Anew(rank, state.service)


def draw(random: Random, *, most: int = 10, elastic: bool = True) -> tuple[Workload, int]:
    """Draw jobs whose times are exact in floats, and the GPUs of a plain cluster."""
    gpus = random.choice((1, 2, 3, 4, 8, 16, 64))
    return Workload(
        jobs=[_draw_job(random, index, gpus, elastic) for index in range(random.randint(1, most))]
    ), gpus


def _draw_job(random: Random, index: int, gpus: int, elastic: bool) -> Job:
    demanded = 2 ** random.randrange(gpus.bit_length())
    others = random.sample(range(1, gpus + 1), random.randint(0, min(3, gpus))) if elastic else []
    linear = random.random() < 0.3
    speeds = {count: count / demanded if linear else random.randint(1, 32) / 8 for count in others}
    return Job(
        name=f"j{index}",
        release_date=random.choice((0, 0, random.randint(0, 20), random.randint(0, 80) / 4)),
        duration=random.choice((1, random.randint(1, 32), random.randint(1, 128) / 8)),
        gpus=demanded,
        menu=list((speeds | {demanded: 1.0}).items()),
    )
