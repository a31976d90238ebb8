"""Multiple choice: the classes look as they are described."""

from typing import Any, get_args

import pytest

from gsopt.core.errors import InvalidInput
from instances.allocation import multiple_choice
from instances.allocation.multiple_choice import Correlation


def items(**options: Any) -> list[list[tuple[int, float]]]:
    """List weight and value of all items of every class, as if its lightest item were worth nothing."""
    problem = multiple_choice(**options)
    return [
        [(job.min_workers, 0.0), *((job.min_workers + w, float(job.value(w))) for w in job.extras)]
        for job in problem.jobs
    ]


@pytest.mark.parametrize("correlation", get_args(Correlation))
def test_every_class_has_its_items_and_can_be_chosen_from(correlation: Correlation) -> None:
    """Weights rise within a class, all of them are drawn but for doubles, and the lightest choice fits."""
    problem = multiple_choice(classes=30, items=6, largest=500, correlation=correlation, seed=3)
    classes = items(classes=30, items=6, largest=500, correlation=correlation, seed=3)
    lightest, heaviest = (sum(each[place][0] for each in classes) for place in (0, -1))
    assert sum(map(len, classes)) > 30 * 5
    assert (problem.capacity, problem.remaining) == (
        (lightest + heaviest) // 2,
        (lightest + heaviest) // 2 - lightest,
    )
    assert problem.obstacle == ""
    assert problem == multiple_choice(classes=30, items=6, largest=500, correlation=correlation, seed=3)
    assert problem != multiple_choice(classes=30, items=6, largest=500, correlation=correlation, seed=4)


def test_weak_correlation_stays_within_ten() -> None:
    """A value is at most ten away from its weight, so differences of both are at most twenty apart."""
    for each in items(correlation="weak", seed=1):
        assert all(abs(value - (weight - each[0][0])) <= 20 for weight, value in each)


def test_strong_correlation_adds_ten_per_item() -> None:
    """Each further item of a class adds ten more than its weight, and each adds at least as much weight."""
    for each in items(correlation="strong", seed=1):
        steps = [
            (w - v, x - u)
            for (v, _), (w, _), (_, u), (_, x) in zip(each, each[1:], each, each[1:], strict=False)
        ]
        assert all(gain == weight + 10 for weight, gain in steps)
        assert [weight for weight, _ in steps] == sorted(weight for weight, _ in steps)


def test_subset_sums_are_worth_their_weight() -> None:
    """What an item is worth more is what it weighs more."""
    for each in items(correlation="subset_sum", seed=1):
        assert all(value == weight - each[0][0] for weight, value in each)


def test_ordered_items_are_not_dominated() -> None:
    """Heavier items of a class are worth at least as much; without correlation some are not."""
    for each in items(correlation="ordered", seed=1):
        assert [value for _, value in each] == sorted(value for _, value in each)
    assert any(
        [value for _, value in each] != sorted(value for _, value in each) for each in items(correlation="none")
    )


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"classes": -1}, "classes"),
        ({"items": 0}, "items"),
        ({"largest": 0}, "largest"),
        ({"correlation": "odd"}, "correlation"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], field: str) -> None:
    """Every argument out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput) as caught:
        multiple_choice(**arguments)
    assert caught.value.field == field
