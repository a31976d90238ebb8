"""The time-indexed relaxation: a bound, and the optimum only where GPUs are found for its schedule."""

from dataclasses import replace
from fractions import Fraction

from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.intervals import intervals
from formulations.waiting.time_indexed import model_of, solve_relaxation, time_indexed
from gsopt.core.budget import Budget
from gsopt.core.result import Status
from gsopt.problems.waiting import CellShare, Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import LARGEST_BIG_M
from instances.waiting import tier_jobs


def test_what_no_gpus_are_found_for_is_a_bound_only() -> None:
    """Five jobs whose relaxation has a mean of 10.2 s need 10.6 s: the relaxation is not called exact."""
    problem = tier_jobs(jobs=5, seed=21, most=1.5)
    relaxed, exact = time_indexed(problem), intervals(problem)

    assert (relaxed.status, relaxed.bound) == (Status.FEASIBLE, Fraction(51, 5))
    assert relaxed.message == "the relaxation is a bound only: no GPUs were found for its schedule"
    assert (exact.status, exact.objective) == (Status.OPTIMAL, Fraction(53, 5))


def test_gpus_found_for_its_schedule_make_it_exact() -> None:
    """From the worst list, the relaxation's schedule is the better one, and optimal once GPUs are found."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=2) for n, d in [("a", 1), ("b", 2), ("c", 3)]]
    problem = Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=2), jobs=jobs)
    best = Best(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(2, {0: 2}), CellShare(1, {0: 2}), CellShare(0, {0: 2})]))

    message = solve_relaxation(best)

    assert message == "exact: GPUs were found for the schedule of the relaxation"
    assert best.value == best.bound == Fraction(1 + 2 + 4, 3)


def test_columns_left_out_by_their_reduced_costs_were_needless() -> None:
    """With and without the columns that no better schedule has, the relaxation's optimum is the same."""
    problem = tier_jobs(jobs=4, seed=1, most=2)
    best = Best(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(job, _anywhere(problem, job)) for job in range(4)]))
    whole = Highs().solve(model_of(best).form())
    solve_relaxation(best)

    assert whole.objective is not None
    assert best.bound >= Fraction(whole.objective).limit_denominator(10**6)


def _anywhere(problem: Waiting, job: int) -> dict[int, int]:
    """Return GPUs of the first cells."""
    need, counts = problem.jobs[job].gpus, {}
    for cell, gpus in enumerate(problem.cells):
        if need:
            counts[cell] = min(need, len(gpus))
            need -= counts[cell]
    return counts


def test_without_time_there_is_a_list_and_a_bound() -> None:
    """A budget that has passed leaves a schedule and a bound all the same."""
    result = time_indexed(tier_jobs(jobs=8, seed=0), time_limit=0.0)

    assert result.status is Status.FEASIBLE
    assert result.bound is not None
    assert result.bound > 0


def test_a_wanted_gap_ends_it() -> None:
    """With any gap allowed the simple bound suffices."""
    result = time_indexed(tier_jobs(jobs=8, seed=0), budget=replace(Budget(), gap=9.0))

    assert (result.status, result.stopped_by) == (Status.FEASIBLE, "gap")


def test_slots_are_long_enough_for_rows_of_the_makespan() -> None:
    """Two nanoseconds thirty years apart take next to no entries, and no more slots than rows may count."""
    jobs = [Job(name=str(r), release_date=r, duration=1e-9, gpus=1) for r in (0, 1e9)]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=1), jobs=jobs, minimize="makespan")
    best = Best(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(0, {0: 1}), CellShare(1, {0: 1})]))
    model = model_of(best)

    assert model.instance.lengths[0][0] == 0
    assert 10_000 < model.horizon <= LARGEST_BIG_M
