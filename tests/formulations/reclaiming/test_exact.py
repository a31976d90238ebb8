"""Exact methods for reclaiming, and the local search before them."""

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from formulations.reclaiming import decomposition, exact, milp, reduced
from formulations.reclaiming.at_once import at_once
from formulations.reclaiming.choice import MergedHosting, ServerChoice
from formulations.reclaiming.decomposition import curve
from formulations.reclaiming.growth import greedy_counts
from formulations.reclaiming.local_search import tabu_search
from formulations.reclaiming.reduction import Reduction, ServerGroup, reduce
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidSolution
from gsopt.core.result import Result, Status, StoppedBy, same
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.solvers.backends import Backend, CpSat, Highs, Scip
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import brute_force, check_formulation
from heuristics.reclaiming import greedy, largest_job_first, reverse_delete
from instances import load, names
from instances.reclaiming import churn, random_hypergraph, server_uniform
from tests.effort import cases
from tests.formulations.reclaiming.test_search import FixedBackend, stopped
from tests.strategies.reclaiming import (
    SOLVABLE,
    WHOLE,
    Elasticity,
    SecondObjective,
    figure_5,
    reclaiming_problems,
    reducible,
    unless_unsupported,
)
from tests.unwrap import unwrap

BACKENDS: list[Backend] = [Highs(), CpSat(), Scip()]
Model = Formulation[Reclaiming, ReclaimingSolution]
every_model = pytest.mark.parametrize("model", [milp, reduced], ids=lambda model: model.name)
HARD = server_uniform(servers=60, jobs=60, degree=5, demand=18)
ELASTIC = churn(servers=60, mode="worker", demand=20, elastic_share=0.4, elasticity="fungible", seed=1)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        *((exact, {"width": width}) for width in (12, -1)),
        *((milp, {"backend": backend}) for backend in BACKENDS),
        (reduced, {}),
        (decomposition, {}),
    ],
)
def test_figure_5_at_every_demand(method: Callable[..., Result[Any]], options: dict[str, Any]) -> None:
    """The paper's example costs 0, 1, 1, 2, 3, 3 and 4 preemptions, with each technique and solver."""
    results = [method(figure_5(demand=demand), **options) for demand in range(7)]
    assert [result.objective for result in results] == [0, 1, 1, 2, 3, 3, 4] == list(curve(figure_5()))
    assert {Status.OPTIMAL} == {result.status for result in results}


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems(elasticities=["tagged"], second_objectives=["none"]))
def test_every_demand_has_the_enumerated_optimum(problem: Reclaiming) -> None:
    """On random tiny instances the proven optimum of every demand is exactly what enumeration finds."""
    for demand in range(len(problem.servers) + 1):
        asked = problem.model_copy(update={"demand": demand})
        oracle, result = unwrap(brute_force(asked)), exact(asked)

        assert (Status.OPTIMAL, oracle[0], oracle[0]) == (result.status, result.objective, result.bound)


@pytest.mark.parametrize("width", [-1, 0, 12])
def test_every_variant_and_technique_has_the_enumerated_optimum(width: int) -> None:
    """However much dynamic programming may do, every variant gets exactly the enumerated optimum, proven."""

    @settings(deadline=None, max_examples=cases(150))
    @given(reclaiming_problems(costs=SOLVABLE))
    def check(problem: Reclaiming) -> None:
        oracle, result = unwrap(brute_force(problem)), exact(problem, width=width)

        assert (Status.OPTIMAL, oracle[0], oracle[0]) == (result.status, result.objective, result.bound)

    check()


@settings(deadline=None, max_examples=cases(150))
@given(
    reclaiming_problems(
        costs=["tiny", "near", "wide", "any"], elasticities=["fungible"], second_objectives=["none"]
    )
)
def test_no_costs_make_it_claim_too_much(problem: Reclaiming) -> None:
    """Where sets of workers decide, whatever the costs, the optimum lies between bound and value."""
    oracle, result = unwrap(brute_force(problem)), exact(problem)
    assert unwrap(result.bound) <= oracle[0] <= unwrap(result.objective)


def drowned(problem: Reclaiming) -> Reclaiming:
    """Let every job cost 1.1, and put a job of a million on every server, a constant that drowns the rest."""
    jobs = [job.model_copy(update={"cost": 1.1}) for job in problem.jobs]
    jobs += [Job(name=f"own-{server.name}", workers={server.name: 1}, cost=1e6) for server in problem.servers]
    return problem.model_copy(update={"jobs": tuple(jobs)})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", [exact, decomposition, reduced, milp], ids=lambda method: method.__name__)
