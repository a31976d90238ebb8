"""LAS: least attained service first, without queues."""

from collections.abc import Iterable
from math import inf

from gsopt.core.errors import number_of, require
from gsopt.simulation import Action, Decider, State, Wake
from gsopt.simulation.parts.greedy import Greedy


def las(state: State, *, quantum: float | None = None) -> Decider:
    """Run the jobs with the fewest GPU-seconds so far, skipping jobs that do not fit.

    Source: Tiresias (NSDI 2019), section 3 (two-dimensional least attained service, without its queues). Key:
    GPU-seconds held so far, including overheads. Ties: lower job number. Preemptive at arrivals, at completions
    and, while jobs wait, every `quantum` seconds; in a run with rounds, at the beginning of rounds. Does not
    know durations. O(distinct demands) per start or stop.

    Rounding errors may decide ties between jobs of equal service, unless the run is exact (``exact=True`` in
    `gsopt.simulate`).

    If the quantum or the rounds are no longer than the overheads, jobs may take turns without ever making
    progress. `gsopt.simulate` ends such a run with `IllegalDecision`.

    Parameters
    ----------
    quantum
        Longest time between two decisions while jobs wait, in seconds. None: no limit.

    Raises
    ------
    InvalidInput
        The quantum is not a positive, finite number.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    >>> simulate(Workload(jobs=jobs), las, cluster=1).completion_times
    (2.0, 4.0)
    >>> simulate(Workload(jobs=jobs), las, cluster=1, quantum=0.5).completion_times
    (3.5, 4.0)
    """
    return _LeastAttained(state, quantum)


class _LeastAttained:
    preemptive = True

    def __init__(self, state: State, quantum: float | None) -> None:
        sound = quantum is None or 0 < number_of(quantum) < inf
        require(sound, "quantum", quantum, "must be a positive number of seconds")
        self._quantum = quantum
        self._greedy = Greedy(state, key=state.service, pace=type(state.now))

    def decide(self, state: State) -> Iterable[Action]:
        self._greedy.update(state)
        yield from self._greedy.repair(state)
        if self._quantum is not None and self._greedy.someone_waits:
            yield Wake(state.now + type(state.now)(self._quantum))
