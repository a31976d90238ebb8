"""``gsopt judge``: anybody's CSV from the command line."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from gsopt.scenario.job import Job, Workload
from tests.commands import gsopt, refused

RUNS = """job_id,from,to,num_gpus
1,2024-05-01 12:00,2024-05-01 13:00,2.0
2,2024-05-01 13:00,2024-05-01 13:30,1
"""
JOBS = """id,submitted,hours,num_gpus,user
1,2024-05-01 12:00,1,2.0,ann
2,2024-05-01 12:30,0.5,1,bob
"""
RUN_COLUMNS = [f"--column={column}" for column in ("job_id=job", "from=start", "to=end", "num_gpus=gpus")]
_NAMES = ("id=name", "submitted=release_date", "hours=duration", "num_gpus=gpus")
JOB_COLUMNS = [f"--trace-column={column}" for column in _NAMES]
PROBLEM = ("--problem", "scheduling/small/ares-figure-4")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return a schedule and its jobs as somebody wrote them."""
    runs, jobs = tmp_path / "runs.csv", tmp_path / "jobs.csv"
    runs.write_text(RUNS)
    jobs.write_text(JOBS)
    return runs, jobs


def test_a_foreign_schedule_of_foreign_jobs(files: tuple[Path, Path]) -> None:
    """Names, units and timestamps are theirs; violations, figures, bound and gap are ours."""
    runs, jobs = files
    clock = ["--time-unit", "h", "--origin", "2024-05-01 12:00"]
    given = ["--trace", str(jobs), *RUN_COLUMNS, *JOB_COLUMNS, *clock]
    found = json.loads(gsopt("judge", runs, *given, "--gpus", "2", "--json").stdout)
    assert (found["legal"], found["violations"], found["mean_jct"]) == (True, [], 3600)
    assert (found["makespan"], found["completed"], found["lower_bound"]) == (5400, 2, 3150)
    shown = gsopt("judge", runs, *given, "--gpus", "2")
    assert shown.returncode == Exit.SOLUTION
    assert "legal, 2 of 2 jobs complete" in shown.stdout
    assert "52.5" in shown.stdout


def test_a_broken_schedule_fails(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Rules that are broken are printed, and the exit code says so."""
    runs, _ = files
    jobs = [
        Job(name="1", release_date=0, duration=3600, gpus=2),
        Job(name="2", release_date=5400, duration=1800, gpus=1),
    ]
    path = tmp_path / "workload.json"
    write(Workload(jobs=jobs), path)
    given = ["--trace", str(path), "--gpus", "2", *RUN_COLUMNS, "--origin", "2024-05-01 12:00"]
    run = gsopt("judge", runs, *given)
    assert run.returncode == Exit.FAILED
    assert "violation: segments[1]: job '2' starts at 3600.0, before its release at 5400.0" in run.stdout


def test_schedules_of_an_instance(tmp_path: Path) -> None:
    """A schedule that a policy made is judged against the instance by name, and against its promise."""
    path = tmp_path / "runs.csv"
    path.write_text("job,start,end,gpus\njob 1,0,3,4\njob 2,0,2,2\njob 2,3,5.5,2\njob 2,5.5,8,6\n")
    run = gsopt("judge", path, *PROBLEM, "--json")
    assert run.returncode == Exit.FAILED
    assert any("'job 3' does not complete" in line for line in json.loads(run.stdout)["violations"])
    promised = gsopt("judge", path, *PROBLEM, "--no-preemption", "--json")
    assert "job 'job 2' is preempted at 2.0" in json.loads(promised.stdout)["violations"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--trace: give either a trace, or a scheduling instance by --problem"),
        (["--problem", "reclaiming/aryl-figure-5"], "--problem: 'reclaiming/aryl-figure-5': must be an"),
        ([*PROBLEM, "--trace", "a"], "--trace: 'a': must not be given"),
        (["--trace", "{jobs}"], "--gpus: give either the number of GPUs or a cluster"),
        (["--trace", "{jobs}", "--gpus", "2", *JOB_COLUMNS], "columns: job: must be one of the columns,"),
        (["--trace", "{jobs}", "--gpus", "2"], "jobs.csv: columns: name: must be one of the columns, which"),
        ([*PROBLEM, "--column", "job"], "--columns: 'job': must be"),
        ([*PROBLEM, "--time-unit", "y"], "--time-unit: 'y': must be one"),
    ],
)
def test_bad_arguments_are_one_line(files: tuple[Path, Path], arguments: list[str], message: str) -> None:
    """What is missing or no column gives one line and exit code 2."""
    runs, jobs = files
    hours = ["--time-unit", "h"] if JOB_COLUMNS[0] in arguments else []
    assert message in refused("judge", runs, *(each.format(jobs=jobs) for each in arguments), *hours)
