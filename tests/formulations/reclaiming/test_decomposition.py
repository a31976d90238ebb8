"""Bucket elimination: the whole trade-off curve, and an optimum for each of its points."""

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.reclaiming import milp
from formulations.reclaiming.decomposition import convolve, curve, decomposition, fill, optimum, plan
from formulations.reclaiming.reduction import Reduction, ServerGroup, reduce
from gsopt.core.errors import InvalidSolution, Unsupported
from gsopt.core.problem import Number
from gsopt.core.result import Status
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.testing import brute_force
from instances import load, names
from instances.reclaiming import churn, random_hypergraph, server_uniform
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


def enumerated_curve(problem: Reclaiming) -> list[Number]:
    """Return the optimum for every demand by enumeration."""
    values = []
    for demand in range(len(problem.servers) + 1):
        oracle = brute_force(problem.model_copy(update={"demand": demand}))
        assert oracle is not None
        values.append(oracle[0])
    return values


def test_the_curve_of_figure_5() -> None:
    """The paper's example costs 0, 1, 1, 2, 3, 3 and 4 preemptions."""
    assert curve(figure_5()) == (0, 1, 1, 2, 3, 3, 4)


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_the_curve_is_the_enumerated_optimum_everywhere(problem: Reclaiming) -> None:
    """Every point of the curve is what enumeration finds, in every variant that is supported."""
    try:
        found = curve(problem)
    except Unsupported:
        return
    expected = enumerated_curve(problem)

    assert expected == list(found)


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_a_solution_has_the_value_of_the_curve(problem: Reclaiming) -> None:
    """The solution for a demand is judged to have the value that the curve has there."""
    try:
        found = curve(problem)
    except Unsupported:
        return
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

    assert result.solution is not None
    assert (result.solution.servers, result.bound) == (("s3",), Fraction(5, 10**324))


@pytest.mark.parametrize("bits", range(59, 66))
def test_numbers_around_64_bits_do_not_overflow(bits: int) -> None:
    """Two tables whose impossible entries are added to each other stay right up to 64 bits and beyond."""
    weight = 2**bits // 3
    program = plan(
        Reduction(2, (weight, weight, weight), (ServerGroup((0,), 0, (0, 2)), ServerGroup((1,), 0, (1, 2)))), 2
    )
    assert program is not None

    assert fill(program, 2)[-1].tolist() == [0, 2 * weight, 3 * weight]


def test_the_dearest_choice_is_a_choice() -> None:
    """Where everything must go the optimum costs all that there is."""
    reduction = reduce(figure_5(demand=6))
    program = plan(reduction, 12)

    assert program is not None
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
    program = plan(Reduction(2, (), (ServerGroup((0,), 0, ()),)), 1)

    assert program is not None
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
