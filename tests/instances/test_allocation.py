"""The generators and examples of allocation, and instances from the public traces."""

from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest

from formulations.allocation import dp, exact
from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from instances.allocation import elastic_jobs, figure_6, from_data, multiple_choice, table_4
from instances.allocation.multiple_choice import Correlation
from instances.allocation.profiles import curves
from instances.allocation.scaling import across_servers, imperfect, values
from instances.allocation.snapshots import busiest, measured, proportional, running


def test_times_at_the_minimum_follow_from_table_4() -> None:
    """Minimum running times of 100 and 20 at the maxima 3 and 6 are 150 and 60 at the minimum of 2."""
    for job, fastest in zip(table_4().jobs, (100, 20), strict=True):
        assert job.time_at_min == fastest * (job.min_workers + job.max_extra) / job.min_workers
        assert job.time_at_min - float(job.value(job.max_extra)) == fastest


def test_figure_6_differs_in_the_gpus_per_worker_only() -> None:
    """Figure 6 has the jobs of Table 4 with 2 GPUs per worker of A and 1 of B."""
    assert [job.gpus_per_worker for job in table_4().jobs] == [1, 1]
    assert [job.gpus_per_worker for job in figure_6().jobs] == [2, 1]
    assert figure_6().jobs[1] == table_4().jobs[1]


@pytest.mark.parametrize(
    ("sizes", "allowed"), [("one", {1}), ("powers_of_two", {1, 2, 4, 8}), ("any", set(range(1, 9)))]
)
def test_sizes(sizes: Any, allowed: set[int]) -> None:
    """All sizes asked for occur, and no others."""
    assert {job.gpus_per_worker for job in elastic_jobs(jobs=300, sizes=sizes).jobs} == allowed


@pytest.mark.parametrize("scaling", ["proportional", "imperfect", "across_servers"])
def test_ranges_are_kept(scaling: Any) -> None:
    """Minimum and extra workers stay in their ranges, and running times between a minute and ten days."""
    problem = elastic_jobs(jobs=400, most_workers=3, most_extra=5, scaling=scaling, queued_share=1.0)
    assert {job.min_workers for job in problem.jobs} == {1, 2, 3}
    assert {job.max_extra for job in problem.jobs} == {1, 2, 3, 4, 5}
    assert all(60 <= (job.time_at_min or 0) <= 864_000 for job in problem.jobs)


def test_proportional_and_other_scaling_share_their_jobs() -> None:
    """The scaling changes what workers are worth and nothing else."""
    proportional, imperfect = elastic_jobs(seed=3), elastic_jobs(scaling="imperfect", seed=3)
    for one, other in zip(proportional.jobs, imperfect.jobs, strict=True):
        assert (one.min_workers, one.max_workers, one.gpus_per_worker) == (
            other.min_workers,
            other.max_workers,
            other.gpus_per_worker,
        )


def test_server_crossings_break_concavity() -> None:
    """Most jobs whose speed drops across servers have a worker that is worth more than the one before it."""

    def concave(values: list[float]) -> bool:
        gains = [after - before for before, after in pairwise(values)]
        return all(later <= earlier for earlier, later in pairwise(gains))

    jobs = elastic_jobs(scaling="across_servers", seed=1).jobs
    broken = [job for job in jobs if not concave([0.0, *(job.values or ())])]
    assert len(broken) > len(jobs) / 2


def test_queued_jobs_can_start() -> None:
    """The capacity holds the minimum workers of all queued jobs, and the asked number of GPUs beside them."""
    problem = elastic_jobs(jobs=50, capacity=77, queued_share=0.5, seed=2)
    assert 10 < sum(job.queued for job in problem.jobs) < 40
    assert (problem.remaining, problem.obstacle) == (77, "")


def items(**options: Any) -> list[list[tuple[int, float]]]:
    """List weight and value of all items of every class, as if its lightest item were worth nothing."""
    problem = multiple_choice(**options)
    return [
        [(job.min_workers, 0.0), *((job.min_workers + w, float(job.value(w))) for w in job.extras)]
        for job in problem.jobs
    ]


@pytest.mark.parametrize("correlation", get_args(Correlation))
def test_every_class_has_its_items_and_can_be_chosen_from(correlation: Correlation) -> None:
    """Weights rise within a class, all of them are drawn but for doubles, and the lightest choice fits."""
    problem = multiple_choice(classes=30, items=6, largest=500, correlation=correlation, seed=3)
    classes = items(classes=30, items=6, largest=500, correlation=correlation, seed=3)
    lightest, heaviest = (sum(each[place][0] for each in classes) for place in (0, -1))
    assert sum(map(len, classes)) > 30 * 5
    assert (problem.capacity, problem.remaining) == (
        (lightest + heaviest) // 2,
        (lightest + heaviest) // 2 - lightest,
    )
    assert problem.obstacle == ""


def test_weak_correlation_stays_within_ten() -> None:
    """A value is at most ten away from its weight, so differences of both are at most twenty apart."""
    for each in items(correlation="weak", seed=1):
        assert all(abs(value - (weight - each[0][0])) <= 20 for weight, value in each)


def test_strong_correlation_adds_ten_per_item() -> None:
    """Each further item of a class adds ten more than its weight, and each adds at least as much weight."""
    for each in items(correlation="strong", seed=1):
        steps = [
            (w - v, x - u)
            for (v, _), (w, _), (_, u), (_, x) in zip(each, each[1:], each, each[1:], strict=False)
        ]
        assert all(gain == weight + 10 for weight, gain in steps)
        assert [weight for weight, _ in steps] == sorted(weight for weight, _ in steps)


