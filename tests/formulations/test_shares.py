"""Exact methods for shares."""

from fractions import Fraction
from random import Random
from typing import Any, get_args

import pytest

from formulations.shares import climb as module
from formulations.shares import exact, lp, one_type, water_filling
from formulations.shares.best import BestShares
from formulations.shares.climb import climb
from formulations.shares.linear import MOST, Precise, earn, meet
from formulations.shares.needs import best_level, level_alone, needs
from formulations.shares.prices import bound, most_yield, worths
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.shares import Criterion, Shares, TypedJob
from gsopt.solvers.backends import Scip
from gsopt.solvers.standard_form import StandardForm
from heuristics.shares import progressive_filling
from instances.shares import typed_jobs
from tests.effort import cases
from tests.exactness import shares as oracle
from tests.exactness.shares import maximum
from tests.strategies.shares import alike, committed, small, tiny
from tests.unwrap import unwrap


@pytest.mark.parametrize("problem", committed(), ids=lambda problem: problem.name)
def test_proves_every_small_instance(problem: Any) -> None:
    """On every committed small instance value and bound lie around the optimum of the oracle."""
    result, best = exact(problem), oracle.optimum(problem)
    least, most = best if isinstance(best, tuple) else (best, best)
    assert result.status is Status.OPTIMAL
    assert result.bound is not None
    assert result.objective is not None
    low, high = min(result.bound, result.objective), max(result.bound, result.objective)
    assert low <= most
    assert high >= least


def test_proves_the_optimum_of_hard_numbers() -> None:
    """With numbers hard on floats every optimum is proven, and is that of the oracle to a billionth."""
    for seed in range(cases(200)):
        problem = tiny(seed)
        result, best = exact(problem), oracle.optimum(problem)
        near = best[0] if isinstance(best, tuple) else best
        assert result.status is Status.OPTIMAL, seed
        assert float(result.objective or 0) == pytest.approx(float(near), rel=2e-9, abs=0), seed


def test_the_message_says_which_technique_it_was() -> None:
    """One type needs no solver; several need linear programs; a job alone nothing."""
    assert exact(typed_jobs(types=1, seed=1)).message == "closed form"
    found = exact(typed_jobs(types=2, seed=1))
    assert (found.message, found.solver) == ("linear programs", "highs")
    assert exact(small("one-job")).message in {"isolated shares", "linear programs"}


def test_fast_gpus_go_to_whom_they_help() -> None:
    """By hand: b is on the fast GPU for 6/7 of the time and does 10/7 steps per second, and so does a."""
    result = exact(small("fast-gpus-to-whom-they-help"))
    assert result.objective == pytest.approx(0.7)
    assert unwrap(result.solution).shares["b"].get("v100", 0) == pytest.approx(6 / 7)


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_as_many_jobs_as_a_cluster_has_are_proven(criterion: Any) -> None:
    """A hundred and sixty jobs on sixty-three GPUs of three types are proven to far more than a billionth."""
    problem = next(
        each for each in committed("production") if each.criterion == criterion and len(each.jobs) == 160
    )
    result = exact(problem)
    assert result.status is Status.OPTIMAL
    assert unwrap(result.gap) < 1e-11


def test_two_techniques_agree_on_one_type() -> None:
    """Closed forms and linear programs have one value."""
    for seed in range(cases(20)):
        problem = typed_jobs(jobs=9, types=1, seed=seed)
        first, second = one_type(problem), water_filling(problem)
        assert first.status is second.status is Status.OPTIMAL
        assert first.objective == pytest.approx(second.objective, rel=2e-9)


LINEAR = [problem for problem in committed() if problem.criterion != "finish_time"]


@pytest.mark.parametrize("problem", LINEAR, ids=lambda problem: problem.name)
def test_finds_the_optimum_of_every_small_instance(problem: Shares) -> None:
    """On every small instance with a linear program the model's shares are the best, to a millionth."""
    result, best = lp(problem), oracle.optimum(problem)
    assert not isinstance(best, tuple)
    assert float(unwrap(result.objective)) == pytest.approx(float(best), rel=1e-6)
    assert not problem.sense.better(best, unwrap(result.bound))
    assert unwrap(result.gap) < 1e-5


def test_no_bound_is_beaten_with_hard_numbers() -> None:
    """With numbers that are hard on floats no bound is beaten; what is out of reach of solvers is refused."""
    refused = 0
    for seed in range(cases(300)):
        problem = tiny(seed)
        if problem.criterion == "finish_time":
            continue
        try:
            result = lp(problem)
        except Unsupported:
            refused += 1
            continue
        best = oracle.optimum(problem)
        assert not isinstance(best, tuple)
        assert result.bound is None or not problem.sense.better(best, result.bound), seed
    assert 0 < refused < cases(150)


