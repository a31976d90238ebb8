"""The generator of colocation, instances of measured pairs, and the suites."""

from pathlib import Path

from formulations.colocation import exact
from gsopt.core.result import Status
from gsopt.scenario.job import Job
from heuristics.colocation import bsbf, first_fit
from instances.colocation import full_cluster
from instances.colocation.real import complete, measured
from instances.interference import gavel
from tests.instances.interference.samples import HEAVY, LIGHT, ODD, gavel_file
from tests.strategies.colocation import committed


def test_seconds_and_slowdowns_are_within_their_limits() -> None:
    """Seconds lie between the shortest and the longest, slowdowns between 1 and the worst."""
    problem = full_cluster(running=200, pending=200, worst=1.5, shortest=10, longest=1000, seed=1)
    seconds = [job.seconds for job in problem.running] + [job.seconds for job in problem.pending]
    slowdowns = [each for row in problem.interference.values() for each in row.values()]
    assert 10 <= min(seconds) < 20
    assert 500 < max(seconds) <= 1000
    assert 1 <= min(slowdowns) < 1.2
    assert 1.3 < max(slowdowns) <= 1.5
    assert len(slowdowns) == 36


def test_smaller_sub_batches_are_slower_and_need_less_memory() -> None:
    """Halving the batch again and again takes more seconds and fewer bytes; none is larger than the whole."""
    for job in full_cluster(pending=50, modes=5, seed=2).pending:
        slowdowns, memories = [mode.slowdown for mode in job.modes], [mode.memory for mode in job.modes]
        assert [mode.name for mode in job.modes] == ["16", "8", "4", "2", "1"]
        assert slowdowns[0] >= 1
        assert slowdowns == sorted(slowdowns)
        assert [job.memory, *memories] == sorted([job.memory, *memories], reverse=True)


JOBS = [Job(name=f"j{k}", release_date=k, duration=100.0 + k, gpus=1 + k % 2) for k in range(8)]


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


def test_the_small_suite_tells_methods_apart() -> None:
    """BSBF misses the optimum of at least three small instances, and first fit of more."""
    small = [problem for problem in committed() if problem.about is not None]
    best = [problem.about.objective for problem in small if problem.about is not None]
    missed = {
        method.__name__: sum(
            float(method(problem).objective or 0) < float(value or 0)
            for problem, value in zip(small, best, strict=True)
        )
        for method in (bsbf, first_fit)
    }
    assert 3 <= missed["bsbf"] <= missed["first_fit"]
