"""YAML without trust."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster.formats.yaml_text import parse_yaml

_LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_scalars_stay_as_they_are_written() -> None:
    """Zeros before numbers, words for truth and quoted text are text."""
    assert parse_yaml("", "a: [0010, yes, 1e3, '~', \"x\", ]\nb: {c: }") == {
        "a": ["0010", "yes", "1e3", "~", "x"],
        "b": {"c": ""},
    }
    assert parse_yaml("", "") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_LAUGHS, "t: line 2: '*a': must not be an alias"),
        ("a: 1\na: 2", "t: line 2: 'a': must not stand twice in one mapping"),
        ("[a]: 1", "t: line 1: must have texts as keys"),
        ("a: 1\n---\nb: 2", "t: line 2: must be one document"),
        ("[" * 500, "t: line 1: must not be nested so deeply"),
        ("a: [1", "t: line 2: must be YAML: "),
        ("a: b: c", "t: line 1: must be YAML: "),
        ("a: \x00", "must be YAML: "),
        ("- " * 5_000_000, "t: 10,000,000 characters: must be at most 4,194,304 characters"),
    ],
    ids=["laughs", "key twice", "list as key", "two documents", "deep", "open", "colons", "NUL", "long"],
)
def test_what_is_no_data_is_refused(text: str, message: str) -> None:
    """One line says where and why, and nothing is expanded."""
    with pytest.raises(InvalidInput) as error:
        parse_yaml("t", text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
