"""Generic resources and other values, as releases of Slurm write them."""

from collections.abc import Callable
from typing import Any

import pytest

from gsopt.snapshots.field import Field
from gsopt.snapshots.slurm.gres import read_gres, read_tres
from gsopt.snapshots.slurm.values import moment, nodes, number, words
from tests.gsopt.snapshots.slurm.objects import wrapped
from tests.refusals import assert_refused


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
    ("read", "texts"),
    [
        (read_gres, ["gpu:a:b:4", "gpu::4", "gpu h100", ":4", "gpu=4", "gpu:9999999999", "gpu:a:4(S:0"]),
        (nodes, ["a b", "a;b", "$(id)", "n[1-2", "n[2-1]", "n'[1]", "n[0-99999]", "é"]),
    ],
)
def test_what_is_no_list(read: Callable[[Field], object], texts: list[str]) -> None:
    """Other resources, names of other signs, broken lists and long ones are refused in one line."""
    for text in texts:
        assert_refused("must", read, Field("", text))


def test_trackable_resources() -> None:
    """Amounts of memory are MiB, and what is no amount is passed over."""
    found = read_tres(Field("", "cpu=4,mem=1G,node=1,license/x=?,gres/gpu:a=2"))
    assert found == {"cpu": 4, "mem": 1024, "node": 1, "gpu:a": 2}
    assert read_tres(Field("", "")) == {}
    assert read_tres(Field("", "mem=512K,cpu=99999999999999")) == {"mem": 0}


@pytest.mark.parametrize(
    ("value", "found", "time"),
    [
        (60, 60, 60),
        (wrapped(60), 60, 60),
        (0, 0, None),
        (wrapped(0), 0, None),
        (None, 3, None),
        ({**wrapped(60), "set": False}, 3, None),
        ({**wrapped(60), "infinite": True}, 3, None),
    ],
)
def test_numbers_and_moments(value: Any, found: int, time: int | None) -> None:
    """A number is plain or wrapped, the default where it is not set or has no end; a time of 0 is none."""
    assert (number(Field("", value), 3), moment(Field("", value))) == (found, time)
    assert number(Field("", wrapped(7.0)), 3) == 7


def test_words() -> None:
    """States are lists or texts, with the signs that Slurm adds taken off."""
    values: tuple[Any, ...] = (["IDLE", "DRAIN"], "idle*", "MIXED+CLOUD+DRAIN", "", [], None)
    assert [words(Field("", value)) for value in values] == [
        *(("IDLE", "DRAIN"), ("idle",), ("MIXED", "CLOUD", "DRAIN"), (), (), ())
    ]
