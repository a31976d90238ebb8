"""Estimates: policies that know durations only roughly."""

from collections.abc import Callable, Sequence
from math import exp, log
from random import Random
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.job import LATEST, LEAST, Job
from gsopt.scenario.training import Observation
from gsopt.simulation.perception import PerceivedState, PerceivingDecider
from gsopt.simulation.policy import Allocation, Decider, Policy, State

#: Maximum factor. Normal deviates stay below 10, so estimates cannot overflow.
_LARGEST_FACTOR = 1e6

#: Default factor at one standard deviation. A third of the estimates are then off by more than a factor of 2.
_FACTOR = 2.0


def misjudging(
    policy: Policy,
    *,
    factor: float | None = None,
    wrong: float | None = None,
    margin: float = 0.25,
    seed: int = 0,
) -> Policy:
    """Return a policy that sees wrong durations and wrong remaining work.

    Both are multiplied by a factor that is constant for each job, as if the number of remaining steps were
    known and only the duration of a step were estimated. Either the factors of all jobs are log-normal with
    median 1, or a share of the jobs has factors that are uniform around 1 and the other jobs are estimated
    correctly.

    Source of the second option: Aryl, section 7.5 (Table 9), where up to 60 % of the predictions are wrong,
    each by at most 25 %. The paper does not state the distribution of the errors; here, it is uniform. A job
    that is misjudged for one share is misjudged by the same factor for every larger share.

    Parameters
    ----------
    policy
        The policy that sees the estimates.
    factor
        The factor at one standard deviation above the median, from 1 (all estimates are correct) to 1e6. The
        default, if `wrong` is not given, is 2, so about a third of the estimates are more than twice or less
        than half the truth.
    wrong
        Expected share of the jobs that are misjudged, from 0 to 1. It must not be given together with `factor`.
    margin
        Maximum relative error of these jobs, from 0 to below 1.
    seed
        Seed of the random numbers.

    Raises
    ------
    InvalidInput
        A number is out of range, or both `factor` and `wrong` are given.
    """
    draw = _log_normal(factor) if wrong is None else _uniform(factor, wrong, margin)

    def misjudged(state: State, **options: Any) -> Decider:
        return PerceivingDecider(_Misjudged(state, _Factors(draw, seed)), policy, options)

    return misjudged


#: A function that samples the factor of a job, given the job's own random number generator.
_Draw = Callable[[Random], float]


def _log_normal(factor: float | None) -> _Draw:
    chosen = _FACTOR if factor is None else factor
    if not (isinstance(chosen, int | float) and 1 <= chosen <= _LARGEST_FACTOR):
        raise InvalidInput("factor", shorten(chosen), "must be a number from 1 to 1e6")
    spread = log(chosen)
    return lambda random: exp(spread * random.gauss(0, 1))


def _uniform(factor: float | None, wrong: float, margin: float) -> _Draw:
    if factor is not None:
        raise InvalidInput("factor", shorten(factor), "must not be given together with wrong")
    if not (isinstance(wrong, int | float) and 0 <= wrong <= 1):
        raise InvalidInput("wrong", shorten(wrong), "must be a number from 0 to 1")
    if not (isinstance(margin, int | float) and 0 <= margin < 1):
        raise InvalidInput("margin", shorten(margin), "must be a number from 0 to below 1")
    return lambda random: 1 + margin * random.uniform(-1, 1) if random.random() < wrong else 1.0


class _Misjudged(PerceivedState):
    """A state in which durations and remaining work are estimates."""

    __slots__ = ("_estimates", "_factors", "_truth")

    def __init__(self, truth: State, factors: "_Factors") -> None:
        super().__init__(truth)
        self._truth, self._factors = truth, factors
        self._estimates = _Estimates(truth.jobs, factors)

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs in order of their numbers, with estimated durations; only released jobs are accessible."""
        return self._estimates

    def remaining(self, job: int) -> Any:
        """Return the estimated remaining work of a job."""
        return self._truth.remaining(job) * self._number(self._factors[job])

    def samples(self, job: int) -> Any:
        """Return the true number of samples that a job has processed."""
        return self._truth.samples(job)

    def observed(self, job: int) -> Observation | None:
        """Return the true observation of a job's training."""
        return self._truth.observed(job)

    def rate(
        self, job: int, gpus: Allocation, mode: str = "", beside: Sequence[int] = (), *, tier: str | None = None
    ) -> Any:
        """Return the speed that a job would have now, in its true phase."""
        return self._truth.rate(job, gpus, mode, beside, tier=tier)


class _Factors:
    """The factors of the jobs, each sampled when it is first needed."""

    def __init__(self, draw: _Draw, seed: int) -> None:
        self._draw, self._seed = draw, seed
        self._drawn: dict[int, float] = {}

    def __getitem__(self, job: int) -> float:
        if job not in self._drawn:
            self._drawn[job] = self._draw(Random(f"{self._seed} {job}"))
        return self._drawn[job]


class _Estimates(Sequence[Job]):
    """The released jobs with estimated durations."""

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
