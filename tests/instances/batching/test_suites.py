"""The committed suites of batching."""

from instances import load, names
from instances.batching.suites import challenge, committed, medium, small


def test_every_option_has_a_small_instance() -> None:
    """Each criterion, forced set, cap and menu stands in some small instance."""
    for field, count in (
        ("criterion", 3),
        ("forced", 3),
        ("caps", 3),
        ("menu", 2),
        ("use", 2),
        ("estimate", 2),
    ):
        assert len({getattr(problem, field) for problem in small()}) == count, field


def test_all_but_challenges_are_proven() -> None:
    """What the files say is an optimum: by enumeration of small ones, by two methods of medium ones."""
    assert len(committed()) == len(small()) + len(medium()) + len(challenge()) == len(names("batching/"))
    for name in (*names("batching/small/"), *names("batching/medium/")):
        about = load(name).about
        assert about is not None
        assert about.objective == about.bound is not None
        assert (about.proved_by == "brute force") == name.startswith("batching/small/"), name
