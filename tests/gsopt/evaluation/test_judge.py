"""Judging anybody's schedule: the judge's verdict, and beside it a bound that nothing legal goes below."""

import random
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import gsopt
from gsopt.core.errors import Contradiction, InvalidInput
from gsopt.evaluation import judge as judging
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.bounds import MeanBound, mean_jct_bound
from gsopt.schedule.judge import judge as judge_segments
from heuristics.policies import srtf
from tests.effort import cases
from tests.strategies.scheduling import tiny
from tests.unwrap import unwrap

#: A job of 2 s.
ONE = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])


def drawn(seed: int, clock: float = 0) -> Scenario:
    """Draw rigid jobs on a few GPUs."""
    draw = random.Random(seed)
    jobs = [
        Job(
            name=str(number),
            release_date=clock + draw.randrange(20),
            duration=draw.choice([0.1, 0.7, 3, 5]),
            gpus=draw.randint(1, 4),
        )
        for number in range(draw.randint(1, 7))
    ]
    return Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(4))


@pytest.mark.parametrize("clock", [0, 1.7e9])
def test_policies_are_judged_as_they_are_simulated(clock: float) -> None:
    """From rows, data frame, file and schedule alike come the simulator's figures, bound and gap."""
    for seed in range(cases(30)):
        scenario = drawn(seed, clock)
        run = gsopt.simulate(scenario.workload, srtf, cluster=scenario.cluster, record=True)
        bound, recorded = unwrap(mean_jct_bound(scenario)), unwrap(run.schedule)
        rows = [segment._asdict() for segment in recorded.segments]
        for schedule in (recorded, rows, pd.DataFrame(rows)):
            found = gsopt.judge(schedule, scenario)
            assert found.legal, found.violations
            assert found.mean_jct == pytest.approx(run.metrics.mean_jct)
            assert found.bound == pytest.approx(run.metrics.lower_bound)
            assert found.bound == pytest.approx(min(bound.mean_jct, found.mean_jct))
            assert found.gap == pytest.approx(run.metrics.gap)


def test_the_verdict_is_that_of_the_judge() -> None:
    """Every field of the verdict but the bound is taken over, exact ones too."""
    scenario = drawn(3)
    schedule = unwrap(gsopt.simulate(scenario.workload, srtf, cluster=4, record=True, exact=True).schedule)
    verdict, found = judge_segments(schedule, scenario, exact=True), gsopt.judge(schedule, scenario, exact=True)
    for name in vars(verdict).keys() - {"bound", "proof"}:
        assert getattr(found, name) == getattr(verdict, name)
    assert isinstance(found.mean_jct, Fraction)


