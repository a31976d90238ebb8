"""Doublings of the demanded count."""

import pytest

from gsopt.scenario.job import Job
from instances.doublings import doublings

MENU = [(1, 0.3), (3, 0.7), (4, 0.8), (6, 1.0), (9, 1.3), (12, 1.6), (24, 2.5)]
ELASTIC = Job(name="a", release_date=0, duration=60, gpus=6, menu=MENU)


@pytest.mark.parametrize(("gpus", "counts"), [(64, (6, 12, 24)), (23, (6, 12)), (6, (6,)), (5, (6,))])
def test_only_doublings_that_fit_and_are_in_the_menu_stay(gpus: int, counts: tuple[int, ...]) -> None:
    """Counts below the demand, other multiples and those that do not fit go; the demand always stays."""
    job = doublings(ELASTIC, gpus)

    assert job.counts == counts
    assert all(job.speed(count) == ELASTIC.speed(count) for count in counts)


def test_a_rigid_job_stays_as_it_is() -> None:
    """A job without a menu has nothing to leave out."""
    rigid = ELASTIC.model_copy(update={"menu": ()})

    assert doublings(rigid, 64) == rigid
