"""Host lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsopt.scenario.cluster.formats.hostlist import compress, expand

_NUMBERS = st.integers(0, 12).map(str) | st.sampled_from(["07", "08", "09", "010", "099", "100", ""])
_NAMES = st.lists(
    st.builds("{}{}{}".format, st.sampled_from(["n", "m."]), _NUMBERS, st.sampled_from(["", "x"]))
)


@given(_NAMES.filter(bool))
def test_what_is_compressed_expands_to_the_same(names: list[str]) -> None:
    """Whatever the names, their order and their leading zeros, the host list stands for them."""
    assert expand(compress(names)) == names


def test_neighbours_become_ranges() -> None:
    """Numbers that follow each other are a range where their zeros allow it."""
    assert compress(["n8", "n9", "n10", "n12"]) == "n[8-10,12]"
    assert compress(["n08", "n09", "n10", "n0100"]) == "n[08-10,0100]"
    assert compress(["n099", "n100", "m1"]) == "n[099-100],m1"


def test_several_brackets_are_all_combinations() -> None:
    """The last number changes first, and text may follow brackets."""
    assert expand("r[1-2]n[08-09]x") == ["r1n08x", "r1n09x", "r2n08x", "r2n09x"]
    assert expand("[1101-1102]") == ["1101", "1102"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must be names such as"),
        ("a,,b", "must be names such as"),  # nothing between commas
        ("a b", "must be names such as"),  # a space
        ("a[1-2", "must be names such as"),  # not closed
        ("a[[1]]", "must be names such as"),  # nested
        ("a[x]", "must have numbers and ranges in its brackets, not 'x'"),
        ("a[1-2-3]", "must have numbers and ranges in its brackets"),
        ("a[]", "must have numbers and ranges in its brackets, not ''"),
        ("a[9-1]", "must have ranges that do not fall, as 9-1 does"),
        ("a[1-999999999999]", "must have at most 1,000,000 names"),  # memory
        ("a[1-1000]b[1-1000]c[1-1000]", "must have at most 1,000,000 names"),
        ("a[" + "9" * 5000 + "]", "must have numbers and ranges in its brackets"),  # Python's limit of digits
    ],
)
def test_what_is_no_host_list_is_refused(text: str, rule: str) -> None:
    """The rule that is broken is said, whatever the text stands for."""
    with pytest.raises(ValueError, match=rule.replace("[", r"\[")):
        expand(text)


def test_long_lists_take_no_longer_per_name() -> None:
    """Thousands of names without brackets are cut in one pass."""
    names = [f"n{number}" for number in range(0, 40_000, 2)]
    assert expand(",".join(names)) == names
