"""Pricing: the search for patterns of each kind of server that would improve a linear relaxation the most."""

from dataclasses import dataclass
from typing import Protocol

from formulations.placement.packing import Integers, Reals
from gsopt.core.budget import Budget


@dataclass(frozen=True, eq=False)
class PricingResult:
    """The fillings found by pricing, and bounds on the worth of all fillings."""

    room: list[int]  # index of the room of each filling
    counts: list[Integers]  # numbers of workers of each demand, one array per filling
    most: Reals  # upper bounds on the worth of any filling, one per room; infinite if none is known


class Pricer(Protocol):
    """A method that finds fillings of high worth, and bounds the worth of all fillings of each room.

    A room is what is free on one server of a kind. A filling consists of workers that fit into a room together,
    and its worth is the sum of their prices.
    """

    def __call__(self, worth: Reals, rents: Reals, *, budget: Budget) -> PricingResult:
        """Find fillings that are worth more than the rent of their room, given the worth of each demand."""
        ...
