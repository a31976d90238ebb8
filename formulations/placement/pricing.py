"""Pricing: the patterns of each kind of server that would improve a linear relaxation the most."""

from dataclasses import dataclass
from typing import Protocol

from formulations.placement.packing import Integers, Reals
from gsopt.core.budget import Budget


@dataclass(frozen=True, eq=False)
class PricingResult:
    """The fillings that pricing has found."""

    room: list[int]  # index of the room that each filling is for
    counts: list[Integers]  # how many workers of each demand a filling holds, one row per filling
    most: Reals  # upper bound on the worth of any filling, for each room; infinite where none is known


class Pricer(Protocol):
    """A method that finds the fillings of rooms that are worth the most."""

    def __call__(self, worth: Reals, rents: Reals, *, budget: Budget) -> PricingResult:
        """Find fillings worth more than the rent of their room, given the worth of a worker of each demand."""
        ...