def test_a_broken_schedule_has_neither_bound_nor_gap() -> None:
    """Where a rule is broken or a job is missing, a distance to the bound says nothing."""
    workload = Workload(jobs=[Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"])
    both = Schedule((Segment("a", 0, 2, 1), Segment("b", 0, 2, 1)))
    one = Schedule((Segment("a", 0, 2, 1),))
    assert gsopt.judge(both, workload, cluster=2).gap == 0
    crowded = gsopt.judge(both, workload, cluster=1)
    assert (crowded.legal, crowded.bound, crowded.gap) == (False, None, None)
    missing = gsopt.judge(one, workload, cluster=2, complete=False)
    assert (missing.legal, missing.mean_jct, missing.bound, missing.gap) == (True, 2, None, None)
    assert gsopt.judge(Schedule(()), Workload(jobs=[]), cluster=2).bound is None


def test_scheduling_problems_and_their_fairness() -> None:
    """A problem judges as its scenario does, and refuses what its fairness forbids."""
    for seed in range(cases(20)):
        problem = tiny(seed)
        solution = unwrap(gsopt.solve(problem, "fifo").solution)
        found = gsopt.judge(solution, problem)
        assert found.legal
        assert found.mean_jct == pytest.approx(problem.objective(solution))
        optimum = unwrap(gsopt.solve(problem, "exact").objective)
        assert unwrap(found.bound) <= float(optimum) * (1 + 1e-9)
    jobs = [
        ElasticJob(name=n, release=r, work=w, rates={1: 1.0}) for n, r, w in [("long", 0, 3), ("short", 1, 1)]
    ]
    unfair = Schedule((Segment("long", 0, 3, 1), Segment("short", 3, 4, 1)))
    problem = Scheduling(gpus=1, jobs=jobs)
    assert gsopt.judge(unfair, problem).legal
    found = gsopt.judge(unfair, problem.model_copy(update={"fairness": 0.5}))
    assert found.violations == (
        "job 'short' completes at 4, more than the fairness of 0.5 s after its fair share would at 3",
    )
    assert found.bound is None


def test_promises_are_held() -> None:
    """A schedule that interrupts a job is refused where that was promised not to happen."""
    rows = [{"job": "a", "start": start, "end": start + 1, "gpus": 1} for start in (0, 5)]
    assert gsopt.judge(rows, ONE, cluster=1).legal
    violations = gsopt.judge(rows, ONE, cluster=1, preemptive=False).violations
    assert violations == ("job 'a' is preempted at 1.0",)
    problem = Scheduling(gpus=1, jobs=[ElasticJob(name="a", release=0, work=2, rates={1: 1.0})])
    assert gsopt.judge(rows, problem).legal
    found = gsopt.judge(rows, problem.model_copy(update={"preemptive": False}))
    assert found.violations == ("job 'a' is preempted at 1.0",)


def test_a_schedule_below_the_bound_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound above a legal schedule raises; one above it by what the judge excuses becomes its value."""
    workload = Workload(jobs=[Job(name="a", release_date=1.7e9, duration=2, gpus=1)])
    schedule = Schedule((Segment("a", 1.7e9, 1.7e9 + 2, 1),))
    monkeypatch.setattr(judging, "mean_jct_bound", lambda _: MeanBound(2 + 1e-7, "formulas"))
    assert gsopt.judge(schedule, workload, cluster=1).bound == 2
    monkeypatch.setattr(judging, "mean_jct_bound", lambda _: MeanBound(2.01, "formulas"))
    with pytest.raises(Contradiction, match=r"2.0, better than the bound 2.01"):
        gsopt.judge(schedule, workload, cluster=1)


def test_it_prints_what_it_found() -> None:
    """Figures are shown, then of many violations the first ten, and the verdict; types are plain in data."""
    workload = Workload(jobs=[Job(name=str(i), release_date=0, duration=2, gpus=1) for i in range(12)])
    text = str(gsopt.judge([], workload, cluster=1))
    assert text.count("violation: job") == 10
    assert "and 2 more violations" in text
    assert text.splitlines()[-1] == "not legal, 0 of 12 jobs complete, 12 violations"
    fine = gsopt.judge(
        [{"job": "0", "start": 1, "end": 3, "gpus": 1}],
        workload.model_copy(update={"jobs": workload.jobs[:1]}),
        cluster=1,
    )
    assert str(fine).splitlines()[-1].startswith("legal, 1 of 1 jobs complete, gap 50.0 % to the bound")
    figures = fine.as_dict()
    assert (figures["mean_jct"], figures["lower_bound"], figures["violations"]) == (3.0, 2.0, [])


@pytest.mark.parametrize(
    ("given", "cluster", "message"),
    [
        (Workload(jobs=[]), None, "cluster: is required"),
        (drawn(1), 4, "cluster: 4: belongs to a workload"),
        (gsopt.load("reclaiming/aryl-figure-5"), None, "given: a Reclaiming: must be a scenario, .*;"),
        ("jobs.csv", None, "given: a str: must be a scenario, a scheduling problem, or a workload"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(given: object, cluster: int | None, message: str) -> None:
    """What has no jobs over time, or no cluster, or two, gives one line."""
    with pytest.raises(InvalidInput, match=message):
        gsopt.judge(Schedule(()), given, cluster=cluster)  # type: ignore[arg-type]


def test_a_path_is_read(tmp_path: Path) -> None:
    """A file is judged by its path."""
    path = tmp_path / "runs.csv"
    path.write_text("job_id,start,end,gpus\na,0,2,1.0\n")
    assert gsopt.judge(path, ONE, cluster=1, columns={"job_id": "job"}).gap == 0
