"""Splits: partitions of a table into pairs for training and pairs held out for prediction."""

from collections.abc import Iterator
from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.performance.interference.table import Couple, PairTable

#: What is divided into folds: pairs, or configurations with all of their pairs.
Split = Literal["pair", "configuration"]


def splits(
    table: PairTable, *, folds: int = 5, by: Split = "pair", seed: int = 0
) -> Iterator[tuple[PairTable, tuple[Couple, ...]]]:
    """Yield training tables, each with the pairs that are held out of it.

    Both directions of a pair are always held out together. With ``by="pair"``, the pairs are divided into
    folds, and each fold is held out once, so five folds are five splits of about 80:20. With
    ``by="configuration"``, the configurations are divided into folds, and for each fold, all pairs with at
    least one of its configurations are held out. A pair whose configurations are in different folds is held out
    twice. Folds that leave no training pair, or hold none out, are skipped.

    Source: Castor, section 6.2, which splits job pairs at random, about 80:20. The split by configuration is
    gsopt's own. It models a scheduler that receives a job that was never measured together with any other job.

    Raises
    ------
    InvalidInput
        `folds` is below 2, or `by` is unknown.

    Examples
    --------
    >>> from gsopt.performance.interference import Profile
    >>> table = PairTable(
    ...     profiles=[Profile(name=name, features={}) for name in "ab"],
    ...     slowdowns={"a": {"a": 2.0, "b": 1.2}, "b": {"a": 1.5, "b": 1.1}},
    ... )
    >>> [(len(learnt.couples), held_out) for learnt, held_out in splits(table, folds=3)]
    [(2, (('a', 'a'),)), (2, (('b', 'b'),)), (2, (('a', 'b'),))]
    """
    require(folds > 1, "folds", folds, "must be at least 2")
    require_one_of("by", by, get_args(Split))
    for held_out in _by_pair(table, folds, seed) if by == "pair" else _by_configuration(table, folds, seed):
        kept = [couple for couple in table.couples if couple not in held_out]
        if kept and held_out:
            yield table.only(kept), tuple(held_out)


def _by_pair(table: PairTable, folds: int, seed: int) -> list[list[Couple]]:
    couples = list(table.couples)
    Random(seed).shuffle(couples)
    return [couples[fold::folds] for fold in range(folds)]


def _by_configuration(table: PairTable, folds: int, seed: int) -> list[list[Couple]]:
    names = [profile.name for profile in table.profiles]
    Random(seed).shuffle(names)
    groups = [set(names[fold::folds]) for fold in range(folds)]
    return [[couple for couple in table.couples if group & set(couple)] for group in groups]
