"""The default exact method of scheduling, against the enumeration of orders and the reference model."""

import json
from pathlib import Path

import pytest

from formulations.scheduling import event_orders, exact, milp
from gsopt.bounds import mean_busy_time_bound, mean_jct, position_bound
from gsopt.files import write
from gsopt.problems.scheduling import ElasticJob, Scheduling, SchedulingSolution
from gsopt.result import Result, Status, StoppedBy, same
from instances.scheduling import elastic_jobs
from tests.commands import interrupted_solve
from tests.strategies.scheduling import figure_4, packing, tiny


def test_the_optimum_is_that_of_every_order() -> None:
    """On a hundred tiny instances, with and without deadlines, the optimum or its absence is proven."""
    infeasible = 0
    for seed in range(100):
        problem = tiny(seed, fair=seed % 3 == 2)
        found, oracle = exact(problem), event_orders(problem)
        assert found.status is oracle.status, problem.name
        assert same(found.objective, oracle.objective), problem.name
        infeasible += oracle.status is Status.INFEASIBLE
    assert infeasible >= 5


def test_the_optimum_is_that_of_the_reference_model() -> None:
    """On forty instances of five and six jobs both methods prove the same optimum."""
    for seed in range(40):
        problem = elastic_jobs(jobs=5 + seed % 2, gpus=(2, 4, 6, 8)[seed % 4], load=1.2, seed=seed)
        found, other = exact(problem), milp(problem)
        assert found.status is other.status is Status.OPTIMAL, problem.name
        assert found.objective == pytest.approx(other.objective, rel=1e-5)


def test_figure_4() -> None:
    """The schedule that Figure 4 shows is optimal: completions at 3, 5.5 and 8 s."""
    result = exact(figure_4())

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx((3 + 8 + 5.5 - 2) / 3)


def test_area_is_not_enough_to_fit() -> None:
    """A job on both GPUs and one on either take 3 s, though their area fits in 2 s."""
    assert exact(packing()).objective == pytest.approx((1 + 3) / 2)


def test_fairness_that_cannot_be_kept_is_proven() -> None:
    """An infeasible constant is refused with the smallest that is possible."""
    job = ElasticJob(name="a", release=0, work=2, rates={1: 1.0})
    result = exact(Scheduling(gpus=4, jobs=[job], fairness=1.0))

    assert result.status is Status.INFEASIBLE
    assert "the smallest fairness possible is 1.5 s" in result.message


def test_shortest_first_is_optimal_on_one_gpu() -> None:
    """On one GPU with jobs at once the optimum is shortest processing time first."""
    works = [1 + (7 * i) % 13 for i in range(12)]
    jobs = [ElasticJob(name=str(i), release=0, work=work, rates={1: 1.0}) for i, work in enumerate(works)]
    result = exact(Scheduling(gpus=1, jobs=jobs))

    clock = [sum(sorted(works)[: i + 1]) for i in range(len(works))]
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(sum(clock) / len(works))


@pytest.mark.parametrize("jobs", [15, 60])
def test_a_time_limit_leaves_a_bracket(jobs: int) -> None:
    """What takes too long ends at its limit with a schedule and a bound no weaker than the quick bounds."""
    problem = elastic_jobs(jobs=jobs, gpus=8, load=1.5, seed=3)
    result = exact(problem, time_limit=4.0)

    assert result.status in {Status.FEASIBLE, Status.OPTIMAL}
    assert result.bound is not None
    assert result.objective is not None
    for quick in (position_bound, mean_busy_time_bound):
        plain = mean_jct(quick(problem.workload, problem.gpus), problem.workload)
        assert plain * (1 - 1e-9) <= result.bound <= result.objective


def test_without_time_there_still_is_a_schedule() -> None:
    """A limit of 0 leaves the first list schedule and the plain bounds."""
    result = exact(elastic_jobs(jobs=12, gpus=8, seed=1), time_limit=0)

    assert result.stopped_by in {StoppedBy.TIME_LIMIT, StoppedBy.FINISHED}
    assert result.solution is not None


def test_a_gap_that_is_met_ends_the_search() -> None:
    """With a wide gap the search ends before the bracket closes."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.5, seed=5)
    result = exact(problem, gap=0.2)

    assert result.gap is not None
    assert result.gap <= 0.2


def test_a_callback_hears_of_schedules_and_may_end_the_search() -> None:
    """Incumbents are judged schedules with falling values; returning True stops."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.5, seed=5)
    heard: list[Result[SchedulingSolution]] = []

    def stop(incumbent: Result[SchedulingSolution]) -> bool:
        heard.append(incumbent)
        return len(heard) == 2

    result = exact(problem, on_incumbent=stop)
    values = [incumbent.objective for incumbent in heard if incumbent.objective is not None]
    assert len(values) == len(heard) <= 2
    assert values == sorted(values, reverse=True)
    assert result.objective == values[-1]
    assert result.stopped_by in {StoppedBy.INTERRUPT, StoppedBy.FINISHED}


def test_an_interrupt_keeps_what_is_known(tmp_path: Path) -> None:
    """Ctrl-C during a solve that would take hours is answered with the best schedule."""
    file = tmp_path / "long.json"
    write(elastic_jobs(jobs=40, gpus=16, load=1.5, seed=2), file)
    found = json.loads(interrupted_solve(file, "--json"))

    assert (found["stopped_by"], found["status"]) == ("interrupt", "feasible")
