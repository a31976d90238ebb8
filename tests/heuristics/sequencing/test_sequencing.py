"""The heuristics of sequencing."""

from formulations.sequencing import exact
from gsopt.testing import check_heuristic
from heuristics.sequencing import earliest_end, free_machines
from instances.sequencing import unit_jobs
from tests.heuristics.results import solved
from tests.strategies.sequencing import alike, committed, small


def test_jobs_go_where_they_end_first() -> None:
    """By hand: the short ones take a machine each, the long one waits for the machine that is free first."""
    solution = solved(earliest_end(alike(5, 2, 1, machines=2)))
    assert solution.order == {"m0": ("c", "a"), "m1": ("b",)}


def test_a_slow_machine_that_is_free_may_be_later() -> None:
    """A job waits for the fast GPU where it ends earlier there."""
    solution = solved(earliest_end(small("waiting-for-the-fast-gpu")))
    assert solution.order == {"m0": ("a",)}


def test_is_the_optimum_where_all_machines_are_free() -> None:
    """Where no machine is busy nothing is lost, also where all are busy equally long."""
    problem = unit_jobs(jobs=30, seed=4)
    assert free_machines(problem).objective == exact(problem).objective
    assert free_machines(alike(3, 1, available=9.0)).objective == 10 + 13


def test_busy_machines_run_nothing() -> None:
    """Jobs wait for the slow machine that is free, though the fast one is free in a moment."""
    solution = solved(free_machines(small("waiting-for-the-fast-gpu")))
    assert solution.order == {"m1": ("a",)}


def test_a_job_that_runs_on_no_free_machine_has_no_order() -> None:
    """Where a job needs a machine that is busy no solution is claimed."""
    problem = alike(1.0, machines=2)
    busy = problem.machines[0].model_copy(update={"available": 4.0})
    other = problem.machines[1].model_copy(update={"gpu_type": "k80"})
    result = free_machines(problem.model_copy(update={"machines": (busy, other)}))
    assert (result.solution, result.message) == (None, "'a' runs on no machine that is free first")


def test_neither_is_better_than_the_optimum() -> None:
    """On instances of up to four jobs the orders keep all rules, and are no better than the optimum."""
    tiny = [problem for problem in committed() if len(problem.jobs) <= 4]
    check_heuristic(earliest_end, tiny)
    check_heuristic(free_machines, [problem for problem in tiny if free_machines(problem).solution])
