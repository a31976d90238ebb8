"""Flexible workers come and go."""

from heuristics.policies.aryl.flexing import displace, flex, release
from tests.heuristics.policies.aryl.books import books, crew, form


def test_release_leaves_the_flexible_group_for_last() -> None:
    """Workers beside base workers go first, then those on the last machine."""
    given = books(0, 4)
    one = crew(given, 0, form(given, "inference", 2, 1, (1.0,) * 9), {1: 1}, {0: 1, 1: 2, 2: 1, 3: 2})
    for extra, left in [(5, {0: 1, 1: 1, 2: 1, 3: 2}), (3, {0: 1, 2: 1, 3: 1}), (1, {0: 1}), (0, {})]:
        release(given, one, extra)
        assert one.flexible == left


def test_the_job_with_the_highest_number_makes_way_first() -> None:
    """Where base workers take GPUs of several jobs, those of the last one go first."""
    given = books(1, 0)
    early, late = (
        crew(given, number, form(given, "training", 2, 0, (1.0, 2.0, 3.0)), {}, {0: 2}) for number in (0, 1)
    )
    given.put_base({0: 1}, 3)
    displace(given)
    assert (early.extra, late.extra, given.idle.tolist()) == (2, 0, [1])


def test_targets_are_reached_as_far_as_there_is_room() -> None:
    """Jobs shrink first; then those with larger workers grow; a number that is not allowed is never kept."""
    given = books(1, 0, gpus=13)
    speeds = (1.0, 2.0, 0.0, 4.0)
    small = crew(given, 0, form(given, "training", 1, 1, speeds), {0: 1})
    large = crew(given, 1, form(given, "training", 4, 1, (1.0, 2.0)), {0: 1})
    full = crew(given, 2, form(given, "training", 1, 1, speeds), {0: 1}, {0: 3})
    flex(given, {0: 3, 1: 1, 2: 2}, grouping=True)
    assert (small.extra, large.extra, full.extra) == (1, 1, 1)  # two are not allowed
    flex(given, {1: 1}, grouping=True)
    assert (small.extra, large.extra, full.extra) == (0, 1, 0)


def test_mixed_jobs_grow_last() -> None:
    """A mixed job takes what the others leave, however large its workers are."""
    given = books(1, 1)
    mixed = crew(given, 0, form(given, "mixed", 8, 0, (1.0, 2.0)), {})
    own = crew(given, 1, form(given, "inference", 4, 0, (1.0, 2.0)), {})
    crew(given, 2, form(given, "training", 4, 1), {0: 1})
    flex(given, {0: 1, 1: 1}, grouping=True)
    assert (mixed.extra, own.extra) == (0, 1)


def test_only_beside_own_workers() -> None:
    """A job may be kept to the machines on which it has workers."""
    given = books(2, 0)
    one = crew(given, 0, form(given, "training", 4, 1, (1.0, 2.0, 3.0)), {0: 1})
    flex(given, {0: 2}, grouping=True, own_only=True)
    assert one.flexible == {0: 1}
