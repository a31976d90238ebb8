"""The workers of a job."""

from tests.heuristics.policies.aryl.books import books, crew, form


def test_wanted_gpus() -> None:
    """Workers of both kinds on a machine want GPUs together."""
    given = books(3, 0)
    one = crew(given, 0, form(given, "training", 2, 2, (1.0, 1.5, 2.0)), {0: 1, 1: 1}, {1: 1, 2: 1})
    assert (one.wanted, one.extra, one.held) == ({0: 2, 1: 4, 2: 2}, 2, ())