@pytest.mark.parametrize("criterion", ["max_min", "makespan", "fifo", "max_sum"])
def test_solvers_agree(criterion: str) -> None:
    """HiGHS and SCIP find the value of the default method."""
    problem = next(each for each in committed("production") if each.criterion == criterion)
    best = float(exact(problem).objective or 0)
    for backend in (None, Scip()):
        assert float(lp(problem, backend=backend).objective or 0) == pytest.approx(best, rel=1e-6)


def test_finish_times_are_refused() -> None:
    """There is no linear program of all levels at once."""
    with pytest.raises(Unsupported, match="finish times need a linear program for each level"):
        lp(small("late-already"))


def test_the_model_has_the_size_that_it_says() -> None:
    """Columns are pairs of a job and a type on which it runs, and the level; rows are two for each job."""
    form = lp.standard_form(typed_jobs(jobs=7, types=3, seed=1))
    assert form.matrix.shape == (2 * 7 + 3, 3 * 7 + 1)


def test_needs_are_met_as_often_as_can_be() -> None:
    """Shares of jobs whose needs are met half are half of what they would take."""
    answer = unwrap(meet(alike({}, {}, gpus=1), [Fraction(1, 2), Fraction(3, 2)], Budget()))
    assert answer.factor == pytest.approx(0.5)
    assert answer.shares["b"]["v100"] == pytest.approx(0.75)


def test_needs_that_are_settled_are_met_once() -> None:
    """Whoever is settled has its need and no more, and the others what is left."""
    answer = unwrap(meet(alike({}, {}, gpus=1), [Fraction(1, 5), Fraction(1, 5)], Budget(), settled=[0]))
    assert answer.factor == pytest.approx(4)
    assert [own["v100"] for own in answer.shares.values()] == pytest.approx([0.2, 0.8])


def test_needs_next_to_nothing_are_met_a_million_times() -> None:
    """A factor that no solver could tell from infinity ends at the largest."""
    answer = unwrap(meet(small("one-job"), [Fraction(1, 10**15)], Budget()))
    assert answer.factor == pytest.approx(MOST)


def test_the_last_gpu_has_a_price() -> None:
    """The first of three jobs has the GPU, the second would pay 2 for it."""
    problem = alike({}, {}, {}, gpus=1, criterion="fifo")
    answer = unwrap(earn(problem, [3, 2, 1], Budget()))
    assert answer.shares["a"]["v100"] == pytest.approx(1)
    assert 2 <= answer.gpus["v100"] <= 3


def test_out_of_time_there_is_no_answer() -> None:
    """Without any time neither program has an answer."""
    problem, budget = typed_jobs(jobs=30, seed=1), Budget(time_limit=0.0)
    assert meet(problem, [Fraction(1)] * 30, budget) is None
    assert earn(problem, [Fraction(1)] * 30, budget) is None


def test_the_solver_is_as_precise_as_it_can_be() -> None:
    """Both tolerances are at their least."""
    form = StandardForm.build(cost=[1], matrix=[[1]], row_lower=[0], row_upper=[1])
    options = Precise().request(form, time_limit=None, gap=0.0, start=None)[1].options
    assert options["primal_feasibility_tolerance"] == options["dual_feasibility_tolerance"] == 1e-10


BY_HAND: dict[str, tuple[Shares, Fraction | int]] = {
    "the water level": (alike({"weight": 3.0}, {}, gpus=1), Fraction(1, 4)),
    "a job that always runs": (alike({}, {"gpus": 2}, gpus=8), 1),
    "all GPUs until the end": (alike({"steps": 30.0}, {"steps": 50.0}, criterion="makespan"), 80),
    "the longest job": (alike({"steps": 30.0}, {"steps": 50.0}, gpus=8, criterion="makespan"), 50),
    "whoever counts most for each GPU": (
        alike({"gpus": 4}, {}, {}, gpus=4, criterion="fifo"),
        3 + Fraction(3, 2),
    ),
    "whoever has the most steps on a GPU": (
        alike({"gpus": 4}, {"throughputs": {"v100": 3.0}}, {}, gpus=4, criterion="max_sum"),
        3 + 1 + Fraction(1, 2),
    ),
}


