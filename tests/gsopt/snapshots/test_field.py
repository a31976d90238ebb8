"""Fields: values of somebody else's files, and the line that refuses them."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots.field import Field


@pytest.mark.parametrize(
    ("value", "number"), [(None, 5), (7, 7), ("7", 7), ("-3", -3), ("+3", 3), (10**18 - 1, 10**18 - 1)]
)
def test_whole_numbers(value: Any, number: int) -> None:
    """A whole number is read as a number or as a text; where nothing is there, it is the default."""
    assert Field("", value).whole(5) == number


@pytest.mark.parametrize("value", [True, 1.5, 1.0, "1.5", "", " 1", "1e3", "٣", "9" * 19, 10**18, [], {}])
def test_what_is_no_whole_number(value: Any) -> None:
    """Anything else is refused, digits of other scripts and huge numbers too."""
    with pytest.raises(InvalidInput, match="must be a whole number of at most 18 digits"):
        Field("", value).whole()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60),
        ("1970-01-01T01:01:00+01:00", 60),
        ("1970-01-01T00:01:00.500000Z", 60.5),
        ("1970-01-01 00:01:00", 60),
    ],
)
def test_times(text: str, seconds: float) -> None:
    """Times are read with their zone, which is that of Greenwich where there is none."""
    assert Field("", text).time() == seconds
    assert Field("", None).time() is None


@pytest.mark.parametrize("text", ["noon", "2026-02-30T00:00:00Z", "60", "9999-99-99"])
def test_what_is_no_time(text: str) -> None:
    """What is no time is refused."""
    with pytest.raises(InvalidInput, match="must be a time such as"):
        Field("", text).time()


def test_truths() -> None:
    """A truth is one of JSON or its text in YAML; nothing is false."""
    assert [Field("", value).truth() for value in (True, "true", "True", False, "false", None)] == [
        *(True, True, True, False, False, False)
    ]
    with pytest.raises(InvalidInput, match="must be true or false"):
        Field("", "yes").truth()


def test_seconds() -> None:
    """Seconds since 1970 are positive and end with the year 9999; 0 stands for no time."""
    assert (Field("", 60).seconds(), Field("", 0).seconds(), Field("", None).seconds()) == (60.0, None, None)
    for value in (-1, 10**12):
        with pytest.raises(InvalidInput, match="must be seconds since 1970"):
            Field("", value).seconds()


def test_the_path_is_one_line() -> None:
    """Keys and positions on the way are named, and strange keys are shown so that a terminal can show them."""
    field = Field("f.json", {"items": [{"a\nb": {"c.d/e": "x" * 99}}]})
    (item,) = field["items"]
    with pytest.raises(
        InvalidInput, match=r"^f\.json: items\[0\]\.'a\\nb'\.c\.d/e: 'xxx.*: must be a mapping$"
    ):
        item["a\nb"]["c.d/e"].mapping()


def test_long_texts_and_names() -> None:
    """Names and texts have a length that is bounded, and names no control characters."""
    for value, rule in [("", "must be a name"), ("x" * 201, "at most 200"), ("a\tb", "control characters")]:
        with pytest.raises(InvalidInput, match=rule):
            Field("", value).name()
    with pytest.raises(InvalidInput, match="at most 65,536 characters"):
        Field("", "x" * 65_537).text()
    with pytest.raises(InvalidInput, match="must have a name of 1 to 200"):
        list(Field("", {"x" * 201: 1}).named())
