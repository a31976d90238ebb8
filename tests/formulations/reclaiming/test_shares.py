"""Shares of costs: the bound that any of them prove, and the core that they leave."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming.reduction import Reduction, reduce
from formulations.reclaiming.shares import Costs, CostShares, equal_shares
from gsopt.core.errors import Unsupported
from gsopt.problems.reclaiming import Reclaiming
from instances.reclaiming import churn
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


def values(reduction: Reduction) -> dict[tuple[int, ...], int]:
    """Return the value of every choice, by counts."""
    sizes = [range(len(group.servers) + 1) for group in reduction.groups]
    return {counts: reduction.value(counts) for counts in product(*sizes) if sum(counts) == reduction.demand}


def reduced(problem: Reclaiming) -> Reduction | None:
    """Reduce a problem if that can be done."""
    try:
        return reduce(problem).net()
    except Unsupported:
        return None


def possible(reduction: Reduction, counts: tuple[int, ...]) -> bool:
    """Check whether a restricted reduction still has these servers."""
    return all(count <= len(group.servers) for count, group in zip(counts, reduction.groups, strict=True))


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems(max_servers=5), st.data())
def test_any_shares_prove_a_bound_and_a_core(problem: Reclaiming, data: st.DataObject) -> None:
    """However costs are shared: no choice is below the bound, and none up to a target is outside its core."""
    reduction = reduced(problem)
    if reduction is None:
        return
    costs = Costs.of(reduction)
    left = [3 * int(weight) for weight in costs.weights]
    shares = []
    for job in costs.network.sink.tolist():
        shares.append(data.draw(st.integers(0, left[job])))
        left[job] -= shares[-1]
    price = data.draw(st.integers(0, 3 * reduction.largest + 3))
    proof = CostShares(costs, 3, np.array(shares, dtype=costs.weights.dtype), price)
    known = values(reduction)
    target = data.draw(st.sampled_from(sorted(known.values()))) + data.draw(st.integers(-1, 1))
    core = proof.core(target)

    assert proof.bound <= min(known.values())
    for counts, value in known.items():
        if value <= target:
            assert possible(core, counts)
            assert core.value(counts) == value


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems(max_servers=5))
def test_equal_shares_prove_what_the_cheapest_servers_pay(problem: Reclaiming) -> None:
    """The bound of equal shares is the sum over the cheapest servers, up to the rounding of a share."""
    reduction = reduced(problem)
    if reduction is None:
        return
    pays = []
    for group in reduction.groups:
        spans = {
            job: sum(len(other.servers) for other in reduction.groups if job in other.jobs)
            for job in group.jobs
        }
        share = sum(Fraction(reduction.weights[job], span) for job, span in spans.items())
        pays += [group.cost + share] * len(group.servers)
    expected = sum(sorted(pays)[: reduction.demand])
    bound = equal_shares(Costs.of(reduction)).bound
    pairs = sum(len(group.jobs) for group in reduction.groups)

    assert expected - Fraction(pairs, 64) <= bound <= expected


@pytest.mark.parametrize(
    ("shares", "price", "target", "preempted", "spared", "kept"),
    [
        # nothing is charged, every job is left with its 1, server 3 is dearer by its own 1: the bound is 0
        ([0, 0, 0, 0, 0], 0, 0, [], [0, 1, 2], [0, 1, 2, 3, 4]),
        ([0, 0, 0, 0, 0], 0, 1, [], [], [3]),  # server 5 preempts two jobs
        ([0, 0, 0, 0, 0], 0, 2, [], [], []),
        # servers 1 and 2 are cheaper by 1 each, servers 4, 5 and 6 too: the bound is -3
        ([0, 0, 0, 0, 0], 1, -1, [], [], []),
        ([0, 0, 0, 0, 0], 1, -2, [0, 1, 2], [], [3]),  # sparing a job keeps two of them
        # jobs 1 and 3 are charged to servers 1, 2 and 6, which are then less cheap: the bound is -1
        ([1, 0, 0, 0, 1], 1, 0, [1], [], []),
    ],
)
def test_the_core_leaves_out_all_that_the_slack_does_not_allow(
    shares: list[int], price: int, target: int, preempted: list[int], spared: list[int], kept: list[int]
) -> None:
    """On the example of Figure 5, exactly those jobs and groups are decided that cost more than the slack."""
    reduction = reduce(figure_5(demand=2))
    proof = CostShares(Costs.of(reduction), 1, np.array(shares), price)

    assert reduction.restricted(preempted, spared, kept) == proof.core(target)


def test_the_core_of_a_cluster_is_small() -> None:
    """Without shares worth the name a core is everything; equal shares already decide a part of a cluster."""
    reduction = reduce(churn(servers=100, mode="mixed", seed=5, weighted=True, demand=30)).net()
    proof = equal_shares(Costs.of(reduction))
    core = proof.core(int(proof.bound))

    assert core.servers < reduction.servers


def test_numbers_of_any_size_are_no_doubles() -> None:
    """Where 64 bits do not hold the sums the arrays are of integers of any size, else of 64 bits."""
    reduction = reduce(figure_5())
    large = Reduction(1, (10**30,), reduction.groups[:1])

    assert Costs.of(reduction).weights.dtype == np.int64
    assert Costs.of(large).weights.dtype == object
    assert equal_shares(Costs.of(large)).bound == 10**30 // 2
