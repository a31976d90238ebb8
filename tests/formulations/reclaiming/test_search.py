"""The search for reclaiming, and the hulls, shares and flows that it proves with."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming import search as module
from formulations.reclaiming.decomposition import curve, optimum, plan
from formulations.reclaiming.flow import Network
from formulations.reclaiming.growth import greedy_counts
from formulations.reclaiming.hull import hull
from formulations.reclaiming.reduced import arrays, point
from formulations.reclaiming.reduction import Reduction, reduce
from formulations.reclaiming.search import ReclaimingSearch, SearchResult, part
from formulations.reclaiming.shares import CostShares, ReductionCosts, equal_shares
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.reclaiming import Reclaiming
from gsopt.solvers.backends import Backend, Highs, Incumbent, Outcome
from gsopt.solvers.standard_form import StandardForm
from heuristics.reclaiming import greedy
from instances.reclaiming import churn, random_hypergraph, server_uniform
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems, reducible, unless_unsupported
from tests.unwrap import unwrap

HARD = reduce(server_uniform(servers=60, jobs=60, degree=5, demand=18)).net()
CORE = reduce(churn(mode="worker", seed=1, demand=120, weighted=True)).net()


@dataclass(frozen=True)
class FixedBackend:
    """A backend that always returns the same outcome, and keeps its calls."""

    outcome: Outcome
    calls: list[dict[str, Any]] = field(default_factory=list)
    name: str = "fixed"

    def solve(self, form: StandardForm, **options: Any) -> Outcome:
        """Return the outcome."""
        self.calls.append({"form": form, **options})
        return self.outcome


def stopped(stopped_by: StoppedBy, bound: float | None = None) -> Outcome:
    """Return the outcome of a solver that found nothing."""
    return Outcome(Status.UNKNOWN, None, None, bound, stopped_by, "fixed")


def run(reduction: Reduction, width: int = 12, **options: Any) -> SearchResult:
    """Search with the options of a budget."""
    return ReclaimingSearch(reduction, Budget(**options), width=width).run()


@pytest.mark.parametrize(
    ("problem", "width", "message", "solver"),
    [
        (figure_5(demand=2), 12, "decomposition", "decomposition"),
        (figure_5(demand=2), -1, "hull and rounding", "hull"),
        (churn(mode="worker", seed=1, demand=60), 12, "hull and rounding", "hull"),
        (
            churn(mode="worker", seed=1, demand=120, weighted=True),
            12,
            "hull and decomposition of the core",
            "hull",
        ),
        (server_uniform(servers=20, jobs=15, degree=3, demand=6), -1, "hull and cp-sat on the core", "cp-sat"),
    ],
)
def test_the_message_names_the_technique(problem: Reclaiming, width: int, message: str, solver: str) -> None:
    """Each technique ends the search where it can, with value and bound equal, and is named."""
    reduction = reduce(problem).net()
    answer = run(reduction, width)
    assert (message, solver, StoppedBy.FINISHED) == (answer.message, answer.solver, answer.stopped_by)
    assert reduction.value(answer.counts) == answer.bound


@pytest.mark.parametrize("stopped_by", [StoppedBy.TIME_LIMIT, StoppedBy.INTERRUPT, StoppedBy.CRASH])
@pytest.mark.parametrize(("bound", "expected"), [(None, 23), (22.5, 23), (24.2, 25), (99.0, None)])
def test_a_stopped_solver_leaves_value_and_bound(
    stopped_by: StoppedBy, bound: float | None, expected: int | None
) -> None:
    """Whatever stops the solver, there is a choice and the better of two bounds, never above the value."""
    answer = run(HARD, backend=FixedBackend(stopped(stopped_by, bound)))
    value = HARD.value(answer.counts)
    assert (expected or value) == answer.bound
    assert (stopped_by if answer.bound < value else StoppedBy.FINISHED) is answer.stopped_by


def test_the_better_of_two_choices_is_kept() -> None:
    """A solver's point that is worse than what is known does not replace it."""
    nothing = FixedBackend(stopped(StoppedBy.TIME_LIMIT))
    known = run(HARD, backend=nothing)
    form = nothing.calls[0]["form"]
    point = np.zeros(len(form.columns))
    point[[form.columns.index(f"returned[{group}]") for group in range(HARD.demand)]] = 1.0
    worse = FixedBackend(Outcome(Status.FEASIBLE, point, None, None, StoppedBy.TIME_LIMIT, "fixed"))

    assert HARD.value(known.counts) == HARD.value(run(HARD, backend=worse).counts)


