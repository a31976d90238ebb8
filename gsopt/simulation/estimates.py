"""Estimates: policies that know durations only roughly."""

from collections.abc import Sequence
from math import exp, log
from random import Random
from typing import Any

from gsopt.errors import InvalidInput, shorten
from gsopt.job import LATEST, LEAST, Job
from gsopt.simulation.policy import Allocation, Decider, Policy, State
from gsopt.simulation.shown import Shown
from gsopt.simulation.view import EngineState
from gsopt.training import Observation

#: Largest factor by which estimates are wrong; normal deviates stay below 10.
_LARGEST_FACTOR = 1e6


def misjudging(policy: Policy, *, factor: float = 2.0, seed: int = 0) -> Policy:
    """Give a policy that is told wrong durations and remaining work.

    Each job's are multiplied by a factor of its own, which is log-normal with median 1 and does not change as
    the job runs: as if it were known how many steps are left, and only estimated how long one takes.

    Parameters
    ----------
    policy
        The policy.
    factor
        The factor that is one standard deviation from the median; from 1, where all estimates are right, to
        1e6. For 2, a third of all estimates is more than twice or less than half of what is true.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        The factor is out of its range.

    Examples
    --------
    >>> from gsopt.job import Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import srtf
    >>> jobs = [Job(name=name, release_date=0, duration=d, gpus=1) for name, d in [("a", 4), ("b", 5)]]
    >>> runs = [simulate(Workload(jobs=jobs), misjudging(srtf, seed=seed), cluster=1) for seed in (0, 1)]
    >>> [run.completion_times for run in runs]
    [(4.0, 9.0), (9.0, 5.0)]
    """
    if not (isinstance(factor, int | float) and 1 <= factor <= _LARGEST_FACTOR):
        raise InvalidInput("", "factor", shorten(factor), "must be a number from 1 to 1e6")

    def misjudged(state: State, **options: Any) -> Decider:
        return Shown(_Misjudged(state, log(factor), seed), policy, options)

    return misjudged


class _Misjudged(EngineState):
    """A state in which durations and remaining work are estimates."""

    __slots__ = ("_estimates", "_factors", "_number", "_truth")

    def __init__(self, truth: State, spread: float, seed: int) -> None:
        if not isinstance(truth, EngineState):
            raise TypeError(truth)
        super().__init__(truth._engine)  # noqa: SLF001 - of its own class
        self._truth, self._number = truth, type(truth.now)
        self._factors = _Factors(spread, seed)
        self._estimates = _Estimates(truth.jobs, self._factors)

    @property
    def jobs(self) -> Sequence[Job]:
        """The released jobs by number, as long as they are expected to be."""
        return self._estimates

    def remaining(self, job: int) -> Any:
        """Give the work that is expected to be left."""
        return self._truth.remaining(job) * self._number(self._factors[job])

    def samples(self, job: int) -> Any:
        """Give the samples that the job has truly processed."""
        return self._truth.samples(job)

    def observed(self, job: int) -> Observation | None:
        """Give what is truly seen of the training."""
        return self._truth.observed(job)

    def rate(
        self,
        job: int,
        gpus: Allocation,
        mode: str = "",
        beside: Sequence[int] = (),
        *,
        tier: str | None = None,
    ) -> Any:
        """Give the speed that a job would have now, in the phase in which it truly is."""
        return self._truth.rate(job, gpus, mode, beside, tier=tier)


class _Factors:
    """By what each job's duration is multiplied, whenever that is asked."""

    def __init__(self, spread: float, seed: int) -> None:
        self._spread, self._seed = spread, seed
        self._drawn: dict[int, float] = {}

    def __getitem__(self, job: int) -> float:
        if job not in self._drawn:
            self._drawn[job] = exp(self._spread * Random(f"{self._seed} {job}").gauss(0, 1))
        return self._drawn[job]


class _Estimates(Sequence[Job]):
    """The released jobs with their durations as they are expected to be."""

    def __init__(self, jobs: Sequence[Job], factors: _Factors) -> None:
        self._jobs, self._factors = jobs, factors
        self._made: dict[int, Job] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def __getitem__(self, job: Any) -> Any:
        if job not in self._made:
            item = self._jobs[job]
            expected = min(max(item.duration * self._factors[job], LEAST), LATEST)
            self._made[job] = item.model_copy(update={"duration": expected})
        return self._made[job]
