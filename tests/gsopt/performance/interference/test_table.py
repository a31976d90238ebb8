"""Tables of measured pairs."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.files import read_data, write
from gsopt.performance.interference import PairTable, Profile
from gsopt.scenario.job import Job
from gsopt.scenario.speed import Speed

A, B, C = (Profile(name=name, features={"load": load}) for name, load in (("a", 0.9), ("b", 0.3), ("c", 0.5)))
SLOWDOWNS = {"b": {"a": 1.5, "b": 1.0}, "a": {"b": 1.25}}


def test_each_pair_is_listed_once() -> None:
    """Pairs come in the order of the profiles, whatever that of the slowdowns; one beside itself is a pair."""
    assert PairTable(profiles=[A, B, C], slowdowns=SLOWDOWNS).couples == (("a", "b"), ("b", "b"))
    assert PairTable(profiles=[B, A], slowdowns=SLOWDOWNS).couples == (("b", "b"), ("b", "a"))


def test_a_part_has_both_directions() -> None:
    """Pairs are picked in any order, and keep both of their slowdowns; the profiles all stay."""
    part = PairTable(profiles=[A, B, C], slowdowns=SLOWDOWNS).only([("b", "a")])
    assert part.slowdowns == {"a": {"b": 1.25}, "b": {"a": 1.5}}
    assert part.couples == (("a", "b"),)
    assert part.profiles == (A, B, C)
    assert part.only([]).couples == ()


def test_a_pair_that_was_not_measured_is_refused() -> None:
    """Nothing is made up for it."""
    with pytest.raises(InvalidInput, match=r"^pair: \('a', 'c'\): must have been measured$"):
        PairTable(profiles=[A, B, C], slowdowns=SLOWDOWNS).only([("a", "c")])


def test_speeds_take_the_slowdowns_as_they_are() -> None:
    """A job beside another one runs at one over the slowdown that the table has of its model."""
    speed = Speed(interference=PairTable(profiles=[A, B], slowdowns=SLOWDOWNS).slowdowns)
    a, b = (Job(name=name, release_date=0, duration=1, gpus=1, model=name) for name in "ab")
    assert (speed.rate(a, 1, partners=[b]), speed.rate(b, 1, partners=[a])) == (1 / 1.25, 1 / 1.5)


def test_a_table_is_a_file(tmp_path: Path) -> None:
    """What is written is read again."""
    table = PairTable(name="mine", profiles=[A, B], slowdowns=SLOWDOWNS)
    write(table, tmp_path / "pairs.json")
    assert read_data(PairTable, tmp_path / "pairs.json") == table


@pytest.mark.parametrize(
    ("profiles", "slowdowns", "rule"),
    [
        ([A, A], {}, "must differ from every other name"),
        ([A, Profile(name="b", features={})], {}, "must be those of the first: load"),
        ([A], {"x": {}}, "must be the name of a profile"),
        ([A], {"a": {"x": 2.0}}, "must be the name of a profile"),
        ([A, B], {"a": {"b": 2.0}}, "needs that of b beside a"),
        ([A], {"a": {"a": 0.99}}, "greater than or equal to 1"),
        ([A], {"a": {"a": float("nan")}}, "finite"),
    ],
    ids=["double", "features", "unknown", "unknown partner", "one direction", "faster", "not a number"],
)
def test_what_is_no_table_is_refused(profiles: Any, slowdowns: Any, rule: str) -> None:
    """Names must exist once, features agree, both directions be there, and slowdowns be at least 1."""
    with pytest.raises(ValidationError, match=rule):
        PairTable(profiles=profiles, slowdowns=slowdowns)