def test_options_reach_the_solver() -> None:
    """Gap, time limit, log and the best choice are handed to the solver of the mixed-integer program."""
    solver = FixedBackend(stopped(StoppedBy.TIME_LIMIT))
    answer = run(HARD, backend=solver, gap=0.125, time_limit=60, log=True)
    (asked,) = solver.calls

    assert (asked["gap"], asked["log"]) == (0.125, True)
    assert 0 < asked["time_limit"] <= 60
    assert asked["form"].is_feasible(asked["start"])
    assert HARD.value(answer.counts) == asked["form"].objective(asked["start"])


def test_a_gap_that_is_met_early_stops_early() -> None:
    """No solver of mixed-integer programs is asked once value and bound are close enough."""
    answer = run(CORE, gap=0.5, width=-1, backend=FixedBackend(stopped(StoppedBy.CRASH)))
    assert (answer.stopped_by, answer.message) == (StoppedBy.GAP, "hull and rounding")
    assert 0 < answer.bound < CORE.value(answer.counts) <= 1.5 * answer.bound


def test_a_weak_bound_is_called_weak_by_nature() -> None:
    """Where the hull is a straight line and value and bound do not meet, the message says so."""
    answer = run(HARD, backend=FixedBackend(stopped(StoppedBy.TIME_LIMIT)))
    assert "inherently weak: the hull is straight over 97% of the servers" in answer.message


