"""EFQ: elastic fair queuing, the policy of Ares."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from gsopt.scenario.speed import efficient_counts
from gsopt.schedule.fairness import VirtualTime
from gsopt.simulation import Action, Decider, State
from gsopt.simulation.parts.greedy import Greedy


def efq(state: State, *, alpha: float | Fraction = 0.75, skip: bool = True) -> Decider:
    """Run the jobs that would complete first under equal shares, on as many GPUs as they can use efficiently.

    At every decision, jobs are served in the order in which they would complete if the GPUs were always divided
    equally among them. Each job gets the largest of its efficient numbers of GPUs that the jobs before it leave
    free.

    Source: Ares, sections 3.2-3.3 (elastic fair queuing). Key: virtual finish time, fixed at the release. Ties:
    lower job number. Preemptive at arrivals and completions or, in a run with rounds, at the beginning of
    rounds; resizes; knows durations. O(log jobs) for the key, and O(distinct numbers of GPUs held) per start or
    resize.

    Departures: in the paper, the demanded number is doubled repeatedly; here, the menu lists the larger
    numbers. Virtual finish times assume the cluster's initial number of GPUs, even if it changes later.

    Parameters
    ----------
    alpha
        The efficient numbers are the demanded number and, in ascending order, the larger numbers of the menu,
        until the speed per GPU first falls below `alpha` times that on the demanded number.
    skip
        Whether jobs behind a job that does not fit may start; the paper does not say.

    Raises
    ------
    InvalidInput
        `alpha` is not a number above 0 and at most 1.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 2.0)]
    >>> sizes = [("a", 3.0), ("b", 6.0), ("c", 6.6)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in sizes]
    >>> [round(time, 9) for time in simulate(Workload(jobs=jobs), efq, cluster=2).completion_times]
    [1.5, 4.5, 7.8]
    """
    return _FairQueue(state, alpha, skip=skip)


class _FairQueue:
    preemptive = True

    def __init__(self, state: State, alpha: float | Fraction, *, skip: bool) -> None:
        self._number = type(state.now)
        self._clock = VirtualTime(state.capacity, self._number)
        self._finish: dict[int, Any] = {}
        self._greedy = Greedy(
            state,
            self._finish.__getitem__,
            lambda job: efficient_counts(state.jobs[job], alpha),
            skip=skip,
        )

    def decide(self, state: State) -> Iterable[Action]:
        for number in state.arrived:  # in rounds they arrived before now
            job = state.jobs[number]
            self._clock.advance(self._number(job.release_date))
            self._finish[number] = self._clock.arrive(number, self._number(job.duration) * job.gpus)
        return self._greedy.decide(state)
