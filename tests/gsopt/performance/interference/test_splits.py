"""What is learnt from, and what is held out."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.interference import PairTable, splits
from tests.gsopt.performance.interference.tables import EIGHT


def test_every_pair_is_held_out_once() -> None:
    """Five folds are splits of about 80:20, of which the parts held out make up the table."""
    found = list(splits(EIGHT))
    assert sorted(couple for _, held_out in found for couple in held_out) == sorted(EIGHT.couples)
    assert {len(held_out) for _, held_out in found} == {7, 8}
    assert all({*learnt.couples} == {*EIGHT.couples} - {*held_out} for learnt, held_out in found)


def test_no_direction_of_a_held_out_pair_is_learnt() -> None:
    """Neither a beside b nor b beside a is there when the pair is held out."""
    for learnt, held_out in splits(EIGHT):
        for first, second in held_out:
            assert second not in learnt.slowdowns.get(first, {})
            assert first not in learnt.slowdowns.get(second, {})


def test_by_configuration_nothing_of_it_is_learnt() -> None:
    """Whatever is held out has a configuration that is in no pair to learn from."""
    found = list(splits(EIGHT, folds=4, by="configuration"))
    assert len(found) == 4
    for learnt, held_out in found:
        seen = {name for couple in learnt.couples for name in couple}
        assert len(seen) == 6
        assert all({*couple} - seen for couple in held_out)
        assert len(learnt.couples) + len(held_out) == len(EIGHT.couples)


def test_a_seed_is_a_split() -> None:
    """The same seed gives the same, another one another."""
    first, again, other = (list(splits(EIGHT, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_folds_without_pairs_are_left_out() -> None:
    """One pair cannot be learnt from and held out; of two each is held out once, in however many folds."""
    assert list(splits(EIGHT.only([("a", "b")]))) == []
    assert list(splits(EIGHT.only([]), by="configuration")) == []
    assert len(list(splits(EIGHT.only([("a", "b"), ("c", "d")]), folds=9))) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [({"folds": 1}, "folds: 1: must be at least 2"), ({"by": "x"}, "by: 'x': must be one")],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    """Wrong options are one line."""
    with pytest.raises(InvalidInput, match=message):
        list(splits(PairTable(profiles=[], slowdowns={}), **options))