@pytest.mark.parametrize("reduction", [HARD, CORE])
@pytest.mark.parametrize("grace", [0.0, 0.25])
def test_without_time_there_is_a_choice_and_a_bound(
    reduction: Reduction, grace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget that has passed, with grace and without, leaves a choice, a bound above 0, and the reason."""
    monkeypatch.setattr(module, "_GRACE", grace)
    answer = run(reduction, time_limit=0.0)
    assert sum(answer.counts) == reduction.demand
    assert 0 < answer.bound <= reduction.value(answer.counts)
    assert answer.stopped_by is StoppedBy.TIME_LIMIT


def test_the_first_choice_has_a_moment_of_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choice and bound may take a quarter of a second more than the limit, so that they are worth having."""
    limits: list[float | None] = []

    def noted(reduction: Reduction, budget: Budget) -> list[int]:
        limits.append(budget.time_limit)
        return greedy_counts(reduction, budget)

    monkeypatch.setattr(module, "greedy_counts", noted)
    for time_limit in (0.0, None):
        run(HARD, time_limit=time_limit, backend=FixedBackend(stopped(StoppedBy.TIME_LIMIT)))

    assert limits == [0.25, None]


def test_a_value_of_0_is_no_gap_of_0() -> None:
    """Relative to a value of 0 there is no gap, so nothing counts as met before the bound is 0 too."""
    solver = FixedBackend(stopped(StoppedBy.TIME_LIMIT))
    value = HARD.value(run(HARD, backend=solver).counts)
    solver.calls.clear()
    run(replace(HARD, base=-value), backend=solver)
    assert len(solver.calls) == 1


def test_a_known_choice_is_not_lost() -> None:
    """A known choice that is better than all that is found without time is the answer."""
    best = run(HARD, backend=Highs(), time_limit=60.0, gap=1.0).counts
    kept = ReclaimingSearch(HARD, Budget(time_limit=0.0), width=12).run(best)
    assert HARD.value(best) == HARD.value(kept.counts)


@pytest.mark.parametrize("after", [1, 2])
def test_true_ends_the_search(after: int) -> None:
    """The caller hears of falling values and rising bounds, and ends the search by True."""
    heard: list[tuple[int, int]] = []

    def hear(counts: list[int], bound: int) -> bool:
        heard.append((HARD.value(counts), bound))
        return len(heard) == after

    answer = ReclaimingSearch(HARD, Budget(), width=12, on_better=hear).run()
    values = [value for value, _ in heard]

    assert (after, StoppedBy.INTERRUPT) == (len(heard), answer.stopped_by)
    assert values == sorted(values, reverse=True)
    assert all(0 < bound <= value for value, bound in heard)


def test_incumbents_of_the_solver_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A better point of the mixed-integer program reaches the caller as counts, and True stops the solver."""
    best = run(HARD, backend=FixedBackend(stopped(StoppedBy.TIME_LIMIT))).counts
    monkeypatch.setattr(module, "tabu_search", lambda *_, **__: None)
    heard: list[list[int]] = []

    class Finds(FixedBackend):
        def solve(self, form: StandardForm, **options: Any) -> Outcome:
            better = Incumbent(point(HARD, best), form.objective(point(HARD, best)), 24.0, 0.0)
            self.calls.append({"stop": options["on_incumbent"](better)})
            return stopped(StoppedBy.INTERRUPT, 24.0)

    def hear(counts: list[int], _: int) -> bool:
        heard.append(counts)
        return counts == best

    solver = Finds(stopped(StoppedBy.INTERRUPT))
    answer = ReclaimingSearch(HARD, Budget(backend=solver), width=12, on_better=hear).run()

    assert (best, best, 24) == (heard[-1], answer.counts, answer.bound)
    assert solver.calls == [{"stop": True}]


@pytest.mark.parametrize(("technique", "bound"), [("tabu_search", 18), ("pairs_bound", 18), ("optimize", 23)])
def test_an_interrupt_leaves_what_is_known(technique: str, bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of the search gives the best choice and bound until then."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, technique, interrupted)
    answer = run(HARD)

    assert (answer.stopped_by, answer.bound) == (StoppedBy.INTERRUPT, bound)
    assert sum(answer.counts) == HARD.demand


def test_an_interrupt_before_the_first_choice_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while nothing is known yet is the caller's."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "hull", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(HARD)


def test_large_programs_are_left_to_the_local_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a time limit no solver is asked for a program that it could only begin to read."""
    monkeypatch.setattr(module, "_PROGRAM", 100)
    solver = FixedBackend(stopped(StoppedBy.CRASH))
    answer = run(HARD, time_limit=0.5, backend=solver)
    assert solver.calls == []
    assert answer.stopped_by is StoppedBy.TIME_LIMIT


@pytest.mark.parametrize("backend", [None, Highs()])
def test_both_solvers_close_a_small_core(backend: Backend | None) -> None:
    """What neither rounding nor tables nor local search can prove the solvers can."""
    reduction = reduce(server_uniform(servers=30, jobs=30, degree=3, demand=10, seed=1)).net()
    answer = run(reduction, -1, backend=backend)
    assert reduction.value(answer.counts) == answer.bound


def test_a_part_of_the_time_is_a_part_of_what_is_left() -> None:
    """A part of a budget ends within it; without a limit there is none."""
    halved = part(Budget(time_limit=100.0), 0.5)
    assert part(Budget(), 0.5).time_limit is None
    assert 50 <= unwrap(halved.time_limit) <= 51


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
    expected = lower_hull(unless_unsupported(curve, problem))
    for demand, value in enumerate(expected):
        reduction = reduce(problem.model_copy(update={"demand": demand}))
        found = hull(reduction, Budget())

        assert found.finished
        assert value == reduction.number(found.shares.bound)


@settings(deadline=None, max_examples=cases(150))
@given(reclaiming_problems())
def test_net_of_constants_the_bound_is_no_lower(problem: Reclaiming) -> None:
    """What every choice pays is taken out to the good of the bound, which never exceeds the optimum."""
    values, reduction = unless_unsupported(curve, problem), reduce(problem)
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
    expected = lower_hull(unless_unsupported(curve, problem))
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
        program = unwrap(plan(core, 20))
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


@pytest.mark.parametrize("time_limit", [None, 0.0])
def test_exactly_the_demand_is_chosen(time_limit: float | None) -> None:
    """With and without time the choice has as many servers as demanded, and no group gives more than it has."""

    @settings(deadline=None, max_examples=cases(100))
    @given(reclaiming_problems())
    def check(given: Reclaiming) -> None:
        reduction = reducible(given)
        counts = greedy_counts(reduction, Budget(time_limit=time_limit))

        assert sum(counts) == given.demand
        assert all(count <= len(group.servers) for count, group in zip(counts, reduction.groups, strict=True))

    check()


@pytest.mark.parametrize(("demand", "value"), [(0, 0), (1, 1), (2, 1), (3, 2), (6, 4)])
def test_figure_5_is_solved(demand: int, value: int) -> None:
    """On the example of Figure 5 the least shares lead to an optimum for these demands."""
    reduction = reduce(figure_5(demand=demand))
    assert value == reduction.value(greedy_counts(reduction, Budget()))


def test_it_is_as_good_as_algorithm_1_on_the_whole() -> None:
    """Over clusters and hypergraphs the better of two powers costs no more than Algorithm 1 alone."""
    problems = [
        *(churn(servers=200, mode="worker", demand=demand, seed=3, weighted=True) for demand in (20, 80)),
        *(server_uniform(servers=200, jobs=200, degree=degree, demand=60, seed=1) for degree in (3, 5, 8)),
    ]
    quick = greedily = 0.0
    for problem in problems:
        reduction = reduce(problem)
        quick += float(reduction.number(reduction.value(greedy_counts(reduction, Budget()))))
        greedily += float(greedy(problem).objective or 0)

    assert quick <= greedily


def values(reduction: Reduction) -> dict[tuple[int, ...], int]:
    """Return the value of every choice, by counts."""
    sizes = [range(len(group.servers) + 1) for group in reduction.groups]
    return {counts: reduction.value(counts) for counts in product(*sizes) if sum(counts) == reduction.demand}


def possible(reduction: Reduction, counts: tuple[int, ...]) -> bool:
    """Check whether a restricted reduction still has these servers."""
    return all(count <= len(group.servers) for count, group in zip(counts, reduction.groups, strict=True))


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems(max_servers=5), st.data())
def test_any_shares_prove_a_bound_and_a_core(problem: Reclaiming, data: st.DataObject) -> None:
    """However costs are shared: no choice is below the bound, and none up to a target is outside its core."""
    reduction = reducible(problem).net()
    costs = ReductionCosts.of(reduction)
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
    reduction = reducible(problem).net()
    pays = []
    for group in reduction.groups:
        spans = {
            job: sum(len(other.servers) for other in reduction.groups if job in other.jobs)
            for job in group.jobs
        }
        share = sum(Fraction(reduction.weights[job], span) for job, span in spans.items())
        pays += [group.cost + share] * len(group.servers)
    expected = sum(sorted(pays)[: reduction.demand])
    bound = equal_shares(ReductionCosts.of(reduction)).bound
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
    proof = CostShares(ReductionCosts.of(reduction), 1, np.array(shares), price)
    assert reduction.restricted(preempted, spared, kept) == proof.core(target)


