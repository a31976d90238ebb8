"""The judge of allocation, against values worked out by hand and an evaluation of its own."""

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.errors import InvalidInput
from gsopt.files import read_problem, to_json, write
from gsopt.problems import Allocation
from gsopt.problems.allocation import AllocationSolution, ElasticJob
from gsopt.testing import brute_force, check_judge

A = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=1, time_at_min=150)
B = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=1, time_at_min=60)


def changed(job: ElasticJob, **fields: Any) -> ElasticJob:
    """Give a job with other fields."""
    return ElasticJob(**{**dict(job), **fields})


def extra(**counts: int) -> AllocationSolution:
    """Give a solution by job names."""
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
    assert problem.objective(extra(third=1, tenth=1)) == Fraction(1, 3) + Fraction(0.1)


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


def test_the_judge_catches_every_mutation() -> None:
    """A worker too many, a negative number, an unknown job and GPUs beyond the capacity are violations."""
    problem = Allocation(capacity=4, jobs=(A, B))
    mutants = [extra(A=2), extra(A=-1, B=3), extra(A=1, B=5), extra(A=1, B=4), extra(A=1, C=0), extra(B=-1)]
    assert check_judge(problem, extra(A=1, B=3), mutants) == (6, 6)


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
    ],
)
def test_malformed_jobs_give_one_line(tmp_path: Path, fields: dict[str, Any], line: str) -> None:
    """A job that breaks a rule is refused with file, field, value and rule in one line."""
    import json

    job = {"name": "B", "min_workers": 2, "max_workers": 6, "time_at_min": 60} | fields
    job = {key: value for key, value in job.items() if value is not None}
    other = {"name": "A", "min_workers": 2, "max_workers": 3, "time_at_min": 150}
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"problem": "allocation", "capacity": 4, "jobs": [job, other]}))
    with pytest.raises(InvalidInput) as caught:
        read_problem(path)
    assert str(caught.value).startswith(f"{path}: {line}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("capacity", [-1, 1.5, 10**12, True, "4"])
def test_a_capacity_is_a_count_of_gpus(capacity: Any) -> None:
    """Negative, fractional, absurd and non-numeric capacities are refused."""
    with pytest.raises(ValidationError):
        Allocation(capacity=capacity, jobs=(A,))


def test_too_many_items_are_refused() -> None:
    """More extra workers in total than memory can list are refused at once."""
    jobs = tuple(ElasticJob(name=str(i), min_workers=1, max_workers=100_000, time_at_min=1) for i in range(51))
    with pytest.raises(ValidationError, match="5,099,949 extra workers"):
        Allocation(capacity=1, jobs=jobs)


def test_files_round_trip(tmp_path: Path) -> None:
    """An instance with every kind of job is the same after writing and reading."""
    jobs = (
        A,
        changed(B, queued=True),
        ElasticJob(name="C", min_workers=1, max_workers=3, values=(0.1, -2)),
        ElasticJob(name="D", min_workers=1, max_workers=1, remaining_work=0.5),
    )
    problem = Allocation(name="x", capacity=4, jobs=jobs)
    write(problem, tmp_path / "x.json")
    assert read_problem(tmp_path / "x.json") == problem


def test_the_documented_file_is_read(tmp_path: Path) -> None:
    """Integers are fine where seconds are meant, and defaults may be written out."""
    path = tmp_path / "table-4.json"
    path.write_text(
        '{"problem": "allocation", "capacity": 4, "jobs": [{"name": "A", "min_workers": 2, "max_workers": 3, '
        '"gpus_per_worker": 1, "time_at_min": 150}]}'
    )
    assert read_problem(path) == Allocation(name="table-4", capacity=4, jobs=(A,))
    assert '"problem": "allocation"' in to_json(read_problem(path))
