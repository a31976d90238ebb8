"""Placements that methods begin with or round to, and what is proven of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.placement import rounding
from formulations.placement.answer import answer, without_model
from formulations.placement.beginning import begin
from formulations.placement.bounds import round_up
from formulations.placement.counting import counting_bound
from formulations.placement.dive import Diver
from formulations.placement.generation import Generation
from formulations.placement.integers import Bracket, solve_integers
from formulations.placement.linear import Optimum, solve_relaxation
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import FillPatterns, Packing
from formulations.placement.pricers import pricer
from formulations.placement.rounding import Rounding, round_down
from formulations.placement.start import complete, construct
from formulations.placement.volume import volume
from gsopt.core.budget import Budget
from gsopt.core.errors import Contradiction, ModelMismatch
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.placement import Placement, Resources, Server, Workers
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import brute_force
from heuristics.placement import best_fit_decreasing, best_of_three
from instances.placement import elastic, fine_sizes, vector_packing, vectors
from tests.effort import cases
from tests.strategies.placement import committed, gpu_line, placements, tiny_vectors
from tests.unwrap import unwrap

NOW = Budget()


def test_nothing_to_place_is_optimal() -> None:
    """Without workers the empty placement is optimal, whatever is in use already."""
    result = unwrap(without_model(committed("small/no-workers"), "method", NOW))
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 1, 1)


def test_a_worker_that_fits_nowhere_is_infeasible() -> None:
    """A worker larger than any server needs no model."""
    result = unwrap(without_model(committed("small/too-large-a-worker"), "method", NOW))

    assert (result.status, result.message) == (
        Status.INFEASIBLE,
        "workers[1] of job j2 (8 GPU, 0 CPU, 0 memory) fits on no server",
    )
    assert without_model(committed("small/six-items"), "method", NOW) is None


@pytest.mark.parametrize(("counted", "error"), [(1, ModelMismatch), (3, Contradiction)])
def test_a_model_that_miscounts_is_found_out(counted: int, error: type[Exception]) -> None:
    """A model that counts less than the judge raises, and so does one that proves more."""
    patterns = FillPatterns.of([(0, 0, [1, 0, 2]), (0, 0, [0, 2, 1])], 3)
    settled = Bracket(counted, np.array([1, 1]), counted)
    packing = Packing.of(committed("small/six-items"))
    with pytest.raises(error):
        answer(packing, patterns, settled, method="m", budget=NOW, message="")


def test_a_model_may_count_more_before_the_optimum() -> None:
    """Before the optimum a model may pay for servers that stay empty."""
    problem = committed("small/six-items")
    patterns = FillPatterns.of([(0, 0, [1, 0, 2]), (0, 0, [0, 2, 1])], 3)
    settled = Bracket(1, np.array([1, 2]), 3)
    result = answer(Packing.of(problem), patterns, settled, method="m", budget=NOW, message="note")

    assert (result.objective, result.bound, result.message) == (2, 1, "note")
    assert result.status is Status.FEASIBLE


def test_the_better_of_start_and_own_is_kept() -> None:
    """A start that is better than one's own placement is kept, and a worse one is not."""
    problem = vectors(types=20, workers=300)
    packing = Packing.of(problem)
    _, own = begin(packing, Budget())
    start = best_of_three(problem).solution
    _, both = begin(packing, Budget(start=start))

    assert start is not None
    assert both.objective is not None
    assert both.objective == min(unwrap(own.objective), problem.objective(start))
    assert own.bound <= both.objective


def test_without_time_there_are_both() -> None:
    """Also without any time there is a solution and a bound above 0."""
    _, settled = begin(Packing.of(vectors(types=50, workers=1500)), Budget(time_limit=0.0))
    assert settled.objective is not None
    assert settled.bound > 0


def test_too_little_is_infeasible() -> None:
    """Where a resource does not suffice nothing is begun."""
    _, settled = begin(Packing.of(committed("small/too-many-workers")), Budget())
    assert settled.infeasible or settled.objective is None


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_what_is_found_is_a_placement(problem: Placement) -> None:
    """Whatever is minimized the placement keeps every rule, and the packing counts what the judge counts."""
    if problem.misfit:
        return
    packing = Packing.of(problem)
    found = construct(packing, Budget())
    if found is None:
        return
    solution = packing.solution(found.values, found.patterns)
    best = brute_force(problem)

    assert problem.violations(solution) == []
    assert best is not None
    assert best[0] <= problem.objective(solution) <= packing.value(found)


@given(placements())
@settings(deadline=None, max_examples=cases(60))
def test_placements_are_written_and_read(problem: Placement) -> None:
    """A placement written as a solution of the packing has its value, and is read as one of that value."""
    best = brute_force(problem)
    if best is None:
        return
    packing = Packing.of(problem)
    filled = packing.encode(best[1])

    assert packing.value(filled) == best[0]
    assert problem.objective(packing.solution(filled.values, filled.patterns)) == best[0]