def test_subset_sums_are_worth_their_weight() -> None:
    """What an item is worth more is what it weighs more."""
    for each in items(correlation="subset_sum", seed=1):
        assert all(value == weight - each[0][0] for weight, value in each)


def test_ordered_items_are_not_dominated() -> None:
    """Heavier items of a class are worth at least as much; without correlation some are not."""
    for each in items(correlation="ordered", seed=1):
        assert [value for _, value in each] == sorted(value for _, value in each)
    assert any(
        [value for _, value in each] != sorted(value for _, value in each) for each in items(correlation="none")
    )


def test_reads_one_curve_per_row(tmp_path: Path) -> None:
    """Each batch size is a curve; blank, nan and 0 are not measured."""
    (tmp_path / "bert.csv").write_text("global_batch_size,1,2,4\n64,1.5,2.5,nan\n128,0.5,,0\n")
    assert curves(tmp_path) == {"bert-64": {1: 1.5, 2: 2.5}, "bert-128": {1: 0.5}}


@pytest.mark.parametrize("text", ["", "batch,one\n64,1\n", "batch,1\n64,fast\n", "batch,1\n64,1,2\n"])
def test_damaged_tables_give_one_line(tmp_path: Path, text: str) -> None:
    """Empty tables, words for numbers and rows of the wrong length are refused, naming the file."""
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="must be a table of numbers") as caught:
        curves(tmp_path)
    assert caught.value.source == str(path)


def test_a_table_that_cannot_be_read(tmp_path: Path) -> None:
    """A folder in the place of a table is refused."""
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        curves(tmp_path)


def test_imperfect_scaling_loses_ten_percent_per_step() -> None:
    """Beyond the middle 6 of a range 2 to 10 the speed is 90, 80, 70 and 60 % of the proportional one."""
    speed = imperfect(2, 10)
    assert [speed(w) / w for w in (2, 6, 7, 8, 9, 10)] == [1, 1, 0.9, 0.8, 0.7, 0.6]


def test_the_loss_stops_before_the_speed_is_gone() -> None:
    """However wide the range, a tenth of the speed is left."""
    assert imperfect(1, 101)(101) == 10.1


def test_a_server_more_costs_speed() -> None:
    """Eight workers of one GPU stand on one server; the ninth crosses to another and the job gets slower."""
    speed = across_servers(1, toll=0.25)
    assert speed(8) == 8
    assert speed(9) == 9 / 1.25 < speed(8)
    assert speed(16) == 16 / 1.25 > speed(8)


def test_values_can_be_negative() -> None:
    """A slower job takes longer than with its minimum, which is a negative reduction."""
    assert values(100, 8, 9, across_servers(1, toll=1.0)) == (-78.0,)


WORKLOAD = Workload(
    name="three",
    source="made by hand",
    jobs=(
        Job(name="a", release_date=0, duration=100, gpus=24),
        Job(name="b", release_date=50, duration=100, gpus=4),
        Job(name="c", release_date=100, duration=10, gpus=8),
    ),
)


def test_the_busiest_moment() -> None:
    """Jobs a and b use 28 GPUs from second 50 on; a job that ends makes room before one that starts."""
    assert busiest(WORKLOAD.jobs) == 50
    assert [job.name for job in running(WORKLOAD.jobs, 50)] == ["a", "b"]
    assert [job.name for job in running(WORKLOAD.jobs, 100)] == ["b", "c"]
    assert busiest([]) == 0


def test_proportional_jobs() -> None:
    """24 GPUs are three workers of eight with 50 s to go; a quarter of the 28 GPUs in use remains."""
    problem = proportional(WORKLOAD)
    first, second = problem.jobs
    assert (first.min_workers, first.max_workers, first.gpus_per_worker) == (3, 12, 8)
    assert [job.time for job in problem.jobs] == [50, 100]
    assert (second.min_workers, second.max_workers, second.gpus_per_worker) == (1, 4, 4)
    assert problem.capacity == 7
    assert problem.about is not None
    assert "second 50" in problem.about.source


def test_measured_jobs() -> None:
    """Values follow the curve in steps, fall where it falls, and jobs that no curve fits are left out."""
    problem = measured(WORKLOAD, [{4: 2.0, 8: 4.0, 16: 1.0}])
    (job,) = problem.jobs
    assert (job.min_workers, job.max_workers, job.gpus_per_worker) == (4, 16, 1)
    assert job.values == (0, 0, 0, 50, 50, 50, 50, 50, 50, 50, 50, -100)
    assert problem.capacity == 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_curves_take_turns(count: int) -> None:
    """Several curves are all used."""
    jobs = tuple(Job(name=str(n), release_date=0, duration=60, gpus=1) for n in range(6))
    curves = [{1: 1.0, 2: 1.0 + k} for k in range(count)]
    problem = measured(Workload(name="six", jobs=jobs), curves)
    assert len({job.values for job in problem.jobs}) == count


def test_snapshots_of_the_trace(traces: Path) -> None:
    """Two instances per cluster, jobs in both, names apart, and the default method equals the full table."""
    problems = list(from_data(traces))
    assert len(problems) == 12
    assert len({problem.name for problem in problems}) == 12
    assert all(len(problem.jobs) >= 20 and problem.remaining > 0 for problem in problems)
    for problem in problems:
        assert float(exact(problem).objective or 0) == pytest.approx(
            float(dp(problem).objective or 0), rel=1e-12
        )
