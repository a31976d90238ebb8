"""Reductions of reclaiming, and dynamic programs over their parts."""

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.common.convolution import convolve
from formulations.reclaiming import milp
from formulations.reclaiming.decomposition import curve, decomposition, fill, optimum, plan
from formulations.reclaiming.elimination import min_degree
from formulations.reclaiming.reduction import Reduction, ServerGroup, reduce
from formulations.reclaiming.survival import survival
from gsopt.core.errors import InvalidSolution, Unsupported
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.problem import Number
from gsopt.core.result import Status
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.testing import brute_force
from instances import load, names
from instances.reclaiming import churn, random_hypergraph, server_uniform
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems, reducible, unless_unsupported
from tests.unwrap import unwrap

SERVERS = tuple(Server(name=f"s{number}", gpus=200) for number in range(1, 5))


def problem(*jobs: Job, **changes: object) -> Reclaiming:
    """Return a problem of four servers."""
    return Reclaiming(demand=2, servers=SERVERS, jobs=jobs).model_copy(update=changes)


def test_figure_5_becomes_three_jobs_and_five_groups() -> None:
    """Job b stands on one server and becomes its cost; servers 1 and 2 are alike."""
    reduction = reduce(figure_5())

    assert reduction.weights == (1, 1, 1)
    assert reduction.groups == (
        ServerGroup((0, 1), 0, (0,)),
        ServerGroup((2,), 1, ()),
        ServerGroup((3,), 0, (1,)),
        ServerGroup((4,), 0, (1, 2)),
        ServerGroup((5,), 0, (2,)),
    )


def test_jobs_on_the_same_servers_are_merged() -> None:
    """Two jobs on the same servers become one job with the sum of their costs."""
    reduction = reduce(
        problem(
            Job(name="a", workers={"s1": 1, "s2": 1}, cost=2), Job(name="b", workers={"s2": 3, "s1": 5}, cost=3)
        )
    )

    assert reduction.weights == (5,)
    assert [group.servers for group in reduction.groups] == [(0, 1), (2, 3)]


def test_a_job_without_cost_is_left_out() -> None:
    """A job that costs nothing needs no decision."""
    reduction = reduce(problem(Job(name="a", workers={"s1": 1, "s2": 1}, cost=0)))
    assert reduction.weights == ()
    assert reduction.groups == (ServerGroup((0, 1, 2, 3), 0, ()),)


def values(reduction: Reduction, given: Reclaiming) -> list[tuple[Exact, Number]]:
    """Return every choice of servers the reduction's value and the judge's, in the problem's numbers."""
    return [
        (reduction.number(reduction.value(reduction.counts(choice, given))), given.objective(choice))
        for choice in given.candidates()
    ]


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_every_choice_has_exactly_the_judges_value(given: Reclaiming) -> None:
    """With and without its constants the reduction gives every choice the judge's value, whatever the costs."""
    reduction = reducible(given)
    for each in (reduction, reduction.net()):
        assert all(mine == judged for mine, judged in values(each, given))


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_optimistic_reductions_never_cost_more(given: Reclaiming) -> None:
    """What is forgotten of sets of lost workers can only make a choice cheaper."""
    reduction = reduce(given, optimistic=True)
    assert all(mine <= judged for mine, judged in values(reduction, given))


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_optimistic_reductions_forget_no_more_than_the_others(given: Reclaiming) -> None:
    """Jobs are preempted by their critical servers, and lose their GPUs on those of them that are kept."""
    reduction = reduce(given, optimistic=True)
    for choice in given.candidates():
        expected: Number = 0
        for job in given.jobs:
            critical = survival(job, given.elasticity).critical
            kept = sum(gpus for server, gpus in critical.items() if server not in choice.servers)
            if not critical.keys().isdisjoint(choice.servers):
                expected += given.cost_weight * decimal(job.cost)
                expected += kept if given.second_objective == "collateral" else 0

        assert expected == reduction.number(reduction.value(reduction.counts(choice, given)))


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(), st.randoms(use_true_random=False))
def test_any_servers_of_a_group_will_do(given: Reclaiming, random: object) -> None:
    """Lifting the counts of a choice gives a feasible choice of the same value."""
    reduction = reducible(given)
    choice = random.choice(list(given.candidates()))  # type: ignore[attr-defined]
    lifted = reduction.lift(reduction.counts(choice, given), given)
    assert given.violations(lifted) == []
    assert given.objective(lifted) == given.objective(choice)


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_net_of_constants_all_costs_are_whole_and_coprime(given: Reclaiming) -> None:
    """No cost is negative, the cheapest server is free, nothing divides all costs, no value is too large."""
    reduction = reducible(given).net()
    own = [group.cost for group in reduction.groups]
    found = [reduction.value(reduction.counts(choice, given)) for choice in given.candidates()]

    assert min(own) == 0
    assert all(isinstance(cost, int) and cost >= 0 for cost in (*own, *reduction.weights))
    assert gcd(*own, *reduction.weights) in (0, 1)
    assert all(0 <= value <= reduction.largest for value in found)


