"""Generic resources and other values, as releases of Slurm write them."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots.field import Field
from gsopt.snapshots.slurm.gres import read_gres, read_tres
from gsopt.snapshots.slurm.values import moment, nodes, number, words
from tests.gsopt.snapshots.slurm.objects import wrapped


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", {}),
        ("(null)", {}),
        ("N/A", {}),
        ("gpu", {"gpu": 1}),
        ("gpu:4", {"gpu": 4}),
        ("gpu:0", {}),
        ("gpu:h100", {"gpu": 1, "gpu:h100": 1}),
        ("gpu:h100:4(S:0-1)", {"gpu": 4, "gpu:h100": 4}),
        ("gpu:h100:2(IDX:0,3),gpu:h200:4(IDX:4-7)", {"gpu": 6, "gpu:h100": 2, "gpu:h200": 4}),
        ("gpu:h100:0(IDX:N/A),gpu:h200:0(IDX:N/A)", {}),
        ("gpu:1g.5gb:7", {"gpu": 7, "gpu:1g.5gb": 7}),
        ("gres/gpu:h100:1,gres/gpu:h200:1", {"gpu": 2, "gpu:h100": 1, "gpu:h200": 1}),
        ("gres:gpu:2", {"gpu": 2}),
        ("shard:a100:32,mps:1K", {"shard": 32, "mps": 1024}),
        ("gpu:2,gpu:a:2", {"gpu": 4, "gpu:a": 2}),
        ("gpu:a:4(S:0),gpu:a:4(S:1)", {"gpu": 8, "gpu:a": 8}),
    ],
)
def test_lists(text: str, named: dict[str, int]) -> None:
    """Numbers by name and by type, whatever stands in brackets behind them."""
    assert read_gres(Field("", text)).named() == named


@pytest.mark.parametrize(
    "text", ["gpu:a:b:4", "gpu::4", "gpu h100", ":4", "gpu=4", "gpu:9999999999", "gpu:a:4(S:0"]
)
def test_what_is_no_list(text: str) -> None:
    """Anything else is refused in one line."""
    with pytest.raises(InvalidInput, match="must be"):
        read_gres(Field("", text))


def test_trackable_resources() -> None:
    """Amounts of memory are MiB, and what is no amount is passed over."""
    found = read_tres(Field("", "cpu=4,mem=1G,node=1,license/x=?,gres/gpu:a=2"))
    assert found == {"cpu": 4, "mem": 1024, "node": 1, "gpu:a": 2}
    assert read_tres(Field("", "")) == {}
    assert read_tres(Field("", "mem=512K,cpu=99999999999999")) == {"mem": 0}


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