@pytest.mark.parametrize(
    "problem",
    [
        vectors(types=50, workers=1500),
        vectors(types=12, workers=800, occupied=0.4),
        vectors(types=12, workers=800, minimize="fragmentation"),
        fine_sizes(),
        vector_packing(family=1, workers=120),
    ],
    ids=["vectors", "occupied", "fragmentation", "fine sizes", "class 1"],
)
def test_it_is_about_as_good_as_the_papers_order(problem: Placement) -> None:
    """On instances of production size it is at most a hundredth worse than best-fit decreasing by GPUs."""
    packing = Packing.of(problem)
    found, paper = unwrap(construct(packing, Budget())), best_fit_decreasing(problem).objective
    assert paper is None or packing.value(found) <= 1.01 * paper


@pytest.mark.parametrize("split_jobs", [True, False])
def test_preferences_are_followed(split_jobs: bool) -> None:
    """With elastic jobs there is a placement too."""
    problem = elastic(seed=2, split_jobs=split_jobs)
    packing = Packing.of(problem)
    found = unwrap(construct(packing, Budget()))
    assert problem.violations(packing.solution(found.values, found.patterns)) == []


def test_the_rest_is_placed_on_what_is_left() -> None:
    """Some workers are placed on the servers that are left, or it is said that there are too few."""
    packing = Packing.of(vectors(types=2, workers=40))
    needs = np.array([3, 2])
    found = unwrap(complete(packing, needs, packing.limits))
    assert (found.values @ found.patterns.counts == needs).all()
    assert complete(packing, needs, np.zeros_like(packing.limits)) is None


@given(placements())
@settings(deadline=None, max_examples=cases(60))
def test_no_count_is_above_the_optimum(problem: Placement) -> None:
    """Whatever is minimized the count is at most the optimum, and there is one where there is a placement."""
    best = brute_force(problem)
    if not problem.misfit and best is not None:
        count = unwrap(counting_bound(Packing.of(problem)))
        assert count <= best[0]


def test_no_count_is_above_the_optimum_of_vectors() -> None:
    """For one to five resources the count is at most the optimum, and equals it mostly."""
    met = 0
    for seed in range(cases(150)):
        problem = tiny_vectors(seed)
        best = brute_force(problem)
        if best is None or problem.misfit:
            continue
        count = unwrap(counting_bound(Packing.of(problem)))
        assert count <= best[0]
        met += count == best[0]
    assert met >= cases(75)


@pytest.mark.parametrize(
    ("sizes", "servers"),
    [((5, 5, 5), 3), ((6, 6, 3, 3, 3), 4), ((4, 4, 4), 2), ((3, 3, 3, 3, 3), 3), ((8, 1), 2), ((5, 4, 4), 2)],
)
def test_sizes_count_beyond_their_sum(sizes: tuple[int, ...], servers: int) -> None:
    """Workers larger than a half, just above a third, and beside larger ones need servers of their own."""
    assert counting_bound(Packing.of(gpu_line(*sizes))) == servers


def test_too_little_of_a_resource_is_infeasible() -> None:
    """Where workers need more than all servers have there is no bound, but a proof."""
    assert counting_bound(Packing.of(gpu_line(4, 4, 4, servers=1))) is None


