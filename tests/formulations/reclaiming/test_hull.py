"""The lower convex hull of the trade-off curve, by parametric minimum cuts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.reclaiming.decomposition import curve, optimum, plan
from formulations.reclaiming.hull import hull
from formulations.reclaiming.reduced import arrays
from formulations.reclaiming.reduction import reduce
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact
from gsopt.problems.reclaiming import Reclaiming
from gsopt.solvers.backends import Highs
from instances.reclaiming import churn, random_hypergraph, server_uniform
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


def lower_hull(values: tuple[Exact, ...]) -> list[Fraction]:
    """Return the lower convex hull of a curve at every index."""
    exact = [Fraction(value) for value in values]
    last = len(exact) - 1
    return [
        min(
            exact[left]
            if left == right
            else (exact[left] * (right - at) + exact[right] * (at - left)) / (right - left)
            for left in range(at + 1)
            for right in range(at, last + 1)
        )
        for at in range(last + 1)
    ]


@settings(deadline=None, max_examples=cases(150))
@given(reclaiming_problems())
def test_the_bound_is_the_lower_convex_hull(problem: Reclaiming) -> None:
    """For every demand and any costs the bound is exactly the lower convex hull of the trade-off curve."""
    try:
        expected = lower_hull(curve(problem))
    except Unsupported:
        return
    for demand, value in enumerate(expected):
        reduction = reduce(problem.model_copy(update={"demand": demand}))
        found = hull(reduction, Budget())

        assert found.finished
        assert value == reduction.number(found.shares.bound)


@settings(deadline=None, max_examples=cases(150))
@given(reclaiming_problems())
def test_net_of_constants_the_bound_is_no_lower(problem: Reclaiming) -> None:
    """What every choice pays is taken out to the good of the bound, which never exceeds the optimum."""
    try:
        values = curve(problem)
    except Unsupported:
        return
    reduction = reduce(problem)
    whole, net = hull(reduction, Budget()), hull(reduction.net(), Budget())
    bound = reduction.net().number(net.shares.bound)

    assert reduction.number(whole.shares.bound) <= bound <= values[problem.demand]


@pytest.mark.parametrize("second_objective", ["none", "collateral"])
@pytest.mark.parametrize("mode", ["packed", "mixed"])
def test_the_bound_of_a_cluster_is_the_hull(mode: str, second_objective: str) -> None:
    """The same holds on a cluster of 80 servers, with collateral damage too."""
    problem = churn(servers=80, mode=mode, seed=4)  # type: ignore[arg-type]
    problem = problem.model_copy(update={"second_objective": second_objective})
    expected = lower_hull(curve(problem))
    for demand in range(0, 81, 7):
        reduction = reduce(problem.model_copy(update={"demand": demand}))

        assert expected[demand] == reduction.number(hull(reduction, Budget()).shares.bound)


@pytest.mark.parametrize(
    "problem",
    [
        churn(servers=520, mode="worker", demand=150, seed=1),
        churn(servers=520, mode="worker", demand=60, seed=2, weighted=True),
        random_hypergraph(servers=60, jobs=60, span=3, demand=20, seed=1),
        *(server_uniform(servers=60, jobs=60, degree=degree, demand=20, seed=degree) for degree in (3, 5, 8)),
    ],
    ids=lambda problem: problem.name,
)
def test_the_bound_is_the_value_of_the_linear_relaxation(problem: Reclaiming) -> None:
    """On larger instances HiGHS finds the same value for the relaxation of the mixed-integer program."""
    reduction = reduce(problem).net()
    relaxation = Highs().solve(arrays(reduction).relaxation)

    assert relaxation.objective == pytest.approx(
        float(reduction.number(hull(reduction, Budget()).shares.bound)), rel=1e-9
    )


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_the_corners_lie_on_the_curve_around_the_demand(problem: Reclaiming) -> None:
    """The corners are nested, points of the hull, and the rest between them has a choice of enough servers."""
    try:
        expected = lower_hull(curve(problem))
    except Unsupported:
        return
    reduction = reduce(problem)
    found = hull(reduction, Budget())
    below, above = found.below, found.above

    assert below.servers <= problem.demand <= above.servers
    assert not np.any(below.jobs & ~above.jobs)
    assert found.rest.servers >= problem.demand
    for corner in (below, above):
        assert expected[corner.servers] == reduction.number(corner.cost)


CLUSTER = churn(servers=100, mode="mixed", seed=5, weighted=True)


@pytest.mark.parametrize("demand", range(5, 100, 10))
def test_the_core_keeps_every_choice_up_to_the_target(demand: int) -> None:
    """The optimum is found in its own core, and a core below the optimum has no choice that good."""
    reduction = reduce(CLUSTER.model_copy(update={"demand": demand}))
    found = hull(reduction, Budget())
    least = int((Fraction(curve(CLUSTER)[demand]) - reduction.base) / reduction.unit)
    for target, kept in ((least, True), (least - 1, False)):
        core = found.shares.core(target)
        program = plan(core, 20)
        assert program is not None
        counts = optimum(program, demand)

        assert (counts is not None and core.value(counts) <= target) is kept


def test_the_core_is_smaller_than_the_problem() -> None:
    """On a cluster most jobs are decided by what the hull leaves of their costs."""
    reduction = reduce(CLUSTER.model_copy(update={"demand": 30})).net()
    shares = hull(reduction, Budget()).shares

    assert shares.core(int(shares.bound)).servers < 80


def test_without_time_equal_shares_are_the_bound() -> None:
    """A budget that allows no flow leaves the bound of equal shares, between nothing and everything."""
    problem = churn(servers=200, mode="worker", seed=1, demand=90)
    reduction = reduce(problem).net()
    found, whole = hull(reduction, Budget(time_limit=0.0)), hull(reduction, Budget())

    assert not found.finished
    assert (found.below.servers, found.above.servers) == (0, 200)
    assert 0 < found.shares.bound < whole.shares.bound


@pytest.mark.parametrize(("degree", "weak"), [(1, False), (8, True)])
def test_the_hull_of_a_dense_hypergraph_is_a_straight_line(degree: int, weak: bool) -> None:
    """With many random jobs on every server the hull has no corner; with one job each it has many."""
    problem = server_uniform(servers=200, jobs=200, degree=degree, demand=60, seed=1)

    assert (hull(reduce(problem).net(), Budget()).straight > 0.9) is weak


def test_figure_5_at_every_demand() -> None:
    """The curve 0, 1, 1, 2, 3, 3, 4 of the paper's example has corners at 0, 2, 5 and 6 servers."""
    found = [hull(reduce(figure_5(demand=demand)), Budget()) for demand in range(7)]

    assert [each.shares.bound for each in found] == [0, Fraction(1, 2), 1, Fraction(5, 3), Fraction(7, 3), 3, 4]
    assert [each.below.servers for each in found] == [0, 0, 2, 2, 2, 5, 5]
