"""The data of a problem as the exact methods read them."""

from fractions import Fraction
from math import inf

import pytest

from formulations.scheduling.instance import Instance, SpeedMode
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.strategies.scheduling import tiny


def test_jobs_are_numbered_by_release_date() -> None:
    """Jobs are sorted by release date, and keep their order where it is the same."""
    releases = {"a": 3, "b": 0, "c": 0}
    jobs = [ElasticJob(name=name, release=date, work=1, rates={1: 1.0}) for name, date in releases.items()]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))

    assert instance.names == ("b", "c", "a")
    assert instance.arrivals == (0.0, 3.0)


def test_modes_that_help_nobody_are_left_out() -> None:
    """A mode that is no faster than one on fewer GPUs, or does not fit the cluster, is left out."""
    job = ElasticJob(name="a", release=0, work=6, rates={1: 1.0, 2: 1.0, 3: 0.5, 4: 3.0, 8: 9.0})
    instance = Instance.of(Scheduling(gpus=4, jobs=[job]))

    assert instance.modes == ((SpeedMode(1, 1.0), SpeedMode(4, 3.0)),)
    assert (instance.height(0), instance.area(0), instance.least_gpus) == (2.0, 6.0, 1)


def test_deadlines_are_the_fair_completion_and_the_fairness() -> None:
    """Without fairness nothing is due; with it every job is due that long after its fluid fair share."""
    jobs = [ElasticJob(name=name, release=0, work=work, rates={1: 1.0}) for name, work in [("a", 1), ("b", 3)]]

    assert Instance.of(Scheduling(gpus=1, jobs=jobs)).deadline == (inf, inf)
    assert Instance.of(Scheduling(gpus=1, jobs=jobs, fairness=0.5)).deadline == pytest.approx((2.5, 4.5))


@pytest.mark.parametrize("seed", range(20))
def test_no_deadline_is_rounded_down(seed: int) -> None:
    """Deadlines in floats are at least those in fractions, and hardly later."""
    problem = tiny(seed, jobs=(3, 4), fair=True)
    assert problem.deadlines is not None

    for due, exact in zip(Instance.of(problem).deadline, problem.deadlines, strict=True):
        assert exact <= Fraction(due) <= exact * (1 + Fraction(1, 10**14))


def test_the_mean_job_completion_time_is_from_the_release() -> None:
    """Completions at 4 and 8 of jobs released at 0 and 2 make a mean of 5."""
    jobs = [ElasticJob(name=str(release), release=release, work=1, rates={1: 1.0}) for release in (0, 2)]
    instance = Instance.of(Scheduling(gpus=2, jobs=jobs))

    assert instance.mean_jct([4, 8]) == instance.mean_jct(12) == 5
