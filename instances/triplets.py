"""Triplets: item sizes in groups of three that fill or slightly exceed a bin."""

from random import Random

from gsopt.core.errors import require

#: Smallest capacity of a bin and largest excess, so that three such sizes always exist.
LEAST_CAPACITY, MOST_EXCESS = 16, 3


def triplets(random: Random, *, bins: int, capacity: int, excess: int) -> list[int]:
    """Return three sizes for each bin, which add up to its capacity plus the excess, all in random order.

    Each size is more than a quarter and less than half of a bin, so that no bin holds four. Without excess, all
    sizes fit if the right triplets are found.

    Source: the triplets of Falkenauer, "A hybrid grouping genetic algorithm for bin packing", Journal of
    Heuristics 2 (1996).
    """
    require(0 <= excess <= MOST_EXCESS, "excess", excess, f"must be between 0 and {MOST_EXCESS}")
    sizes = [size for _ in range(bins) for size in _three(random, capacity, excess)]
    random.shuffle(sizes)
    return sizes


def _three(random: Random, capacity: int, excess: int) -> tuple[int, int, int]:
    """Draw three sizes between a quarter and half of a bin, uniformly among the triplets with the right sum."""
    least, most = capacity // 4 + 1, (capacity - 1) // 2
    while True:
        first, second = random.randint(least, most), random.randint(least, most)
        third = capacity + excess - first - second
        if least <= third <= most:
            return first, second, third
