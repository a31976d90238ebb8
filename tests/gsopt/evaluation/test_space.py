"""Spaces: their classes are counted, enumerated and divided without loss."""

from collections.abc import Sequence
from itertools import combinations, permutations, product
from random import Random

import pytest

from gsopt.evaluation.space import Pick, Setting, Space
from gsopt.problems.reclaiming import Job, Reclaiming, Server


def exchanges(servers: int) -> tuple[list[frozenset[int]], tuple[tuple[int, ...], ...]]:
    """Return all sets of servers, and what each exchange of servers does to their indices."""
    sets = [frozenset(some) for size in range(1, servers + 1) for some in combinations(range(servers), size)]
    found = [
        tuple(sets.index(frozenset(order[each] for each in some)) for some in sets)
        for order in permutations(range(servers))
    ]
    return sets, tuple(found[1:])


def space(servers: int, jobs: int) -> Space:
    """Return all instances in which jobs are on sets of servers, one of which is returned."""
    sets, symmetries = exchanges(servers)

    def make(items: Sequence[frozenset[int]]) -> Reclaiming:
        made = [
            Job(name=f"j{number}", workers={f"s{each}": 1 for each in sorted(some)})
            for number, some in enumerate(items)
        ]
        stock = [Server(name=f"s{number}", gpus=8) for number in range(servers)]
        return Reclaiming(demand=1, servers=stock, jobs=made)

    return Space("reclaiming", "", (Setting(tuple(sets), make, symmetries),), jobs)


@pytest.mark.parametrize(("servers", "jobs"), [*product((1, 2, 3), (1, 2, 3, 4)), (4, 1), (4, 2), (4, 3)])
def test_the_size_follows_from_burnsides_lemma(servers: int, jobs: int) -> None:
    """The number of classes by Burnside's lemma is that of the orbits found by trying all exchanges."""
    made = space(servers, jobs)
    (setting,) = made.settings
    for size in range(1, jobs + 1):
        orbits = {
            min(tuple(sorted(each[item] for item in items)) for each in [range(99), *setting.symmetries])
            for items in product(range(len(setting.items)), repeat=size)
        }
        assert setting.count(size) == len(orbits)
    assert made.size == len([*made.classes()])


@pytest.mark.parametrize(("servers", "jobs"), [(1, 3), (2, 3), (3, 2)])
def test_classes_hold_every_instance_once(servers: int, jobs: int) -> None:
    """The members of all classes are all instances, each once."""
    made = space(servers, jobs)
    kinds = range(len(made.settings[0].items))
    every = {Pick(0, items) for size in made.sizes for items in product(kinds, repeat=size)}
    found = [*made.picks()]
    assert len(found) == len(every)
    assert set(found) == every


@pytest.mark.parametrize("length", [1, 2, 7, 1000])
def test_parts_hold_the_space(length: int) -> None:
    """The parts of a space have all of its instances, in the same order."""
    made = space(3, 3)
    assert [pick for part in made.parts(length) for pick in made.picks(part)] == [*made.picks()]


def test_instances_left_out_have_no_members() -> None:
    """No member of a class that `make` leaves out is listed."""
    setting = Setting((1, 2), lambda _: None)
    assert [*Space("reclaiming", "", (setting,), 3).picks()] == []


def test_picks_are_read_as_they_are_written() -> None:
    """A pick that was written as text is read as the same pick, even one without items."""
    random = Random(1)
    for size in range(5):
        pick = Pick(random.randrange(9), tuple(random.choices(range(100), k=size)))
        assert Pick.read(str(pick)) == pick
