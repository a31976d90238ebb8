"""Replayed policies: what the judge finds of them is what the simulator books."""

import inspect
from collections.abc import Callable
from inspect import signature
from typing import Any

import pytest

import gsopt
import heuristics.scheduling
from gsopt.core.errors import InvalidInput
from gsopt.core.result import Level, Result, Status, StoppedBy
from gsopt.evaluation import catalogue
from gsopt.problems.scheduling import ElasticJob, Scheduling, SchedulingSolution
from gsopt.simulation import Policy, replay
from heuristics.scheduling import efq, elastic_las, elastic_srtf, equal_share, fifo, las, srtf
from tests.effort import cases
from tests.strategies.scheduling import figure_4, tiny

Method = Callable[..., Result[SchedulingSolution]]

POLICIES: dict[Method, Policy] = {
    catalogue.heuristics("scheduling")[name]: policy for name, policy in catalogue.policies().items()
}

every_method = pytest.mark.parametrize("method", POLICIES, ids=lambda method: method.__name__)


def job_ends(result: Result[SchedulingSolution]) -> dict[str, float]:
    """Return the end of every job's last run."""
    assert result.solution is not None
    return {run.job: float(run.end) for run in sorted(result.solution.runs, key=lambda run: run.end)}


def committed(name: str) -> Scheduling:
    """Read an instance of the suite."""
    problem = gsopt.load(f"scheduling/small/{name}")
    assert isinstance(problem, Scheduling)
    return problem


@every_method
def test_the_judge_finds_what_the_simulator_books(method: Method) -> None:
    """On random instances the schedule is legal, and mean, makespan, fairness and preemptions agree."""
    for seed in range(cases(60)):
        problem = tiny(seed)
        result = method(problem)
        booked = replay(problem.own_clock, POLICIES[method]).metrics
        assert result.solution is not None
        assert problem.violations(result.solution) == [], problem.name
        figures = problem.measures(result.solution)
        assert result.objective == pytest.approx(booked.mean_jct, rel=1e-9), problem.name
        for key, value in booked.as_dict().items():
            same = value if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)
            assert key not in figures or figures[key] == same, key
        assert {"makespan", "p99_jct", "worst_fairness", "unfair_fraction", "resizes"} <= figures.keys()


@every_method
def test_a_replay_is_a_checked_result_without_a_bound(method: Method) -> None:
    """A policy finds a schedule that the judge has scored, and proves nothing."""
    result = method(figure_4())

    assert (result.method, result.status, result.level) == (method.__name__, Status.FEASIBLE, Level.CHECKED)
    assert (result.bound, result.stopped_by) == (None, StoppedBy.FINISHED)
    assert method(figure_4()).solution == result.solution


@every_method
def test_every_replay_is_found_by_its_name(method: Method) -> None:
    """Solving with a policy's name is calling its replay."""
    assert gsopt.solve(figure_4(), method=method.__name__).objective == method(figure_4()).objective


@pytest.mark.parametrize(
    ("method", "name", "ends"),
    [
        (efq, "ares-figure-1", (1.5, 4.5, 7.8)),  # one after the other on all GPUs
        (efq, "ares-figure-1-truncated", (2, 4, 8)),  # with sizes 2, 2 and 4
        (equal_share, "ares-figure-1", (3, 7.5, 7.8)),  # 2, 1 and 1 GPUs, then 2 and 2, then 4
    ],
)
def test_figure_1(method: Method, name: str, ends: tuple[float, ...]) -> None:
    """The jobs of Figure 1 complete after so many hours."""
    result = method(committed(name))

    assert job_ends(result) == pytest.approx(dict(zip(("job 1", "job 2", "job 3"), ends, strict=True)))
    assert result.objective == pytest.approx(sum(ends) / 3)


def test_elastic_fair_queuing_on_figure_4() -> None:
    """The schedule is the one printed: job 2 gives way at 2 s, runs beside job 3, and ends on all GPUs."""
    result = efq(figure_4())

    assert result.solution is not None
    assert {(run.job, run.start, run.end, run.gpus) for run in result.solution.runs} == {
        ("1", 0, 3, 4),
        ("2", 0, 2, 2),
        ("2", 3, 5.5, 2),
        ("2", 5.5, 8, 6),
        ("3", 2, 3, 2),
        ("3", 3, 5.5, 4),
    }
    assert result.objective == pytest.approx((3 + 8 + 3.5) / 3)


def test_rigid_policies_keep_to_the_demanded_gpus() -> None:
    """With one GPU demanded by each, the jobs of Figure 4 complete at 12, 24 and 14 s."""
    for method in (fifo, srtf, las):
        assert job_ends(method(figure_4())) == pytest.approx({"1": 12, "2": 24, "3": 14})