def test_a_large_constant_hides_nothing(method: Callable[..., Result[Any]], seed: int) -> None:
    """Every method proves what is left of a constant of millions, to the last digit."""
    plain = server_uniform(servers=16, jobs=12, degree=3, demand=6, seed=seed)
    least = exact(plain).objective
    options = {"width": 20} if method in (exact, decomposition) else {}
    result = method(drowned(plain), **options)

    assert least is not None
    expected = 6_000_000 + Fraction(11, 10) * least
    assert (Status.OPTIMAL, expected, expected) == (result.status, result.objective, result.bound)


def test_the_hypergraph_that_was_called_optimal_too_early() -> None:
    """Of 60 servers with a job of a million each, the 20 cheapest preempt 22 jobs of 1.1 and not 27."""
    result = exact(drowned(server_uniform(servers=60, jobs=60, degree=3, demand=20, seed=2)))
    assert (Status.OPTIMAL, 20_000_000 + 22 * Fraction(11, 10)) == (result.status, result.objective)


@pytest.mark.parametrize("name", names("reclaiming/small"))
def test_committed_instances_have_their_proven_optimum(name: str) -> None:
    """On every committed small instance the optimum is the one on record, or the plain model's."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    on_record = None if problem.about is None else problem.about.objective
    expected = milp(problem).objective if on_record is None else on_record
    assert expected == exact(problem).objective


CLUSTERS = {
    "packed": churn(servers=80, mode="packed", seed=1),
    "weighted": churn(servers=80, mode="mixed", seed=6, weighted=True),
    "collateral": churn(servers=80, mode="mixed", seed=4).model_copy(update={"second_objective": "collateral"}),
}


@pytest.mark.parametrize("kind", CLUSTERS)
def test_the_techniques_agree_on_clusters(kind: str) -> None:
    """Without dynamic programming two solvers find the curve that dynamic programming finds."""
    whole = curve(CLUSTERS[kind], width=20)
    for demand in range(8, 80, 24):
        problem = CLUSTERS[kind].model_copy(update={"demand": demand})
        for backend in (Highs(), CpSat()):
            result = exact(problem, width=-1, backend=backend)
            assert (Status.OPTIMAL, whole[demand]) == (result.status, result.objective), backend.name


@pytest.mark.parametrize(
    ("problem", "message", "solver"),
    [
        (figure_5(demand=2), "decomposition", "decomposition"),
        (figure_5(demand=5).model_copy(update={"elasticity": "fungible"}), "decomposition", "decomposition"),
        (ELASTIC, "plain model by highs", "highs"),
        (
            churn(servers=9, demand=3, mode="worker", elastic_share=0.8, elasticity="fungible", seed=3),
            "bound of a reduction: decomposition",
            "decomposition",
        ),
    ],
)
def test_the_result_says_which_technique_answered(problem: Reclaiming, message: str, solver: str) -> None:
    """The message names the technique, the solver field the family that proved the result."""
    result = exact(problem)
    assert (Status.OPTIMAL, message, solver) == (result.status, result.message, result.solver)


VARIANTS = {
    "tagged": HARD,
    "fungible": churn(servers=200, mode="worker", demand=60, elastic_share=0.4, elasticity="fungible", seed=1),
    "collateral": churn(servers=200, mode="worker", demand=60, elastic_share=0.4, seed=1).model_copy(
        update={"second_objective": "collateral"}
    ),
}


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("time_limit", [0.0, 1e-4])
def test_without_time_there_is_still_a_value_and_a_bound(kind: str, time_limit: float) -> None:
    """A time limit that allows nothing gives a feasible solution, a bound above 0, and the reason."""
    result = exact(VARIANTS[kind], time_limit=time_limit)
    assert result.solution is not None
    assert unwrap(result.bound) > 0
    assert (result.status is Status.OPTIMAL) is (result.stopped_by is StoppedBy.FINISHED)


@pytest.mark.parametrize("degree", [3, 5, 8])
def test_dense_hypergraphs_are_no_worse_than_by_the_heuristics(degree: int) -> None:
    """Even where the solver finds nothing, no heuristic's choice is better, and the bound is above 0."""
    problem = server_uniform(servers=100, jobs=100, degree=degree, demand=33, seed=degree)
    known = [method(problem).objective for method in (greedy, largest_job_first, reverse_delete)]
    result = exact(problem, backend=FixedBackend(stopped(StoppedBy.TIME_LIMIT)))

    assert result.objective is not None
    assert unwrap(result.bound) > 0
    assert all(value is not None and result.objective <= value for value in known)