@pytest.mark.parametrize(
    ("costs", "unit"),
    [
        ((), Fraction(1)),
        ((0.0,), Fraction(1)),
        ((63.0, 126.0), Fraction(63)),
        ((0.5, 0.75), Fraction(1, 4)),
        ((0.1, 1.1), Fraction(1, 10)),
        ((1e12, 5e-324), Fraction(5, 10**324)),
    ],
)
def test_the_unit_is_the_greatest_common_divisor(costs: tuple[float, ...], unit: Fraction) -> None:
    """The unit divides all costs as they are written."""
    jobs = [Job(name=f"j{number}", workers={"s1": 1}, cost=cost) for number, cost in enumerate(costs)]
    assert reduce(problem(*jobs)).unit == unit


def test_what_every_choice_pays_is_taken_out() -> None:
    """Of a hypergraph of jobs of 1.1 and a job of a million on every server whole small numbers remain."""
    plain = server_uniform(servers=60, jobs=60, degree=3, demand=20, seed=2)
    jobs = [job.model_copy(update={"cost": 1.1}) for job in plain.jobs]
    jobs += [Job(name=f"own-{server.name}", workers={server.name: 1}, cost=1e6) for server in plain.servers]
    reduction = reduce(plain.model_copy(update={"jobs": tuple(jobs)})).net()

    assert set(reduction.weights) == {1}
    assert (reduction.unit, reduction.base) == (Fraction(11, 10), 20_000_000)


def test_a_job_on_more_servers_than_may_be_kept_is_a_constant() -> None:
    """Where two of four servers are returned, a job on three of them is always preempted, one on two is not."""
    given = problem(
        Job(name="a", workers={"s1": 1, "s2": 1, "s3": 1}, cost=7), Job(name="b", workers={"s3": 1, "s4": 1})
    )
    reduction = reduce(given).net()
    assert (reduction.weights, reduction.base) == ((1,), 7)


def test_preempting_and_sparing_jobs_keeps_positions() -> None:
    """A preempted job is paid for, a spared job blocks its servers, and nothing changes its place."""
    rest = reduce(figure_5()).restricted(preempted=[1], spared=[2], kept=[0])
    assert rest.paid == 1
    assert rest.weights == (1, 1, 1)
    assert [group.servers for group in rest.groups] == [(), (2,), (3,), (), ()]
    assert [group.jobs for group in rest.groups] == [(), (), (), (), ()]


ELASTIC = (Job(name="a", workers={"s1": 4}, flexible={"s2": 4}),)


@pytest.mark.parametrize(
    ("elasticity", "second_objective", "jobs", "reason"),
    [
        ("fungible", "none", ELASTIC, "survives the loss of some sets of workers"),  # of either, not of both
        ("tagged", "collateral", ELASTIC, "depends on its flexible workers"),  # s2 counts unless returned
    ],
)
def test_what_cannot_be_merged_is_refused(
    elasticity: str, second_objective: str, jobs: tuple[Job, ...], reason: str
) -> None:
    """A problem that a fixed set of servers per job does not describe is refused with the reason."""
    given = problem(*jobs, elasticity=elasticity, second_objective=second_objective)
    with pytest.raises(Unsupported, match=reason):
        reduce(given)


