"""The generators and examples of scheduling, instances from traces, and the suites."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.evaluation.catalogue import load
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.schedule.fairness import gps_finish_times
from gsopt.simulation import simulate
from heuristics.policies import efq
from heuristics.scheduling import two_phase
from instances.scheduling import elastic_jobs, figure_1, figure_4, table_3, table_4
from instances.scheduling.counts import restricted
from instances.scheduling.figures import Reading
from instances.scheduling.from_workload import from_workload
from instances.scheduling.real import from_data
from instances.scheduling.suites import medium, small, whole
from tests.effort import cases


def favoured(problem: Scheduling, first: str) -> float:
    """Return the mean completion time when one job has its most workers and the other one what is left."""
    jobs = {job.name: job for job in problem.jobs}
    other = next(name for name in jobs if name != first)
    most = {name: max(job.rates) for name, job in jobs.items()}
    left = min(problem.gpus - most[first], most[other])
    end = jobs[first].work / most[first]
    turn = min(end, jobs[other].work / left)
    runs = [Run(job=first, start=0, end=end, gpus=most[first]), Run(job=other, start=0, end=turn, gpus=left)]
    if jobs[other].work > turn * left:
        rest = (jobs[other].work - turn * left) / most[other]
        runs.append(Run(job=other, start=turn, end=turn + rest, gpus=most[other]))
    solution = SchedulingSolution(runs=runs)
    assert problem.violations(solution) == []
    return float(problem.objective(solution))


def test_table_3() -> None:
    """Favouring A gives a mean of 51.67 s, favouring B 41.67 s."""
    assert favoured(table_3(), "A") == pytest.approx(51.67, abs=0.005)
    assert favoured(table_3(), "B") == pytest.approx(41.67, abs=0.005)


def test_table_4() -> None:
    """Favouring A gives a mean of 62 s, favouring B 63.33 s."""
    assert favoured(table_4(), "A") == pytest.approx(62)
    assert favoured(table_4(), "B") == pytest.approx(63.33, abs=0.005)


def test_crawling_jobs_have_no_limit() -> None:
    """The two phases take 3.1, 4.1 and 5.2 times the proven optimum with 3, 4 and 5 jobs."""
    ratios = []
    for problem in whole()[2:]:
        about = load(problem.name).about
        assert about is not None
        assert about.proved_by
        ratios.append(float(two_phase(problem).objective or 0) / (about.objective or 1))
    assert ratios == pytest.approx([3.1, 4.1, 5.2], abs=0.05)


@settings(deadline=None, max_examples=cases(50, least=17))
@given(seed=st.integers(0, 1000), alpha=st.floats(0.1, 1))
def test_all_counts_that_stay_are_efficient(seed: int, alpha: float) -> None:
    """The demanded count stays, what stays is a beginning of the doublings, and the next one is inefficient."""
    problem = elastic_jobs(jobs=4, gpus=32, seed=seed)
    for job, left in zip(problem.jobs, restricted(problem, alpha).jobs, strict=True):
        counts = sorted(job.rates)
        efficiency = [job.rates[count] / count for count in counts]
        kept = len(left.rates)

        assert sorted(left.rates) == counts[:kept]
        assert left.demand == job.demand
        assert all(share >= alpha * (1 - 1e-6) for share in efficiency[:kept])
        assert kept == len(counts) or efficiency[kept] < alpha * (1 + 1e-6)


def test_the_first_failure_stops() -> None:
    """A count behind an inefficient one goes, however efficient it is, and so do counts below the demand."""
    job = ElasticJob(name="a", release=0, work=9, rates={1: 1.0, 2: 2.0, 4: 2.2, 8: 8.0}, gpus=2)

    assert restricted(Scheduling(gpus=8, jobs=[job]), 0.75).jobs[0].rates == {2: 2.0}


def test_nothing_of_the_old_problem_is_left() -> None:
    """The workload of the restricted problem has its counts, although the old one was derived before."""
    problem = elastic_jobs(jobs=3, gpus=32, seed=1)
    old = [job.counts for job in problem.workload.jobs]
    new = [job.counts for job in restricted(problem, 1.0).workload.jobs]

    assert new == [counts[:1] for counts in old]


@settings(deadline=None, max_examples=cases(50, least=17))
@given(seed=st.integers(0, 10_000), jobs=st.integers(1, 12), gpus=st.integers(1, 64))
def test_rates_are_concave_over_doublings(seed: int, jobs: int, gpus: int) -> None:
    """Counts are all doublings that fit; rates begin at the demand, rise, and rise ever slower."""
    for job in elastic_jobs(jobs=jobs, gpus=gpus, seed=seed).jobs:
        counts = sorted(job.rates)
        slopes = [(job.rates[high] - job.rates[low]) / (high - low) for low, high in pairwise(counts)]

        assert counts[0] in {1, 2, 4, 8}
        assert all(high == 2 * low for low, high in pairwise(counts))
        assert counts[-1] <= gpus < 2 * counts[-1]
        assert job.rates[counts[0]] == counts[0]
        assert all(slope >= 0 for slope in slopes)
        assert all(after <= before * 1.05 + 1e-9 for before, after in pairwise(slopes))  # but for rounding


def test_the_load_is_that_of_the_jobs_drawn() -> None:
    """Over the time of the arrivals, the jobs submit as much as the load says; double load, half gaps."""
    problem = elastic_jobs(jobs=4000, gpus=16, load=0.8, seed=1)
    busy = elastic_jobs(jobs=4000, gpus=16, load=1.6, seed=1)
    work = sum(job.work for job in problem.jobs)

    assert work / (problem.jobs[-1].release * 16) == pytest.approx(0.8, rel=0.05)
    assert busy.jobs[-1].release == pytest.approx(problem.jobs[-1].release / 2, rel=0.01)


def test_few_jobs_make_up_most_of_the_work() -> None:
    """The longest fifth of the jobs has more than half of the work."""
    work = sorted(job.work for job in elastic_jobs(jobs=1000, gpus=16, seed=2).jobs)

    assert sum(work[800:]) > sum(work) / 2


def test_options_change_what_they_say() -> None:
    """The jobs' demands and work are the same for every load, scaling, choice of counts and release dates."""
    kinds: list[dict[str, Any]] = [
        {},
        {"load": 0.5},
        {"scaling": "linear"},
        {"counts": "alpha"},
        {"at_once": True},
    ]
    made = [elastic_jobs(jobs=9, gpus=32, seed=7, **options) for options in kinds]
    plain, _, linear, alpha, at_once = made

    assert len({tuple((job.work, job.demand) for job in problem.jobs) for problem in made}) == 1
    assert all(rate == count for job in linear.jobs for count, rate in job.rates.items())
    assert alpha.jobs == restricted(plain, 0.75).jobs != plain.jobs
    assert {job.release for job in at_once.jobs} == {0}


