"""Limits: the largest batch size that a job may currently have.

A limit grows in steps, to preserve convergence. It shrinks for jobs that have run for a long time, and for jobs
that a new schedule leaves waiting.

Source: Bian, Li, Wang, You, Online Evolutionary Batch Size Orchestration for Scheduling Deep Learning Workloads
in GPU Clusters, SC '21 (ONES), section 3.3.2.
"""

from enum import StrEnum
from fractions import Fraction
from math import ceil, inf
from numbers import Integral, Rational
from typing import Annotated

from pydantic import Field

from gsopt.core.errors import require
from gsopt.core.numbers.grid import Exact, Number, decimal
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.core.problem import Frozen
from gsopt.performance.batching.throughput import BatchSize


class ScaleDown(StrEnum):
    """The running jobs whose limits follow the formula for long jobs, `scaled_down`, after an epoch.

    Attributes
    ----------
    LONG
        Jobs that have run for longer than 1/sigma, as in the paper's text; sigma is `LimitRules.rate`. All
        other limits are doubled.
    PRINTED
        All jobs, because the formula is printed without a condition. The formula doubles the limit of a job
        that has not run yet, and keeps that of a job that has run for at most 1/sigma. So unless sigma is 0, it
        never doubles a limit after an epoch.

    Examples
    --------
    >>> [each.value for each in ScaleDown]
    ['long', 'printed']
    """

    LONG = "long"
    PRINTED = "printed"


class LimitRules(Frozen):
    """The rules by which the limit R on a job's batch size changes over the job's lifetime.

    A job starts with the limit returned by `started`. `after_epoch` applies at the end of each epoch once the
    warm-up is complete. `rejected` applies to a waiting job whenever a new schedule gives it no GPUs. Apart
    from this, a waiting job keeps its limit. All limits are integers of at least 1; for halving, the paper does
    not state this. The paper calls its rules "start", "resume", "scale-up" and "scale-down".

    Attributes
    ----------
    rate
        The rate sigma, in 1/s. The paper suggests the arrival rate of jobs. If it is 0, the formula for long
        jobs (`scaled_down`) never reduces a limit.
    largest
        Largest limit at which training converges; None if unknown.
    scale_down
        The jobs to which the formula for long jobs applies.

    Examples
    --------
    >>> rules = LimitRules(rate=0.01, largest=1024)
    >>> rules.started(local_limit=128), rules.after_epoch(128, elapsed=60), rules.after_epoch(600, elapsed=60)
    (128, 256, 1024)
    >>> rules.after_epoch(1024, elapsed=250), rules.rejected(1024), rules.rejected(1)
    (512, 512, 1)
    """

    rate: Annotated[float, Field(ge=0)] = 0.0
    largest: BatchSize | None = None
    scale_down: ScaleDown = ScaleDown.LONG

    def started(self, local_limit: int) -> int:
        """Return the limit at a job's arrival: `local_limit`, but at most `largest` (rule "start")."""
        return self._capped(_valid("local_limit", local_limit))

    def rejected(self, limit: int) -> int:
        """Return half the limit, rounded down but at least 1, for a job that keeps waiting (rule "resume")."""
        return max(1, _valid("limit", limit) // 2)

    def after_epoch(self, limit: int, elapsed: Number, *, warm: bool = True) -> int:
        """Return a running job's limit at the end of an epoch (rules "start", "scale-up" and "scale-down").

        The result is 2 R or, if the formula for long jobs applies (`scale_down`), that of `scaled_down`. It is
        at most `largest`. The paper does not say how scale-up and scale-down combine. Here, the formula
        replaces the doubling, because it already contains the factor 2.

        Parameters
        ----------
        limit
            The current limit R.
        elapsed
            T_processed, the time for which the job has run, in seconds.
        warm
            Whether the job has completed its warm-up steps. Until then, its limit does not change.
        """
        if not warm:
            return _valid("limit", limit)
        share = _below(self.rate, elapsed)
        long = share > 1 or self.scale_down is ScaleDown.PRINTED
        return self._capped(_penalised(_valid("limit", limit), share) if long else 2 * _valid("limit", limit))

    def _capped(self, limit: int) -> int:
        return limit if self.largest is None else min(limit, self.largest)


def scaled_down(limit: int, rate: Number, elapsed: Number) -> int:
    """Return ceil(2 R / ceil(sigma T + 1)), the limit that penalizes long-running jobs.

    The formula doubles R if sigma T is 0, and keeps R if sigma T is above 0 and at most 1. If it is applied at
    every epoch while sigma T is above 1, it gradually reduces any limit to 1 or 2.

    Parameters
    ----------
    limit
        The limit R.
    rate
        The rate sigma, in 1/s.
    elapsed
        T_processed, in seconds. If `rate` and `elapsed` are integers or fractions, sigma T is exact. Otherwise,
        it is reduced by the fraction `SPAN_ERROR`, because penalties must not depend on the last digit of a
        time.

    Raises
    ------
    InvalidInput
        The limit is not an integer of at least 1, or another argument is negative or infinite.

    Examples
    --------
    >>> scaled_down(4096, rate=0.1, elapsed=200), scaled_down(512, rate=0.1, elapsed=10.000000000000002)
    (391, 512)
    >>> scaled_down(512, rate=0.1, elapsed=0), scaled_down(512, rate=0.1, elapsed=11)
    (1024, 342)
    """
    return _penalised(_valid("limit", limit), _below(rate, elapsed))


def _penalised(limit: int, share: Exact) -> int:
    return ceil(Fraction(2 * limit, ceil(share) + 1))


def _below(rate: Number, elapsed: Number) -> Exact:
    """Return sigma T, or the smallest value that it may have if floats are involved."""
    is_valid = 0 <= rate < inf and 0 <= elapsed < inf
    require(is_valid, "rate, elapsed", (rate, elapsed), "must be at least 0, and finite")
    if isinstance(rate, Rational) and isinstance(elapsed, Rational):
        return Fraction(rate) * Fraction(elapsed)
    return decimal(float(rate)) * decimal(float(elapsed)) * (1 - Fraction(SPAN_ERROR))


def _valid(field: str, value: int) -> int:
    is_valid = isinstance(value, Integral) and not isinstance(value, bool) and value >= 1
    require(is_valid, field, value, "must be an integer of at least 1")
    return int(value)  # numpy's integers would overflow when doubled
