"""Exact methods for sequencing."""

from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from formulations.common.best import Best
from formulations.sequencing import exact, milp, paths
from formulations.sequencing.beginning import begin
from formulations.sequencing.case import SequencingCase, depth_of
from formulations.sequencing.paths import assign, follow
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.sequencing import Machine, Sequences, Sequencing
from heuristics.sequencing import earliest_end, free_machines
from instances.sequencing import unit_jobs
from instances.suites import changed
from tests.effort import cases
from tests.exactness import sequencing as oracle
from tests.strategies.sequencing import alike, committed, small, tiny
from tests.unwrap import unwrap


@pytest.mark.parametrize("problem", committed(), ids=lambda problem: problem.name)
def test_proves_every_small_instance(problem: Any) -> None:
    """On every committed small instance value and bound are what enumeration found."""
    result = exact(problem)
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound
    assert float(result.objective or 0) == problem.about.objective


@pytest.mark.parametrize("problem", committed("production"), ids=lambda problem: problem.name)
def test_proves_what_a_cluster_has(problem: Any) -> None:
    """A hundred and sixty jobs on sixty-four GPUs are proven in doubles, with what is on record."""
    result = exact(problem)
    assert (result.status, result.message) == (Status.OPTIMAL, "assignment")
    assert float(result.objective or 0) == problem.about.objective


def test_the_message_says_which_technique_it_was() -> None:
    """A job alone needs none, few digits need the prices, and what doubles cannot tell apart the paths."""
    assert exact(small("one-job")).message == "shortest first"
    assert exact(unit_jobs(jobs=30, seed=1)).message == "assignment"
    assert exact(indistinct(3)).message == "augmenting paths"


def indistinct(seed: int) -> Sequencing:
    """Return jobs that differ by less than doubles of their sums can tell."""
    random = Random(seed)
    problem = unit_jobs(jobs=12, gpus=1, types=3, seed=seed)
    jobs = [
        job.model_copy(update={"seconds": {k: 1e6 + random.randint(0, 9) * 2**-33 for k in job.seconds}})
        for job in problem.jobs
    ]
    return changed(problem, jobs=jobs)


def test_both_techniques_agree() -> None:
    """The assignment with its proof and the paths have one value, also where seconds are nearly equal."""
    for seed in range(cases(16)):
        drawn = unit_jobs(jobs=15, gpus=2, busy=0.5, speedup=1 + seed % 3, seed=seed)
        for problem in (drawn, indistinct(seed)):
            first, second = exact(problem), paths(problem)
            assert first.status is second.status is Status.OPTIMAL
            assert first.objective == second.objective


def test_on_machines_that_are_alike_the_shortest_come_first() -> None:
    """On machines of one type that are all free, shortest first is the optimum."""
    for seed in range(cases(16)):
        problem = unit_jobs(jobs=20, gpus=1 + seed % 6, types=1, seed=seed)
        assert exact(problem).objective == earliest_end(problem).objective


def test_longer_jobs_give_no_smaller_total() -> None:
    """Machines that are free later, and one machine fewer, make no total smaller."""
    for seed in range(cases(8)):
        problem = unit_jobs(jobs=9, gpus=2, types=2, busy=0.5, seed=seed)
        best = unwrap(exact(problem).objective)
        later = [
            Machine(name=each.name, gpu_type=each.gpu_type, available=each.available + 5)
            for each in problem.machines
        ]
        for harder in (changed(problem, machines=later), changed(problem, machines=problem.machines[1:])):
            found = unwrap(exact(harder).objective)
            assert found >= best


def test_many_jobs_on_one_machine() -> None:
    """More jobs than positions that are looked at first are all run."""
    result = exact(alike(8, 7, 6, 5, 4, 3, 2, 1, available=2.0))
    assert result.status is Status.OPTIMAL
    assert result.objective == 8 * 2 + sum(k * each for k, each in enumerate(range(8, 0, -1), start=1))


def test_finds_the_optimum_of_nearly_equal_values() -> None:
    """On an instance whose values differ by less than doubles tell, the optimum of enumeration is found."""
    problem = small("the-last-bit")
    result = milp(problem)
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound == exact(problem).objective


def test_the_model_has_the_size_that_it_says() -> None:
    """Columns are jobs times machines times positions; jobs and positions have a row each."""
    form = milp.standard_form(unit_jobs(jobs=4, gpus=1, types=2, seed=1))
    assert form.matrix.shape == (4 + 2 * 4, 4 * 2 * 4)


def test_large_models_are_refused() -> None:
    """What takes minutes to write is refused with its size."""
    with pytest.raises(Unsupported, match="milp has 1,638,400 columns, can have 200,000"):
        milp(unit_jobs(jobs=160, gpus=16, types=4, seed=1))


def test_a_start_is_read_back() -> None:
    """A solution as columns is that solution again."""
    problem = small("drawn-1")
    solution = unwrap(milp(problem).solution)
    read = milp.extract(milp.encode(solution, problem), problem)
    assert problem.objective(read) == problem.objective(solution)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2), (3, 3), (3, 5), (4, 4), (1, 5)])