@every_method
def test_a_schedule_that_is_unfair_is_no_solution(method: Method) -> None:
    """With a constant just below the largest delay there is no solution, and the late job is named."""
    unfair = 0
    for seed in range(cases(20)):
        problem = tiny(seed)
        free = method(problem)
        assert free.solution is not None
        delay = float(problem.measures(free.solution)["largest delay behind GPS (s)"])
        generous = problem.model_copy(update={"fairness": max(delay, 0) + 1e-6})
        assert method(generous).objective == free.objective
        if delay < 1e-3:
            continue
        result = method(problem.model_copy(update={"fairness": delay * 0.99}))
        assert (result.status, result.solution) == (Status.UNKNOWN, None)
        named = [job.name for job in problem.jobs if f"job {job.name!r} completes at" in result.message]
        assert len(named) == 1
        assert "more than the fairness" in result.message
        unfair += 1
    assert unfair >= cases(5)


def test_the_late_job_is_named() -> None:
    """First in, first out makes the short job wait until 4 s; its fair share would end at 3 s."""
    jobs = [
        ElasticJob(name=name, release=release, work=work, rates={1: 1.0})
        for name, release, work in [("long", 0, 3), ("short", 1, 1)]
    ]
    problem = Scheduling(gpus=1, jobs=jobs, fairness=0.5)

    assert fifo(problem).message == (
        "job 'short' completes at 4, more than the fairness of 0.5 s after its fair share would at 3"
    )
    assert srtf(problem).objective == pytest.approx((4 + 1) / 2)


@pytest.mark.parametrize("method", [efq, elastic_srtf, elastic_las], ids=lambda method: method.__name__)
def test_alpha_decides_how_far_a_job_grows(method: Method) -> None:
    """A job twice as fast on four GPUs as on one grows to four at a threshold of 1/2, and not at 3/4."""
    job = ElasticJob(name="a", release=0, work=12, rates={1: 1.0, 2: 1.6, 4: 2.0})
    problem = Scheduling(gpus=4, jobs=[job])

    assert method(problem, alpha=0.5).objective == pytest.approx(6)
    assert method(problem).objective == pytest.approx(12 / 1.6)
    assert method(problem, alpha=1.0).objective == pytest.approx(12)


def test_skipping_lets_a_small_job_pass() -> None:
    """Behind a job that does not fit, another starts at once only if it may pass, and ends 2 s earlier."""
    jobs = [
        ElasticJob(name="half", release=0, work=2, rates={2: 1.0}),
        ElasticJob(name="whole", release=0, work=1.5, rates={3: 1.0}),
        ElasticJob(name="small", release=0, work=9, rates={1: 1.0}),
    ]
    problem = Scheduling(gpus=3, jobs=jobs)

    assert job_ends(efq(problem)) == {"half": 2, "whole": 3.5, "small": 10.5}
    assert job_ends(efq(problem, skip=False)) == {"half": 2, "whole": 3.5, "small": 12.5}


def test_a_quantum_lets_jobs_take_turns() -> None:
    """Two jobs of 2 s on one GPU run one after the other, and in turns of half a second with a quantum."""
    jobs = [ElasticJob(name=name, release=0, work=2, rates={1: 1.0}) for name in "ab"]
    problem = Scheduling(gpus=1, jobs=jobs)

    assert job_ends(las(problem)) == {"a": 2, "b": 4}
    assert job_ends(las(problem, quantum=0.5)) == {"a": 3.5, "b": 4}


@pytest.mark.parametrize(
    ("method", "options"), [(efq, {"alpha": 0}), (efq, {"alpha": 1.5}), (las, {"quantum": -1.0})]
)
def test_bad_options_are_refused(method: Method, options: dict[str, Any]) -> None:
    """An option out of its range is named in one line."""
    with pytest.raises(InvalidInput, match=next(iter(options))):
        method(figure_4(), **options)


def test_every_policy_is_a_method() -> None:
    """The decision offers every policy, each by its name and with its options, beside what is none."""
    found = heuristics.scheduling
    assert set(found.__all__) == {*catalogue.policies(), "two_phase"}
    for name, policy in catalogue.policies().items():
        method = getattr(found, name)
        summary, _, rest = str(inspect.getdoc(policy)).partition("\n\n")
        assert (method.__name__, str(method.__doc__).startswith(summary)) == (name, True)
        assert str(method.__doc__).endswith(rest)
        options = list(signature(policy).parameters)[1:]
        assert list(signature(method).parameters)[1:] == [*options, "budget", "time_limit"]
    assert not hasattr(found, "lifo")
