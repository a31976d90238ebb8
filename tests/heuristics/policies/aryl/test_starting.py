"""Starts of jobs."""

from heuristics.policies.aryl.starting import start
from tests.heuristics.policies.aryl.books import books, crew, form


def test_who_does_not_fit_is_passed_over() -> None:
    """Jobs start in the given order as far as they fit, unless the first that does not blocks the others."""
    given = books(1, 0)
    one = form(given, "training", 1, 1)
    forms = {number: [one._replace(worker_gpus=size)] for number, size in enumerate([4, 8, 1])}
    assert [each.job for each in start(given, [0, 1, 2], forms, blocks=False, grouping=True)] == [0, 2]
    given = books(1, 0)
    assert [each.job for each in start(given, [0, 1, 2], forms, blocks=True, grouping=True)] == [0]


def test_forms_are_tried_in_turn() -> None:
    """A job starts in the first of its forms that fits."""
    given = books(1, 1)
    both = [form(given, "inference", 8, 1, mode="m"), form(given, "training", 8, 1)]
    found = start(given, [0, 1, 2], dict.fromkeys(range(3), both), blocks=False, grouping=True)
    assert [(each.job, each.form.mode, each.base) for each in found] == [(0, "m", {1: 1}), (1, "", {0: 1})]


def test_the_largest_workers_are_placed_first() -> None:
    """A small job that was first in the order goes where the large one leaves room."""
    given = books(2, 0)
    crew(given, 9, form(given, "training", 4, 1), {1: 1})
    forms = {0: [form(given, "training", 1, 1)], 1: [form(given, "training", 4, 1)]}
    found = start(given, [0, 1], forms, blocks=False, grouping=True)
    assert {each.job: each.base for each in found} == {0: {0: 1}, 1: {1: 1}}
    assert given.base.tolist() == [1, 8]


def test_mixed_jobs_come_last() -> None:
    """A job that is always mixed is looked at after all others, unless jobs block each other."""
    for blocks, started in [(False, [1]), (True, [0])]:
        given = books(1, 1)
        crew(given, 9, form(given, "inference", 8, 1), {1: 1})
        forms = {0: [form(given, "mixed", 8, 1)], 1: [form(given, "training", 8, 1)]}
        assert [each.job for each in start(given, [0, 1], forms, blocks=blocks, grouping=True)] == started


def test_flexible_workers_make_way() -> None:
    """A job with flexible workers keeps an allowed number of them, on GPUs that nobody else has."""
    given = books(1, 0)
    one = crew(given, 0, form(given, "training", 2, 1, (1.0, 0.0, 2.0, 3.0)), {0: 1}, {0: 3})
    start(given, [1], {1: [form(given, "training", 2, 1)]}, blocks=False, grouping=True)
    assert (one.extra, given.idle.tolist()) == (2, [0])
    start(given, [2], {2: [form(given, "training", 2, 1)]}, blocks=False, grouping=True)
    assert (one.extra, given.idle.tolist()) == (0, [2])
