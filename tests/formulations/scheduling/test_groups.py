"""What jobs take up of groups of GPUs."""

from collections.abc import Iterator
from itertools import product

import pytest

from formulations.scheduling.groups import groups, taken
from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import Item
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.strategies.scheduling import tiny


def _instance(gpus: int, *menus: tuple[int, ...]) -> Instance:
    """Return jobs that may run on these counts of GPUs."""
    jobs = [
        ElasticJob(name=str(number), release=0, work=1, rates={count: float(count) for count in menu})
        for number, menu in enumerate(menus)
    ]
    return Instance.of(Scheduling(gpus=gpus, jobs=jobs))


def _every(instance: Instance) -> list[Item]:
    return [(job, mode) for job, modes in enumerate(instance.modes) for mode in range(len(modes))]


def _sizes(instance: Instance) -> list[int]:
    return [size for size, _ in groups(instance, _every(instance))]


def _configurations(instance: Instance) -> Iterator[dict[int, int]]:
    """Enumerate which jobs can run at the same time, on how many GPUs."""
    for counts in product(*([0, *(mode.gpus for mode in modes)] for modes in instance.modes)):
        if sum(counts) <= instance.gpus:
            yield {job: count for job, count in enumerate(counts) if count}


def test_no_configuration_takes_up_more_groups_than_there_are() -> None:
    """On tiny instances every configuration satisfies every row of groups, and most rows are met by some."""
    rows = tight = 0
    for seed in range(60):
        instance = Instance.of(tiny(seed, jobs=(3,), gpus=(2, 3, 4, 6, 8, 9, 12)))
        for size, job in groups(instance, _every(instance)):
            divides = instance.gpus % size == 0
            most = max(
                sum(taken(count, size, whole=j == job and divides) for j, count in configuration.items())
                for configuration in _configurations(instance)
            )
            assert most <= instance.gpus // size
            rows += 1
            tight += most == instance.gpus // size
    assert 0.7 * rows < tight


@pytest.mark.parametrize(
    ("gpus", "largest", "sizes"),
    [
        (1, 1, []),
        (8, 8, [2, 4, 8]),
        (8, 7, [2, 4]),
        (6, 6, [2, 3, 4, 6]),
        (7, 7, [2, 4, 7]),
        (12, 12, [2, 3, 4, 6, 8, 12]),
        (9, 3, [2, 3]),
    ],
)
def test_sizes_are_powers_of_two_and_divisors(gpus: int, largest: int, sizes: list[int]) -> None:
    """Groups have the size of a power of two or of a part of the GPUs, up to what some job takes."""
    assert _sizes(_instance(gpus, (largest,))) == sizes


def test_a_job_that_fills_no_group_has_a_row_of_its_own() -> None:
    """Where the size divides the GPUs, each job that takes up a group in part has a row, by its number."""
    instance = _instance(6, (6,), (5,), (2,), (1, 3))

    assert groups(instance, _every(instance)) == [
        (2, 1),
        (2, 3),
        (3, 1),
        (3, 2),
        (3, 3),
        (4, 0),
        (6, 1),
        (6, 2),
        (6, 3),
    ]


def test_only_those_that_may_run_count() -> None:
    """Sizes and jobs come from the items given, not from all modes of the instance."""
    instance = _instance(8, (1, 8), (1, 2), (4,))

    assert groups(instance, [(0, 0), (1, 1)]) == [(2, 0)]
    assert groups(instance, [(2, 0), (1, 1)]) == [(2, 2), (4, 1)]
    assert groups(instance, [(0, 0), (1, 0)]) == []


def test_groups_taken_up_whole_and_in_part() -> None:
    """Of groups of four, 4 GPUs take up one either way, 3 none or one, and 5 one or two."""
    assert [taken(gpus, 4, whole=False) for gpus in (3, 4, 5, 8)] == [0, 1, 1, 2]
    assert [taken(gpus, 4, whole=True) for gpus in (3, 4, 5, 8)] == [1, 1, 2, 2]
