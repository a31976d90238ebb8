"""Pair: a new job that may share a running job's GPUs now, or wait until the running job completes."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, get_args

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.grid import Exact, Number, decimal
from gsopt.core.numbers.tolerances import SUM

#: Rules for sharing: the better of the two choices, or two readings of the proof printed in the paper.
Rule = Literal["end_points", "sign", "cases"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A running job, and a new one that may share its GPUs.

    Each job runs at speed 1 when alone, and at 1 divided by its slowdown while the two share. The sum of the
    two completion times is smallest if the new job starts either now or when the running job completes. With
    more than two jobs, another start time may be better.

    Integers and fractions yield exact sums; floats yield floats.

    Source: Castor, section 5.1, Theorem 1 and Equations 14-23, where A is the running job and B is the new one.

    Attributes
    ----------
    remaining
        Time in seconds that the running job still needs if it runs alone.
    seconds
        Time in seconds that the new job needs if it runs alone, with the sub-batches that it would use while
        sharing.
    slowdown_running, slowdown_new
        Factors by which the two jobs take longer while they share; at least 1.
    seconds_whole
        Time in seconds that the new job needs if it waits and then runs alone with its whole batch; by default,
        `seconds`.

    Raises
    ------
    InvalidInput
        A time is negative, or a slowdown is below 1.

    Examples
    --------
    Of the rules of `shares`, ``sign`` may reject sharing that is right, and ``cases`` may accept sharing that
    is wrong:

    >>> long = Pair(remaining=4, seconds=1, slowdown_running=2, slowdown_new=2)
    >>> [int(time) for time in long.completions()], long.shares(), long.shares("sign"), long.shares("cases")
    ([5, 2], True, False, True)
    >>> slow = Pair(remaining=1, seconds=1, slowdown_running=3, slowdown_new=3)
    >>> [int(time) for time in slow.completions()], slow.shares(), slow.shares("sign"), slow.shares("cases")
    ([3, 3], False, False, True)
    """

    remaining: Number
    seconds: Number
    slowdown_running: Number
    slowdown_new: Number
    seconds_whole: Number | None = None

    def __post_init__(self) -> None:
        for name in ("remaining", "seconds", "seconds_whole"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InvalidInput(name, shorten(value), "must be at least 0 seconds")
        for name in ("slowdown_running", "slowdown_new"):
            value = getattr(self, name)
            if not value >= 1:
                raise InvalidInput(name, shorten(value), "must be at least 1")

    @property
    def running_lasts(self) -> bool:
        """Whether the running job lasts at least as long as the new one if both share from now on (Case 1)."""
        return self.slowdown_running * self.remaining >= self.slowdown_new * self.seconds

    @property
    def shared_sum(self) -> Any:
        """Sum of the completion times if the two share from now on (twice Equation 19 or 23, with delay 0)."""
        return sum(self.completions())

    @property
    def sequential_sum(self) -> Any:
        """Sum of the completion times if the new job waits for the running one."""
        return 2 * self.remaining + self._whole

    @property
    def saved(self) -> Any:
        """Seconds by which sharing now reduces the sum of completion times; negative if waiting is better.

        The value avoids some of the rounding errors of `sequential_sum - shared_sum`. For example, it is
        exactly 0 for two equally long jobs that slow each other down by a factor of 1.5, even if times are
        floats.
        """
        if self.running_lasts:
            return self.remaining + (self._whole - self.seconds * self._per_second)
        return self.remaining * self.slope + (self._whole - self.seconds)

    @property
    def _exactly_saved(self) -> Any:
        """Saved seconds; if they are 0 up to rounding, those of all floats read as decimals."""
        saved = self.saved
        if isinstance(saved, float) and 0 < abs(saved) < SUM * (self.remaining + self._whole):
            own = (self.remaining, self.seconds, self.slowdown_running, self.slowdown_new, self._whole)
            return Pair(*map(decimal, own)).saved
        return saved

    @property
    def turning_point(self) -> Any:
        """Delay of the new job, in seconds, up to which the running job outlasts it; negative if there is none.

        Examples
        --------
        >>> Pair(remaining=4, seconds=1, slowdown_running=2, slowdown_new=2).turning_point
        Fraction(3, 1)
        """
        return self.remaining - quotient(self.slowdown_new * self.seconds, self.slowdown_running)

    @property
    def slope(self) -> Any:
        """Increase of the sum of completion times per second of delay beyond the turning point.

        Source: Castor, Equation 23, which states the mean of the two times instead of their sum.

        Examples
        --------
        >>> Pair(remaining=1, seconds=4, slowdown_running=3, slowdown_new=2).slope
        Fraction(-5, 2)
        """
        return self._as_given(_slope(self.slowdown_running, self.slowdown_new))

    @property
    def _per_second(self) -> Any:
        """Increase of the sum per second of the new job while the running job outlasts the new one."""
        return self._as_given(_per_second(self.slowdown_running, self.slowdown_new))

    @property
    def _whole(self) -> Number:
        """Time in seconds that the new job needs if it waits."""
        return self.seconds if self.seconds_whole is None else self.seconds_whole

    def _as_given(self, value: Exact) -> Number:
        """Return a number computed from the slowdowns, as a float if either slowdown is a float."""
        floats = isinstance(self.slowdown_running, float) or isinstance(self.slowdown_new, float)
        return float(value) if floats else value

    def completions(self, delay: Number = 0) -> tuple[Any, Any]:
        """Return the seconds until the running and the new job complete if the new one starts after a delay.

        The delay must be from 0 to the remaining time of the running job. With the longest delay, the two jobs
        never share, but the new job is still assumed to use its sub-batches; `sequential_sum` assumes the whole
        batch. Source: Castor, Equations 16 and 17, which omit the delay, and Equations 20 and 21.

        Examples
        --------
        >>> pair = Pair(remaining=4, seconds=1, slowdown_running=2, slowdown_new=2)
        >>> [tuple(map(int, pair.completions(delay))) for delay in (0, 2, 4)]
        [(5, 2), (5, 4), (4, 5)]
        """
        if delay and not 0 <= delay <= self.remaining:
            rule = f"must be at least 0 and at most the {self.remaining} seconds that the running job remains"
            raise InvalidInput("delay", shorten(delay), rule)
        running = self.slowdown_running * (self.remaining - delay)
        new = self.slowdown_new * self.seconds
        if running >= new:
            return self.remaining + new - quotient(new, self.slowdown_running), delay + new
        return delay + running, delay + running + self.seconds - quotient(running, self.slowdown_new)

    def shares(self, rule: Rule = "end_points") -> bool:
        """Check whether the new job should share from now on, by one of three rules.

        ``end_points``: share if the sum of completion times is then at most that for waiting, which is correct
        for two jobs. ``sign``: share if 2 xi_B + xi_A - 2 xi_A xi_B is positive, for the slowdowns xi_A of the
        running and xi_B of the new job. This condition is at the end of the paper's proof, which assumes that
        the new job outlasts the running one; otherwise, the rule may be wrong. ``cases``: share in Case 1
        (`running_lasts`), and otherwise decide as with ``sign``. The last two rules ignore `seconds_whole`.
        """
        if rule not in get_args(Rule):
            raise InvalidInput("rule", shorten(rule), f"must be one of {', '.join(get_args(Rule))}")
        if rule == "end_points":
            return bool(self._exactly_saved >= 0)
        return (rule == "cases" and self.running_lasts) or bool(self.slope > 0)


@lru_cache(maxsize=2**16, typed=True)  # typed: the double 0.1 equals a fraction that is not 1/10
def _slope(running: Number, new: Number) -> Exact:
    """Return 2 + xi_A / xi_B - 2 xi_A for slowdowns read as decimals."""
    ours, theirs = decimal(running), decimal(new)
    return 2 + Fraction(ours) / theirs - 2 * ours


@lru_cache(maxsize=2**16, typed=True)
def _per_second(running: Number, new: Number) -> Exact:
    """Return xi_B (2 - 1 / xi_A) for slowdowns read as decimals."""
    return decimal(new) * (2 - 1 / Fraction(decimal(running)))


def quotient(value: Number, divisor: Number) -> Any:
    """Return a quotient. It is exact unless one of the two numbers is a float."""
    if isinstance(value, float) or isinstance(divisor, float):
        return value / divisor
    return Fraction(value) / divisor
