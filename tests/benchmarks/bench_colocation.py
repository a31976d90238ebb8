"""Colocation: the theorem on 20,000 pairs, what deciding job by job loses, and two ways to decide at once."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from random import Random
from statistics import mean
from time import perf_counter
from typing import Any

from formulations.colocation import assignment, exact, matching
from gsopt.core.method import name_of
from gsopt.core.result import Status
from gsopt.performance.colocation import Pair
from gsopt.problems.colocation import Colocation
from heuristics.colocation import bsbf, first_fit, random_pairs
from instances import data_folder
from instances.colocation import from_data, full_cluster
from tests.benchmarks.measures import loss, proven, report, tabulate, timed
from tests.gsopt.performance.colocation.play import completions, drawn

#: Pairs that are played.
PAIRS = 20_000

HEURISTICS: tuple[Callable[..., Any], ...] = (
    bsbf,
    partial(bsbf, prefers="saved"),
    partial(bsbf, rule="sign"),
    partial(bsbf, rule="cases"),
    first_fit,
    random_pairs,
)


def test_no_pair_disagrees_with_playing_it() -> None:
    """On 20,000 random pairs sums and decision are those of the jobs as they run, and no delay is better."""
    random = Random(PAIRS)
    wrong = dict.fromkeys(("sign", "cases"), 0)
    lasts = 0
    for _ in range(PAIRS):
        two = drawn(random)
        pair = Pair(*two)
        at_once, waits, between = (
            sum(completions(two, delay * two.seconds_a)) for delay in (Fraction(0), Fraction(1), Fraction(2, 5))
        )
        assert (pair.shared_sum, pair.sequential_sum) == (at_once, waits)
        assert pair.shares() == (at_once <= waits)
        assert between >= min(at_once, waits)
        lasts += pair.running_lasts
        if at_once != waits:
            assert pair.running_lasts or pair.shares("sign") == pair.shares("cases") == pair.shares()
            wrong["sign"] += pair.shares("sign") != pair.shares()
            wrong["cases"] += pair.shares("cases") != pair.shares()
    report(
        f"{PAIRS:,} pairs, in {lasts:,} of which the running job lasts longer: the printed sign is wrong "
        f"in {wrong['sign']:,} of these, sharing whenever it does in {wrong['cases']:,}"
    )
    assert min(wrong.values()) > lasts / 5


def test_what_deciding_job_by_job_loses() -> None:
    """On drawn and on measured slowdowns the choice by savings loses less than the one by completion."""
    generated = {
        f"{running} x {pending}": [
            full_cluster(running=running, pending=pending, seed=seed) for seed in range(3)
        ]
        for running, pending in ((20, 20), (20, 60), (60, 20), (60, 60))
    }
    folder = data_folder()
    real = [] if folder is None else list(from_data(folder))
    rows = {**generated, **{problem.name.rpartition("/")[2]: [problem] for problem in real}}
    shown = []
    for name, problems in rows.items():
        losses = [_losses(problems, method) for method in HEURISTICS]
        shown.append((name, *(f"{mean(loss):.1%} {max(loss):.1%}" for loss in losses)))
        if name in generated:
            assert mean(losses[1]) < mean(losses[0])
    head = ("running x pending", *map(name_of, HEURISTICS))
    tabulate("optimum less value, over the optimum: mean and largest", head, shown, 170)


def _losses(problems: Iterable[Colocation], method: Callable[..., Any]) -> list[float]:
    """Return what a heuristic loses on each problem, as a part of the optimum."""
    return [loss(method, problem, proven(exact, problem, [])) for problem in problems]


def test_the_assignment_is_faster_than_the_matching() -> None:
    """With a hundred running and pending jobs each, doubles and a proof take less time than the blossoms do."""
    problem = full_cluster(running=100, pending=100, worst=1.5, seed=1)
    (one, first), (other, second) = (
        timed(partial(method, problem), clock=perf_counter) for method in (assignment, matching)
    )
    ratio = second / first
    report(f"the matching takes {ratio:.1f} times as long as the assignment")
    assert one.status is other.status is Status.OPTIMAL
    assert one.objective == other.objective
    assert ratio > 1
