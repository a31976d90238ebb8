"""The judge of allocation, against values worked out by hand and an evaluation of its own."""

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.files import to_json
from gsopt.problems import Allocation
from gsopt.problems.allocation import AllocationSolution, ElasticJob
from gsopt.problems.reader import read_problem
from gsopt.testing import brute_force
from tests.gsopt.problems.checks import refusal

A = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=1, time_at_min=150)
B = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=1, time_at_min=60)


def changed(job: ElasticJob, **fields: Any) -> ElasticJob:
    """Return a job with other fields."""
    return ElasticJob(**{**dict(job), **fields})


def extra(**counts: int) -> AllocationSolution:
    """Return a solution by job names."""
    return AllocationSolution(extra=counts)


def test_table_4_with_four_remaining_gpus() -> None:
    """With one GPU per worker the best of Table 4 is one extra worker for A, three for B: 50 + 36 = 86."""
    problem = Allocation(capacity=4, jobs=(A, B))
    assert brute_force(problem) == (86, extra(A=1, B=3))


def test_figure_6_with_four_remaining_gpus() -> None:
    """With two GPUs per worker of A (Figure 6) it is one extra worker for A and two for B: 50 + 30 = 80."""
    problem = Allocation(capacity=4, jobs=(changed(A, gpus_per_worker=2), B))
    assert brute_force(problem) == (80, extra(A=1, B=2))


def test_values_of_table_4_follow_line_18() -> None:
    """Line 18 of Algorithm 2 gives T w / (w + w_min): 50 for A, and 20, 30, 36, 40 for B."""
    assert [A.value(1)] == [50]
    assert [B.value(w) for w in range(5)] == [0, 20, 30, 36, 40]


def test_a_value_is_the_difference_of_two_running_times() -> None:
    """The value is the running time at the minimum less that with the extra workers, at proportional speed."""
    job = ElasticJob(name="j", min_workers=3, max_workers=10, time_at_min=77)
    work = 77 * 3
    assert [job.value(w) for w in range(8)] == [Fraction(work, 3) - Fraction(work, 3 + w) for w in range(8)]


def test_remaining_work_stands_for_the_time_at_the_minimum() -> None:
    """Remaining work of 120 worker-seconds with 2 workers is a running time of 60 s."""
    running = ElasticJob(name="B", min_workers=2, max_workers=6, remaining_work=120)
    assert running.time == 60
    assert [running.value(w) for w in range(5)] == [B.value(w) for w in range(5)]


def test_a_table_takes_the_place_of_proportional_values() -> None:
    """Given values are used as they are, whatever the running time."""
    job = changed(B, values=(1, -2.5, 7, 0))
    assert [job.value(w) for w in range(5)] == [0, 1, Fraction(-5, 2), 7, 0]


def test_values_are_exact() -> None:
    """Thirds and tenths add up without rounding."""
    third = ElasticJob(name="third", min_workers=2, max_workers=3, time_at_min=1)
    tenth = ElasticJob(name="tenth", min_workers=1, max_workers=2, values=(0.1,))
    problem = Allocation(capacity=2, jobs=(third, tenth))
    assert problem.objective(extra(third=1, tenth=1)) == Fraction(1, 3) + Fraction(1, 10)


def test_floats_are_the_decimals_they_are_written_as() -> None:
    """Values, times and remaining work of 0.1 are tenths: three of them are 0.3, which no sum of doubles is."""
    tables = tuple(ElasticJob(name=name, min_workers=1, max_workers=2, values=(0.1,)) for name in "abc")
    assert Allocation(capacity=3, jobs=tables).objective(extra(a=1, b=1, c=1)) == Fraction(3, 10)
    assert changed(A, time_at_min=0.3).value(1) == Fraction(1, 10)
    assert changed(A, time_at_min=None, remaining_work=0.6).value(1) == Fraction(1, 10)