def test_the_cheapest_columns_are_found(rows: int, columns: int) -> None:
    """Of all assignments none is cheaper, in small numbers and in numbers of forty digits."""
    for seed in range(cases(16)):
        random = Random(f"{rows} {columns} {seed}")
        for unit, kind in ((1, np.int64), (10**40 + 1, object)):
            costs = np.array(
                [[random.randint(0, 6) * unit for _ in range(columns)] for _ in range(rows)], dtype=kind
            )
            found = unwrap(assign(costs, Budget()))
            assert len(set(found)) == rows
            totals = (
                sum(costs[row, column] for row, column in enumerate(p))
                for p in permutations(range(columns), rows)
            )
            assert sum(costs[row, column] for row, column in enumerate(found)) == min(totals)


def test_finds_the_optimum_of_hard_numbers() -> None:
    """With numbers hard on floats the value is that of the oracle, and proven."""
    for seed in range(cases(40)):
        problem = tiny(seed)
        result = paths(problem)
        assert result.status is Status.OPTIMAL, seed
        assert result.objective == oracle.optimum(problem), seed


def test_positions_are_added_where_they_run_out() -> None:
    """From orders on all machines those are found in which a machine that is far faster runs all jobs."""
    problem = alike(*range(1, 9), machines=3)
    slow = [each.model_copy(update={"gpu_type": "k80"}) for each in problem.machines[1:]]
    jobs = [each.model_copy(update={"seconds": {**each.seconds, "k80": 1000.0}}) for each in problem.jobs]
    harder = problem.model_copy(update={"machines": (problem.machines[0], *slow), "jobs": tuple(jobs)})
    spread = Sequences(order={"m0": ["a", "b", "c"], "m1": ["d", "e", "f"], "m2": ["g", "h"]})
    best: Best[Sequencing, Sequences] = Best(harder, Budget(start=spread), "follow")
    assert follow(SequencingCase(harder), best).objective == paths(alike(*range(1, 9))).objective


def test_many_columns_are_as_cheap_as_scipy_finds_them() -> None:
    """Assignments of a dozen rows cost what another program finds."""
    for seed in range(cases(40)):
        costs = np.random.default_rng(seed).integers(0, 60, size=(12, 14))
        found = unwrap(assign(costs, Budget()))
        assert costs[range(12), found].sum() == costs[linear_sum_assignment(costs)].sum(), seed


def test_out_of_time_there_are_the_shortest_first() -> None:
    """Without any time what was known comes back."""
    result = paths(unit_jobs(jobs=40, seed=2), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert assign(np.array([[1]]), Budget(time_limit=0.0)) is None


def test_it_begins_with_the_shortest_first_and_every_job_alone() -> None:
    """Orders and bound are those that cost next to nothing; a better start is kept."""
    problem = unit_jobs(jobs=30, seed=2)
    case, best = begin(problem, Budget(), "begin")
    assert (best.solution, best.bound) == (SequencingCase(problem).greedy(), case.bound)
    start = free_machines(problem)
    assert begin(problem, Budget(start=start.solution), "begin")[1].value == start.objective


def test_bound_and_orders_lie_around_the_optimum() -> None:
    """No optimum is below the bound or above the shortest first, with numbers that are hard on floats."""
    for seed in range(cases(40)):
        problem = tiny(seed)
        case, best = SequencingCase(problem), oracle.optimum(problem)
        assert case.bound <= best <= problem.objective(case.greedy()), seed


def test_the_greedy_orders_are_those_of_the_heuristic() -> None:
    """What exact methods begin with costs what the heuristic costs, where doubles are exact."""
    for name in ("shortest-first", "free-too-late", "waiting-for-the-fast-gpu", "runs-on-one-type-only"):
        problem = small(name)
        assert problem.objective(SequencingCase(problem).greedy()) == earliest_end(problem).objective


def test_costs_are_whole_numbers_of_any_size() -> None:
    """Positions cost multiples of a job's units, no more than a unit above the known total."""
    costs = SequencingCase(alike(0.5, 1.25)).costs(2, 3)
    assert costs.dtype == np.int64
    assert costs.tolist() == [[2, 4], [5, 10]]
    assert SequencingCase(alike(0.5, 1.25)).costs(2, 1).tolist() == [[2, 4], [5, 5]]
    large = SequencingCase(small("magnitudes")).costs(2, 10**10)
    assert large.dtype == object
    assert large.max() == 10**19 + 1 or large.max() <= 2 * 10**18 + 1


def test_columns_are_positions_from_the_end() -> None:
    """The last job of a machine is in its first position, and orders are read back from columns."""
    case = SequencingCase(alike(1, 2, 3, machines=2))
    solution = Sequences(order={"m0": ["a", "c"], "m1": ["b"]})
    assert sorted(case.columns(solution)) == [(0, 2), (1, 1), (2, 0)]
    assert depth_of(solution, 3) == 3
    assert depth_of(solution, 2) == 2
    assert depth_of(Sequences(order={}), 0) == 0
