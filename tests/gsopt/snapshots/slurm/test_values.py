"""Values, as releases of Slurm write them."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots.field import Field
from gsopt.snapshots.slurm.values import moment, nodes, number, words
from tests.gsopt.snapshots.slurm.objects import wrapped


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (7, 7),
        (None, 3),
        (wrapped(7), 7),
        (wrapped(7.0), 7),
        ({**wrapped(7), "set": False}, 3),
        ({**wrapped(7), "infinite": True}, 3),
    ],
)
def test_numbers(value: Any, found: int) -> None:
    """A number is plain or wrapped, and the default where it is not set or has no end."""
    assert number(Field("", value), 3) == found


def test_moments() -> None:
    """A time is seconds, plain or wrapped, and None where it is not set or 0."""
    values = (60, wrapped(60), 0, wrapped(0), None, {**wrapped(60), "set": False})
    assert [moment(Field("", value)) for value in values] == [60, 60, None, None, None, None]


def test_words() -> None:
    """States are lists or texts, with the signs that Slurm adds taken off."""
    values: tuple[Any, ...] = (["IDLE", "DRAIN"], "idle*", "MIXED+CLOUD+DRAIN", "", [], None)
    assert [words(Field("", value)) for value in values] == [
        *(("IDLE", "DRAIN"), ("idle",), ("MIXED", "CLOUD", "DRAIN"), (), (), ())
    ]


@pytest.mark.parametrize("text", ["a b", "a;b", "$(id)", "n[1-2", "n[2-1]", "n'[1]", "n[0-99999]", "é"])
def test_names_that_no_node_has(text: str) -> None:
    """Names of other signs, broken lists and long ones are refused."""
    with pytest.raises(InvalidInput, match="must"):
        nodes(Field("", text))
