"""Marginal efficiency over remaining area: by hand, on rigid jobs, and what its options do."""

from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import marginal, srsf
from tests.gsopt.simulation.parts.test_greedy import calm, large
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, tree_scenarios

#: On two GPUs half as fast again.
_MENU = ((1, 1.0), (2, 1.5))


def _job(name: str, release: float, duration: float) -> Job:
    return Job(name=name, release_date=release, duration=duration, gpus=1, menu=_MENU)


@pytest.mark.parametrize(
    ("exponent", "completions"),
    [
        (1, (Fraction(4, 3), Fraction(16, 3))),  # 2 s / (1/2) are less than 6 s: one after the other
        (4, (2, Fraction(14, 3))),  # 2 s / (1/2)^4 are more: side by side
    ],
)
def test_by_hand(exponent: int, completions: tuple[Fraction, ...]) -> None:
    """A short job takes the GPU on which it gains half, or leaves it to the next one that gains all."""
    jobs = bundle([_job("a", 0, 2), _job("b", 0, 6)])
    run = simulate(jobs, marginal, cluster=2, exponent=exponent, exact=True)
    assert run.completion_times == completions


def test_hysteresis_keeps_what_runs() -> None:
    """A job of 3 s stops one that has 4 s to go; not where that counts as 2 s."""
    jobs = bundle(
        Job(name=name, release_date=date, duration=duration, gpus=1)
        for name, date, duration in [("a", 0, 5), ("b", 1, 3)]
    )
    runs = [simulate(jobs, marginal, cluster=1, hysteresis=factor) for factor in (1, 2)]
    assert [run.completion_times for run in runs] == [(8, 4), (5, 8)]
    assert [run.metrics.preemptions for run in runs] == [1, 0]


@pytest.mark.parametrize(("charge", "completions"), [(1, (4, 7)), (2.5, (4, 8)), (0.9, (4, 7))])
def test_a_job_grows_only_where_that_saves_time(charge: float, completions: tuple[float, ...]) -> None:
    """At 4 s the other job has 4 s to go: two GPUs save 4/3 s, of which the resize takes 1/3 s."""
    jobs = bundle([_job("a", 0, 4), _job("b", 0, 8)])
    run = simulate(jobs, marginal, cluster=2, overheads=Overhead(resize=1 / 3), charge=charge)
    assert run.completion_times == pytest.approx(completions)


@settings(calm, max_examples=40)
@given(scenario=plain_scenarios())
def test_rigid_jobs_on_a_plain_cluster(scenario: Scenario) -> None:
    """Rigid jobs run as under shortest remaining service first, with overheads and changes of capacity."""
    runs = [replay(scenario, policy, record=True, exact=True) for policy in (marginal, srsf)]
    assert runs[0].schedule == runs[1].schedule


@settings(calm, max_examples=40)
@given(scenario=tree_scenarios())
def test_rigid_jobs_in_racks(scenario: Scenario) -> None:
    """So they do in racks."""
    runs = [replay(scenario, policy, record=True) for policy in (marginal, srsf)]
    assert runs[0].schedule == runs[1].schedule


@pytest.mark.parametrize("seed", range(3))
def test_rigid_jobs_in_a_crowd(seed: int) -> None:
    """So they do in a crowd, also in rounds."""
    scenario = large(seed)
    rigid = bundle(job.model_copy(update={"menu": ()}) for job in scenario.workload.jobs)
    crowd = scenario.model_copy(update={"workload": rigid})
    for length in (None, 1.75):
        runs = [replay(crowd, policy, record=True, round_length=length) for policy in (marginal, srsf)]
        assert runs[0].schedule == runs[1].schedule


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    jobs = bundle(_job(str(date), date, 3 + 5 * date % 7) for date in range(8))
    drop = (CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=4))
    steady = Scenario(workload=jobs, cluster=Cluster.plain(4), overheads={"": Overhead(stop=0.5, resize=0.25)})
    unsteady = steady.model_copy(update={"capacity_changes": drop})
    assert check_policy(marginal, [steady, unsteady]) == 4
    dear = partial(marginal, exponent=2.5, hysteresis=4, charge=0.5)
    assert check_policy(dear, [steady, unsteady], round_length=2.0) == 4


@pytest.mark.parametrize(("date", "scale"), [(1.7e9, 1.0), (0.0, 1e9), (0.0, 1e-6)])
def test_magnitudes(date: float, scale: float) -> None:
    """The same jobs at another date or on another scale complete at the same times, shifted and scaled."""
    sizes = [(0.0, 4.0), (0.5, 2.0), (1.0, 1.0), (1.0, 8.0)]

    def run(date: float, scale: float) -> list[float]:
        jobs = bundle(_job(str(i), date + scale * r, scale * d) for i, (r, d) in enumerate(sizes))
        return [(time - date) / scale for time in simulate(jobs, marginal, cluster=2).completion_times]

    assert run(date, scale) == pytest.approx(run(0.0, 1.0), rel=1e-6)


@pytest.mark.parametrize("charge", [-1, float("nan"), float("inf"), "1", None])
def test_bad_charge(charge: Any) -> None:
    """A charge that is no number of seconds is refused."""
    with pytest.raises(InvalidInput, match=r"^charge: .* must be a finite number of seconds, at least 0$"):
        simulate(bundle([_job("a", 0, 1)]), marginal, cluster=1, charge=charge)
