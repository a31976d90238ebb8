"""Pricing: the best filling of every room, by table and by program."""

from itertools import product

import numpy as np
import pytest

from formulations.deadline import Deadline
from formulations.placement.packing import Integers, Packing, Reals
from formulations.placement.pricing import Programs, Table, pricer
from gsopt.backends import Highs
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.placement import elastic, vectors

FOREVER = Deadline(None)


def enumerated(demands: Integers, worth: Reals, room: Integers) -> float:
    """Find the most that a filling of a room is worth by trying all."""
    most = [min((room[need > 0] // need[need > 0]).min(), 9) if (need <= room).all() else 0 for need in demands]
    fillings = (np.array(counts) for counts in product(*(range(count + 1) for count in most)))
    return max(float(worth @ counts) for counts in fillings if (counts @ demands <= room).all())


@pytest.mark.parametrize("seed", range(25))
def test_the_table_finds_the_best_filling(seed: int) -> None:
    """For random demands, some without GPU, and random rooms the table gives the value of enumeration."""
    random = np.random.default_rng(seed)
    demands = np.unique(random.integers((0, 1, 0), (3, 6, 4), size=(4, 3)), axis=0)
    rooms = random.integers(0, (6, 9, 7), size=(3, 3))
    worth = np.where(random.random(len(demands)) < 0.8, random.random(len(demands)), 0.0)
    priced = Table(demands, rooms)(worth, np.zeros(3), deadline=FOREVER)

    assert priced.most == pytest.approx([enumerated(demands, worth, room) for room in rooms])
    for room, counts in zip(priced.room, priced.counts, strict=True):
        assert (counts @ demands <= rooms[room]).all()
    best = np.zeros(3)
    np.maximum.at(best, priced.room, [worth @ counts for counts in priced.counts])
    assert best.tolist() == pytest.approx(priced.most.tolist())


def test_the_table_gives_fillings_that_pay() -> None:
    """Only fillings worth more than their rent are given, the best first, and no more than asked for."""
    demands, rooms = np.array([[4, 0, 0], [3, 0, 0]]), np.array([[8, 0, 0], [3, 0, 0]])
    worth, rents = np.array([0.5, 0.4]), np.array([0.85, 0.5])
    priced = Table(demands, rooms)(worth, rents, deadline=FOREVER)

    assert [(room, counts.tolist()) for room, counts in zip(priced.room, priced.counts, strict=True)] == [
        (0, [2, 0]),
        (0, [2, 0]),
        (0, [1, 1]),
    ]
    assert priced.most.tolist() == [1.0, 0.4]
    assert len(Table(demands, rooms, most_fillings=1)(worth, rents, deadline=FOREVER).counts) == 1


@pytest.mark.parametrize("seed", range(5))
def test_programs_bound_the_best_filling(seed: int) -> None:
    """Where nothing pays programs give bounds that are met, with no more workers than there are."""
    random = np.random.default_rng(seed)
    demands, rooms = random.integers(1, 9, size=(4, 3)), random.integers(10, 20, size=(2, 3))
    worth, totals = random.random(4), np.full(4, 9)
    priced = Programs(demands, rooms, totals, Highs())(worth, np.full(2, 100.0), deadline=FOREVER)

    assert priced.counts == []
    for room, most in zip(rooms, priced.most, strict=True):
        assert most >= enumerated(demands, worth, room) - 1e-9
        assert most == pytest.approx(enumerated(demands, worth, room), rel=1e-3)


def test_programs_place_nobody_who_does_not_exist() -> None:
    """A filling holds at most the workers that there are."""
    programs = Programs(np.array([[1, 1, 1]]), np.array([[9, 9, 9]]), np.array([2]), Highs())
    priced = programs(np.ones(1), np.zeros(1), deadline=FOREVER)

    assert [counts.tolist() for counts in priced.counts] == [[2]]
    assert programs(np.ones(1), np.full(1, 5.0), deadline=FOREVER).most == pytest.approx([2.0])


def test_the_pricer_follows_the_amounts() -> None:
    """Cores and GB fit a table, thousandths and MiB need programs, and a zone without servers needs nothing."""
    coarse = Packing.of(vectors(types=3, workers=9))
    fine = Packing.of(
        Placement(
            servers=(Server(name="s", capacity=Resources(gpu=8000, cpu=96_001, memory=400_003)),),
            workers=(
                Workers(job="a", demand=Resources(gpu=470, cpu=3_001, memory=7)),
                Workers(job="b", demand=Resources(gpu=1000, cpu=4_000, memory=10)),
            ),
        )
    )
    one_pool = Packing.of(elastic(jobs=3, inference=0, training=20))

    assert isinstance(pricer(coarse, coarse.zones[0], Highs()), Table)
    assert isinstance(pricer(fine, fine.zones[0], Highs()), Programs)
    assert pricer(one_pool, one_pool.zones[1], Highs()) is None