def test_a_menu_of_counts() -> None:
    """A job of 2 workers that may have 2 or 6 more saves 60 * 2/4 or 60 * 6/8; nothing between is allowed."""
    job = ElasticJob(name="m", min_workers=2, counts=(2, 6), gpus_per_worker=2, time_at_min=60)
    problem = Allocation(capacity=9, jobs=(job,))
    assert (job.extras, job.max_extra, [job.value(w) for w in (0, 2, 6)]) == ((2, 6), 6, [0, 30, 45])
    assert [extra(m=w) for w in (0, 2, 6)] == list(problem.candidates())
    assert brute_force(problem) == (30, extra(m=2))
    assert problem.violations(extra(m=3)) == ["extra: 'm' gets 3 extra workers, must be 0 or one of (2, 6)"]
    assert problem.violations(extra(m=6)) == ["extra: 12 GPUs are used, 9 remain"]


def test_values_of_a_menu_stand_beside_its_counts() -> None:
    """The second value is that of the second count, whatever the numbers between."""
    job = ElasticJob(name="m", min_workers=1, counts=(3, 4, 9), values=(1, -2.5, 0.25))
    assert [job.value(w) for w in (0, 3, 4, 9)] == [0, 1, Fraction(-5, 2), Fraction(1, 4)]


@pytest.mark.parametrize(
    ("job", "number", "rule"),
    [
        (B, 5, "0 to 4"),
        (B, -2, "0 to 4"),  # would divide by 0
        (changed(B, max_workers=None, counts=(2, 6)), 3, r"0 or one of \(2, 6\)"),
        (changed(B, max_workers=None, counts=(2, 6), values=(1, 2)), 7, r"0 or one of \(2, 6\)"),
    ],
)
def test_other_numbers_of_extra_workers_have_no_value(job: ElasticJob, number: int, rule: str) -> None:
    """A number that the job does not allow is refused by one line, whether or not values are listed."""
    with pytest.raises(InvalidInput, match=rf"^extra\['B'\]: {number}: must be {rule}$"):
        job.ratio(number)


def test_a_menu_of_nothing_is_inelastic() -> None:
    """An empty menu is a job that cannot have more workers."""
    job = ElasticJob(name="m", min_workers=3, counts=(), time_at_min=5)
    assert (list(job.extras), job.max_extra, job.allows(0), job.allows(1)) == ([], 0, True, False)


def test_one_item_of_every_class() -> None:
    """Classes {(3, 10), (5, 25)} and {(2, 4), (6, 30)} on 9: the lightest pay 5, and 10 + 30 is best."""
    one = ElasticJob(name="1", min_workers=3, counts=(2,), values=(15,), time_at_min=0, queued=True)
    two = ElasticJob(name="2", min_workers=2, counts=(4,), values=(26,), time_at_min=0, queued=True)
    problem = Allocation(capacity=9, jobs=(one, two))
    best = brute_force(problem)
    assert best is not None
    assert (10 + 4 + best[0], best[1]) == (40, AllocationSolution(extra={"1": 0, "2": 4}))


@pytest.mark.parametrize(
    ("jobs", "step"),
    [
        ((), None),
        ((A, B), 2),  # 50; 20, 30, 36, 40
        ((A, changed(B, time_at_min=0)), 50),
        ((changed(B, values=(0.75, 1.5, 0, -2.25)),), Fraction(3, 4)),
        ((changed(B, values=(0, 0, 0, 0)),), None),
        ((A, ElasticJob(name="m", min_workers=1, counts=(5,), values=(0.1,))), Fraction(1, 10)),
        ((changed(B, time_at_min=1e-9),), Fraction(1, 30 * 10**9)),
        ((changed(B, values=(1e9, 1e-9, 0, 0)),), None),  # sixteen digits and more
        ((changed(B, max_workers=90),), None),  # a denominator of tens of digits
    ],
)
def test_every_value_is_a_multiple_of_the_step(jobs: tuple[ElasticJob, ...], step: Fraction | None) -> None:
    """The step is the greatest common divisor of all values, where that is of use."""
    problem = Allocation(capacity=4, jobs=jobs)
    assert problem.step == step
    values = [job.value(w) for job in jobs for w in job.extras]
    assert step is None or all(Fraction(value) % step == 0 for value in values)


def test_the_step_of_millions_of_values_is_not_looked_for() -> None:
    """Where finding a step takes longer than it is worth there is none."""
    jobs = tuple(
        ElasticJob(name=str(i), min_workers=1, max_workers=50_002, values=[2.0] * 50_001) for i in range(2)
    )
    assert Allocation(capacity=1, jobs=jobs[:1]).step == 2
    assert Allocation(capacity=1, jobs=jobs).step is None


