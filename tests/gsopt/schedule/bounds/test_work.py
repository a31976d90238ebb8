"""What jobs need, exactly, and in whole steps that round nothing up."""

from fractions import Fraction
from random import Random

import pytest

from gsopt.core.numbers.grid import decimal
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import MeanBound, lower_bound, mean_jct_bound, position_bound, total_jct
from gsopt.schedule.bounds.work import Steps, area, height
from tests.gsopt.simulation.scenarios import bundle


def test_needs_are_those_of_the_decimals() -> None:
    """Of ways that doubles cannot tell apart the one that needs less counts, by the decimals as written."""
    job = Job(name="a", release_date=0, duration=0.3, gpus=3, menu=[(1, 1 / 3), (3, 1.0)])
    mode = Mode(name="m", menu=[(2, 0.6666666666666667)])
    both = job.model_copy(update={"modes": (mode,)})

    assert (height(job), area(job)) == (Fraction(3, 10), Fraction(9, 10))
    assert area(both) == 2 * Fraction(3, 10) / decimal(0.6666666666666667) < Fraction(9, 10)


@pytest.mark.parametrize("clock", [0.0, 1.7e9, 1.7e9 + 0.1])
def test_steps_divide_all_times_or_round_them_down(clock: float) -> None:
    """Few times are whole steps; where speeds leave too many digits, none is rounded up, nor by much."""
    random = Random(2)
    few = bundle(
        Job(name=str(i), release_date=clock + i / 4, duration=10.0 ** (3 * i - 9), gpus=3) for i in range(5)
    )
    many = bundle(
        Job(
            name=str(i),
            release_date=clock + round(random.uniform(0, 1e6), 3),
            duration=10 ** random.uniform(-9, 9),
            gpus=1,
            menu=[(1, 1.0), (2, random.uniform(1, 2))],
        )
        for i in range(40)
    )
    for jobs, error in ((few, Fraction(0)), (many, Fraction(1, 2**50))):
        steps = Steps.of(jobs, 7)
        for number, job in enumerate(jobs.jobs):
            needed = Fraction(height(job)), Fraction(area(job)) / 7
            for exact, counted in zip(needed, (steps.height[number], steps.size[number]), strict=True):
                assert exact * (1 - error) <= counted * steps.seconds <= exact
            arrival = decimal(job.release_date) - decimal(jobs.jobs[0].release_date)
            assert arrival - error * min(needed) <= steps.release[number] * steps.seconds <= arrival
    assert Steps.of(few, 7).seconds.denominator % 7 == 0


def test_a_sum_of_many_floats_loses_nothing() -> None:
    """120 jobs of 0.3 s on one GPU take 18.15 s on average, as their bound says exactly, on any clock."""
    for clock in (0.0, 0.1, 1.7e9):
        jobs = bundle(Job(name=str(i), release_date=clock, duration=0.3, gpus=1) for i in range(120))
        assert total_jct(lower_bound(jobs, 1), jobs) == 120 * Fraction("18.15")
        assert total_jct(position_bound(jobs, 1), jobs) == 120 * Fraction("18.15")
        found = mean_jct_bound(Scenario(workload=jobs, cluster=Cluster.plain(1)), evaluations=0)
        assert found == MeanBound(18.15, "formulas")
