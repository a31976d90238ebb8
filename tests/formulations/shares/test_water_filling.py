"""All levels, not the worst alone."""

from fractions import Fraction

import pytest

from formulations.shares import exact, water_filling
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.shares import Shares
from instances.shares import typed_jobs
from tests.effort import cases
from tests.exactness.shares import maximum
from tests.strategies.shares import alike, small


def most(problem: Shares, levels: list[Fraction], place: int) -> float:
    """Find the most that a job's level can be while no job at or below its own has less, by the simplex method.

    Columns are shares; what others must keep is a row of its own with a slack that is wanted before all else.
    """
    columns = [(job, kind) for job, each in enumerate(problem.jobs) for kind in problem.rates[each.name]]
    factor = {
        (job, kind): each.gpus * Fraction(rate) / (Fraction(each.weight) * problem.proportional[each.name])
        for job, each in enumerate(problem.jobs)
        for kind, rate in problem.rates[each.name].items()
    }
    kept = [
        job
        for job in range(len(levels))
        if job != place and levels[job] <= levels[place] * (1 + Fraction(1, 10**6))
    ]
    rows = [[Fraction(job == row) for job, _ in columns] for row in range(len(levels))]
    rows += [
        [Fraction(problem.jobs[job].gpus * (own == kind)) for job, own in columns] for kind in problem.gpus
    ]
    right = [Fraction(1)] * len(levels) + [Fraction(count) for count in problem.gpus.values()]
    rows = [[*row, *[Fraction(0)] * len(kept)] for row in rows]
    for index, other in enumerate(kept):  # a column as high as the level, but no higher
        own = [-factor[column] if column[0] == other else Fraction(0) for column in columns]
        rows.append([*own, *(Fraction(each == index) for each in range(len(kept)))])
        rows.append([*[Fraction(0)] * len(columns), *(Fraction(each == index) for each in range(len(kept)))])
        right += [Fraction(0), levels[other] * (1 - Fraction(1, 10**9))]
    wanted = Fraction(10**6)
    worth = [factor[column] if column[0] == place else Fraction(0) for column in columns]
    best = maximum(rows, right, [*worth, *[wanted] * len(kept)])
    return float(best - wanted * sum(levels[job] * (1 - Fraction(1, 10**9)) for job in kept))


def test_no_level_can_be_raised_at_the_cost_of_higher_ones_only() -> None:
    """No job can have more while none at or below its level has less: the definition of max-min fairness."""
    for seed in range(cases(40)):
        problem = typed_jobs(jobs=4, types=1 + seed % 3, seed=seed)
        solution = water_filling(problem).solution
        assert solution is not None
        levels = [Fraction(level) for level in problem.levels(solution)]
        for place, level in enumerate(levels):
            assert most(problem, levels, place) <= float(level) * (1 + 1e-6), (seed, place)


def test_the_worst_level_is_the_best_possible() -> None:
    """The value is that of the first level alone, proven alike, and the levels above it are no lower."""
    problem = typed_jobs(jobs=30, seed=5)
    first, all_levels = exact(problem), water_filling(problem)
    assert all_levels.status is Status.OPTIMAL
    assert all_levels.objective == pytest.approx(first.objective, rel=2e-9)
    assert first.solution is not None
    assert all_levels.solution is not None
    assert sum(problem.levels(all_levels.solution)) > sum(problem.levels(first.solution))


def test_whoever_cannot_have_more_stays_behind() -> None:
    """By hand: the job that always runs has the level 1, the larger one all that is left."""
    problem = alike({}, {"gpus": 4}, gpus=4)
    solution = water_filling(problem).solution
    assert solution is not None
    assert [float(level) for level in problem.levels(solution)] == pytest.approx([1, 3])


def test_levels_may_be_a_billion_times_apart() -> None:
    """On two GPUs both jobs always run, though one counts a billion times as much."""
    solution = water_filling(alike({"weight": 1e9}, {}, gpus=2)).solution
    assert solution is not None
    assert [own["v100"] for own in solution.shares.values()] == pytest.approx([1, 1])


def test_other_criteria_are_refused() -> None:
    """Only levels of throughputs are filled."""
    with pytest.raises(Unsupported, match="the criterion is makespan"):
        water_filling(small("fast-gpus-to-whom-they-help"))