def test_the_judge_agrees_with_a_second_evaluation() -> None:
    """Objective and GPUs of random solutions are those of a loop written out with plain floats."""
    rng = random.Random(3)
    for _ in range(50):
        jobs = tuple(
            ElasticJob(
                name=f"j{i}",
                min_workers=(least := rng.randint(1, 5)),
                max_workers=least + 4,
                gpus_per_worker=rng.randint(1, 8),
                time_at_min=rng.randint(1, 999),
            )
            for i in range(6)
        )
        counts = {job.name: rng.randint(0, 4) for job in jobs}
        saved, used = 0.0, 0
        for job in jobs:
            workers = job.min_workers + counts[job.name]
            assert job.time_at_min is not None
            saved += job.time_at_min - job.time_at_min * job.min_workers / workers
            used += (workers - job.min_workers) * job.gpus_per_worker
        problem = Allocation(capacity=used, jobs=jobs)
        assert float(problem.objective(extra(**counts))) == pytest.approx(saved)
        assert problem.violations(extra(**counts)) == []
        assert Allocation(capacity=used - 1, jobs=jobs).violations(extra(**counts)) != [] or used == 0


def test_queued_jobs_pay_for_their_minimum() -> None:
    """The minimum workers of queued jobs come out of the capacity, those of running jobs do not."""
    problem = Allocation(capacity=9, jobs=(changed(A, queued=True, gpus_per_worker=2), B))
    assert problem.remaining == 9 - 2 * 2
    assert problem.violations(extra(A=1, B=3)) == []
    assert problem.violations(extra(A=1, B=4)) == ["extra: 6 GPUs are used, 5 remain"]


def test_the_first_job_that_cannot_start_is_named() -> None:
    """Without room for all queued jobs there is no solution, and the obstacle names the first job left over."""
    jobs = (changed(A, queued=True), B, changed(B, name="C", queued=True), changed(A, name="D", queued=True))
    problem = Allocation(capacity=3, jobs=jobs)
    assert problem.obstacle == "queued job 'C' needs 2 GPUs to start, 1 are left"
    assert problem.violations(extra()) == [f"jobs: {problem.obstacle}"]
    assert brute_force(problem) is None


def test_measures_count_workers_and_idle_gpus() -> None:
    """Two extra workers of two GPUs each leave one of five GPUs idle."""
    problem = Allocation(capacity=5, jobs=(changed(B, gpus_per_worker=2),))
    assert problem.measures(extra(B=2)) == {"extra_workers": 2, "idle_gpus": 1}
    assert problem.headline() == {"jobs": 1, "gpus": 5}


@pytest.mark.parametrize(
    "wrong", [extra(A=2), extra(A=-1, B=3), extra(A=1, B=5), extra(A=1, B=4), extra(A=1, C=0), extra(B=-1)]
)
def test_one_worker_too_many_or_too_few_is_refused(wrong: AllocationSolution) -> None:
    """A number that a job does not have, an unknown job and GPUs beyond the capacity are violations."""
    problem = Allocation(capacity=4, jobs=(A, B))
    assert problem.violations(extra(A=1, B=3)) == []
    assert problem.violations(wrong) != []


