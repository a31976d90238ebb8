"""The time-indexed relaxation: a bound, and the optimum only where GPUs are found for its schedule."""

from dataclasses import replace
from fractions import Fraction

from formulations.waiting.best import Best
from formulations.waiting.instance import Choice, Instance
from formulations.waiting.intervals import intervals
from formulations.waiting.latest import latest_ends
from formulations.waiting.relaxation import Relaxation
from formulations.waiting.split import find_conflict
from formulations.waiting.time_indexed import model_of, solve_relaxation, time_indexed
from gsopt.backends import Highs
from gsopt.budget import Budget
from gsopt.cluster import Cluster
from gsopt.job import Job
from gsopt.problems.waiting import Share, Waiting
from gsopt.result import Status
from gsopt.scaling import optimize
from instances.waiting import tier_jobs


def test_what_no_gpus_are_found_for_is_a_bound_only() -> None:
    """Six jobs whose relaxation has a mean of 21 s need 127 / 6 s: the relaxation is not called exact."""
    problem = tier_jobs(jobs=6, seed=0)
    relaxed, exact = time_indexed(problem), intervals(problem)

    assert (relaxed.status, relaxed.bound) == (Status.FEASIBLE, 21)
    assert relaxed.message == "the relaxation is a bound only: no GPUs were found for its schedule"
    assert (exact.status, exact.objective) == (Status.OPTIMAL, Fraction(127, 6))


def test_a_conflict_is_a_row_that_the_schedule_breaks() -> None:
    """Three jobs of three GPUs that start together on four: the row forbids two of them, and no list."""
    jobs = [Job(name=n, release_date=0, duration=10, gpus=3) for n in "abc"]
    instance = Instance.of(Waiting(cluster=Cluster.uniform(machines=2, gpus=2), jobs=jobs))
    model = Relaxation(instance, latest_ends(instance, 20))
    together = [Choice(0, 2), Choice(1, 2), Choice(0, 2)]
    conflict = find_conflict(instance, together, Budget())
    assert conflict == [0, 2]
    form = model.without(model.form(), together, conflict)
    one_by_one = [Choice(0, 2), Choice(1, 2), Choice(2, 2)]

    assert form.rows[-1].startswith("conflict")
    assert (form.matrix @ model.point(together))[-1] == 2
    assert form.violation(model.point(one_by_one)) == 0


def test_gpus_found_for_its_schedule_make_it_exact() -> None:
    """From the worst list, the relaxation's schedule is the better one, and optimal once GPUs are found."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=2) for n, d in [("a", 1), ("b", 2), ("c", 3)]]
    problem = Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=2), jobs=jobs)
    best = Best(Instance.of(problem), Budget(), "test")
    best.take(problem.started([Share(2, {0: 2}), Share(1, {0: 2}), Share(0, {0: 2})]))

    message = solve_relaxation(best)

    assert message == "exact: GPUs were found for the schedule of the relaxation"
    assert best.value == best.bound == Fraction(1 + 2 + 4, 3)


def test_a_horizon_from_the_makespan_loses_the_optimum() -> None:
    """Jobs of 1, 1, 1 and 3 s on 2 GPUs end by 3 s at best, and by 4 s when their mean is best."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in zip("abcd", (1, 1, 1, 3), strict=True)]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    makespan = intervals(Waiting(cluster=problem.cluster, jobs=jobs, minimize="makespan"))
    assert makespan.objective == 3
    instance = Instance.of(problem)

    def best_until(latest: list[Fraction]) -> Fraction:
        model = Relaxation(instance, latest)
        proof = optimize(model.form(), Budget(), costs=model.costs)
        assert proof.status is Status.OPTIMAL
        assert proof.bound is not None
        return Fraction(proof.bound)

    trapped = best_until([Fraction(3)] * 4)
    valid = best_until([Fraction(end) for end in latest_ends(instance, trapped)])

    assert (trapped, valid) == (Fraction(9, 4), Fraction(2))
    assert time_indexed(problem).objective == intervals(problem).objective == 2


def test_times_that_are_no_slots_give_a_bound_that_holds() -> None:
    """On longer slots times are rounded down: the bound is below the optimum, and near it."""
    problem = tier_jobs(jobs=5, seed=3)
    exact = intervals(problem)
    best = Best(Instance.of(problem), Budget(start=exact.solution), "test")
    assert best.value is not None
    latest = latest_ends(best.instance, best.value)
    bounds = []
    for factor in (1, 2, 4):
        model = Relaxation(best.instance.coarser(factor), latest)
        assert model.instance.is_exact == (factor == 1)
        start = model.point(model.instance.choices(best.known))
        assert model.form().violation(start) == 0
        bounds.append(optimize(model.form(), Budget(), costs=model.costs, start=start).bound)

    assert all(bound is not None and bound <= best.value for bound in bounds)
    assert bounds == sorted(bounds, key=lambda bound: -(bound or 0))
    assert bounds[2] is not None
    assert bounds[2] > 0.7 * best.value


def test_columns_left_out_by_their_reduced_costs_were_needless() -> None:
    """With and without the columns that no better schedule has, the relaxation's optimum is the same."""
    for seed in range(2):
        problem = tier_jobs(jobs=4, seed=seed, most=2)
        best = Best(Instance.of(problem), Budget(), "test")
        best.take(problem.started([Share(job, _anywhere(problem, job)) for job in range(4)]))
        model = model_of(best)
        whole = Highs().solve(model.form())
        solve_relaxation(best)
        assert whole.objective is not None
        assert best.bound >= Fraction(whole.objective).limit_denominator(10**6)


def _anywhere(problem: Waiting, job: int) -> dict[int, int]:
    """Give GPUs of the first cells."""
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
