"""Tier: the names of the three levels that every cluster of racks has."""

from enum import StrEnum


class Tier(StrEnum):
    """A network level of a cluster of racks. A job's tier is the innermost level that connects all its GPUs.

    Clusters with islands, switches inside racks or a custom network may have other levels. A tier is always a
    string: ``Tier.RACK == "rack"``.

    Examples
    --------
    >>> Tier.RACK == "rack", Tier("network").name
    (True, 'NETWORK')
    """

    MACHINE = "machine"
    RACK = "rack"
    NETWORK = "network"


def tier_named(level: str) -> str:
    """Return the tier of a level: a member of `Tier` or, if there is none, the name of the level."""
    return next((tier for tier in Tier if tier == level), level)
