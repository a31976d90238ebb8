"""Instances of measured pairs."""

from pathlib import Path

from formulations.colocation import exact
from gsopt.core.result import Status
from gsopt.scenario.job import Job
from instances.colocation.real import complete, from_data, measured
from instances.interference import gavel
from tests.instances.interference.samples import HEAVY, LIGHT, ODD, gavel_file

JOBS = [Job(name=f"j{k}", release_date=k, duration=100.0 + k, gpus=1 + k % 2) for k in range(8)]


def test_nothing_without_the_data(tmp_path: Path) -> None:
    """A folder without measured pairs gives no instances."""
    assert list(from_data(tmp_path)) == []


def test_configurations_with_pairs_that_did_not_run_are_left_out(tmp_path: Path) -> None:
    """What did not run beside itself is no model of any job; what is left has every slowdown as measured."""
    table = gavel(gavel_file(tmp_path)).table
    assert set(complete(table)) == {LIGHT, ODD}
    problem = measured(table, JOBS)
    assert HEAVY not in {job.model for job in problem.running} | {job.model for job in problem.pending}
    assert problem.interference[LIGHT] == {LIGHT: 1.25, ODD: 1.0}
    assert problem.interference[ODD][ODD] == 1.6


def test_the_first_half_runs_and_the_others_wait(tmp_path: Path) -> None:
    """Running jobs have less left than they take, waiting ones all of it, and the optimum is proven."""
    problem = measured(gavel(gavel_file(tmp_path)).table, JOBS)
    assert [job.name for job in problem.pending] == ["j4", "j5", "j6", "j7"]
    assert [job.seconds for job in problem.pending] == [104, 105, 106, 107]
    assert all(job.seconds < whole.duration for job, whole in zip(problem.running, JOBS, strict=False))
    assert problem == measured(gavel(gavel_file(tmp_path)).table, JOBS)
    assert exact(problem).status is Status.OPTIMAL
