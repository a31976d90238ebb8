"""Tier: the names of the levels that every cluster of racks has."""

from enum import StrEnum


class Tier(StrEnum):
    """The lowest level of the network that joins all GPUs of a job.

    A cluster may have further levels, each with a name of its own; these three are those of a cluster of racks.
    A tier is a text in any case: ``Tier.RACK == "rack"``.

    Examples
    --------
    >>> Tier.RACK == "rack", Tier("network").name
    (True, 'NETWORK')
    """

    MACHINE = "machine"
    RACK = "rack"
    NETWORK = "network"


def tier_named(level: str) -> str:
    """Return the tier of a level's name: one of the three, or the name itself."""
    return next((tier for tier in Tier if tier == level), level)
