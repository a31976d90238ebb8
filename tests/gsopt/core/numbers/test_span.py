"""Lengths of time as people write them."""

import pytest

from gsopt.core.numbers.span import read_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("250ms", 0.25),
        ("30s", 30.0),
        (" 30 s ", 30.0),
        ("2m", 120.0),
        ("2min", 120.0),
        ("1.5h", 5400.0),
        ("1e1d", 864_000.0),
    ],
)
def test_a_number_and_its_unit(text: str, seconds: float) -> None:
    """A number with a unit is that many seconds; alone it counts seconds."""
    assert read_seconds(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s",
        "h2",
        "-1s",  # a length is not negative
        "1,5h",
        "0x10",
        "1_000",  # Python's own notation
        "inf",
        "nan",
        "3 weeks",
        "30S",
        "1h30m",  # one number, one unit
        "٣s",  # digits of another script
        "²s",
        "1\x00s",
        "1\n2",
        pytest.param("9" * 1_000_000 + "x", id="a million digits"),
    ],
)
def test_what_is_no_length_of_time(text: str) -> None:
    """Anything else is refused, with how it is written."""
    with pytest.raises(ValueError, match=r"^must be a number of seconds, or such as 30s"):
        read_seconds(text)