@pytest.mark.parametrize("second_objective", ["none", "collateral"])
def test_elastic_jobs_are_merged_where_their_flexible_workers_do_not_matter(second_objective: str) -> None:
    """Fungible workers on one server, or on servers that all preempt, leave a fixed set of servers."""
    given = problem(
        Job(name="a", workers={"s1": 4}, flexible={"s1": 2}),
        Job(name="b", workers={"s1": 4, "s2": 4}, flexible={"s1": 1}),
        elasticity="fungible",
        second_objective=second_objective,
    )

    assert reduce(given).groups[0].jobs == (0,)


def enumerated_curve(problem: Reclaiming) -> list[Number]:
    """Return the optimum for every demand by enumeration."""
    demands = range(len(problem.servers) + 1)
    return [unwrap(brute_force(problem.model_copy(update={"demand": demand})))[0] for demand in demands]


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_the_curve_is_the_enumerated_optimum_everywhere(problem: Reclaiming) -> None:
    """Every point of the curve is what enumeration finds, in every variant that is supported."""
    assert list(unless_unsupported(curve, problem)) == enumerated_curve(problem)


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_a_solution_has_the_value_of_the_curve(problem: Reclaiming) -> None:
    """The solution for a demand is judged to have the value that the curve has there."""
    found = unless_unsupported(curve, problem)
    result = decomposition(problem)
    assert result.status is Status.OPTIMAL
    assert result.objective == found[problem.demand]


@pytest.mark.parametrize("name", names("reclaiming/small"))
def test_committed_instances_have_the_optimum_of_the_plain_model(name: str) -> None:
    """Every committed small instance gets the plain model's optimum, unless its elastic jobs forbid it."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    try:
        result = decomposition(problem, width=20)
    except Unsupported:
        assert any(job.flexible for job in problem.jobs)
        return

    assert result.objective == milp(problem).objective


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(second_objectives=["none"], elasticities=["tagged"]))
def test_the_curve_never_falls(problem: Reclaiming) -> None:
    """Returning more servers never costs less, and returning none costs nothing."""
    found = curve(problem)
    assert found[0] == 0
    assert list(found) == sorted(found)


def renamed(problem: Reclaiming, order: list[int]) -> Reclaiming:
    """Return the same problem with its servers in another order and under other names, jobs reversed."""
    new = {server.name: f"t{place}" for place, server in enumerate(problem.servers)}
    servers = tuple(problem.servers[place].model_copy(update={"name": f"t{place}"}) for place in order)
    jobs = tuple(
        job.model_copy(
            update={
                "name": f"k{number}",
                "workers": {new[name]: gpus for name, gpus in job.workers.items()},
                "flexible": {new[name]: gpus for name, gpus in job.flexible.items()},
            }
        )
        for number, job in enumerate(reversed(problem.jobs))
    )
    return problem.model_copy(update={"servers": servers, "jobs": jobs})


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(elasticities=["tagged"], flexible=False), st.data())
def test_names_and_order_do_not_matter(problem: Reclaiming, data: st.DataObject) -> None:
    """Renaming and shuffling servers and jobs leaves the curve as it is."""
    order = data.draw(st.permutations(range(len(problem.servers))))
    assert curve(problem) == curve(renamed(problem, order))


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(elasticities=["tagged"], second_objectives=["none"]), st.data())
def test_deleting_a_job_never_costs(problem: Reclaiming, data: st.DataObject) -> None:
    """With one job less no point of the curve rises."""
    gone = data.draw(st.integers(0, len(problem.jobs)))
    less = problem.model_copy(update={"jobs": (*problem.jobs[:gone], *problem.jobs[gone + 1 :])})
    pairs = zip(curve(less), curve(problem), strict=True)
    assert all(one <= other for one, other in pairs)


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(elasticities=["tagged"], second_objectives=["none"]))
def test_an_empty_server_shifts_the_curve_by_one(problem: Reclaiming) -> None:
    """With one more server that has no job, every demand costs what one server less costs without it."""
    more = problem.model_copy(update={"servers": (*problem.servers, Server(name="empty", gpus=1))})
    assert curve(more) == (0, *curve(problem))


def union(one: Reclaiming, other: Reclaiming) -> Reclaiming:
    """Put two problems side by side."""
    moved = renamed(other, list(range(len(other.servers))))
    both = {"servers": (*one.servers, *moved.servers), "jobs": (*one.jobs, *moved.jobs)}
    return one.model_copy(update=both)


@settings(deadline=None, max_examples=cases(100))
@given(
    reclaiming_problems(elasticities=["tagged"], second_objectives=["none"], costs=["one", "integer"]),
    reclaiming_problems(elasticities=["tagged"], second_objectives=["none"], costs=["one", "integer"]),
)
def test_the_curve_of_a_union_is_the_convolution(one: Reclaiming, other: Reclaiming) -> None:
    """Servers of two problems side by side are returned at the best division of the demand."""
    left, right = curve(one), curve(other)
    expected = tuple(
        min(left[share] + right[total - share] for share in range(len(left)) if 0 <= total - share < len(right))
        for total in range(len(left) + len(right) - 1)
    )

    assert expected == curve(union(one, other))


@pytest.mark.parametrize(
    "problem",
    [
        churn(servers=120, mode="packed", seed=1, demand=40),
        churn(servers=120, mode="mixed", seed=2, demand=40),
        churn(servers=60, mode="mixed", seed=3, demand=20, weighted=True),
        random_hypergraph(servers=30, jobs=30, span=2, demand=10, seed=1),
        server_uniform(servers=14, jobs=10, degree=2, demand=5, seed=2),
    ],
    ids=lambda problem: problem.name,
)
def test_wide_tables_give_the_same_as_backtracking_them(problem: Reclaiming) -> None:
    """On larger instances the judge gives each backtracked solution exactly the value of the curve."""
    found = curve(problem)
    for demand in range(0, len(problem.servers) + 1, 5):
        result = decomposition(problem.model_copy(update={"demand": demand}))

        assert (found[demand], found[demand]) == (result.objective, result.bound)


def test_the_width_is_decided_before_any_table_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem that is too wide is refused without filling a table."""

    def never(*_: object) -> None:
        raise AssertionError("a table was filled")

    monkeypatch.setattr(import_module("formulations.reclaiming.decomposition"), "fill", never)
    wide = server_uniform(servers=60, jobs=60, degree=5, demand=6)
    methods: list[Callable[[Reclaiming], object]] = [decomposition, curve]

    for method in methods:
        with pytest.raises(Unsupported, match="more than 12 jobs"):
            method(wide)