@pytest.mark.parametrize(("problem", "value"), BY_HAND.values(), ids=BY_HAND.keys())
def test_levels_by_hand(problem: Shares, value: Fraction | int) -> None:
    """Each closed form gives the level that is worked out by hand, and proves exactly that."""
    result = one_type(problem)
    assert result.status is Status.OPTIMAL
    assert result.bound == value
    assert result.objective == pytest.approx(float(value), rel=1e-14)


@pytest.mark.parametrize("gpus", [{"v100": 2}, {"v100": 1, "k80": 1}], ids=str)
def test_jobs_that_count_alike_run_alike(gpus: dict[str, int]) -> None:
    """In a sum of steps, equal jobs have equal shares on one type of GPU and on two."""
    speeds = {kind: {"v100": 3.0, "k80": 1.0}[kind] for kind in gpus}
    jobs = [TypedJob(name=name, throughputs=speeds) for name in "abc"]
    result = exact(Shares(gpus=gpus, jobs=jobs, criterion="max_sum"))
    shares = unwrap(result.solution).shares
    assert result.status is Status.OPTIMAL
    assert shares["a"] == pytest.approx({kind: count / 3 for kind, count in gpus.items()})
    assert shares["a"] == shares["b"] == shares["c"]


def test_the_root_of_finish_times() -> None:
    """Two jobs of 100 s, one of which has waited for 100 s, share a GPU.

    Alone each would take 200 s. At the level r they need 1 / (2 r - 1) and 1 / (2 r) of the time: together 1
    where 4 r r - 6 r + 1 = 0.
    """
    result = one_type(alike({"steps": 100.0, "age": 100.0}, {"steps": 100.0}, criterion="finish_time"))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx((6 + 20**0.5) / 8, rel=1e-13)


def test_nothing_is_left_over() -> None:
    """Unless a job runs all the time, all GPUs are used, to the fifteenth digit; both happen."""
    full = 0
    for seed in range(10):
        problem = typed_jobs(jobs=8, types=1, criterion="finish_time", seed=seed)
        solution = unwrap(one_type(problem).solution)
        always = max(own["v100"] for own in solution.shares.values()) > 1 - 1e-14
        used_up = problem.measures(solution)["idle_gpus"] < 1e-12
        assert always or used_up
        full += used_up
    assert 0 < full < 10


def test_several_types_are_refused() -> None:
    """Where types differ there is no closed form."""
    with pytest.raises(Unsupported, match="one_type divides GPUs of one type, but there are 2 types"):
        one_type(small("one-job"))


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
        solution = unwrap(water_filling(problem).solution)
        levels = [Fraction(level) for level in problem.levels(solution)]
        for place, level in enumerate(levels):
            assert most(problem, levels, place) <= float(level) * (1 + 1e-6), (seed, place)


def test_the_worst_level_is_the_best_possible() -> None:
    """The value is that of the first level alone, proven alike, and the levels above it are no lower."""
    problem = typed_jobs(jobs=30, seed=5)
    first, all_levels = exact(problem), water_filling(problem)
    assert all_levels.status is Status.OPTIMAL
    assert all_levels.objective == pytest.approx(first.objective, rel=2e-9)
    assert sum(problem.levels(unwrap(all_levels.solution))) > sum(problem.levels(unwrap(first.solution)))


def test_whoever_cannot_have_more_stays_behind() -> None:
    """By hand: the job that always runs has the level 1, the larger one all that is left."""
    problem = alike({}, {"gpus": 4}, gpus=4)
    solution = unwrap(water_filling(problem).solution)
    assert [float(level) for level in problem.levels(solution)] == pytest.approx([1, 3])


def test_levels_may_be_a_billion_times_apart() -> None:
    """On two GPUs both jobs always run, though one counts a billion times as much."""
    solution = unwrap(water_filling(alike({"weight": 1e9}, {}, gpus=2)).solution)
    assert [own["v100"] for own in solution.shares.values()] == pytest.approx([1, 1])


def test_other_criteria_are_refused() -> None:
    """Only levels of throughputs are filled."""
    with pytest.raises(Unsupported, match="the criterion is makespan"):
        water_filling(small("fast-gpus-to-whom-they-help"))


def test_it_begins_with_isolated_shares_and_every_job_alone() -> None:
    """Shares and bound are those that cost next to nothing."""
    for criterion in get_args(Criterion):
        problem = typed_jobs(criterion=criterion, seed=2)
        best = BestShares(problem, Budget(), "best")
        assert best.solution == problem.fitted(problem.isolated_shares)
        assert best.bound == level_alone(problem)


