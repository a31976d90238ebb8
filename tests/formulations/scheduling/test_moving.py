"""Moves in lists, and annealing as a kernel."""

from random import Random

import numpy as np

from formulations.scheduling.instance import Instance
from formulations.scheduling.moving import DRAWS, Lists, anneal, begin, move, shift, walk
from formulations.scheduling.segments import Segments
from formulations.scheduling.serving import Marks, ReplayState
from instances.scheduling import elastic_jobs


def test_a_name_is_moved() -> None:
    """What stands between moves by one place, forward or backward."""
    names = np.array([5, 6, 7, 8])
    move(names, 0, 2)
    assert names.tolist() == [6, 7, 5, 8]
    move(names, 3, 1)
    assert names.tolist() == [6, 8, 7, 5]


def test_all_of_a_job_is_shifted() -> None:
    """Its names keep their distances up to the ends of the list, and the others their order."""
    for seed in range(200):
        random = Random(seed)
        names = [random.randrange(4) for _ in range(9)]
        job, places = names[0], random.choice([*range(-9, 0), *range(1, 10)])
        shifted = np.zeros(9, dtype=np.int64)
        shift(np.array(names), job, places, shifted)
        found = shifted.tolist()
        assert [name for name in found if name != job] == [name for name in names if name != job]
        before = [place for place, name in enumerate(names) if name == job]
        after = [place for place, name in enumerate(found) if name == job]
        assert after == _moved(before, places, 9)


def _moved(before: list[int], places: int, size: int) -> list[int]:
    """Move places, none beyond the ends or on another."""
    count = len(before)
    low, high = list(range(count)), list(range(size - count, size))
    return [min(max(place + places, least), most) for place, least, most in zip(before, low, high, strict=True)]


def test_only_jobs_nearby_count_for_the_way() -> None:
    """Two places further, not counting jobs whose numbers are far away."""
    names = np.array([10, 99, 11, 98, 97, 12, 13])

    assert walk(names, 0, 2, 5) == 5
    assert walk(names, 0, 2, 100) == 2
    assert walk(names, 5, -2, 5) == 0
    assert walk(names, 0, 9, 5) == 6


def test_the_best_list_is_kept_while_worse_ones_are_accepted() -> None:
    """When it is hot the current list gets worse than the best one, which costs what is said."""
    instance = Instance.of(elastic_jobs(jobs=20, gpus=8, load=1.5, seed=1))
    segments = Segments.of(instance)
    start = sum(map(instance.earliest, range(20)))
    lists, state = Lists.of(segments.by_size(segments.areas)), ReplayState.of(segments)
    marks = Marks.of(20, 5, start), Marks.of(20, 5, start)
    cost = begin(segments, lists, state, *marks)
    draws, heat = np.random.default_rng(0).random(400 * DRAWS), np.full(400, 0.2 * cost)
    total, least = anneal(segments, lists, state, *marks, np.array([8, 40]), 20, draws, heat, cost, cost)

    assert least <= cost < total
    assert sorted(lists.best.tolist()) == sorted(lists.current.tolist()) == segments.job.tolist()
    lists.current[:] = lists.best
    assert begin(segments, lists, state, *marks) == least
