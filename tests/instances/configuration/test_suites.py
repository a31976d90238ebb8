"""The committed suites of configuration."""

from instances import load, names
from instances.configuration.suites import committed, small


def test_all_but_challenges_are_proven() -> None:
    """Small ones are proven by enumeration, medium ones by the exact methods, and challenges are not."""
    assert len(committed()) == len(names("configuration/"))
    for name in names("configuration/"):
        about = load(name).about
        assert about is not None
        if name.startswith("configuration/challenge/"):
            assert about.objective is not None
            assert about.bound is not None
            assert about.bound < about.objective
            continue
        assert about.objective == about.bound is not None
        assert (about.proved_by == "brute force") == name.startswith("configuration/small/"), name


def test_small_instances_differ_in_what_they_show() -> None:
    """No two small instances have the same data."""
    data = [problem.model_dump_json(exclude={"name", "about"}) for problem in small()]
    assert len(set(data)) == len(data)
