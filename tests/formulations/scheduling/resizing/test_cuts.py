"""Launch cuts: what no jobs can do together, and nothing that some can."""

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from formulations.scheduling.resizing.cuts import groups
from formulations.scheduling.resizing.jobs import Resizable
from gsopt.problems.scheduling import Scheduling
from tests.exactness.resizing import elastic


def _drawn(seed: int) -> Resizable:
    """Draw two to four jobs, each on some GPUs between two numbers."""
    random = Random(seed)
    gpus = random.randint(2, 6)
    jobs = []
    for index in range(random.randint(2, 4)):
        fewest = random.randint(1, gpus)
        jobs.append(elastic(f"j{index}", 4, fewest, random.randint(fewest, gpus)))
    return Resizable.of(Scheduling(gpus=gpus, jobs=jobs, preemptive=False))


def _launches(jobs: Resizable) -> Iterator[tuple[int, ...]]:
    """Enumerate the GPUs of jobs that can run at the same time, 0 of those that do not."""
    each = ([0, *range(least, most + 1)] for least, most in zip(jobs.least, jobs.most, strict=True))
    yield from (counts for counts in product(*each) if sum(counts) <= jobs.gpus)


def test_every_launch_keeps_every_cut_and_many_meet_it() -> None:
    """Whoever runs, the weighted GPUs are at most those of the group; most rows are met by some launch."""
    rows = tight = 0
    for seed in range(120):
        jobs = _drawn(seed)
        for weights, share in groups(jobs):
            most = max(sum(weights.get(j, 0.0) * x for j, x in enumerate(each)) for each in _launches(jobs))
            assert most <= share * jobs.gpus * (1 + 1e-12), seed
            rows += 1
            tight += most >= share * jobs.gpus * (1 - 1e-12)
    assert rows > 100
    assert tight > 0.9 * rows


def test_the_others_of_a_group_are_those_that_it_leaves_no_room_for() -> None:
    """Beside a job on up to two of four GPUs, one of three weighs a third, and one of two nothing."""
    sizes = {"a": (1, 2), "b": (3, 4), "c": (2, 4)}
    made = [elastic(name, 4, *counts) for name, counts in sizes.items()]
    jobs = Resizable.of(Scheduling(gpus=4, jobs=made, preemptive=False))

    assert list(groups(jobs)) == [({0: 1.0, 1: pytest.approx(1 / 3)}, 0.5)]
