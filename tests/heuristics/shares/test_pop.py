"""POP for shares: parts solved apart, held against the linear programs of each part in fractions."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import get_args

import pytest

from formulations.shares import exact
from gsopt.core.budget import Budget
from gsopt.core.method import NoSolution
from gsopt.core.problem import Sense
from gsopt.core.result import Status
from gsopt.problems.shares import Criterion, Shares, TimeShares, TypedJob
from heuristics.shares import isolated, pop
from heuristics.shares.pop import _fewest, _split
from instances.interference.gavel import FILE
from instances.shares import typed_jobs
from instances.shares.real import measured
from instances.traces.throughputs import read_throughputs
from tests.effort import cases
from tests.exactness import shares as oracle
from tests.exactness.numbers import exactly
from tests.heuristics.policies.shared import traces
from tests.heuristics.results import solved, value
from tests.refusals import refused
from tests.strategies.shares import alike, committed, tiny
from tests.unwrap import unwrap

#: Shares are doubles.
_CLOSE = Fraction(1, 10**8)

#: Least number that a job may have: pieces of jobs with smaller ones are rounded up.
_LEAST = 1e-6


def parts_of(problem: Shares, parts: int, seed: int) -> Iterator[tuple[Shares, oracle.Rates]]:
    """Yield each part's jobs that can run and GPUs, with the rates: a pack is shuffled and dealt in turn."""
    pack = list(range(len(problem.jobs)))
    Random(seed).shuffle(pack)
    gpus = {kind: count // parts for kind, count in problem.gpus.items() if count // parts}
    gangs = problem.criterion in {"fifo", "finish_time"}  # run on what their part has, the others in turn
    for part in range(parts):
        jobs: list[TypedJob] = []
        rates: list[tuple[int, dict[str, Fraction]]] = []
        for place in sorted(pack[part::parts]):
            job = problem.jobs[place]
            own = {
                kind: exactly(rate)
                for kind, rate in job.throughputs.items()
                if rate and job.gpus <= problem.gpus[kind] and gpus.get(kind, 0) >= (job.gpus if gangs else 1)
            }
            if own:
                jobs.append(job)
                rates.append((job.gpus, own))
        if jobs:
            yield problem.model_copy(update={"jobs": tuple(jobs), "gpus": gpus}), rates


def reached(problem: Shares, rates: oracle.Rates, solution: TimeShares) -> Fraction | None:
    """Return the value of shares in a part."""
    made = []
    for job, (_, own) in zip(problem.jobs, rates, strict=True):
        shares = solution.shares.get(job.name, {}).items()
        made.append(sum((own[kind] * exactly(share) for kind, share in shares), Fraction(0)))
    return oracle.reached(problem, rates, made)


def has_small_numbers(problem: Shares) -> bool:
    """Check whether a piece of a job might have numbers that are too small for a job."""
    return any(
        min(job.weight, job.steps, *(rate for rate in job.throughputs.values() if rate)) < _LEAST
        for job in problem.jobs
    )


def test_parts_are_as_good_as_they_can_be() -> None:
    """On instances with hard numbers each part has its best value, and all parts no better than the optimum."""
    compared = 0
    for seed in range(cases(300)):
        problem = tiny(seed)
        bound = unwrap(exact(problem).bound)
        for parts in (1, 2, 3, 9):
            result = pop(problem, parts=parts, seed=seed)
            if result.solution is None:
                assert problem.sense is Sense.MINIMIZE, (seed, parts)
                assert sum(len(each.jobs) for each, _ in parts_of(problem, parts, seed)) < len(problem.jobs)
                continue
            assert not problem.sense.better(value(result), bound), (seed, parts)
            if not has_small_numbers(problem):
                for each, rates in parts_of(problem, parts, seed):
                    best = oracle.optimum(each, rates)
                    wanted = best[1] if isinstance(best, tuple) else best
                    found = Fraction(unwrap(reached(each, rates, result.solution)))
                    assert abs(found - wanted) <= _CLOSE * wanted, (seed, parts)
                    compared += 1
    assert compared > cases(300) / 2


@pytest.mark.parametrize("problem", committed(), ids=lambda problem: problem.name)
def test_one_part_is_the_whole(problem: Shares) -> None:
    """One part is as good as the optimum, and proven by its bound."""
    whole = exact(problem)
    assert whole.status is Status.OPTIMAL
    assert abs(value(pop(problem, parts=1)) - value(whole)) <= problem.resolution(value(whole))


def test_jobs_use_all_time_of_parts_smaller_than_they_are() -> None:
    """Two jobs of four GPUs, of which parts have two each, run half of the time."""
    jobs = [{"gpus": 4}, {"gpus": 4}]
    assert solved(pop(alike(*jobs, gpus=4), parts=2)).shares == {name: {"v100": 0.5} for name in "ab"}
    assert value(pop(alike(*jobs, gpus=4, criterion="makespan"), parts=2)) == 2


def test_pieces_are_equal_and_few() -> None:
    """A job larger than its part is divided as little as possible, and not at all into more than 64 pieces."""
    assert [_fewest(gpus, 4) for gpus in (4, 6, 7, 8, 12)] == [1, 2, 7, 2, 3]
    large, prime = [{"gpus": 134}, {"gpus": 134}], [{"gpus": 131}, {"gpus": 131}]
    assert value(pop(alike(*large, gpus=134))) == 67  # 134 GPUs half of the time
    assert value(pop(alike(*prime, gpus=134))) == 0


def test_jobs_wait_for_gpus_where_jobs_are_counted() -> None:
    """In sums by order a job larger than its part has no time; by finish times there is no solution."""
    jobs = [{"gpus": 4}, {}]
    assert solved(pop(alike(*jobs, gpus=4, criterion="fifo"), parts=2)).shares == {"a": {}, "b": {"v100": 1.0}}
    late = pop(alike(*jobs, gpus=4, criterion="finish_time"), parts=2)
    assert (late.solution, late.message) == (None, "jobs that do not run in their part would never end")


def test_parts_without_gpus_run_nothing() -> None:
    """Where parts are more than GPUs, nobody runs."""
    assert value(pop(alike({}, {}, gpus=2), parts=3)) == 0
    assert pop(alike({}, {}, gpus=2, criterion="makespan"), parts=3).solution is None


def test_parts_without_jobs_leave_their_gpus_idle() -> None:
    """One job has the GPUs of its part only."""
    assert value(pop(alike({"gpus": 4}, gpus=4, criterion="max_sum"), parts=4)) == Fraction(1, 4)


def test_pieces_of_jobs_go_to_other_parts() -> None:
    """A job of four GPUs, split in two, has the GPUs of both parts."""
    problem = alike({"gpus": 4}, gpus=4, criterion="max_sum")
    assert (value(pop(problem)), value(pop(problem, split=1.0))) == (Fraction(1, 2), 1)


def test_the_largest_are_split_first() -> None:
    """Halves are halved in turn, the largest first, as long as they are even and there are enough jobs."""
    problem = alike({"gpus": 8}, {"gpus": 6}, {"gpus": 1}, {"gpus": 4}, gpus=8)

    def sizes(split: float) -> list[list[int]]:
        return [sorted(piece.gpus for piece in pieces) for pieces in _split(problem, split)]

    assert sizes(0) == [[8], [6], [1], [4]]
    assert sizes(0.25) == [[4, 4], [6], [1], [4]]
    assert sizes(0.5) == [[4, 4], [3, 3], [1], [4]]
    assert sizes(1) == [[2, 2, 2, 2], [3, 3], [1], [4]]


@pytest.mark.parametrize("criterion", ["max_min", "makespan", "max_sum"])
def test_one_part_of_pieces_is_the_whole(criterion: Criterion) -> None:
    """In one part pieces of jobs reach what whole jobs do."""
    for seed in range(5):
        problem = typed_jobs(jobs=10, criterion=criterion, seed=seed)
        whole = value(exact(problem))
        assert abs(value(pop(problem, parts=1, split=1.0)) - whole) <= _CLOSE * whole, seed


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_names_do_not_matter(criterion: Criterion) -> None:
    """Jobs with other names get the same shares."""
    problem = typed_jobs(jobs=12, gpus=16, criterion=criterion, seed=3)
    renamed = [each.model_copy(update={"name": f"z{-place}"}) for place, each in enumerate(problem.jobs)]
    other = problem.model_copy(update={"jobs": tuple(renamed)})
    first, second = (solved(pop(each, seed=1)).shares for each in (problem, other))
    assert list(first.values()) == list(second.values())


def test_orders_do_not_change_the_distribution() -> None:
    """Over many seeds jobs in another order have about the same mean value, and single seeds differ."""
    problem = typed_jobs(jobs=7, types=2, seed=4)
    other = problem.model_copy(update={"jobs": (*problem.jobs[3:], *problem.jobs[:3])})
    first, second = ([float(value(pop(each, seed=seed))) for seed in range(30)] for each in (problem, other))
    assert sum(first) == pytest.approx(sum(second), rel=0.1)
    assert len(set(first)) > 1


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_time_that_is_over_leaves_isolated_shares(criterion: Criterion) -> None:
    """Without any time each part has its isolated shares, which are the whole's where all divides evenly."""
    problem = alike({"gpus": 2}, {}, {"gpus": 2}, {}, gpus=8, criterion=criterion)
    found = solved(pop(problem, budget=Budget(time_limit=0)))
    assert found == solved(isolated(problem))


def test_parts_are_solved_by_any_method() -> None:
    """One part by another method is that method's answer; parts without an answer get no time."""
    problem = typed_jobs(jobs=12, seed=3)
    assert value(pop(problem, parts=1, solver="isolated")) == value(isolated(problem))
    assert value(pop(problem, solver=lambda _: NoSolution("none"))) == 0


def test_options_are_checked() -> None:
    """An unknown method, and numbers that mean nothing, are refused in a line."""
    refusals: Sequence[tuple[str, Callable[[Shares], object]]] = (
        ("parts: 0: must be an integer, at least 1", lambda problem: pop(problem, parts=0)),
        ("seed: 'a': must be an integer", lambda problem: pop(problem, seed="a")),  # type: ignore[arg-type]
        ("split: 1.5: must be between 0 and 1", lambda problem: pop(problem, split=1.5)),
        ("split: nan: must be between 0 and 1", lambda problem: pop(problem, split=float("nan"))),
        ("solver: 'best'", lambda problem: pop(problem, solver="best")),
    )
    for start, call in refusals:
        with refused("", start=start):
            call(alike({}))
    with refused("whose terms depend on the number of jobs", start="split: 0.5: must be 0 for fifo"):
        pop(alike({}, criterion="fifo"), split=0.5)


def test_the_worst_off_job_loses_more_than_the_mean() -> None:
    """With Gavel's speeds, 256 jobs in eight parts lose less than 1.5 % on average, and the worst-off more."""
    rates = read_throughputs(traces() / FILE)
    gpus = dict.fromkeys(("v100", "p100", "k80"), 64)
    problem = measured(rates, criterion="max_min", jobs=256, gpus=gpus, largest=1)
    whole, parts = exact(problem), pop(problem, parts=8)
    kept = [
        problem.throughput(job, solved(parts)) / problem.throughput(job, solved(whole)) for job in problem.jobs
    ]
    assert sum(kept) / len(kept) > 0.985
    assert value(parts) / value(whole) < 0.985