@pytest.mark.parametrize("problem", [HARD, ELASTIC], ids=["reduced", "plain"])
def test_a_start_is_kept(problem: Reclaiming) -> None:
    """Without time the start is the answer where it is better than all quick choices."""
    best = exact(problem, gap=0.5)
    kept = exact(problem, start=best.solution, time_limit=0.0)
    assert unwrap(kept.objective) <= unwrap(best.objective)


@pytest.mark.parametrize("problem", [HARD, ELASTIC], ids=["reduced", "plain"])
def test_incumbents_are_judged_results(problem: Reclaiming) -> None:
    """The callback sees falling values with bounds, judged; returning True stops with the best of them."""
    seen: list[Result[ReclaimingSolution]] = []

    def stop(result: Result[ReclaimingSolution]) -> bool:
        seen.append(result)
        return True

    result = exact(problem, on_incumbent=stop)

    assert len(seen) == 1
    assert (seen[0].objective, StoppedBy.INTERRUPT) == (result.objective, result.stopped_by)
    assert seen[0].status is Status.FEASIBLE
    assert problem.objective(unwrap(seen[0].solution)) == seen[0].objective


@pytest.mark.parametrize(
    ("servers", "reason"),
    [(("s1",), "the demand is 2"), (("s1", "s1"), "returned 2 times"), (("s1", "x"), "not a server")],
)
def test_a_start_is_judged(servers: tuple[str, ...], reason: str) -> None:
    """A start that breaks a rule of the problem is refused."""
    with pytest.raises(InvalidSolution, match=reason):
        exact(figure_5(demand=2), start=ReclaimingSolution(servers=servers))


FRESH = """
import sys
from formulations.reclaiming import exact
from instances.reclaiming import churn
exact(churn(servers=60, mode="worker", demand=20, seed=1))
exact(churn(servers=12, mode="worker", demand=4, elastic_share=0.8, elasticity="fungible", seed=6))
print(*(name for name in ("pyomo", "highspy", "ortools") if name in sys.modules))
"""


def test_neither_pyomo_nor_a_solver_is_imported() -> None:
    """A fresh process solves every variant without importing Pyomo, which alone takes seconds."""
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("elasticity", get_args(Elasticity))
@pytest.mark.parametrize("second_objective", get_args(SecondObjective))
def test_every_variant_has_the_enumerated_optimum(
    elasticity: Elasticity, second_objective: SecondObjective
) -> None:
    """On random tiny instances of each variant the model finds what enumeration finds."""

    @settings(deadline=None, max_examples=cases(75))
    @given(reclaiming_problems(elasticities=[elasticity], second_objectives=[second_objective], costs=SOLVABLE))
    def check(problem: Reclaiming) -> None:
        assert check_formulation(milp, [problem]) == 1

    check()


@every_model
def test_no_costs_make_a_model_claim_too_much(model: Model) -> None:
    """Whatever the costs, no bound exceeds the enumerated optimum, and what is called optimal is."""

    @settings(deadline=None, max_examples=cases(150))
    @given(reclaiming_problems(second_objectives=["none"], costs=["tiny", "near", "wide", "any"]))
    def check(problem: Reclaiming) -> None:
        result = unless_unsupported(model, problem)
        oracle = unwrap(brute_force(problem))

        assert result.objective is not None
        assert result.bound is None or result.bound <= oracle[0] <= result.objective
        assert result.status is not Status.OPTIMAL or result.objective == oracle[0]

    check()


