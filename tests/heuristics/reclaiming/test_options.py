"""Tests of options that are one of a few words."""

import pytest

from gsopt.core.errors import InvalidInput
from heuristics.reclaiming.options import choose


def test_a_known_word_gives_what_it_stands_for() -> None:
    """The value behind the word is returned."""
    assert choose("tie", "index", {"index": 7, "random": 8}) == 7


def test_an_unknown_word_is_refused_in_one_line() -> None:
    """The message names option, value and choices."""
    with pytest.raises(InvalidInput) as refused:
        choose("tie", "luck", {"index": 7, "random": 8})

    assert str(refused.value) == "tie: 'luck': must be one of index, random"
