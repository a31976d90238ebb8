"""Spares: the number of spare nodes with which a job has enough nodes for a given share of the time."""

from fractions import Fraction
from math import comb

from gsopt.core.errors import InvalidInput, require
from gsopt.core.numbers.grid import Exact, decimal

#: Most spare nodes that are tried.
_MOST = 1_000


def availability(needed: int, spares: int, up: Exact | float) -> Fraction:
    """Return the share of time during which at least `needed` of `needed + spares` nodes are up.

    Nodes fail and are repaired independently, and each is up for a share `up` of the time: the mean time
    between a repair and the next fault, divided by that time plus the mean time of a repair. The distributions
    of these times do not matter. The result is exact: the upper tail of a binomial distribution.

    Source: R. E. Barlow and F. Proschan, Statistical Theory of Reliability and Life Testing, 1975, section 2.1.

    Examples
    --------
    >>> availability(1, 1, 0.9)  # one of two
    Fraction(99, 100)
    """
    require(needed >= 1, "needed", needed, "must be at least 1")
    require(spares >= 0, "spares", spares, "must be at least 0")
    require(0 <= up <= 1, "up", up, "must be between 0 and 1")
    share = Fraction(decimal(up))
    nodes, odds = needed + spares, share.denominator - share.numerator
    ways = (comb(nodes, down) * odds**down * share.numerator ** (nodes - down) for down in range(spares + 1))
    return Fraction(sum(ways), share.denominator**nodes)


def spare_nodes(needed: int, up: Exact | float, *, target: Exact | float = 0.99) -> int:
    """Return the smallest number of spare nodes with which the `availability` is at least `target`.

    Raise `InvalidInput` if this takes 1,000 spare nodes or more.

    Examples
    --------
    >>> spare_nodes(64, 0.977), spare_nodes(64, 0.977, target=0.999)
    (5, 7)
    """
    require(0 <= target < 1, "target", target, "must be at least 0 and less than 1")
    wanted = Fraction(decimal(target))
    for spares in range(_MOST):
        if availability(needed, spares, up) >= wanted:
            return spares
    raise InvalidInput("up", str(up), f"must be so high that fewer than {_MOST:,} spare nodes suffice")
