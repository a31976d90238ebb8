"""Elastic, heterogeneous and undemanding jobs."""

from itertools import pairwise
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from instances.scenarios.kinds import INFERENCE, INFERENCE_MODE, TRAINING, Kinds
from instances.scenarios.overlaid import made_up_workload

JOBS = made_up_workload(days=3, gpus=256, seed=2).jobs


def given(*, training: int = 256, inference: int = 256, seed: int = 0, **shares: Any) -> tuple[Job, ...]:
    """Return the jobs with kinds."""
    return Kinds(**shares).given(JOBS, training=training, inference=inference, seed=seed)


def elastic(jobs: tuple[Job, ...]) -> set[str]:
    """Return the names of the jobs with a menu."""
    return {job.name for job in jobs if job.menu}


def undemanding(jobs: tuple[Job, ...]) -> set[str]:
    """Return the names of the jobs that run on either cluster."""
    return {job.name for job in jobs if job.modes}


def test_shares_are_exact_and_nested() -> None:
    """So many of the jobs are of a kind, and more of them hold the fewer."""
    some, more = given(elastic=0.25, either=0.2), given(elastic=0.5, either=0.4)

    assert len(undemanding(more)) == round(0.4 * len(JOBS))
    assert elastic(some) < elastic(more)
    assert undemanding(some) < undemanding(more)
    assert sum(not job.gpu_type for job in given(heterogeneous=0.3)) == round(0.3 * len(JOBS))
    assert sum(job.checkpoints for job in given(checkpoints=0.6)) == round(0.6 * len(JOBS))


def test_large_jobs_are_the_first_to_be_elastic() -> None:
    """A small share of elastic jobs is drawn among those with four GPUs or more."""
    drawn = elastic(given(elastic=0.05))

    assert drawn <= {job.name for job in JOBS if job.gpus >= 4}
    assert len(drawn) == round(0.05 * len(JOBS))


def test_the_seed_draws_other_jobs() -> None:
    """Another seed gives others of each kind."""
    assert undemanding(given(seed=1)) != undemanding(given())


def test_without_inference_all_jobs_are_for_training() -> None:
    """Where there are no inference GPUs no job has a way to run there, and kinds are drawn as before."""
    jobs = given(inference=0, heterogeneous=0.5)

    assert {job.gpu_type for job in jobs} == {TRAINING}
    assert not undemanding(jobs)
    assert elastic(jobs) == elastic(given())


def test_a_job_of_either_cluster_has_a_mode_for_each() -> None:
    """Both modes have the same counts and speeds; one that exceeds the inference cluster has one mode."""
    for job in given(either=1.0, inference=4):
        assert job.gpu_type == TRAINING
        assert bool(job.modes) is (job.gpus <= 4)
        for mode in job.modes:
            assert (mode.name, mode.gpu_type) == (INFERENCE_MODE, INFERENCE)
            assert dict(mode.menu) == {count: job.speed(count) for count in job.counts if count <= 4}


def test_a_normalised_demand_is_as_fast_on_more_gpus() -> None:
    """Three GPUs of the inference cluster stand for one: counts and speeds are three times those."""
    for job in given(either=1.0, elastic=1.0, normalised=3, inference=24):
        for mode in job.modes:
            assert dict(mode.menu) == {3 * k: 3 * job.speed(k) for k in job.counts if 3 * k <= 24}


@pytest.mark.parametrize(
    ("options", "demand", "menu"),
    [
        ({}, 1, {1: 1, 2: 2}),
        ({}, 2, {2: 1, 4: 2}),
        ({"worker_gpus": 8}, 8, {8: 1, 16: 2}),
        ({"worker_gpus": 8}, 64, {count: count / 64 for count in range(64, 129, 8)}),
        ({"reach": "below"}, 8, {4: 0.5, 6: 0.75, 8: 1}),
        ({"reach": "below"}, 6, {4: 2 / 3, 6: 1}),
        ({"reach": "below"}, 1, {}),  # half of one worker is one
        ({"scaling": "imperfect"}, 1, {1: 1, 2: 1.8}),
        ({"scaling": "imperfect"}, 4, {4: 1, 6: 1.5, 8: 1.8}),
    ],
)
def test_menus(options: dict[str, Any], demand: int, menu: dict[int, float]) -> None:
    """Ranges, worker sizes and scaling give the counts and speeds that they say, the demand at speed 1."""
    assert dict(Kinds(**options).menu(demand, 256)) == pytest.approx(menu)


def test_no_count_exceeds_the_cluster() -> None:
    """A range ends where the cluster does, and what leaves one count is no range."""
    assert [count for count, _ in Kinds().menu(8, 13)] == [8, 10, 12]
    assert Kinds().menu(8, 9) == ()


def test_imperfect_scaling_leaves_out_what_is_no_faster() -> None:
    """Speeds rise along the menu, so a range of many workers ends before its speeds fall."""
    menu = Kinds(scaling="imperfect").menu(64, 256)

    assert all(low < high for (_, low), (_, high) in pairwise(menu))
    assert menu[0] == (64, 1.0)
    assert menu[-1][0] < 128


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"elastic": 1.5}, "elastic: 1.5: must be between 0 and 1"),
        ({"either": -0.1}, "either: -0.1: must be between 0 and 1"),
        ({"worker_gpus": 0}, "worker_gpus: 0: must be at least 1"),
        ({"reach": "beside"}, "reach: 'beside': must be above or below"),
        ({"scaling": "cubic"}, "scaling: 'cubic': must be linear or imperfect"),
    ],
)
def test_an_option_out_of_its_range_is_one_line(options: dict[str, Any], line: str) -> None:
    """Every option is refused by name, value and rule."""
    with pytest.raises(InvalidInput) as refused:
        Kinds(**options).check()
    assert str(refused.value) == line
