"""Which GPUs of the nodes of one kind jobs get."""

from collections.abc import Sequence
from random import Random

import pytest

from gsopt.problems.configuration import Shape
from heuristics.policies.sia.nodes import Node
from heuristics.policies.sia.placing import place_jobs
from tests.effort import cases


def nodes(*sizes: int) -> list[Node]:
    """Return nodes whose GPUs are numbered from 0."""
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    return [Node(place, tuple(range(end - sizes[place], end))) for place, end in enumerate(ends)]


def shape(gpus: int, per_node: int = 4) -> Shape:
    """Return so many GPUs on as few nodes as hold them."""
    return Shape(type="gpu", nodes=-(-gpus // per_node), gpus=gpus)


def test_parts_go_to_the_fullest_node_from_the_first_on() -> None:
    """Two pairs and a single share two nodes, the largest placed first."""
    found = place_jobs(nodes(4, 4), 4, {1: shape(1), 2: shape(2), 3: shape(2)}, {})
    assert found == {2: (0, 1), 3: (2, 3), 1: (4,)}


def test_whole_nodes_come_from_the_end() -> None:
    """A node and two nodes leave the first ones to parts."""
    found = place_jobs(nodes(4, 4, 4, 4), 4, {1: shape(4), 2: shape(8), 3: shape(1)}, {})
    assert {job: {gpu // 4 for gpu in gpus} for job, gpus in found.items()} == {2: {2, 3}, 1: {1}, 3: {0}}


def test_who_keeps_its_configuration_keeps_its_gpus() -> None:
    """Jobs that stay are not moved to fill gaps."""
    held = {1: (1,), 2: (6, 7)}
    assert place_jobs(nodes(4, 4), 4, {1: shape(1), 2: shape(2), 3: shape(1)}, held) == {**held, 3: (4,)}


def test_a_node_is_cleared_where_none_is_free() -> None:
    """The node with the most free GPUs is cleared, and who stood there moves."""
    held = {1: (0, 1), 2: (4,)}
    found = place_jobs(nodes(4, 4), 4, {1: shape(2), 2: shape(1), 3: shape(4)}, held)
    assert found == {1: (0, 1), 3: (4, 5, 6, 7), 2: (2,)}


def test_restarting_jobs_move_last() -> None:
    """Where either of two jobs can make room, the one that is not fixed does."""
    held = {1: (0,), 2: (1,), 3: (2,), 4: (4, 5, 6)}
    found = place_jobs(
        nodes(4, 4), 4, {**{job: shape(1) for job in (1, 2, 3)}, 4: shape(3), 5: shape(2)}, held, {1}
    )
    assert found == {1: (0,), 4: (4, 5, 6), 3: (2,), 5: (1, 3), 2: (7,)}


def test_who_fits_nowhere_takes_what_is_left() -> None:
    """Three parts of four GPUs do not fit on two nodes of six; a whole node needs a largest one."""
    found = place_jobs(nodes(6, 6), 6, {job: shape(4, 6) for job in (1, 2, 3)}, {})
    assert found == {1: (0, 1, 2, 3), 2: (6, 7, 8, 9), 3: (4, 5, 10, 11)}
    assert place_jobs(nodes(4, 2), 4, {1: shape(4), 2: shape(2)}, {}) == {1: (0, 1, 2, 3), 2: (4, 5)}
    assert place_jobs(nodes(4, 2, 2), 4, {1: shape(8)}, {}) == {1: tuple(range(8))}


def test_remainders_of_nodes_stand_on_one_further_node() -> None:
    """Six GPUs are a whole node and a part of another one."""
    assert place_jobs(nodes(4, 4), 4, {1: shape(6), 2: shape(2)}, {}) == {1: (0, 1, 4, 5, 6, 7), 2: (2, 3)}


@pytest.mark.parametrize(("sizes", "per_node"), [((1, 2, 4, 8, 12), 4), ((1, 2, 4, 8, 16), 8)])
def test_powers_of_two_always_fit(sizes: Sequence[int], per_node: int) -> None:
    """Whatever jobs come, change and go: configurations within the GPUs are seated, on as few nodes as said."""
    random = Random(per_node)
    for _ in range(cases(400)):
        held: dict[int, tuple[int, ...]] = {}
        for turn in range(5):
            wanted: dict[int, Shape] = {}
            left = 4 * per_node
            for job in [*held, *(10 * turn + place for place in range(random.randint(0, 4)))]:
                count = len(held[job]) if job in held and random.random() < 0.6 else random.choice(sizes)
                if count <= left and random.random() < 0.8:
                    wanted[job] = shape(count, per_node)
                    left -= count
            kept = {job: gpus for job, gpus in held.items() if job in wanted and len(gpus) == wanted[job].gpus}
            held = place_jobs(nodes(*[per_node] * 4), per_node, wanted, kept)
            assert held.keys() == wanted.keys()
            assert len({gpu for gpus in held.values() for gpu in gpus}) == sum(map(len, held.values()))
            for job, gpus in held.items():
                assert (len(gpus), len({gpu // per_node for gpu in gpus})) == (
                    wanted[job].gpus,
                    wanted[job].nodes,
                )
