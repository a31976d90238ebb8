"""Exact methods for batching."""

import sys
from fractions import Fraction
from importlib import import_module
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.batching import dp, exact, greedy, milp, rows
from formulations.batching.beginning import begin, bound_alone, first_division
from formulations.batching.case import BatchingCase
from formulations.batching.dp import fill
from formulations.batching.greedy import hull, walk_hulls
from formulations.batching.proof import CostTables, optimal_counts
from formulations.batching.rows import CostRows, filled_table
from gsopt.core.budget import Budget
from gsopt.core.enumeration import brute_force
from gsopt.core.errors import TimeUp, Unsupported
from gsopt.core.numbers.grid import Exact
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy, plain, same
from gsopt.performance.batching import BatchingJob, Rate, StepTime, Tabulated
from gsopt.performance.batching.split import least_costs, read_back
from gsopt.problems.batching import Batches, Batching, Grant
from gsopt.solvers.backends import CpSat, Highs
from instances.batching import elastic_jobs
from instances.suites import changed
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.processes import PATIENCE
from tests.strategies.batching import CRITERIA, committed, drawn_costs, small, tiny
from tests.unwrap import unwrap


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    problems = committed()
    for problem in problems:
        result = exact(problem)
        assert (result.status, plain(result.objective)) == (Status.OPTIMAL, unwrap(problem.about).objective)
    assert len(problems) > 20


def test_the_printed_goal_runs_a_single_job() -> None:
    """By Equations 3 and 4 one job has all GPUs, and where all are forced each has some."""
    for name, running in (("printed-goal-runs-one-job", 1), ("printed-goal-all-forced", 3)):
        solution = unwrap(exact(small(name)).solution)
        assert len(solution.running) == running