def test_jobs_that_are_not_named_get_nothing() -> None:
    """An empty solution is feasible and worth 0."""
    problem = Allocation(capacity=4, jobs=(A, B))
    assert (problem.violations(extra()), problem.objective(extra())) == ([], 0)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"min_workers": 0}, "jobs[0].min_workers: 0: input should be greater than or equal to 1"),
        ({"max_workers": 1}, "jobs[0].max_workers: 1: must be at least min_workers, 2"),
        ({"gpus_per_worker": 0}, "jobs[0].gpus_per_worker: 0: input should be greater than or equal to 1"),
        ({"gpus_per_worker": 1.5}, "jobs[0].gpus_per_worker: 1.5: "),
        ({"time_at_min": -1}, "jobs[0].time_at_min: -1: input should be greater than or equal to 0"),
        ({"time_at_min": "60"}, "jobs[0].time_at_min: '60': input should be a valid number"),
        ({"time_at_min": None}, "jobs[0].time_at_min: None: must be given, or remaining_work, or values"),
        ({"remaining_work": 9}, "jobs[0].remaining_work: 9.0: must not be given together with time_at_min"),
        ({"values": [1, 2, 3]}, "jobs[0].values: '3 numbers': must be one for each of the 4 extra workers"),
        ({"values": [1, 2, 3, True]}, "jobs[0].values[3]: True: input should be a valid number"),
        ({"values": [1, 2, 3, 1e13]}, "jobs[0].values[3]: 10000000000000.0: input should be less than"),
        ({"queued": 1}, "jobs[0].queued: 1: input should be a valid boolean"),
        (
            {"queued": True, "time_at_min": None, "values": [1, 2, 3, 4]},
            "jobs[0].time_at_min: None: must be given for a queued job",
        ),
        ({"name": "A"}, "jobs[1].name: 'A': must differ from every other name"),
        ({"deadline": 9}, "jobs[0].deadline: 9: is not a known key"),
        ({"max_workers": 10**9}, "jobs[0].max_workers: 1000000000: input should be less than"),
        ({"max_workers": None}, "jobs[0].max_workers: None: must be given, or counts"),
        ({"counts": [1, 4]}, "jobs[0].max_workers: 6: must not be given together with counts"),
        (
            {"max_workers": None, "counts": [0, 4]},
            "jobs[0].counts[0]: 0: input should be greater than or equal",
        ),
        ({"max_workers": None, "counts": [2, 2]}, "jobs[0].counts[1]: 2: must be more than the one before, 2"),
        ({"max_workers": None, "counts": [4, 2]}, "jobs[0].counts[1]: 2: must be more than the one before, 4"),
        (
            {"max_workers": None, "counts": [1, 4], "values": [1]},
            "jobs[0].values: '1 numbers': must be one for each of the 2 counts",
        ),
    ],
)
def test_malformed_jobs_give_one_line(tmp_path: Path, fields: dict[str, Any], line: str) -> None:
    """A job that breaks a rule is refused with file, field, value and rule in one line."""
    import json

    job = {"name": "B", "min_workers": 2, "max_workers": 6, "time_at_min": 60} | fields
    job = {key: value for key, value in job.items() if value is not None}
    other = {"name": "A", "min_workers": 2, "max_workers": 3, "time_at_min": 150}
    text = json.dumps({"problem": "allocation", "capacity": 4, "jobs": [job, other]})
    assert refusal(tmp_path, text).startswith(line)


@pytest.mark.parametrize("capacity", [-1, 1.5, 10**12, True, "4"])
def test_a_capacity_is_a_count_of_gpus(capacity: Any) -> None:
    """Negative, fractional, absurd and non-numeric capacities are refused."""
    with pytest.raises(ValidationError):
        Allocation(capacity=capacity, jobs=(A,))


def test_too_many_items_are_refused() -> None:
    """More extra workers in total than memory can list are refused at once."""
    jobs = tuple(ElasticJob(name=str(i), min_workers=1, max_workers=100_000, time_at_min=1) for i in range(51))
    with pytest.raises(ValidationError, match="5,099,949 numbers of extra workers"):
        Allocation(capacity=1, jobs=jobs)


def test_menus_count_their_items() -> None:
    """The limit is one of items: few counts of very many workers are fine."""
    jobs = tuple(ElasticJob(name=str(i), min_workers=1, counts=(9_999_999,), time_at_min=1) for i in range(51))
    assert len(Allocation(capacity=1, jobs=jobs).jobs) == 51


def test_the_documented_file_is_read(tmp_path: Path) -> None:
    """Integers are fine where seconds are meant, and defaults may be written out."""
    path = tmp_path / "table-4.json"
    path.write_text(
        '{"problem": "allocation", "capacity": 4, "jobs": [{"name": "A", "min_workers": 2, "max_workers": 3, '
        '"gpus_per_worker": 1, "time_at_min": 150}]}'
    )
    assert read_problem(path) == Allocation(name="table-4", capacity=4, jobs=(A,))
    assert '"problem": "allocation"' in to_json(read_problem(path))
