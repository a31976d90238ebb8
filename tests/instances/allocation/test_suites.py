"""The committed instances of allocation."""

from gsopt.evaluation.catalogue import load
from instances.allocation.suites import production, small


def test_every_large_instance_is_proven() -> None:
    """Value and bound in the file of a large instance are the same."""
    for problem in production():
        about = load(problem.name).about
        assert about is not None
        assert about.objective == about.bound is not None


def test_one_small_instance_has_no_solution() -> None:
    """All files of small instances carry an optimum but the one whose jobs cannot start."""
    unsolved = [
        problem.name for problem in small() if (about := load(problem.name).about) and about.bound is None
    ]

    assert unsolved == ["allocation/small/cannot-start"]
