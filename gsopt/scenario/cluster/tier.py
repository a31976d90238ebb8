"""Tier: the names of the levels that every cluster of racks has."""

from enum import StrEnum


class Tier(StrEnum):
    """A network level that every cluster of racks has; a job's tier is the lowest one that joins all its GPUs.

    A cluster may have further levels with names of their own. A tier is always a text: ``Tier.RACK == "rack"``.

    Examples
    --------
    >>> Tier.RACK == "rack", Tier("network").name
    (True, 'NETWORK')
    """

    MACHINE = "machine"
    RACK = "rack"
    NETWORK = "network"


def tier_named(level: str) -> str:
    """Return the tier of a level: one of the three, or the name itself."""
    return next((tier for tier in Tier if tier == level), level)