def fair(problem: Scheduling) -> list[float]:
    """Return the completion times under fair sharing."""
    return [round(time, 9) for time in gps_finish_times(problem.workload, problem.gpus)]


def queued(problem: Scheduling) -> list[float]:
    """Return the completion times under elastic fair queuing."""
    return [round(time, 9) for time in simulate(problem.workload, efq, cluster=problem.gpus).completion_times]


@pytest.mark.parametrize(
    ("reading", "shared", "first"),
    [("rounded", [4.5, 7.5, 7.8], [1.5, 4.5, 7.8]), ("truncated", [6, 6, 8], [2, 4, 8])],
)
def test_figure_1(reading: Reading, shared: list[float], first: list[float]) -> None:
    """Both readings give the printed means: 6.6 under fair sharing, 4.6 with the shortest job first."""
    problem = figure_1(reading=reading)

    assert fair(problem) == shared
    assert queued(problem) == first
    assert int(10 * sum(shared) / 3 + 1e-9) == 66
    assert int(10 * sum(first) / 3 + 1e-9) == 46


@pytest.mark.parametrize("work", [24.0, 19.0, 60.0])
def test_figure_4(work: float) -> None:
    """Whatever the size of job 2: jobs 1 and 3 complete at 3 and 5.5, and none is later than its fair share."""
    problem = figure_4(work=work)

    assert queued(problem) == [3, round((24 + work) / 6, 9), 5.5]
    assert fair(problem) == [5, round((24 + work) / 6, 9), 7]


def test_figure_4_as_drawn() -> None:
    """The schedule of the figure is one of the problem, and leaves no GPU idle."""
    runs = [
        ("job 1", 0, 3, 4),
        ("job 2", 0, 2, 2),
        ("job 3", 2, 3, 2),
        ("job 3", 3, 5.5, 4),
        ("job 2", 3, 5.5, 2),
        ("job 2", 5.5, 8, 6),
    ]
    solution = SchedulingSolution(
        runs=[Run(job=job, start=start, end=end, gpus=gpus) for job, start, end, gpus in runs]
    )
    problem = figure_4()

    assert problem.violations(solution) == []
    assert problem.objective(solution) == pytest.approx((3 + 8 + 3.5) / 3)


