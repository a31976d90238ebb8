"""The pages of commands."""

import re

from commands import pages

from tests.commands import gsopt


def test_every_command_has_a_page_with_all_its_options() -> None:
    """What the help of a command lists stands on its page."""
    found = pages()
    listed = re.findall(r"^  (\w+) {2,}", gsopt("--help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert len(listed) > 10
    assert found.keys() == {"index.rst", *(f"{name}.rst" for name in listed)}
    for name in ("solve", "simulate", "drain"):
        options = re.findall(r"^  .*?(--[\w-]+)", gsopt(name, "--help").stdout, re.MULTILINE)
        assert len(options) > 5
        for option in options:
            assert re.search(rf"^\.\. option:: .*{option}\b", found[f"{name}.rst"], re.MULTILINE)


def test_groups_show_what_is_below_them() -> None:
    """The page of a group of commands has a part for each of them."""
    text = pages()["study.rst"]
    for line in ("gsopt study run\n---", ".. program:: gsopt study run\n", ".. option:: --retry\n"):
        assert line in text
