"""Decisions: the cost of basing sharing decisions on predicted instead of measured slowdowns."""

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from statistics import fmean
from typing import NamedTuple

from gsopt.core.errors import InvalidInput, require
from gsopt.core.problem import Frozen
from gsopt.performance.colocation import Pair
from gsopt.performance.interference.table import Couple, PairTable

#: Ratios of the running job's remaining time to the new job's duration, for which decisions are compared.
#: Decisions depend on these two times only through their ratio.
RATIOS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)


class Decisions(Frozen):
    """A comparison of decisions based on predicted slowdowns with those based on measured ones.

    A decision is whether a new job shares the GPU of a running job. All decisions are evaluated with the
    measured slowdowns. A pair of configurations (models with their batch sizes) makes two cases for each ratio
    given to `compare_decisions`, because either may be that of the running job. A configuration paired with
    itself makes one case for each ratio.

    Attributes
    ----------
    cases
        Number of cases.
    alike
        Fraction of cases in which both decisions are the same.
    sharing
        Fraction of cases in which the jobs should share according to the measured slowdowns.
    benefit, benefit_measured
        Mean sharing benefit of the decisions based on predicted and on measured slowdowns. The benefit is the
        new job's completion time if it waits, divided by that under the decision. Source: Castor, Eq. 24.
    deviation
        Mean absolute difference between the benefits of the two decisions in a case, relative to that of the
        decision based on measured slowdowns. The paper reports less than 10 % (section 6.4).
    lost
        Fraction of the possible savings in completion time that is lost because of the predictions; above 1 if
        the decisions based on predictions cost completion time. The savings of a case are relative to the sum
        of its completion times without sharing. None if nothing can be saved.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> table = PairTable(profiles=[Profile(name="a", features={})], slowdowns={"a": {"a": 1.25}})
    >>> decisions = compare_decisions(table, [(("a", "a"), (2.0, 2.0))], ratios=[1.0])
    >>> decisions.sharing, decisions.alike, decisions.benefit_measured
    (1.0, 0.0, 1.6)
    """

    cases: int
    alike: float
    sharing: float
    benefit: float
    benefit_measured: float
    deviation: float
    lost: float | None


class _DecidedPair(NamedTuple):
    """A pair with its measured slowdowns, and the decision based on the predicted ones."""

    pair: Pair
    shares: bool

    @property
    def saved(self) -> float:
        return float(self.pair.saved / self.pair.sequential_sum)

    @property
    def benefit(self) -> float:
        _, completed = self.pair.completions()
        return float((self.pair.remaining + self.pair.seconds) / completed)


def compare_decisions(
    table: PairTable,
    predicted: Iterable[tuple[Couple, tuple[float, float]]],
    *,
    ratios: Sequence[float] = RATIOS,
) -> Decisions:
    """Compare sharing decisions based on predicted slowdowns with those based on measured slowdowns.

    Two jobs share if this does not increase the sum of their completion times
    (`gsopt.performance.colocation.Pair.shares`).

    Parameters
    ----------
    table
        The measured slowdowns.
    predicted
        Pairs, each with the predicted slowdowns of its first and second configuration.
    ratios
        Ratios of the running job's remaining time to the new job's duration; all must be above 0.

    Raises
    ------
    InvalidInput
        A pair was not measured, a predicted slowdown is below 1, a ratio is not positive, or there are no pairs
        or ratios.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> profiles = [Profile(name=name, features={}) for name in "ab"]
    >>> table = PairTable(profiles=profiles, slowdowns={"a": {"b": 1.2}, "b": {"a": 1.5}})
    >>> right = compare_decisions(table, [(("a", "b"), (1.2, 1.5))])
    >>> right.cases, right.alike, right.lost
    (14, 1.0, 0.0)
    >>> never = compare_decisions(table, [(("a", "b"), (9.0, 9.0))], ratios=[1.0])
    >>> never.alike, round(never.benefit_measured, 3), never.benefit, never.lost
    (0.0, 1.548, 1.0, 1.0)
    """
    for ratio in ratios:
        require(0 < ratio < inf, "ratios", ratio, "must be numbers above 0")
    cases = [case for couple, slowdowns in predicted for case in _cases(table, couple, slowdowns, ratios)]
    if not cases:
        raise InvalidInput("predicted", "", "must hold a pair, and ratios a number", source=table.name)
    right = [case.pair.shares() for case in cases]
    benefits = [case.benefit if case.shares else 1.0 for case in cases]
    measured = [case.benefit if shares else 1.0 for case, shares in zip(cases, right, strict=True)]
    best = sum(case.saved for case, shares in zip(cases, right, strict=True) if shares)
    saved = sum(case.saved for case in cases if case.shares)
    return Decisions(
        cases=len(cases),
        alike=fmean(case.shares == shares for case, shares in zip(cases, right, strict=True)),
        sharing=fmean(right),
        benefit=fmean(benefits),
        benefit_measured=fmean(measured),
        deviation=fmean(abs(one - other) / other for one, other in zip(benefits, measured, strict=True)),
        lost=1 - saved / best if best else None,
    )


def _cases(
    table: PairTable, couple: Couple, slowdowns: tuple[float, float], ratios: Sequence[float]
) -> Iterator[_DecidedPair]:
    """Yield, for every ratio of lengths, a pair in both roles, or in one role if both jobs are equal."""
    (first, second), (mine, other) = couple, slowdowns
    roles = [(first, second, mine, other)] + [(second, first, other, mine)] * (first != second)
    for running, new, of_running, of_new in roles:
        xi_running, xi_new = table.slowdown(running, new), table.slowdown(new, running)
        for ratio in ratios:
            decided = Pair(remaining=ratio, seconds=1, slowdown_running=of_running, slowdown_new=of_new)
            pair = Pair(remaining=ratio, seconds=1, slowdown_running=xi_running, slowdown_new=xi_new)
            yield _DecidedPair(pair, decided.shares())
