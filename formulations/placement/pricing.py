"""Pricing: the patterns of each kind of server that would improve a linear relaxation most."""

from dataclasses import dataclass
from typing import Protocol

from formulations.placement.packing import Integers, Reals
from gsopt.core.budget import Budget


@dataclass(frozen=True, eq=False)
class PricingResult:
    """What pricing found.

    Attributes
    ----------
    room
        Index of the room that each filling is for.
    counts
        How many workers of each demand a filling holds, one row per filling.
    most
        Upper bound on the worth of any filling, for each room; infinite where none is known.
    """

    room: list[int]
    counts: list[Integers]
    most: Reals


class Pricer(Protocol):
    """Finds fillings of rooms that are worth most."""

    def __call__(self, worth: Reals, rents: Reals, *, budget: Budget) -> PricingResult:
        """Find fillings worth more than the rent of their room.

        Parameters
        ----------
        worth
            What one worker of each demand is worth, shape (demands,).
        rents
            What using each room costs, shape (rooms,).
        budget
            Time limit.
        """
        ...
