"""The space of admission: its classes are counted in other ways, and two exact methods agree on its optima."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import pytest

from formulations.admission import exact, milp
from gsopt.core.result import Status
from gsopt.problems.admission import Admission, Running
from instances.admission.spaces import tiny
from tests.exactness.admission import optimum

SPACES = [
    {"gangs": 3, "machines": 1, "gpus": 2, "costs": 2},
    {"gangs": 4, "machines": 2, "gpus": 1, "costs": 1},
    {"gangs": 3, "machines": 2, "gpus": 2, "costs": 2},
    {"gangs": 3, "machines": 3, "gpus": 1, "costs": 2},
    {"gangs": 3, "machines": 1, "gpus": 3, "costs": 1},
]


@pytest.mark.parametrize("arguments", SPACES)
def test_the_size_is_that_of_burnsides_lemma(arguments: dict[str, int]) -> None:
    """The number of classes by Burnside's lemma is that of the orbits found by renaming the machines."""
    space = tiny(**arguments)
    for setting in space.settings:
        group = [range(len(setting.items)), *setting.symmetries]
        for size in space.sizes:
            every = combinations_with_replacement(range(len(setting.items)), size)
            orbits = {min(tuple(sorted(each[item] for item in items)) for each in group) for items in every}
            assert setting.count(size) == len(orbits)
    assert space.size == len([*space.classes()])


@pytest.mark.parametrize("arguments", SPACES)
def test_the_space_holds_every_problem_once(arguments: dict[str, int]) -> None:
    """The problems up to names and order of machines and gangs are those that a plain enumeration finds."""
    found = [shape(problem) for problem in problems(**arguments)]
    assert len(found) == len(set(found))
    assert set(found) == set(plain(**arguments))


def problems(**arguments: int) -> list[Admission]:
    """Return one problem of each class of the space."""
    space = tiny(**arguments)
    found = [space.problem(pick) for pick in space.classes()]
    return [each for each in found if isinstance(each, Admission)]


def shape(problem: Admission) -> tuple[Any, ...]:
    """Return what a problem is, whatever the names and the order of its machines and gangs."""
    machines = len(problem.cluster.machines)
    running = [
        (tuple(problem.position[name] for name in each.on[0]), each.gpus // len(each.on[0]), *prices(each))
        for each in problem.running
    ]
    pending = [(each.parts[0].count, each.parts[0].needs.gpu, each.within) for each in problem.pending]
    return canonical(machines, problem.cluster.machines[0].gpus, running, pending)


def prices(gang: Running) -> tuple[float, float | None]:
    """Return the costs of evicting and of moving a gang."""
    return gang.cost, gang.move_cost


def canonical(machines: int, gpus: int, running: Sequence[Any], pending: Sequence[Any]) -> tuple[Any, ...]:
    """Return the first of all ways to write a problem down."""
    ways = [
        sorted(
            (tuple(sorted(new[each] for each in on)), width, cost, move or 0)
            for on, width, cost, move in running
        )
        for new in permutations(range(machines))
    ]
    return machines, gpus, tuple(min(ways)), tuple(sorted(pending))


def plain(gangs: int, machines: int, gpus: int, costs: int) -> Iterator[tuple[Any, ...]]:
    """Yield the shape of every problem of the space, each at least once, gang by gang."""
    for count, room in product(range(1, machines + 1), range(1, gpus + 1)):
        masks = [tuple(each for each in range(count) if mask >> each & 1) for mask in range(1, 2**count)]
        stays = [*product(masks, range(1, room + 1), range(1, costs + 1), (None, 1))]
        waits = [
            (workers, width, within)
            for workers, width, within in product(
                range(1, count * room + 1), range(1, room + 1), ("", "machine")
            )
            if workers <= (room // width if within else count * (room // width))
        ]
        for runs in range(1, gangs):
            for running in combinations_with_replacement(stays, runs):
                if any(sum(width for on, width, *_ in running if each in on) > room for each in range(count)):
                    continue
                paid = [cost for _, _, cost, _ in running] + [1 for *_, move in running if move]
                for size in range(1, gangs - runs + 1):
                    for pending in combinations_with_replacement(waits, size):
                        widths = [width for _, width, *_ in running] + [width for _, width, _ in pending]
                        smaller = any(all(each % by == 0 for each in (room, *widths)) for by in (2, 3))
                        cheaper = all(cost % 2 == 0 for cost in paid)
                        asked = sum(workers * width for workers, width, _ in pending)
                        if not smaller and not cheaper and asked <= count * room:
                            yield canonical(count, room, running, pending)


def test_two_methods_and_brute_force_agree() -> None:
    """On every 20th class, both exact methods prove the optimum that trying every choice finds."""
    for problem in problems(gangs=3)[::20]:
        wanted = optimum(problem)
        for method in (exact, milp):
            result = method(problem)
            assert result.objective == wanted
            assert result.status is (Status.INFEASIBLE if wanted is None else Status.OPTIMAL)


def test_every_running_gang_may_be_evicted() -> None:
    """Pending gangs have the higher priority."""
    assert all(problem.evictable(gang) for problem in problems(gangs=3) for gang in problem.running)