@pytest.mark.parametrize("name", names("reclaiming/small"))
def test_committed_instances_have_their_optimum(name: str) -> None:
    """Every committed small instance gets the optimum on record, and where it is tiny the enumerated one."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    if len(problem.servers) <= 12:
        assert check_formulation(milp, [problem]) == 1
    if problem.about is not None and problem.about.objective is not None:
        assert same(problem.about.objective, milp(problem).objective)


def by_name(form: StandardForm) -> tuple[dict[str, tuple[float, ...]], dict[tuple[str, str], float]]:
    """Return a form by names: each column's cost, bounds and kind, each row's bounds, each coefficient.

    Columns that stand nowhere are left out, as Pyomo does.
    """
    table = form.matrix.tocoo()
    places = zip(table.coords[0].tolist(), table.coords[1].tolist(), table.data.tolist(), strict=True)
    entries = {(form.rows[row], form.columns[column]): value for row, column, value in places}
    used = {column for _, column in entries}
    columns = {
        name: (form.cost[j], form.column_lower[j], form.column_upper[j], float(form.integer[j]))
        for j, name in enumerate(form.columns)
        if form.cost[j] or name in used
    }
    rows = {name: (form.row_lower[i], form.row_upper[i]) for i, name in enumerate(form.rows)}
    return {**columns, **rows}, entries


@every_model
@settings(deadline=None, max_examples=cases(100))
@given(problem=reclaiming_problems())
@example(problem=ELASTIC)
def test_the_two_builders_are_equal(model: Model, problem: Reclaiming) -> None:
    """The Pyomo model and the arrays filled directly are the same model, name by name, in every variant."""
    arrays = unless_unsupported(model.standard_form, problem)
    pyomo = StandardForm.from_pyomo(model.build(problem))
    assert by_name(pyomo) == by_name(arrays)
    assert (pyomo.offset, pyomo.sense) == (arrays.offset, arrays.sense)


@every_model
@settings(deadline=None, max_examples=cases(100))
@given(problem=reclaiming_problems())
def test_a_start_is_feasible_and_has_the_judges_value(model: Model, problem: Reclaiming) -> None:
    """Every choice of servers, as columns, satisfies the model at the judge's value, exactly by exact costs."""
    form = unless_unsupported(model.standard_form, problem)
    costs = dict(zip(form.columns, model.exact_costs(problem, form), strict=True))
    for choice in problem.candidates():
        columns = model.encode(choice, problem)
        varying = sum(Fraction(costs.get(name, 0)) * int(value) for name, value in columns.items())
        point = form.point(columns)

        assert problem.objective(choice) == Fraction(model.exact_offset(problem, form)) + varying
        assert form.is_feasible(point)
        assert form.objective(point) == pytest.approx(float(problem.objective(choice)))


def test_a_start_is_improved_on() -> None:
    """From a poor start the optimum is still found."""
    problem = figure_5(demand=2)
    poor = ReclaimingSolution(servers=("s4", "s6"))
    assert milp(problem, start=poor).objective == 1


def test_the_weight_of_a_fungible_job_is_no_larger_than_needed() -> None:
    """The coefficient that lets a job lose too much counts the servers demanded, in units of its workers."""
    servers = tuple(Server(name=f"s{number}", gpus=8) for number in range(6))
    job = Job(
        name="a",
        workers={f"s{number}": 8 for number in range(3)},
        flexible={f"s{number}": 8 for number in range(3, 6)},
    )
    problem = Reclaiming(demand=4, servers=servers, jobs=(job,), elasticity="fungible")
    form = milp.standard_form(problem)
    row = form.rows.index("spare[0]")

    assert sorted(form.matrix.toarray()[row].tolist(), reverse=True) == [1, 1, 1, 1, 1, 1, -1]
    assert (form.row_upper[row], milp(problem).objective) == (3, 1)


def test_without_jobs_any_servers_will_do() -> None:
    """A problem without jobs has the optimum 0."""
    problem = Reclaiming(demand=1, servers=(Server(name="s1", gpus=1),), jobs=())
    oracle = unwrap(brute_force(problem))
    assert oracle[0] == milp(problem).objective


REDUCED_CLUSTERS = [
    churn(servers=60, mode="packed", demand=20, seed=1),
    churn(servers=60, mode="mixed", demand=20, seed=2),
    churn(servers=60, mode="worker", demand=20, seed=3),
    churn(servers=60, mode="worker", demand=20, seed=4, weighted=True),
    churn(servers=60, mode="mixed", demand=20, seed=5, elastic_share=0.4),
    churn(servers=60, mode="mixed", demand=20, seed=6).model_copy(update={"second_objective": "collateral"}),
    random_hypergraph(servers=30, jobs=30, span=2, demand=10, seed=1),
    server_uniform(servers=20, jobs=15, degree=3, demand=6, seed=1),
]


