"""The committed suites of configuration."""

from instances import load, names
from instances.configuration.suites import committed, small


def test_all_are_proven() -> None:
    """What the files say is an optimum: by enumeration of small ones, by the exact methods of medium ones."""
    assert len(committed()) == len(names("configuration/"))
    for name in names("configuration/"):
        about = load(name).about
        assert about is not None
        assert about.objective == about.bound is not None
        assert (about.proved_by == "brute force") == name.startswith("configuration/small/"), name


def test_small_instances_differ_in_what_they_show() -> None:
    """No two small instances have the same data."""
    data = [problem.model_dump_json(exclude={"name", "about"}) for problem in small()]
    assert len(set(data)) == len(data)