def test_a_better_start_is_kept() -> None:
    """A start that is better than isolated shares is what is known."""
    problem = typed_jobs(seed=2)
    start = progressive_filling(problem)
    assert BestShares(problem, Budget(start=start.solution), "best").value == start.objective


@pytest.mark.parametrize(
    ("criterion", "most"), [("max_min", 2), ("makespan", 2), ("fifo", 1), ("max_sum", 1), ("finish_time", 8)]
)
def test_few_programs_are_solved(criterion: Criterion, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where needs are multiples of each other the first level is enough, and finish times need a few."""
    levels: list[Exact] = []
    step = module._step  # noqa: SLF001 - counted

    def counted(best: BestShares, level: Exact) -> bool:
        levels.append(level)
        return step(best, level)

    monkeypatch.setattr(module, "_step", counted)
    best = BestShares(typed_jobs(jobs=30, criterion=criterion, seed=4), Budget(), "climb")
    climb(best)

    assert best.finished is StoppedBy.FINISHED
    assert 1 <= len(levels) <= most


def test_without_time_nothing_is_better() -> None:
    """Out of time the shares and the bound stay as they were."""
    best = BestShares(typed_jobs(jobs=30, seed=4), Budget(time_limit=0.0), "climb")
    before = best.value, best.bound
    climb(best)
    assert (best.value, best.bound) == before


def test_whoever_has_what_it_needs_has_the_level() -> None:
    """With throughputs as needed, every job is exactly at the level, whatever counts."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        if problem.is_sum:
            continue
        level = Fraction(level_alone(problem)) * (
            Fraction(2, 3) if problem.sense is Sense.MAXIMIZE else Fraction(3, 2)
        )
        for place, (job, need) in enumerate(zip(problem.jobs, needs(problem, level), strict=True)):
            assert problem.level(place, job, Fraction(need)) == level, seed


def test_nothing_is_better_than_alone() -> None:
    """Of jobs that have all GPUs to themselves the worst is no better off with others."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        best = oracle.optimum(problem)
        least = best[1] if isinstance(best, tuple) else best
        assert not problem.sense.better(least, level_alone(problem)), seed


def test_the_root_is_approached_from_below() -> None:
    """The needs 1 / (2 r - 1) and 1 / (2 r) cost 1 at the root of 4 r r - 6 r + 1, just above the level."""
    problem = alike({"steps": 100.0, "age": 100.0}, {"steps": 100.0}, criterion="finish_time")
    level = Fraction(best_level(problem, [1, 1], 1, level_alone(problem)))
    assert float(level) == pytest.approx((6 + 20**0.5) / 8, rel=1e-15)
    assert 4 * level * level - 6 * level + 1 <= 0


def test_prices_of_nothing_say_nothing() -> None:
    """Without a price the known level is kept."""
    for criterion in ("max_min", "finish_time", "makespan"):
        problem = alike({}, {}, criterion=criterion)
        assert best_level(problem, [0, 0], 1, 7) == 7


def test_no_prices_are_beaten() -> None:
    """On random instances no shares are better than the bound of prices that are drawn."""
    for seed in range(cases(100)):
        problem, random = tiny(seed), Random(seed)
        fastest = [max(problem.rates[job.name].values()) for job in problem.jobs]
        jobs = [Fraction(random.randint(0, 3)) / rate for rate in fastest]
        gpus = {kind: Fraction(random.randint(0, 9), random.randint(1, 9)) for kind in problem.gpus}
        paid = worths(problem) if problem.is_sum else jobs
        best = oracle.optimum(problem)
        least, most = best if isinstance(best, tuple) else (best, best)
        value = most if problem.sense is Sense.MINIMIZE else least
        assert not problem.sense.better(value, bound(problem, paid, gpus, level_alone(problem))), seed


def test_a_job_takes_its_best_type_or_none() -> None:
    """What is left of a job's time at prices is what it earns on its best type, and never below 0."""
    problem = alike({}, {"gpus": 2}, gpus=2)
    assert most_yield(problem, [1, 1], {"v100": 0}) == 2
    assert most_yield(problem, [1, 1], {"v100": Fraction(1, 2)}) == 1 + Fraction(1, 2)
    assert most_yield(problem, [1, 1], {"v100": 5}) == 10


def test_steps_are_worth_what_they_cost() -> None:
    """A job without a price has the one of its GPUs, which is what makes the bound the water level."""
    assert bound(alike({}, {}, {}, gpus=2), [0, 0, 0], {"v100": 1}, 1) == Fraction(2, 3)