@pytest.mark.parametrize("problem", REDUCED_CLUSTERS, ids=lambda problem: problem.name)
def test_the_two_builders_have_the_same_optimum_and_relaxation(problem: Reclaiming) -> None:
    """On larger instances both builders have the same optimum and the same linear relaxation."""
    arrays, pyomo = reduced.standard_form(problem), StandardForm.from_pyomo(reduced.build(problem))
    solver = Highs()
    assert solver.solve(pyomo).objective == pytest.approx(solver.solve(arrays).objective)
    assert solver.solve(pyomo.relaxation).objective == pytest.approx(solver.solve(arrays.relaxation).objective)


@pytest.mark.parametrize("problem", REDUCED_CLUSTERS, ids=lambda problem: problem.name)
def test_two_solvers_and_two_other_methods_agree(problem: Reclaiming) -> None:
    """HiGHS and CP-SAT on the reduced model, the plain model and bucket elimination find one optimum."""
    results = [
        reduced(problem, backend=Highs()),
        reduced(problem, backend=CpSat()),
        milp(problem),
        decomposition(problem, width=20),
    ]

    assert {Status.OPTIMAL} == {result.status for result in results}
    assert len({result.objective for result in results}) == 1


@settings(deadline=None, max_examples=cases(150))
@given(reclaiming_problems(elasticities=["tagged"], flexible=False, costs=SOLVABLE))
def test_tiny_instances_have_the_enumerated_optimum(problem: Reclaiming) -> None:
    """On random tiny instances the reduced model finds what enumeration finds, collateral damage included."""
    assert check_formulation(reduced, [problem]) == 1


@every_model
@settings(deadline=None, max_examples=cases(50))
@given(problem=reclaiming_problems(costs=["one", "integer"]))
def test_the_solvers_agree(model: Model, problem: Reclaiming) -> None:
    """Three solvers find the enumerated optimum of random tiny instances of every variant."""
    unless_unsupported(model.standard_form, problem)
    assert check_formulation(model, [problem], backends=BACKENDS) == 3


def test_figure_5_has_eight_columns() -> None:
    """Three jobs and five groups of servers remain of the paper's example."""
    form = reduced.standard_form(figure_5())
    assert (len(form.columns), len(form.rows)) == (8, 6)
    assert np.all(form.integer)


@settings(deadline=None, max_examples=cases(200))
@given(reclaiming_problems())
def test_the_choice_is_feasible_and_the_bound_holds(problem: Reclaiming) -> None:
    """In every variant and with any costs the optimum lies between the bound and the choice."""
    solution, bound = at_once(problem)
    oracle = unwrap(brute_force(problem))
    assert problem.violations(solution) == []
    assert bound <= oracle[0] <= problem.objective(solution)


@every_model
def test_models_return_it_whatever_their_solver_does(model: Model) -> None:
    """A model whose solver crashes still has a solution and a bound above 0."""
    problem = server_uniform(servers=60, jobs=60, degree=5, demand=18)
    result = model(problem, backend=FixedBackend(stopped(StoppedBy.CRASH)))
    assert result.stopped_by is StoppedBy.CRASH
    assert result.solution is not None
    assert unwrap(result.bound) > 0


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems(costs=WHOLE), st.lists(st.integers(0, 5), max_size=20))
def test_every_change_is_what_the_reduction_says(problem: Reclaiming, moves: list[int]) -> None:
    """After any moves, the cost and the change by each server are differences between values of choices."""
    reduction = reducible(problem)
    hosting = MergedHosting.of(reduction)
    choice = ServerChoice(hosting)
    for move in moves:
        server = move % reduction.servers
        (choice.keep if choice.returned[server] else choice.give)(server)
    returned = np.flatnonzero(choice.returned).tolist()
    value = reduction.value(hosting.counts(returned))

    assert value == choice.cost
    for server in range(reduction.servers):
        other = sorted({server}.symmetric_difference(returned))
        change = reduction.value(hosting.counts(other)) - value

        assert choice.change[server] == (-change if choice.returned[server] else change)


