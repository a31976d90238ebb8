"""The optimum of elastic jobs over time, without preemption."""

import sys
from random import Random

import pytest

from formulations.scheduling import event_orders, exact, milp, resizing
from gsopt.core.errors import Unsupported
from gsopt.core.method import Method
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.effort import cases
from tests.exactness.resizing import draw, elastic, optimum


def problem(gpus: int, *jobs: ElasticJob) -> Scheduling:
    """Return a problem without preemption."""
    return Scheduling(gpus=gpus, jobs=jobs, preemptive=False)


def later(job: ElasticJob, release: float) -> ElasticJob:
    """Return a job that is released at a time."""
    return job.model_copy(update={"release": release})


def late_start() -> Scheduling:
    """Make jobs of which the inelastic one must start between completions, to complete with the last small one.

    From the start on it would slow down two small jobs too long: 195.6 s in all. After the first small one it
    would keep the large one waiting: 195.9 s.
    """
    small = [elastic(f"small {index}", 60, 1, 8) for index in range(3)]
    return problem(8, elastic("inelastic", 93.6, 3, 3), *small, elastic("large", 480, 8, 8))


@pytest.mark.parametrize(("most", "total"), [(6, 83 + 1 / 3), (3, 124)])
def test_tables_3_and_4(most: int, total: float) -> None:
    """The completion times of Aryl's two jobs add up to 83.33 s, and to 124 s where job A is less elastic."""
    result = resizing(problem(8, elastic("A", 300, 2, most), elastic("B", 120, 2, 6)))

    assert result.status is Status.OPTIMAL
    assert 2 * float(result.objective or 0) == pytest.approx(total)


def test_one_job_has_its_most_workers() -> None:
    """A job alone completes in its work over its most GPUs."""
    result = resizing(problem(10, elastic("a", 60, 1, 4, size=2)))

    assert (result.status, result.objective) == (Status.OPTIMAL, 60 / 8)


@pytest.mark.parametrize("jobs", [2, 3])
def test_every_order_of_events(jobs: int) -> None:
    """Value and bound are those of linear programs for all orders in which jobs start and complete."""
    for seed in range(cases(20)):
        instance = draw(Random(seed), jobs)
        result, least = resizing(instance), optimum(instance)

        assert result.status is Status.OPTIMAL, seed
        assert result.objective == pytest.approx(least, rel=1e-6), seed


@pytest.mark.parametrize("jobs", [2, 3])
def test_every_order_of_events_after_release_dates(jobs: int) -> None:
    """Jobs that are released early, late and together have the optimum of all orders of events."""
    for seed in (10, 13, *range(cases(15))):
        instance = draw(Random(seed), jobs, latest=(1, 5, 20)[seed % 3])
        result, least = resizing(instance), optimum(instance)

        assert result.status is Status.OPTIMAL, seed
        assert result.objective == pytest.approx(least, rel=1e-6), seed


def test_a_large_job_waits_for_a_small_one() -> None:
    """All GPUs stand still until a job of a second comes, as the one that is there would take ten."""
    jobs = elastic("large", 40, 4, 4), later(elastic("small", 4, 4, 4), 1)
    result = resizing(problem(4, *jobs))

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx((12 + 1) / 2)


def test_nothing_runs_before_the_next_release_date() -> None:
    """A job that is released long after the other one is complete runs by itself, on its most GPUs."""
    jobs = elastic("early", 8, 1, 4), later(elastic("late", 8, 1, 4), 1e6)
    result = resizing(problem(4, *jobs))

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(2)


def test_a_job_starts_between_completions() -> None:
    """In the optimum, of 195 s in all, the inelastic job starts after 3 s, when nothing completes."""
    result = exact(late_start())
    assert result.solution is not None
    starts = [run.start for run in result.solution.runs if run.job == "inelastic"]

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(195 / 5)
    assert starts == [pytest.approx(3)]
    assert result.method == "exact"


def test_workers_of_two_sizes() -> None:
    """Where shares of GPUs are no averages of workers, there is a schedule and a bound that is no higher."""
    mixed = problem(7, elastic("a", 30, 1, 3, size=2), elastic("b", 30, 1, 2, size=3), elastic("c", 9, 1, 1))
    result = resizing(mixed)

    assert result.objective is not None
    assert result.bound is not None
    assert result.bound <= result.objective <= 1.2 * result.bound


@pytest.mark.parametrize(
    ("instance", "rule"),
    [
        (Scheduling(gpus=2, jobs=[elastic("a", 1, 1, 2)]), "preempted"),
        (Scheduling(gpus=2, jobs=[elastic("a", 1, 1, 2)], preemptive=False, fairness=1), "fairness"),
        (problem(2, ElasticJob(name="a", release=0, work=1, rates={1: 1.0, 2: 1.5})), "proportional"),
        (problem(4, ElasticJob(name="a", release=0, work=1, rates={1: 1.0, 2: 2.0, 4: 4.0})), "every number"),
        (problem(2, *(elastic(str(index), 1, 1, 2) for index in range(31))), "31 jobs .* at most 900"),
        (
            problem(2, *(later(elastic(str(index), 1, 1, 2), index / 9) for index in range(14))),
            "14 release dates",
        ),
    ],
)
def test_what_it_does_not_express(instance: Scheduling, rule: str) -> None:
    """Other problems are refused in one line."""
    with pytest.raises(Unsupported, match=rule):
        resizing(instance)


@pytest.mark.parametrize("method", [event_orders, milp])
def test_others_know_no_runs_to_completion(method: Method) -> None:
    """The methods for preemption refuse problems without it."""
    with pytest.raises(Unsupported, match="preempted"):
        method(late_start())


def test_a_cold_start_keeps_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a limit leaves no time to load Pyomo and SciPy, there is a schedule and a bound all the same."""

    def refused(*_: object) -> None:
        pytest.fail("there is no time")

    module = sys.modules["formulations.scheduling.resizing.method"]
    for name in ("pyomo.environ", "scipy.optimize"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("launch_model", "best_steps"):
        monkeypatch.setattr(module, name, refused)
    result = resizing(late_start(), time_limit=1.0)

    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert (result.bound or 0) <= 195 / 5 <= (result.objective or 0)


def test_no_time() -> None:
    """Without time there is the best of the simple rules."""
    result = resizing(late_start(), time_limit=0.0)

    assert result.objective is not None
    assert result.bound is not None
    assert result.bound <= 195 / 5 <= result.objective


def test_a_moment_beside_minutes() -> None:
    """Where a job takes nanoseconds beside one of minutes, none gets GPUs that its menu does not have."""
    jobs = [
        ElasticJob(name="a", release=0, work=300, rates={count: count for count in range(1, 9)}),
        ElasticJob(name="b", release=1, work=900, rates={count: 3000 * count for count in range(2, 7)}),
        ElasticJob(name="c", release=3e-8, work=3.4104e-4, rates={count: 3000 * count for count in (2, 4, 6)}),
    ]
    problem = Scheduling(gpus=8, jobs=jobs, preemptive=False)

    assert resizing(problem).status is Status.OPTIMAL  # judged on the way
