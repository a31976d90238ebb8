"""Tier: the names of the levels that every cluster of racks has."""

from enum import StrEnum


class Tier(StrEnum):
    """The lowest level of the network that joins all GPUs of a job.

    A cluster may have further levels, each with a name of its own; these three are those of a cluster of racks.
    A tier is a text in any case: ``Tier.RACK == "rack"``.

    Examples
    --------
    >>> Tier.RACK == "rack", Tier.named("rack"), Tier.named("pod")
    (True, <Tier.RACK: 'rack'>, 'pod')
    """

    MACHINE = "machine"
    RACK = "rack"
    NETWORK = "network"

    @classmethod
    def named(cls, level: str) -> str:
        """Give the tier of a level's name: one of the three, or the name itself."""
        return next((tier for tier in cls if tier == level), level)
