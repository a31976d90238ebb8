"""Multiple choice: random multiple-choice knapsacks of the five classes used to compare algorithms."""

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.core.problem import About
from gsopt.problems.allocation import Allocation, ElasticJob
from instances.arguments import at_least

Correlation = Literal["none", "weak", "strong", "subset_sum", "ordered"]

#: Weight and value of an item.
Item = tuple[int, int]

#: Largest difference between a value and the weight with which it is correlated.
_SPREAD = 10


def multiple_choice(
    *,
    classes: int = 100,
    items: int = 10,
    largest: int = 1_000,
    correlation: Correlation = "weak",
    seed: int = 0,
) -> Allocation:
    """Generate a multiple-choice knapsack, in which exactly one item of every class is chosen.

    Every class becomes a queued job. Its minimum number of workers is the weight of its lightest item, and its
    values are relative to that item. The capacity is halfway between the lightest and the heaviest choice.

    Parameters
    ----------
    classes
        Number of classes.
    items
        Number of items in each class. Of items with equal weights, only the best is kept.
    largest
        Largest weight that is drawn; the smallest is 1.
    correlation
        Dependence of values on weights. ``none``: drawn independently from the same range. ``weak``: within 10
        of the weight. ``strong``: in each class, the weight of item k is the sum of the k smallest draws, and
        its value is 10 k more. ``subset_sum``: equal to the weight. ``ordered``: drawn like weights, with both
        in ascending order, so that no item is worth less than a lighter one.
    seed
        Seed of all random draws.

    Notes
    -----
    Source: the five classes of the computational experiments of Pisinger, A minimal algorithm for the
    multiple-choice knapsack problem (European Journal of Operational Research 83, 1995).

    Examples
    --------
    >>> problem = multiple_choice(classes=2, items=4, largest=9, correlation="ordered", seed=1)
    >>> problem.capacity, [(job.min_workers, job.counts, job.values) for job in problem.jobs]
    (8, [(2, (1, 3), (0.0, 0.0)), (1, (1, 3, 7), (6.0, 6.0, 7.0))])
    """
    at_least(0, classes=classes)
    at_least(1, items=items, largest=largest)
    require_one_of("correlation", correlation, get_args(Correlation))
    random = Random(seed)
    drawn = [_items(random, items, largest, correlation) for _ in range(classes)]
    return Allocation(
        name="multiple-choice",
        about=About(source=f"multiple_choice, correlation {correlation}", seed=seed),
        capacity=sum(menu[0][0] + menu[-1][0] for menu in drawn) // 2,
        jobs=tuple(_job(f"class{number}", menu) for number, menu in enumerate(drawn, start=1)),
    )


def _items(random: Random, count: int, largest: int, correlation: Correlation) -> list[Item]:
    """Draw the items of one class, in ascending order of weight."""
    weights = [random.randint(1, largest) for _ in range(count)]
    if correlation == "none":
        values = [random.randint(1, largest) for _ in weights]
    elif correlation == "weak":
        values = [max(1, weight + random.randint(-_SPREAD, _SPREAD)) for weight in weights]
    elif correlation == "strong":
        weights = sorted(weights)
        values = list(accumulate(weight + _SPREAD for weight in weights))
        weights = list(accumulate(weights))
    elif correlation == "subset_sum":
        values = weights
    else:
        weights, values = sorted(weights), sorted(random.randint(1, largest) for _ in weights)
    return sorted(
        dict(sorted(zip(weights, values, strict=True))).items()
    )  # of equal weights the last, the best


def _job(name: str, items: Sequence[Item]) -> ElasticJob:
    """Turn a class into a job whose minimum workers are its lightest item."""
    (weight, value), *others = items
    return ElasticJob(
        name=name,
        min_workers=weight,
        counts=tuple(each - weight for each, _ in others),
        values=tuple(float(each - value) for _, each in others),
        time_at_min=0,
        queued=True,
    )
