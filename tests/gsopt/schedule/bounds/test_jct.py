"""The bound that simulations show is the best that is affordable, and says what proves it."""

from typing import Any

import pytest

import gsopt
from gsopt.core.errors import Contradiction, InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule.bounds import MeanBound, known_bound, lower_bound, mean_jct, mean_jct_bound
from gsopt.schedule.bounds.far_apart import far_apart
from gsopt.schedule.bounds.jct import FEWEST_PRICED
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from heuristics.policies import srtf
from tests.gsopt.simulation.scenarios import bundle


def _scenario(jobs: int) -> Scenario:
    drawn = (
        Job(name=str(i), release_date=i, duration=1 + 10 * (i % 3), gpus=1 + 2 * (i % 2)) for i in range(jobs)
    )
    return Scenario(workload=bundle(drawn), cluster=Cluster.plain(6))


def _priced(jobs: int, **options: Any) -> PriceBound:
    return price_bound(_scenario(jobs), evaluations=1, **options)


def test_few_jobs_are_bounded_by_formulas() -> None:
    """With few jobs no prices are tried, with none there is no bound."""
    few = _scenario(FEWEST_PRICED - 1)
    formulas = mean_jct(lower_bound(few.workload, 6), few.workload)
    assert mean_jct_bound(few) == MeanBound(formulas, "formulas")
    assert mean_jct_bound(_scenario(0)) is None


def test_formulas_count_what_is_there_at_most() -> None:
    """GPUs that are away for a while count, and those that never come do not."""
    jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=1) for name in "abcd")
    for sizes, expected in (((4, 1), 1.0), ((0, 2), 1.5)):
        changes = [CapacityChange(time=time, gpus=gpus) for time, gpus in zip((0, 10), sizes, strict=True)]
        found = mean_jct_bound(Scenario(workload=jobs, cluster=Cluster.plain(4), capacity_changes=changes))
        assert found is not None
        assert found.mean_jct == pytest.approx(expected)


def test_the_better_proof_counts() -> None:
    """Prices are shown where they prove more, the same ones each time; more evaluations prove no less."""
    scenario = _scenario(40)
    formulas, usual, more = (mean_jct_bound(scenario, evaluations=number) for number in (0, None, 120))
    assert formulas is not None
    assert usual is not None
    assert more is not None
    assert (formulas.proof, usual.proof) == ("formulas", "prices")
    assert formulas.mean_jct < usual.mean_jct <= more.mean_jct
    assert mean_jct_bound(scenario) == usual


def test_a_simulation_takes_a_bound() -> None:
    """A number, a mean bound or a bound by prices is shown as it is, with what proves it."""
    scenario = _scenario(12)
    priced = price_bound(scenario, evaluations=5)
    in_rounds = price_bound(scenario, evaluations=5, round_length=1)
    given: list[tuple[Any, Any]] = [
        (3.0, (3.0, "given")),
        (priced, (priced.mean_jct, "prices")),
        (in_rounds, (in_rounds.mean_jct, "prices in rounds")),
        (MeanBound(2.0, "formulas"), (2.0, "formulas")),
        (False, (None, "")),
    ]
    for bound, shown in given:
        found = gsopt.simulate(scenario.workload, srtf, cluster=6, bound=bound, round_length=1).metrics
        assert (found.lower_bound, found.proof) == shown
    with pytest.raises(Contradiction):
        gsopt.simulate(scenario.workload, srtf, cluster=6, bound=1e9)


def test_bounds_take_more_or_less_effort() -> None:
    """Without price vectors, simulations and comparisons use formulas alone, and more of them prove more."""
    scenario = _scenario(40)
    for call in (
        lambda effort: gsopt.simulate(scenario, srtf, bound_evaluations=effort).metrics,
        lambda effort: gsopt.compare_policies(scenario, srtf, bound_evaluations=effort).rows[0],
    ):
        formulas, few, usual, many = map(call, (0, 5, None, 300))
        assert (formulas.proof, many.proof) == ("formulas", "prices")
        assert formulas.lower_bound <= few.lower_bound < usual.lower_bound < many.lower_bound


@pytest.mark.parametrize(
    "bound",
    [
        float("nan"),
        float("inf"),
        _priced(3),
        _priced(12, weights=[2.0] * 12),
        _priced(12, weights=[0.5, 1.5] * 6),
    ],
    ids=["nan", "inf", "others", "weighted", "weighted by 1 on average"],
)
def test_what_bounds_nothing_is_refused(bound: Any) -> None:
    """No number, a bound for other jobs, or one of a weighted sum is named in one line."""
    with pytest.raises(InvalidInput, match="bound"):
        known_bound(bound, _scenario(12))


def test_tables_and_judgements_say_what_proves_the_bound() -> None:
    """The word stands below the table of policies, and among the figures of a judgement."""
    scenario = _scenario(40)
    found = gsopt.compare_policies(scenario.workload, [srtf], cluster=6)
    assert "proven by prices" in " ".join(str(found).split())
    run = gsopt.simulate(scenario.workload, srtf, cluster=6, record=True)
    assert "to the bound proven by prices" in " ".join(str(gsopt.judge(run.schedule, scenario)).split())


@pytest.mark.parametrize("seconds", [-1e9, 1e9])
def test_a_job_far_away_adds_its_own_part(seconds: float) -> None:
    """Prices of 40 jobs prove the same where a job of 7 s comes thirty years before or after them."""
    near = _scenario(40)
    moved = [
        job.model_copy(update={"release_date": job.release_date + max(-seconds, 0)})
        for job in near.workload.jobs
    ]
    far = Job(name="far", release_date=max(seconds, 0), duration=7, gpus=1)
    first = mean_jct_bound(near)
    second = mean_jct_bound(Scenario(workload=bundle([*moved, far]), cluster=near.cluster))
    assert first is not None
    assert second is not None
    assert second.proof == first.proof == "prices"
    assert 41 * second.mean_jct == pytest.approx(40 * first.mean_jct + 7, rel=1e-14)


def test_jobs_that_are_not_far_apart_stay_together() -> None:
    """A break of a thousand times what came before divides the jobs, a shorter one does not; nor do many."""
    for dates, parts in (((0.0, 2_001.0, 1e8), [2, 1]), ((0.0, 2_003.0, 3_000.0), [1, 2])):
        jobs = bundle(Job(name=str(date), release_date=date, duration=2, gpus=1) for date in dates)
        assert [len(part) for part in far_apart(jobs)] == parts
    rare = bundle(Job(name=str(i), release_date=1e5 * i, duration=1, gpus=1) for i in range(300))
    assert len(far_apart(rare)) == 100
    assert [job for part in far_apart(rare) for job in part] == list(rare.jobs)