def test_a_narrower_width_is_refused() -> None:
    """Jobs c and d of the example share server 5: width 1 is enough, width 0 is not."""
    assert decomposition(figure_5(), width=1).objective == 1
    with pytest.raises(Unsupported, match="more than 0 jobs"):
        decomposition(figure_5(), width=0)


def test_costs_beyond_64_bits_are_exact() -> None:
    """Costs of 300 digits more than integers of 64 bits have give the right choice and its exact value."""
    servers = tuple(Server(name=name, gpus=8) for name in ("s1", "s2", "s3"))
    jobs = (
        Job(name="a", workers={"s1": 1, "s2": 1}, cost=1e12),
        Job(name="b", workers={"s2": 1, "s3": 1}, cost=5e-324),
    )
    result = decomposition(Reclaiming(demand=1, servers=servers, jobs=jobs))

    assert (unwrap(result.solution).servers, result.bound) == (("s3",), Fraction(5, 10**324))


@pytest.mark.parametrize("bits", range(59, 66))
def test_numbers_around_64_bits_do_not_overflow(bits: int) -> None:
    """Two tables whose impossible entries are added to each other stay right up to 64 bits and beyond."""
    weight = 2**bits // 3
    program = unwrap(
        plan(
            Reduction(
                2, (weight, weight, weight), (ServerGroup((0,), 0, (0, 2)), ServerGroup((1,), 0, (1, 2)))
            ),
            2,
        )
    )

    assert fill(program, 2)[-1].tolist() == [0, 2 * weight, 3 * weight]


def test_the_dearest_choice_is_a_choice() -> None:
    """Where everything must go the optimum costs all that there is."""
    reduction = reduce(figure_5(demand=6))
    program = unwrap(plan(reduction, 12))
    assert optimum(program, 6) == [2, 1, 1, 1, 1]


def test_tables_of_any_size_count_as_more_work() -> None:
    """Where additions are not those of 64 bits, the same tables are planned as longer work."""
    small = Reduction(1, (1,), (ServerGroup((0,), 0, (0,)), ServerGroup((1,), 1, ())))
    large = Reduction(1, (10**30,), small.groups)
    plans = [plan(reduction, 1) for reduction in (small, large)]
    works = [program.work(1) for program in plans if program is not None]
    assert works[1] > works[0]


