"""Segments of hulls as arrays, and the orders that need no search."""

import numpy as np
import pytest

from formulations.scheduling.instance import Instance
from formulations.scheduling.segments import Segments
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.strategies.scheduling import tiny


def _of(*jobs: ElasticJob, gpus: int = 4) -> Segments:
    return Segments.of(Instance.of(Scheduling(gpus=gpus, jobs=jobs)))


def _job(name: str, work: float, rates: dict[int, float], release: float = 0) -> ElasticJob:
    return ElasticJob(name=name, release=release, work=work, rates=rates)


def test_segments_lead_to_the_counts_of_hulls() -> None:
    """Every segment begins where the one before ends, and the last one reaches the highest speed."""
    for seed in range(40):
        instance = Instance.of(tiny(seed))
        segments = Segments.of(instance)
        for job, modes in enumerate(instance.modes):
            own = slice(segments.first[job], segments.first[job + 1])
            counts = np.cumsum(segments.more[own])
            known = dict(modes)
            assert {*counts} <= {*known}
            assert segments.speed[own].tolist() == pytest.approx([known[count] for count in counts])
            assert np.cumsum(segments.gain[own]).tolist() == pytest.approx(segments.speed[own].tolist())
            assert (segments.job[own] == job).all()
            assert segments.fastest[job] == pytest.approx(modes[-1].rate)
        assert segments.fewest == segments.more.min()


def test_every_order_names_each_job_as_often_as_it_has_segments() -> None:
    """Orders by area, by time and by slopes are permutations of the segments' jobs."""
    for seed in range(20):
        segments = Segments.of(Instance.of(tiny(seed)))
        for names in (
            segments.by_size(segments.areas),
            segments.by_size(segments.times),
            segments.by_slopes(segments.work),
        ):
            assert sorted(names.tolist()) == segments.job.tolist()


def test_rigid_jobs_stand_by_area_or_by_time() -> None:
    """A job of 4 GPUs for 2 s has more area than one of a GPU for 5 s, and takes less time."""
    segments = _of(_job("long", 5, {1: 1.0}), _job("wide", 8, {4: 4.0}))

    assert segments.by_size(segments.areas).tolist() == [0, 1]
    assert segments.by_size(segments.times).tolist() == [1, 0]


def test_a_second_gpu_that_helps_little_comes_last() -> None:
    """Two jobs get their first GPUs before one of them gets a second one that gains a tenth."""
    rates = {1: 1.0, 2: 1.1}

    segments = _of(_job("a", 4, rates), _job("b", 5, rates))
    assert segments.by_size(segments.areas).tolist() == [0, 1, 0, 1]


def test_slopes_rank_segments() -> None:
    """What a GPU gains is weighed with what the job's work is worth."""
    segments = _of(_job("a", 4, {1: 1.0, 2: 1.5}), _job("b", 4, {1: 1.0, 2: 1.9}))

    assert segments.by_slopes(np.array([1.0, 0.6])).tolist() == [0, 1, 1, 0]
    assert segments.by_slopes(np.array([2.1, 1.0])).tolist() == [0, 0, 1, 1]


def test_the_order_of_completion_is_an_order_of_size() -> None:
    """Of rigid jobs the one that completes first stands first, whatever its size."""
    jobs = [_job(str(work), work, {1: 1.0}) for work in (3, 1, 2)]

    assert _of(*jobs).by_completion((5.0, 9.0, 7.0)).tolist() == [0, 2, 1]


def test_areas_and_times() -> None:
    """A job's area is that on its most efficient count, its time that on the fastest."""
    segments = _of(_job("a", 12, {1: 1.0, 2: 3.0, 4: 4.0}))

    assert (segments.areas.tolist(), segments.times.tolist()) == ([8.0], [3.0])
    assert segments.relative_efficiency.tolist() == pytest.approx([1, 1 / 3])