MENU = [(1, 0.3), (2, 0.6), (3, 1.0), (6, 1.8), (8, 2.0), (12, 2.2), (24, 3.0)]
ELASTIC = Job(name="a", release_date=5, duration=60, gpus=3, menu=MENU)
RIGID = Job(name="b", release_date=0, duration=30, gpus=4)
WORKLOAD = Workload(name="two", source="made up", jobs=[ELASTIC, RIGID])


def test_jobs_keep_what_they_are() -> None:
    """Names, release dates, durations and speeds of the problem's workload are those of the workload given."""
    problem = from_workload(WORKLOAD, gpus=16)
    rigid, elastic = problem.workload.jobs

    assert (problem.name, problem.about and problem.about.source) == ("two", "made up")
    assert [(job.name, job.release_date, job.duration) for job in (rigid, elastic)] == [
        ("b", 0, 30),
        ("a", 5, 60),
    ]
    assert rigid.counts == (4,)
    assert elastic.menu == ((3, 1.0), (6, pytest.approx(1.8)), (12, pytest.approx(2.2)))
    assert problem.jobs[1].work == 180


@pytest.mark.parametrize(("alpha", "counts"), [(0.75, [3, 6]), (0.5, [3, 6, 12]), (1.0, [3])])
def test_the_threshold_restricts_counts(alpha: float, counts: list[int]) -> None:
    """Efficiencies are 0.9 on 6 GPUs and 0.55 on 12."""
    problem = from_workload(WORKLOAD, gpus=16, counts="alpha", alpha=alpha)

    assert sorted(problem.jobs[1].rates) == counts


def test_arguments_are_checked() -> None:
    """A job that does not fit, no jobs, and unknown counts are refused in one line."""
    with pytest.raises(InvalidInput, match="gpus: 3: must be at least 4, the largest demand"):
        from_workload(WORKLOAD, gpus=3)
    with pytest.raises(InvalidInput, match=r"workload: .*: must hold at least one job"):
        from_workload(Workload(jobs=[]), gpus=3)
    special_fields: tuple[dict[str, Any], ...] = (
        {"modes": [Mode(name="m", menu=[(1, 0.5)])]},
        {"phases": [Phase(until=1)]},
    )
    for fields in special_fields:
        special = Job(name="s", release_date=0, duration=1, gpus=1, **fields)
        with pytest.raises(InvalidInput, match="workload: 's': must be a job without modes and phases"):
            from_workload(Workload(jobs=[special]), gpus=3)
    with pytest.raises(InvalidInput, match="counts: 'some': must be one of alpha, all"):
        from_workload(WORKLOAD, gpus=4, counts="some")  # type: ignore[arg-type]


def test_a_job_without_checkpoints_is_refused() -> None:
    """The problem lets jobs that stop keep what they have done."""
    job = Job(name="s", release_date=0, duration=1, gpus=1, checkpoints=False)
    with pytest.raises(InvalidInput, match="workload: 's': must be a job with checkpoints"):
        from_workload(Workload(jobs=[job]), gpus=3)


def test_windows_of_the_workloads(traces: Path) -> None:
    """Four small instances with names of their own, whose jobs overlap and can grow."""
    problems = list(from_data(traces))

    assert [problem.name.removeprefix("scheduling/real/") for problem in problems] == [
        "philly-149",
        "saturn-121",
        "newtrace-053",
        "newtrace-051",
    ]
    assert [(len(problem.jobs), problem.gpus) for problem in problems] == [(6, 16), (7, 16), (6, 16), (8, 32)]
    for problem in problems:
        last = problem.jobs[-1].release
        assert problem.jobs[0].release == 0
        assert sum(job.work for job in problem.jobs) > last * problem.gpus
        assert sum(len(job.rates) > 1 for job in problem.jobs) >= 2


def test_the_suites_are_as_large_as_they_say() -> None:
    """At least 60 small instances of at most 7 jobs, and 12 of 10 to 20 jobs."""
    assert len(small()) >= 60
    assert all(len(problem.jobs) <= 7 and problem.gpus <= 8 for problem in small())
    assert len(medium()) == 12


def test_the_suites_are_varied() -> None:
    """There are all cluster sizes, fairness, equal release dates, and counts that are no powers of two."""
    problems = small()

    assert {problem.gpus for problem in problems} == {2, 4, 6, 8}
    assert sum(problem.fairness is not None for problem in problems) == 4
    assert sum(len({job.release for job in problem.jobs}) == 1 for problem in problems) > 16
    assert {1, 2, 4, 6} in [set(job.rates) for problem in problems for job in problem.jobs]