def test_costs_beyond_doubles_are_rounded_to_their_digits() -> None:
    """Costs of any size become whole doubles whose sums are exact, as near to the truth as doubles are."""
    reduction = Reduction(
        1, (3 * 10**40, 10**40), (ServerGroup((0,), 0, (0,)), ServerGroup((1, 2), 5 * 10**39, (1,)))
    )
    hosting = MergedHosting.of(reduction)
    least, _, weight = sorted([hosting.own[1], hosting.weights[0], hosting.weights[1]])

    assert sum(hosting.weights) + sum(hosting.own) <= 2**53
    assert abs(weight / least - 6) < 1e-12


def test_counts_and_servers_are_two_views_of_a_choice() -> None:
    """The first servers of each group are counted as they were asked for."""
    hosting = MergedHosting.of(reduce(figure_5()))
    assert hosting.first([1, 0, 1, 0, 1]) == [0, 3, 5]
    assert hosting.counts([0, 3, 5]) == [1, 0, 1, 0, 1]
    assert hosting.counts([]) == [0, 0, 0, 0, 0]


def first_servers(reduction: Reduction) -> list[int]:
    """Count the first servers by group, as many as are demanded."""
    left, counts = reduction.demand, []
    for group in reduction.groups:
        counts.append(min(left, len(group.servers)))
        left -= counts[-1]
    return counts


@settings(deadline=None, max_examples=cases(150))
@given(reclaiming_problems())
def test_the_choice_is_feasible_and_no_worse(problem: Reclaiming) -> None:
    """From any choice the search leads to one of as many servers that costs no more, with any costs."""
    reduction = reducible(problem).net()
    begin = first_servers(reduction)
    counts = tabu_search(reduction, begin, Budget(), patience=2)

    assert sum(counts) == reduction.demand
    assert all(0 <= count <= len(group.servers) for count, group in zip(counts, reduction.groups, strict=True))
    assert reduction.value(counts) <= reduction.value(begin)


DENSE = [
    server_uniform(servers=servers, jobs=servers, degree=degree, demand=servers // 3, seed=1)
    for servers in (60, 200)
    for degree in (3, 5, 8)
]


@pytest.mark.parametrize("problem", DENSE, ids=lambda problem: problem.name)
def test_dense_hypergraphs_get_better_choices_than_the_heuristics(problem: Reclaiming) -> None:
    """Where Algorithm 1 and its improvement by reverse delete end, the search goes on."""
    reduction = reduce(problem).net()
    found = reduction.number(
        reduction.value(tabu_search(reduction, greedy_counts(reduction, Budget()), Budget()))
    )
    known = [method(problem).objective for method in (greedy, reverse_delete)]

    assert all(value is not None and found < value for value in known)


@pytest.mark.parametrize(
    ("servers", "jobs", "degree", "demand", "value"),
    [(60, 60, 5, 6, 15), (60, 60, 5, 18, 30), (100, 100, 3, 30, 34)],
)
def test_known_optima_of_dense_hypergraphs_are_found(
    servers: int, jobs: int, degree: int, demand: int, value: int
) -> None:
    """The search reaches optima that solvers of mixed-integer programs need seconds to minutes for."""
    reduction = reduce(server_uniform(servers=servers, jobs=jobs, degree=degree, demand=demand, seed=1)).net()
    assert value == reduction.value(tabu_search(reduction, greedy_counts(reduction, Budget()), Budget()))


def test_the_same_seed_finds_the_same() -> None:
    """The search depends on its seed alone."""
    reduction = reduce(DENSE[2]).net()
    seen: list[list[list[int]]] = [[], []]
    for run in seen:
        tabu_search(reduction, first_servers(reduction), Budget(), seed=4, on_better=run.append)

    assert seen[0] == seen[1]
    assert len(seen[0]) > 1


def test_each_better_choice_is_told_and_true_ends_the_search() -> None:
    """The choices told fall in cost, and the one that is answered by True is the last."""
    reduction = reduce(DENSE[2]).net()
    told: list[list[int]] = []

    def stop_at_third(counts: list[int]) -> bool:
        told.append(counts)
        return len(told) == 3

    counts = tabu_search(reduction, first_servers(reduction), Budget(), on_better=stop_at_third)
    values = [reduction.value(each) for each in told]

    assert (counts, 3) == (told[-1], len(told))
    assert values == sorted(values, reverse=True)


def test_without_time_the_choice_stays() -> None:
    """A budget that has passed leaves the choice as it is."""
    reduction = reduce(DENSE[0]).net()
    begin = first_servers(reduction)
    assert begin == tabu_search(reduction, begin, Budget(time_limit=0.0))