def test_every_resource_is_counted() -> None:
    """With ten resources the count is at least the sum of each."""
    problem = vector_packing(family=4, workers=60, resources=10)
    count = unwrap(counting_bound(Packing.of(problem)))
    assert count >= max(-(-sum(demand[r] for demand in problem.demands) // 1000) for r in range(10))
    assert counting_bound(Packing.of(fine_sizes())) is not None


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_it_is_a_bound(problem: Placement) -> None:
    """The volume is never above the optimum, whatever is minimized."""
    best = brute_force(problem)
    if best is not None and not problem.misfit:
        assert volume(Packing.of(problem), Budget()) <= best[0]


def test_whole_gpus_are_counted() -> None:
    """With GPUs only it is their sum over those of a server."""
    assert np.isclose(volume(Packing.of(gpu_line(5, 4, 3, 3)), Budget()), 15 / 8, rtol=1e-4)


def test_without_time_there_is_none() -> None:
    """Without time the bound says nothing."""
    assert volume(Packing.of(vectors(types=20, workers=100)), Budget(time_limit=0.0)) <= 0


def diver(problem: Placement) -> tuple[Packing, Diver]:
    """Return what dives from the patterns of the relaxation."""
    packing = Packing.of(problem)
    pricing = unwrap(pricer(packing, packing.zones[0]))
    relaxed = Generation(packing, (pricing,), Budget()).run(FillPatterns.of((), len(packing.demands)))
    return packing, Diver(packing, relaxed.patterns, np.random.default_rng(0))


def test_what_is_found_meets_the_goal() -> None:
    """On tiny instances a dive finds placements of at most the goal, and none below the optimum."""
    found = 0
    for seed in range(cases(60)):
        problem = tiny_vectors(seed)
        best = brute_force(problem)
        if best is None or problem.misfit:
            continue
        optimum = int(best[0])
        packing, dives = diver(problem)
        assert dives.dive(optimum - 1, Budget()) is None
        filled = dives.dive(optimum, Budget())
        if filled is not None:
            found += 1
            assert packing.value(filled) == optimum
            assert problem.violations(packing.solution(filled.values, filled.patterns)) == []
    assert found >= cases(30)


def test_the_triplets_are_found() -> None:
    """Sixty workers of which three fill a server to the brim are put on twenty servers within ten dives."""
    packing, dives = diver(vector_packing(family=10, workers=60))
    found = unwrap(next(filter(None, (dives.dive(20, Budget()) for _ in range(10))), None))
    assert packing.value(found) == 20


def test_without_time_the_rest_is_placed_by_best_fit() -> None:
    """A dive that is cut short ends in a placement."""
    problem = vectors(types=6, workers=100)
    packing, dives = diver(problem)
    found = unwrap(dives.dive(0, Budget(time_limit=0.0)))
    assert problem.violations(packing.solution(found.values, found.patterns)) == []


def from_relaxation(problem: Placement, *, goal: int = -(10**9), seed: int = 0) -> tuple[Packing, Rounding]:
    """Round the relaxation over all maximal patterns."""
    packing = Packing.of(problem)
    every = unwrap(maximal_patterns(packing, limit=20_000, budget=Budget()))
    relaxed = solve_relaxation(packing.form(every), Budget())
    if relaxed is None:
        return packing, Rounding(every, None, every)
    return packing, round_down(packing, every, relaxed, goal=goal, budget=Budget(), seed=seed)


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_rounding_what_is_found_is_a_placement(problem: Placement) -> None:
    """The integers are feasible for the program, and read as a placement that is no better than the optimum."""
    if problem.misfit:
        return
    best = brute_force(problem)
    packing, found = from_relaxation(problem)
    if found.values is None:
        return
    form = packing.form(found.patterns)
    solution = packing.solution(found.values, found.patterns)

    assert best is not None
    assert form.is_feasible(found.values)
    assert problem.violations(solution) == []
    assert best[0] <= problem.objective(solution) <= form.objective(found.values)


def test_no_run_starts_without_time_even_if_all_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no run can place all workers, the first one is also the last once time has run out."""
    servers = [Server(name="a", capacity=Resources(gpu=3), count=2)]
    workers = [Workers(job="x", demand=Resources(gpu=2), count=3)]
    packing = Packing.of(Placement(minimize="servers", servers=servers, workers=workers))
    patterns = FillPatterns.of([(0, 0, np.array([1]))], 1)
    begun: list[object] = []
    run = getattr(rounding, "_GreedyRun")  # noqa: B009 - it has no public name

    def watched(*given: object) -> object:
        begun.append(given)
        return run(*given)

    monkeypatch.setattr(rounding, "_GreedyRun", watched)
    optimum = Optimum(np.array([0.0]), np.zeros(2), 0.0)
    for budget, most in ((Budget(time_limit=0.0), 1), (Budget(), 200)):
        begun.clear()
        assert round_down(packing, patterns, optimum, goal=0, budget=budget).values is None
        assert len(begun) == most


@pytest.mark.parametrize("seed", range(3))
def test_it_meets_the_bound_of_large_instances(seed: int) -> None:
    """With 2,000 workers of 8 types the rounded relaxation is within one server of the bound."""
    packing, found = from_relaxation(vectors(types=8, workers=2000, seed=seed))
    every = unwrap(maximal_patterns(packing, limit=20_000, budget=Budget()))
    relaxed = unwrap(solve_relaxation(packing.form(every), Budget()))

    assert (
        packing.form(found.patterns).objective(unwrap(found.values))
        <= round_up(packing, relaxed.objective - 1e-6) + 1
    )


def test_it_stops_at_the_goal() -> None:
    """A goal that the first run meets ends the search, and a goal out of reach does not."""
    problem = vectors(types=8, workers=500, seed=1)
    _, quick = from_relaxation(problem, goal=10**9)
    _, long = from_relaxation(problem)
    assert len(quick.others) < len(long.others)


def test_the_seed_decides() -> None:
    """The same seed gives the same integers."""
    problem = vectors(types=8, workers=500, seed=1)
    first, second = (from_relaxation(problem, seed=3)[1].values for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.tolist() == second.tolist()


#: Cover a cycle of five: the relaxation is 2.5, the optimum 3.
CYCLE = StandardForm.build(
    cost=np.ones(5),
    matrix=np.eye(5) + np.roll(np.eye(5), 1, axis=1),
    row_lower=np.ones(5),
    row_upper=np.full(5, np.inf),
)

#: Two units of 2 or 3 make 7 only as 2 + 2 + 3; costs are multiples of ten.
TENS = StandardForm.build(cost=[20, 30], matrix=[[2, 3]], row_lower=[7], row_upper=[7], offset=5)
IMPOSSIBLE = StandardForm.build(cost=[1.0], matrix=[[2.0]], row_lower=[1], row_upper=[1])


def nothing(value: int) -> int:
    """Prove nothing of points better than a value."""
    return -abs(value) - 10**9


def settled(
    form: StandardForm, known: Bracket, *, complete: bool = True, limit: float | None = None
) -> Bracket:
    """Settle a program from its relaxation."""
    budget = Budget(time_limit=limit)
    return solve_integers(form, relaxation(form), known, prove=nothing, budget=budget, complete=complete)


def relaxation(form: StandardForm) -> Optimum:
    """Solve the relaxation."""
    return unwrap(solve_relaxation(form, Budget()))


@pytest.mark.parametrize(("form", "bound", "optimum"), [(CYCLE, 3, 3), (CYCLE, 0, 3), (TENS, 0, 75)])
def test_the_optimum_is_proven(form: StandardForm, bound: int, optimum: int) -> None:
    """From any bound the optimum is found, and proven where the columns are all that matter."""
    found = settled(form, Bracket(bound))
    assert (found.objective, found.bound, found.closed()) == (optimum, optimum, True)
    assert form.is_feasible(unwrap(found.values))


def test_columns_that_may_be_missing_prove_nothing() -> None:
    """Where other columns may matter the bound stays what it was."""
    found = settled(CYCLE, Bracket(2), complete=False)
    assert (found.objective, found.bound, found.closed(), found.infeasible) == (3, 2, False, False)
    assert not settled(IMPOSSIBLE, Bracket(0), complete=False).infeasible


def test_no_integers_are_proven_to_be_none() -> None:
    """A program with a relaxation but no integers is infeasible, if no column is missing."""
    found = settled(IMPOSSIBLE, Bracket(0))
    assert found.infeasible
    assert found.objective is None


def test_what_is_known_is_kept() -> None:
    """A point that meets the bound is given back, and one that cannot be improved on is proven."""
    point = np.array([1, 1, 0, 1, 0])
    closed = Bracket(3).with_point(point, 3)
    kept = settled(CYCLE, closed)
    assert kept.closed()
    assert kept.values is closed.values

    found = settled(CYCLE, Bracket(2).with_point(point, 3))
    assert (found.objective, found.bound) == (3, 3)


def test_what_can_be_proven_of_better_points_counts() -> None:
    """A proof that nothing is better than the point that is known ends the search."""
    relaxed = relaxation(CYCLE)
    known = Bracket(2).with_point(np.array([1, 1, 0, 1, 0]), 3)
    found = solve_integers(CYCLE, relaxed, known, prove=int, budget=Budget(time_limit=0.0), complete=False)
    assert (found.objective, found.bound, found.closed()) == (3, 3, True)


def test_without_time_the_bound_stands() -> None:
    """Without time the known bound and point come back, stopped by the limit."""
    relaxed = relaxation(CYCLE)
    found = solve_integers(
        CYCLE, relaxed, Bracket(2), prove=nothing, budget=Budget(time_limit=0.0), complete=True
    )

    assert found.bound == 2
    assert found.stopped_by is StoppedBy.TIME_LIMIT


def test_columns_beyond_the_relaxation_are_zero_there() -> None:
    """A relaxation over the first columns serves a program with more."""
    shorter = StandardForm.build(cost=[1], matrix=[[1]], row_lower=[3], row_upper=[np.inf])
    longer = StandardForm.build(cost=[1, 1], matrix=[[1, 5]], row_lower=[3], row_upper=[np.inf])
    relaxed = relaxation(shorter)
    found = solve_integers(longer, relaxed, Bracket(0), prove=nothing, budget=Budget(), complete=False)
    assert found.objective == 1


def test_costs_too_large_for_a_row_are_no_obstacle() -> None:
    """Costs of a million are minimized without the row that keeps the bound."""
    form = replace(CYCLE, cost=np.full(5, 1e6))
    assert settled(form, Bracket(0)).objective == 3_000_000


def test_solvers_of_integers_only_will_do() -> None:
    """The relaxation's solver and that of the integers may be different ones."""
    from gsopt.solvers.backends import CpSat

    relaxed = relaxation(CYCLE)
    found = solve_integers(
        CYCLE, relaxed, Bracket(0), prove=nothing, budget=Budget(backend=CpSat()), complete=True
    )

    assert (found.objective, found.bound) == (3, 3)