def test_too_few_servers_have_no_optimum() -> None:
    """A reduction with fewer servers than demanded has no best choice."""
    program = unwrap(plan(Reduction(2, (), (ServerGroup((0,), 0, ()),)), 1))
    assert optimum(program, 2) is None


def test_a_start_is_judged_and_other_options_are_named() -> None:
    """The tables take no start in, but a wrong one is refused; options without a use are said to have none."""
    problem = figure_5()
    with pytest.raises(InvalidSolution, match="the demand is 2"):
        decomposition(problem, start=ReclaimingSolution(servers=("s1",)))
    assert "decomposition takes no time_limit" in decomposition(problem, time_limit=1.0).message


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=6),
    st.lists(st.integers(0, 20), min_size=1, max_size=6),
    st.integers(0, 12),
)
def test_convolution_tries_every_division(left: list[int], right: list[int], most: int) -> None:
    """Each entry of a convolution is the least sum over all ways to divide its index."""
    expected = [
        min(
            left[share] + right[total - share]
            for share in range(total + 1)
            if share < len(left) and total - share < len(right)
        )
        for total in range(min(len(left) + len(right) - 1, most + 1))
    ]

    assert expected == convolve(np.array(left), np.array(right), most, never=99).tolist()


def width(cliques: list[tuple[int, ...]], order: list[int]) -> int:
    """Eliminate the vertices with sets of edges, and give the most neighbours of one."""
    edges = {frozenset(pair) for clique in cliques for pair in combinations(clique, 2)}
    widest = 0
    for vertex in order:
        near = {other for edge in edges if vertex in edge for other in edge - {vertex}}
        widest = max(widest, len(near))
        edges = {edge for edge in edges if vertex not in edge} | {
            frozenset(pair) for pair in combinations(near, 2)
        }
    return widest


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 7), max_size=4, unique=True).map(tuple), max_size=10), st.integers(-1, 5)
)
def test_an_order_has_every_vertex_once_and_keeps_the_limit(cliques: list[tuple[int, ...]], limit: int) -> None:
    """An order that is given eliminates every vertex once and is no wider than asked."""
    order = min_degree(cliques, limit)
    if order is not None:
        assert sorted(order) == sorted({vertex for clique in cliques for vertex in clique})
        assert width(cliques, order) <= limit or not order


@pytest.mark.parametrize(
    ("cliques", "treewidth"),
    [
        ([(0,), (1,)], 0),
        ([(0, 1), (1, 2), (1, 3), (3, 4)], 1),  # a tree
        ([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], 2),  # a cycle
        ([(0, 1, 2), (2, 3), (2, 3, 4)], 2),
        ([(0, 1, 2, 3, 4)], 4),
    ],
)
def test_the_order_of_simple_graphs_is_as_narrow_as_can_be(
    cliques: list[tuple[int, ...]], treewidth: int
) -> None:
    """Trees, cycles and cliques get an order of their treewidth, and none below it."""
    assert min_degree(cliques, treewidth) is not None
    assert min_degree(cliques, treewidth - 1) is None


@settings(deadline=None, max_examples=cases(60))
@given(reclaiming_problems())
def test_a_job_is_preempted_exactly_as_the_judge_says(problem: Reclaiming) -> None:
    """For every choice of servers the rule names the jobs that the judge counts as preempted."""
    for choice in problem.candidates():
        returned = set(choice.servers)
        lost = []
        for job in problem.jobs:
            rule = survival(job, problem.elasticity)
            gpus = sum(gpus for server, gpus in rule.others.items() if server in returned)
            if gpus > rule.spare or not returned.isdisjoint(rule.critical):
                lost.append(job)

        assert problem.preempted(choice) == lost


@settings(deadline=None, max_examples=cases(60))
@given(reclaiming_problems())
def test_every_worker_is_accounted_for(problem: Reclaiming) -> None:
    """The critical and the other servers together carry all GPUs of the job, each server once."""
    for job in problem.jobs:
        rule = survival(job, problem.elasticity)

        assert job.gpus == sum(rule.critical.values()) + sum(rule.others.values())
        assert set(rule.critical).isdisjoint(rule.others)
