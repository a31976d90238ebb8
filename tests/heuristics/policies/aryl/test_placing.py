"""Where workers go."""

import pytest

from heuristics.policies.aryl.placing import place_base, place_flexible
from tests.heuristics.policies.aryl.books import books, crew, form


def test_best_fit_of_base_workers() -> None:
    """Machines with base workers come first, the fullest first; then empty ones; then flexible ones."""
    given = books(4, 0)
    crew(given, 0, form(given, "training", 2, 3), {0: 1, 1: 2})
    crew(given, 1, form(given, "training", 8, 0, (1.0, 2.0)), {}, {2: 1})
    wanted = form(given, "training", 2, 12)
    assert place_base(given, wanted, grouping=True) == {1: 2, 0: 3, 3: 4, 2: 3}
    assert place_base(given, form(given, "training", 2, 14), grouping=True) is None


def test_base_workers_without_grouping() -> None:
    """Idle GPUs come first, those beside others before empty machines; then flexible workers make way."""
    given = books(3, 0)
    crew(given, 0, form(given, "training", 2, 1, (1.0, 2.0)), {0: 1}, {0: 1})
    crew(given, 1, form(given, "training", 6, 0, (1.0, 2.0)), {}, {2: 1})
    for workers, expected in [
        (1, {2: 1}),
        (3, {2: 1, 0: 2}),
        (8, {2: 1, 0: 3, 1: 4}),
        (11, {2: 4, 0: 3, 1: 4}),
    ]:
        assert place_base(given, form(given, "training", 2, workers), grouping=False) == expected


@pytest.mark.parametrize("grouping", [True, False])
def test_mixed_base_workers(grouping: bool) -> None:
    """The base workers of a mixed job take training machines first, and may be on both pools."""
    given = books(1, 1)
    crew(given, 0, form(given, "inference", 4, 1), {1: 1})
    assert place_base(given, form(given, "mixed", 4, 1), grouping=grouping) == {0: 1}
    assert place_base(given, form(given, "mixed", 4, 3), grouping=grouping) == {0: 2, 1: 1}


def test_flexible_workers_are_kept_apart() -> None:
    """On the inference pool flexible workers prefer their own machines, then empty ones, then others."""
    given = books(0, 3)
    one = crew(given, 0, form(given, "inference", 2, 1, (1.0,) * 20), {0: 1}, {1: 1})
    assert place_flexible(given, one, 3, grouping=True) == {1: 3}
    assert place_flexible(given, one, 8, grouping=True) == {1: 3, 2: 4, 0: 1}
    assert place_flexible(given, one, 8, grouping=False) == {0: 3, 1: 3, 2: 2}
    assert place_flexible(given, one, 99, grouping=True) == {0: 3, 1: 3, 2: 4}


def test_flexible_workers_on_the_training_pool() -> None:
    """There they fill what is occupied first, and stay away from the other pool."""
    given = books(2, 1)
    one = crew(given, 0, form(given, "training", 4, 1, (1.0, 2.0, 3.0, 4.0)), {1: 1})
    assert place_flexible(given, one, 9, grouping=True) == {1: 1, 0: 2}


def test_flexible_workers_stay_in_the_pool_that_counts() -> None:
    """A job whose base workers may be mixed has flexible ones only where they make it faster."""
    given = books(1, 1)
    one = crew(given, 0, form(given, "mixed", 4, 1, (1.0, 2.0, 3.0)), {0: 1})
    one.pool = "training"
    assert place_flexible(given, one, 2, grouping=True) == {0: 1}
    one.pool = "inference"
    assert place_flexible(given, one, 3, grouping=False) == {1: 2}


def test_flexible_workers_of_mixed_jobs() -> None:
    """They prefer inference machines; without grouping training machines."""
    given = books(1, 1)
    one = crew(given, 0, form(given, "mixed", 4, 1, (1.0, 2.0, 3.0, 4.0)), {0: 1})
    assert place_flexible(given, one, 3, grouping=True) == {1: 2, 0: 1}
    assert place_flexible(given, one, 2, grouping=False) == {0: 1, 1: 1}


def test_only_some_machines() -> None:
    """Only machines that are allowed are taken."""
    given = books(2, 0)
    one = crew(given, 0, form(given, "training", 4, 1, (1.0, 2.0, 3.0)), {0: 1})
    assert place_flexible(given, one, 3, grouping=True, among=given.base > 0) == {0: 1}