def test_the_core_of_a_cluster_is_small() -> None:
    """Without shares worth the name a core is everything; equal shares already decide a part of a cluster."""
    reduction = reduce(churn(servers=100, mode="mixed", seed=5, weighted=True, demand=30)).net()
    proof = equal_shares(ReductionCosts.of(reduction))
    core = proof.core(int(proof.bound))
    assert core.servers < reduction.servers


def test_numbers_of_any_size_are_no_doubles() -> None:
    """Where 64 bits do not hold the sums the arrays are of integers of any size, else of 64 bits."""
    reduction = reduce(figure_5())
    large = Reduction(1, (10**30,), reduction.groups[:1])
    assert ReductionCosts.of(reduction).weights.dtype == np.int64
    assert ReductionCosts.of(large).weights.dtype == object
    assert equal_shares(ReductionCosts.of(large)).bound == 10**30 // 2


Pairs = set[tuple[int, int]]


def laid_out(pairs: Pairs, sources: int, sinks: int) -> Network:
    """Return the network of some pairs."""
    ordered = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return Network(sources, sinks, ordered[:, 0], ordered[:, 1])


def reference(pairs: Pairs, supply: list[int], capacity: list[int]) -> int:
    """Return the value of the maximum flow by networkx, whose numbers have any size."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for index, most in enumerate(supply):
        graph.add_edge("source", ("from", index), capacity=most)
    for index, most in enumerate(capacity):
        graph.add_edge(("to", index), "sink", capacity=most)
    graph.add_edges_from((("from", one), ("to", other)) for one, other in pairs)
    return int(nx.maximum_flow_value(graph, "source", "sink"))


SIZES = st.sampled_from([3, 10**4, 2**30 - 1, 2**31, 10**13, 10**40])


@settings(deadline=None, max_examples=cases(200))
@given(st.data(), SIZES)
def test_the_flow_is_as_large_as_can_be(data: st.DataObject, size: int) -> None:
    """Within all limits the flow has the value that networkx finds, however many digits it has."""
    sources, sinks = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    pairs = data.draw(st.sets(st.tuples(st.integers(0, sources - 1), st.integers(0, sinks - 1)), max_size=12))
    amounts = st.integers(0, size) | st.just(size)
    supply = data.draw(st.lists(amounts, min_size=sources, max_size=sources))
    capacity = data.draw(st.lists(amounts, min_size=sinks, max_size=sinks))
    kind = np.int64 if size < 2**62 // 10 else object
    network = laid_out(pairs, sources, sinks)

    flow = network.maximum_flow(np.array(supply, dtype=kind), np.array(capacity, dtype=kind))

    assert all(part >= 0 for part in flow.tolist())
    assert all(sent <= most for sent, most in zip(network.outflow(flow).tolist(), supply, strict=True))
    assert all(most >= got for got, most in zip(network.inflow(flow).tolist(), capacity, strict=True))
    assert reference(pairs, supply, capacity) == sum(flow.tolist())


FOUR = st.lists(st.integers(0, 9), min_size=4, max_size=4)


@settings(deadline=None, max_examples=cases(100))
@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), FOUR, FOUR)
def test_what_is_reached_is_one_side_of_a_minimum_cut(
    pairs: Pairs, supply: list[int], capacity: list[int]
) -> None:
    """The supply beyond reach and the capacity within reach add up to the flow: a cut of the same value."""
    network = laid_out(pairs, len(supply), len(capacity))
    given_supply, given_capacity = np.array(supply), np.array(capacity)
    flow = network.maximum_flow(given_supply, given_capacity)

    sources, sinks = network.reached(given_supply, flow)

    assert given_supply[~sources].sum() + given_capacity[sinks].sum() == flow.sum()
    assert not any(sources[one] and not sinks[other] for one, other in pairs)


def test_a_flow_is_rerouted_across_scales() -> None:
    """A flow that the first, coarse scale sends the wrong way is turned round in the finer ones."""
    big = 2**70
    network = laid_out({(0, 0), (0, 1), (1, 0)}, 2, 2)
    supply, capacity = np.array([big + 1, big - 1], dtype=object), np.array([big, big], dtype=object)
    assert sum(network.maximum_flow(supply, capacity).tolist()) == 2 * big


@pytest.mark.parametrize("kind", [np.int64, object])
def test_without_pairs_nothing_flows(kind: type) -> None:
    """A network without pairs carries nothing."""
    network = laid_out(set(), 1, 1)
    assert network.maximum_flow(np.array([3], dtype=kind), np.array([3], dtype=kind)).tolist() == []