def test_proves_the_optimum_of_hard_numbers() -> None:
    """On 300 instances the optimum of the oracle is proven, by either technique."""
    messages = set()
    for seed in range(cases(300)):
        problem = tiny(2000 + seed)
        result = exact(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed
        messages.add(result.message)
    assert messages >= {"greedy", "dp"}


def test_tables_that_are_too_large_leave_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tables do not fit the greedy steps and their bound are returned, and why."""
    monkeypatch.setattr(import_module("formulations.batching.rows"), "LARGEST_TABLE", 10)
    result = exact(elastic_jobs(gpus=64, jobs=60, seed=1))
    assert result.status is Status.FEASIBLE
    assert result.message.endswith("a table of 60 jobs by 64 GPUs is too large")


def test_dp_proves_the_optimum_of_hard_numbers() -> None:
    """On 1,000 instances with numbers that are hard on floats the optimum is proven that the oracle finds."""
    for seed in range(cases(1000)):
        problem = tiny(seed)
        result = dp(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed


def test_judging_every_decision_finds_nothing_better() -> None:
    """On instances of few options the optimum is that of brute force by the judge."""
    checked = 0
    for seed in range(cases(300)):
        problem = tiny(5000 + seed)
        if sum(len(counts) for counts in problem.counts) <= 5:
            found = unwrap(brute_force(problem))
            assert dp(problem).objective == found[0], seed
            checked += 1
    assert checked > cases(300) / 4


def test_an_integer_program_finds_the_same() -> None:
    """On 12 GPUs and 6 jobs HiGHS finds the same exact number, and proves it where numbers allow it."""
    for criterion in CRITERIA[:2]:
        problem = elastic_jobs(gpus=12, jobs=6, criterion=criterion, reconfiguration=0.001, seed=3)
        mine, other = dp(problem), milp(problem)
        assert mine.status is Status.OPTIMAL
        assert mine.objective == other.objective, criterion
        assert unwrap(other.gap) < SUM
        assert (other.status is Status.OPTIMAL) == (criterion != "rate")  # whose costs have no step


def test_equal_jobs_are_proven() -> None:
    """Of thirty jobs that are alike any may have more GPUs than others; the value is proven."""
    model = StepTime(fixed=0.01, per_sample=0.001)
    jobs = [
        BatchingJob(name=f"j{k}", batch_limit=500, local_limit=100, throughput=model, remaining=1e5)
        for k in range(30)
    ]
    result = dp(Batching(gpus=77, jobs=jobs, criterion="rate"))
    assert (result.status, result.message) == (Status.OPTIMAL, "dp")


def test_last_digits_are_told_apart() -> None:
    """Of two jobs that differ in the last digit of doubles the better one has the only GPU."""
    model = StepTime(fixed=1, per_sample=1)
    left = (1e14, 1e14 + 2**-6)
    jobs = [
        BatchingJob(name=f"j{k}", batch_limit=1, local_limit=1, throughput=model, remaining=each)
        for k, each in enumerate(left)
    ]
    for order, better in ((jobs, "j0"), (jobs[::-1], "j0")):
        result = dp(Batching(gpus=1, jobs=order, criterion="rate", forced="none"))
        assert list(unwrap(result.solution).running) == [better]
        assert result.status is Status.OPTIMAL


def test_without_time_what_is_known_is_kept() -> None:
    """Where time is over before the tables are full the first division stays, with its bound."""
    problem = elastic_jobs(gpus=64, jobs=60, seed=1)
    case, late = BatchingCase.of(problem), Budget(time_limit=0.0)
    first, ended = begin(case, Budget(), "dp")
    assert not ended
    found = fill(case, late, first)
    assert (found.solution, found.bound) == (first.solution, first.bound)
    assert (found.status, found.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert filled_table(np.zeros((1, 1)), 1, late) is None


def test_rows_that_are_computed_again_are_those_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a table that does not fit, all rows in any order, and allocations, are those of the whole table."""
    for seed in range(cases(200)):
        random = np.random.default_rng(seed)
        costs, gpus = drawn_costs(random)
        monkeypatch.setattr(rows, "_block_length", lambda *_, step=1 + seed % 3: step)
        table, kept = least_costs(costs, gpus), unwrap(CostRows.of(costs, gpus, Budget()))
        assert len(kept.firsts) == -(-max(len(costs), 1) // (1 + seed % 3))
        for place in random.permutation(len(costs) + 1).tolist():
            assert np.array_equal(kept[place], table[place]), seed
        assert np.array_equal(kept[-1], table[-1]), seed
        for used in np.flatnonzero(table[-1] < np.inf).tolist():
            assert kept.read_back(used) == read_back(table, costs, used).tolist(), seed


def test_an_optimum_is_proven_without_a_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """With blocks of few jobs the optimum of the oracle is proven, on numbers that are hard on floats."""
    for seed in range(cases(150)):
        monkeypatch.setattr(rows, "_block_length", lambda *_, step=1 + seed % 2: step)
        problem = tiny(5000 + seed)
        result = dp(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed


def test_a_table_in_blocks_keeps_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty jobs are proven in blocks of eight where the whole table does not fit; then nothing fits."""
    problem = elastic_jobs(gpus=64, jobs=60, seed=1)
    whole = exact(problem)
    monkeypatch.setattr(rows, "LARGEST_TABLE", 17 * 65)
    parts = exact(problem)
    assert (parts.status, parts.objective) == (Status.OPTIMAL, whole.objective)
    assert len(unwrap(CostRows.of(np.zeros((60, 2)), 64, Budget())).firsts) == 8
    monkeypatch.setattr(rows, "LARGEST_TABLE", 17 * 65 - 1)
    assert exact(problem).status is Status.FEASIBLE


def test_without_time_rows_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where time is over after the first pass the known value stands, with the bound of the table."""
    problem = elastic_jobs(gpus=64, jobs=60, seed=1)
    case = BatchingCase.of(problem)
    first, _ = begin(case, Budget(), "dp")
    monkeypatch.setattr(rows, "_block_length", lambda *_: 7)
    monkeypatch.setattr(CostRows, "_rows", lambda *_: raise_time_up())
    found = fill(case, Budget(), first)
    best = unwrap(exact(problem).objective)
    assert found.solution == first.solution
    assert float(best) * (1 - 1e-9) <= float(unwrap(found.bound)) <= float(best)


def raise_time_up() -> None:
    """Behave as if time were over."""
    raise TimeUp("late")


def test_a_table_filled_in_parts_is_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a time limit a job's row is filled part by part, and the same in the end."""
    monkeypatch.setattr(sys.modules["formulations.batching.rows"], "_CHUNK", 40)
    for seed in range(20):
        costs, gpus = drawn_costs(np.random.default_rng(seed))
        whole, parts = (filled_table(costs, gpus, Budget(time_limit=limit)) for limit in (None, PATIENCE))
        assert whole is not None
        assert parts is not None
        assert np.array_equal(whole, parts), seed


def test_what_is_called_optimal_is() -> None:
    """On 500 instances with hard numbers bounds hold and proven values are optima, which most are."""
    proven, tried = 0, cases(500)
    for seed in range(tried):
        problem = tiny(seed)
        result, best = greedy(problem), unwrap(oracle.optimum(problem))
        assert result.bound is not None
        assert not problem.sense.better(best, result.bound), seed
        assert (result.status is Status.OPTIMAL) == (result.objective == result.bound), seed
        assert result.status is not Status.OPTIMAL or result.objective == best, seed
        proven += result.status is Status.OPTIMAL
    assert proven > tried * 0.8


def test_convex_costs_are_proven() -> None:
    """Where each further GPU gains less than the one before the steps alone are the proof, at any number."""
    rates = {1: 100.0, 2: 180.0, 3: 240.0, 4: 280.0, 5: 300.0}
    table = Tabulated(rates=[Rate(batch_size=64, gpus=c, samples_per_second=x) for c, x in rates.items()])
    jobs = [
        BatchingJob(name=f"j{k}", batch_limit=64, local_limit=64, throughput=table, remaining=1e4 * (k + 1))
        for k in range(5)
    ]
    for gpus in range(1, 26):
        problem = Batching(gpus=gpus, jobs=jobs, criterion="rate", caps="batch", forced="none")
        result = greedy(problem)
        assert (result.status, result.message) == (Status.OPTIMAL, "greedy"), gpus
        assert result.objective == dp(problem).objective


def test_a_step_that_is_too_long_leaves_a_gap() -> None:
    """One job wants two GPUs or none: with three for two such jobs there is a bound, and no proof."""
    table = Tabulated(
        rates=[
            Rate(batch_size=64, gpus=1, samples_per_second=1.0),
            Rate(batch_size=64, gpus=2, samples_per_second=100.0),
        ]
    )
    jobs = [
        BatchingJob(name=name, batch_limit=64, local_limit=64, throughput=table, remaining=1e4) for name in "ab"
    ]
    problem = Batching(gpus=3, jobs=jobs, criterion="rate", forced="none", caps="batch")
    result = greedy(problem)
    assert (result.status, result.message) == (Status.FEASIBLE, "greedy, not proven")
    assert result.objective == dp(problem).objective
    assert problem.sense is Sense.MAXIMIZE


def test_large_clusters_are_nearly_solved() -> None:
    """On 256 GPUs and 200 jobs the gap is below a per cent, by every criterion with all jobs running."""
    for criterion in CRITERIA:
        result = greedy(elastic_jobs(gpus=256, jobs=200, criterion=criterion, seed=2))
        assert unwrap(result.gap) < 0.01


def test_hulls_are_convex_and_below() -> None:
    """Slopes rise, the steps lead from the fewest to the most GPUs, and no cost lies below."""
    random = np.random.default_rng(3)
    for _ in range(cases(200)):
        row = random.normal(size=random.integers(1, 12))
        row[random.random(row.size) < 0.3] = np.inf
        allowed = np.flatnonzero(row < np.inf)
        if not allowed.size:
            continue
        steps = list(hull(row, 0))
        assert all(first.slope < last.slope for first, last in pairwise(steps))
        corner, height = int(allowed[0]), float(row[allowed[0]])
        for step in steps:
            places = np.arange(corner, corner + step.gpus + 1)
            assert (row[places] >= height + step.slope * (places - corner) - 1e-9).all()
            corner, height = corner + step.gpus, float(row[corner + step.gpus])
        assert corner == allowed[-1]


def test_greedy_without_time_what_is_known_is_kept() -> None:
    """Where time is over before all hulls are known the first division stays, with its bound."""
    case, late = BatchingCase.of(elastic_jobs(gpus=64, jobs=60, seed=1)), Budget(time_limit=0.0)
    first, _ = begin(case, Budget(), "greedy")
    found = walk_hulls(case, late, first)
    assert (found.solution, found.bound, found.stopped_by) == (
        first.solution,
        first.bound,
        StoppedBy.TIME_LIMIT,
    )


def test_milp_proves_the_optimum_of_hard_numbers() -> None:
    """With numbers that are hard on floats both solvers prove the oracle's optimum, or a value next to it."""
    proven, tried = 0, cases(15)
    for seed in range(tried):
        problem = tiny(200 + seed)
        result, best = milp(problem, backend=(Highs(), CpSat())[seed % 2]), unwrap(oracle.optimum(problem))
        assert not problem.sense.better(best, unwrap(result.bound)), seed
        assert result.status is not Status.OPTIMAL or result.objective == best, seed
        assert same(result.objective, float(best)), seed
        proven += result.status is Status.OPTIMAL
    assert proven > tried / 2


def test_size_is_as_documented() -> None:
    """A column for each number of GPUs of each job, a row for each job and one for the GPUs."""
    problem = elastic_jobs(gpus=16, jobs=10, seed=1)
    form = milp.standard_form(problem)
    items = sum(len(counts) for counts in problem.counts)
    assert form.matrix.shape == (10 + 1, items)
    assert form.matrix.nnz == 2 * items


def test_a_start_is_a_point_of_the_model() -> None:
    """A solution becomes columns of which the model counts what the judge counts."""
    problem = elastic_jobs(gpus=16, jobs=10, criterion="rate", reconfiguration=0.0001, seed=2)
    solution, _ = milp.at_once(problem)
    form = milp.standard_form(problem)
    point = form.point(milp.encode(solution, problem))
    assert np.isclose(form.objective(point), float(problem.objective(solution)), rtol=SUM)


def test_the_division_is_allowed_and_the_bound_holds() -> None:
    """On every instance the first division breaks no rule, and no optimum is better than the bound."""
    for seed in range(cases(400)):
        problem = tiny(seed)
        case, best = BatchingCase.of(problem), oracle.optimum(problem)
        assert problem.violations(case.solution(first_division(case))) == [], seed
        assert best is not None
        assert case.sign * best >= bound_alone(case), seed


def test_a_better_start_takes_its_place() -> None:
    """A start of a better value is what is begun with, a worse one is not."""
    problem = elastic_jobs(gpus=16, jobs=10, seed=1)
    case = BatchingCase.of(problem)
    first, _ = begin(case, Budget(), "x")
    better = case.solution([1, 4, 1, 1, 1, 1, 1, 1, 4, 1])
    assert problem.violations(better) == []
    assert problem.objective(better) < (first.objective or 0)
    assert begin(case, Budget(start=better), "x")[0].solution == better


def test_without_any_time_there_is_a_bound() -> None:
    """Where time is over the division is returned with its bound."""
    result, ended = begin(BatchingCase.of(elastic_jobs(gpus=16, jobs=10, seed=1)), Budget(time_limit=0.0), "x")
    assert (result.status, ended) == (Status.FEASIBLE, True)
    assert result.bound is not None


def test_costs_are_those_of_the_best_batch() -> None:
    """For every job and number of GPUs the cost is the least that the judge counts, exactly and in floats."""
    looked = 0
    for seed in range(cases(150)):
        problem = tiny(seed)
        case = BatchingCase.of(problem)
        for place, menu in enumerate(problem.counts):
            for gpus in menu:
                wanted = _least(problem, place, gpus)
                assert case.cost(place, gpus) == wanted, seed
                assert abs(Fraction(case.costs[place, gpus]) - wanted) <= Fraction(case.error), seed
                looked += 1
    assert looked > cases(150)


def test_what_is_not_allowed_is_infinite() -> None:
    """A number of GPUs that the problem does not list is infinite, and so is none for a job that must run."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        costs = BatchingCase.of(problem).costs
        for job, menu, row in zip(problem.jobs, problem.counts, costs, strict=True):
            allowed = set(menu) | ({0} if job.name not in problem.required else set())
            assert set(np.flatnonzero(row < np.inf).tolist()) == allowed, seed


def test_numbers_become_solutions_and_back() -> None:
    """The numbers of GPUs of a solution give one with the same numbers, and the same total."""
    problem = elastic_jobs(gpus=16, jobs=10, seed=1)
    case = BatchingCase.of(problem)
    counts = [menu[-1] for menu in problem.counts]
    solution = case.solution(counts)
    assert case.counts(solution) == counts
    assert np.isclose(case.total(counts), float(problem.objective(solution)), rtol=SUM)


def test_too_large_tables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that memory cannot hold is refused with its size."""
    monkeypatch.setattr("formulations.batching.case.LARGEST_TABLE", 10)
    with pytest.raises(Unsupported, match="a table of 10 jobs by 16 GPUs is too large"):
        BatchingCase.of(elastic_jobs(gpus=16, jobs=10, seed=1))


def _least(problem: Batching, place: int, gpus: int) -> Fraction:
    """Find the least cost of one job on so many GPUs, by the judge: what it adds to that of nobody running."""
    job = problem.jobs[place]
    sign = 1 if problem.sense is Sense.MINIMIZE else -1
    others = problem.model_copy(update={"jobs": (job,)})
    sizes = [size for size in range(gpus, job.largest(gpus) + 1) if job.allows(size, gpus)]
    return min(
        Fraction(sign * others.objective(Batches(running={job.name: Grant(gpus=gpus, batch_size=size)})))
        for size in sizes
    )


SEEDS = st.integers(min_value=0, max_value=10**6)
EXAMPLES = settings(max_examples=cases(120), deadline=None)


def best(problem: Batching) -> Exact:
    """Return the optimum."""
    value = dp(problem).objective
    assert isinstance(value, int | Fraction)
    return value


@EXAMPLES
@given(SEEDS)
def test_one_more_gpu_does_no_harm_where_none_must_be_used(seed: int) -> None:
    """A further GPU that may stay idle makes no fewer completions per second."""
    drawn = tiny(seed)
    jobs = [job.model_copy(update={"remaining": job.remaining or 1.0, "progress": None}) for job in drawn.jobs]
    problem = changed(drawn, jobs=jobs, use="any", forced="none", criterion="rate")
    assert best(changed(problem, gpus=problem.gpus + 1)) >= best(problem)


@EXAMPLES
@given(SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_the_jobs_is_of_no_account(seed: int, random: object) -> None:
    """Jobs in another order have the same optimum, where it is not the order that says who must run."""
    problem = changed(tiny(seed), forced="none", criterion="sruf")
    jobs = list(problem.jobs)
    assert hasattr(random, "shuffle")
    random.shuffle(jobs)
    assert best(changed(problem, jobs=jobs)) == best(problem)


@EXAMPLES
@given(SEEDS)
def test_twice_the_weight_is_twice_or_half_the_value(seed: int) -> None:
    """With all weights doubled and changes for free, rates and times are doubled, GPU-seconds halved."""
    for criterion in CRITERIA:
        problem = tiny(seed)
        if criterion == "rate" and any(job.remaining == 0 for job in problem.jobs):
            continue
        problem = changed(problem, criterion=criterion, forced="all", reconfiguration=0.0)
        jobs = [job.model_copy(update={"weight": 2 * job.weight}) for job in problem.jobs]
        factor = Fraction(1, 2) if criterion == "sruf" else 2
        assert best(changed(problem, jobs=jobs)) == factor * best(problem)


@EXAMPLES
@given(SEEDS)
def test_certainty_is_equivalent(seed: int) -> None:
    """By Equation 3 jobs that are known by their means have the optimum of those known by distributions."""
    problem = changed(tiny(seed), criterion="sruf")
    jobs = [
        job if job.progress is None else job.model_copy(update={"remaining": left, "progress": None})
        for job, left in ((job, float(job.left(problem.estimate))) for job in problem.jobs)
    ]
    known = problem.model_copy(update={"jobs": tuple(jobs)})
    exact, rounded = best(problem), best(known)
    assert same(float(exact), float(rounded))


def tables(problem: Batching) -> CostTables:
    """Fill both tables of a problem."""
    case = BatchingCase.of(problem)
    return CostTables(case, least_costs(case.costs, case.gpus), least_costs(case.costs[::-1], case.gpus))


def test_the_optimum_is_among_the_choices() -> None:
    """On tiny instances every number of GPUs that some optimum has is a choice in its place."""
    checked = 0
    for seed in range(cases(200)):
        problem = tiny(8000 + seed)
        if sum(len(counts) for counts in problem.counts) > 5:
            continue
        best = unwrap(brute_force(problem))
        given, counts = tables(problem), BatchingCase.of(problem).counts(best[1])
        for place, used in enumerate(accumulate(counts, initial=0)):
            assert place == len(counts) or (used, counts[place]) in set(given.choices(place)), seed
        checked += 1
    assert checked > cases(200) / 4


def test_choices_are_few() -> None:
    """With numbers of three digits drawn for 60 jobs the optimum is the only path, by every criterion."""
    for criterion in CRITERIA:
        given = tables(elastic_jobs(gpus=64, jobs=60, criterion=criterion, seed=3))
        assert all(len(list(given.choices(place))) == 1 for place in range(60))


def test_numbers_that_are_too_long_leave_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a common unit has too many digits nothing is proven, and without time neither."""
    problem = elastic_jobs(gpus=9, jobs=6, criterion="rate", seed=1)
    twins = [job.model_copy(update={"name": f"{job.name}{k}"}) for job in problem.jobs for k in range(2)]
    given = tables(problem.model_copy(update={"jobs": tuple(twins), "gpus": 14}))
    assert optimal_counts(given, Budget()) is not None
    assert optimal_counts(given, Budget(time_limit=0.0)) is None
    monkeypatch.setattr("formulations.batching.proof._LONGEST", 3)
    assert optimal_counts(given, Budget()) is None
