"""Exact methods for consolidation."""

import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import pytest

from formulations.consolidation import counts, divisible, exact, laminar, patterns
from formulations.consolidation.beginning import begin, densest_first, knapsack_bound
from formulations.consolidation.case import ConsolidationCase, Stays
from formulations.consolidation.divisible import Divisible
from formulations.consolidation.kinds import kinds
from formulations.consolidation.laminar import Laminar
from formulations.consolidation.merged import Indices
from formulations.consolidation.model import GroupModel
from formulations.consolidation.patterns import Patterns, maximal
from formulations.consolidation.program import NamedProgram
from formulations.consolidation.vacancy import Vacancy
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution, Job
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack, Switch
from gsopt.scenario.speed import TierPenalty
from gsopt.solvers.backends import CpSat
from gsopt.testing import check_formulation
from instances.consolidation import half_busy, triples
from tests.effort import cases
from tests.exactness import consolidation as oracle
from tests.strategies.consolidation import check_builders, committed, seeds, tiny
from tests.unwrap import unwrap


def takes(model: Any) -> Callable[[Consolidation], bool]:
    """Check whether a model takes a problem with some jobs."""

    def is_taken(problem: Consolidation) -> bool:
        try:
            model.program(ConsolidationCase.of(problem))
        except Unsupported:
            return False
        return len(problem.jobs) > 1 and problem.free_gpus > 3

    return is_taken


SMALL = committed()
DIVISIBLE = [problem for problem in SMALL if takes(divisible)(problem)]


@pytest.mark.parametrize(
    ("method", "problems", "least"),
    [
        *((exact, SMALL, 15), (counts, SMALL[::6], 3), (laminar, SMALL[::2], 8)),
        *((patterns, SMALL[1::2], 7), (divisible, DIVISIBLE, 8)),
    ],
)
def test_proves_the_optimum_of_small_instances(method: Any, problems: list[Consolidation], least: int) -> None:
    """On committed small instances every method proves the optimum that enumeration finds."""
    assert check_formulation(method, problems) == len(problems) >= least


@pytest.mark.parametrize(("method", "problems"), [(laminar, SMALL[::5]), (divisible, DIVISIBLE[::5])])
def test_another_family_agrees(method: Any, problems: list[Consolidation]) -> None:
    """CP-SAT proves the same optima."""
    assert check_formulation(method, problems, backends=[CpSat()]) == len(problems)


@pytest.mark.parametrize("model", [laminar, patterns, divisible])
def test_the_arrays_are_those_of_the_pyomo_model(model: GroupModel) -> None:
    """Filled directly or compiled from Pyomo: the same columns, rows, costs and limits."""
    for problem in seeds(8, takes(model)):
        check_builders(model, problem)


def test_every_model_has_the_same_optimum() -> None:
    """On random instances slots, patterns, groups, naive counts and CP-SAT are brute force to the last digit.

    They take turns; in a thorough run, and in `tests/benchmarks/bench_consolidation.py`, each solves all.
    """
    ways: list[tuple[Any, dict[str, Any]]] = [
        (exact, {}),
        (counts, {}),
        (laminar, {}),
        (patterns, {}),
        (divisible, {}),
        (laminar, {"backend": CpSat()}),
    ]
    together = cases(len(ways)) // len(ways)  # 1 in a thorough run
    for seed in range(cases(500)):
        problem, proven = tiny(seed), []
        for method, options in ways if together else [ways[seed % len(ways)]]:
            try:
                result = method(problem, **options)
            except Unsupported:
                continue
            assert result.status is Status.OPTIMAL, seed
            proven.append(result.objective)
        assert set(proven) <= {oracle.optimum(problem)}, seed


def test_levels_on_which_no_job_stays_are_left_out() -> None:
    """Without levels on which no job is worth placing, patterns and groups equal brute force exactly."""
    tried = 0
    for seed in range(cases(700)):
        problem = tiny(seed)
        case = ConsolidationCase.of(problem)
        if case.coarsest is case or not case.kinds:
            continue
        optimum, tried = oracle.optimum(problem), tried + 1
        assert exact(problem).objective == optimum, seed
        for model in (Patterns(case.coarsest), Laminar(case.coarsest)):
            result = model.run(problem, Budget())
            assert result.status is Status.OPTIMAL, seed
            assert result.objective == oracle.value(problem, unwrap(result.solution)) == optimum, seed
            form = model.standard_form(problem)
            point = form.point(model.encode(unwrap(result.solution), problem))
            assert form.is_feasible(point), seed
            assert form.objective(point) == pytest.approx(float(optimum)), seed
    assert tried >= cases(150)


def test_machines_left_whole_keep_their_level() -> None:
    """Where machines left whole count, no level is left out, although no job fits on a machine."""
    jobs = [Job(name="a", gpus=3, model="vgg11")]
    problem = Consolidation(cluster=Cluster.uniform(racks=2, machines=3, gpus=2), jobs=jobs)
    case = ConsolidationCase.of(problem.model_copy(update={"maximize": "fragmentation"}))
    assert case.coarsest is case
    assert len(ConsolidationCase.of(problem).coarsest.vacancy.gpus) == 2


def test_racks_are_filled_by_patterns() -> None:
    """Jobs that need several machines fill racks as others fill machines; too many patterns are left alone."""
    problem = triples(racks=6, machines=4, seed=2)
    result = exact(problem)
    assert (result.status, result.message.partition(":")[0]) == (Status.OPTIMAL, "patterns")
    assert result.objective == laminar(problem).objective
    many = exact(triples(racks=12, machines=64, excess=3, seed=1), time_limit=0.5)
    assert many.message.startswith("divisible")


def test_the_model_suits_the_demands() -> None:
    """Powers of two are counted in slots, other demands packed by patterns."""
    assert exact(half_busy(racks=2, jobs=50, seed=1)).message.startswith("divisible")
    assert exact(half_busy(racks=2, jobs=50, demands="any", seed=1)).message.startswith("patterns")


def test_machines_of_islands_are_left_whole() -> None:
    """Where machines consist of islands and shall be left whole, groups are decided one by one."""
    machines = [
        Machine(name=f"m{m}", gpus=4, islands=[Island(name=f"i{m}{side}", gpus=2) for side in "ab"])
        for m in (0, 1)
    ]
    problem = Consolidation(
        cluster=Cluster(racks=[Rack(name="r", machines=machines)]),
        jobs=[Job(name=name, gpus=gpus, model="vgg11") for name, gpus in (("a", 2), ("b", 2), ("c", 3))],
        maximize="fragmentation",
    )
    result = exact(problem)
    assert result.status is Status.OPTIMAL
    assert result.objective == oracle.optimum(problem)
    assert result.message.startswith("laminar")


def test_nothing_to_decide_needs_no_solver() -> None:
    """Where nothing competes the knapsack's bound is the value."""
    result = exact(half_busy(racks=4, jobs=3, seed=1))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "knapsack", "")


@pytest.mark.parametrize("demands", ["powers_of_two", "any"])
def test_a_thousand_gpus_are_settled_within_a_thousandth(demands: str) -> None:
    """On 16 racks of 64 GPUs with 200 jobs the gap that is asked for is reached."""
    problem = half_busy(racks=16, jobs=200, demands=demands, seed=1)  # type: ignore[arg-type]
    result = exact(problem, gap=1e-3)
    assert unwrap(result.gap) <= 1e-3


def test_an_optimum_is_a_start() -> None:
    """A solution is written as columns that the model takes, at its own value."""
    for problem in seeds(3, lambda problem: len(problem.jobs) > 1):
        best = counts(problem)
        assert best.status is Status.OPTIMAL
        form = counts.standard_form(problem)
        point = form.point(counts.encode(unwrap(best.solution), problem))
        assert form.is_feasible(point)
        assert form.objective(point) == pytest.approx(float(best.objective or 0), rel=1e-9)


def test_large_problems_are_refused() -> None:
    """The reference is for small problems, and says which method is not."""
    with pytest.raises(Unsupported, match="use exact"):
        counts(half_busy(racks=4, jobs=100))


def test_equals_the_other_models_at_scale() -> None:
    """With thirty jobs on two racks slots, patterns and groups have the same optimum."""
    problem = half_busy(racks=2, jobs=30, seed=1)
    best = divisible(problem).objective
    assert patterns(problem).objective == laminar(problem).objective == best


def test_whole_machines_of_several_racks_count() -> None:
    """Where machines of two racks shall be left whole, slots equal groups, and arrays the Pyomo model."""
    for seed in range(4):
        problem = half_busy(racks=2, machines=3, gpus=4, jobs=4, busy=0.2, maximize="fragmentation", seed=seed)
        if takes(divisible)(problem):
            assert divisible(problem).objective == laminar(problem).objective, seed
            check_builders(divisible, problem)


def test_only_demands_on_machines_must_divide() -> None:
    """Demands of 2, 4, 7 and 9 are taken where machines have four GPUs, and 3 beside 2 is refused."""
    cluster = Cluster.uniform(racks=2, machines=3, gpus=4)

    def of(*gpus: int) -> Consolidation:
        jobs = [Job(name=str(index), gpus=each, model="vgg11") for index, each in enumerate(gpus)]
        return Consolidation(cluster=cluster, jobs=jobs)

    problem = of(2, 4, 7, 9)
    assert divisible(problem).objective == laminar(problem).objective
    with pytest.raises(Unsupported, match="2 GPUs do not divide 3"):
        divisible(of(1, 2, 3))


def test_whole_machines_of_islands_are_refused() -> None:
    """Machines that consist of islands are no innermost groups, and cannot be counted as whole."""
    islands = [Island(name=name, gpus=2) for name in "ab"]
    cluster = Cluster(racks=[Rack(name="r", machines=[Machine(name="m", gpus=4, islands=islands)])])
    jobs = [Job(name="a", gpus=2, model="vgg11")]
    with pytest.raises(Unsupported, match="use laminar"):
        divisible(Consolidation(cluster=cluster, jobs=jobs, maximize="fragmentation"))
    assert divisible(Consolidation(cluster=cluster, jobs=jobs)).objective is not None


def test_maximal_patterns_by_hand() -> None:
    """Eight GPUs hold 5 + 3, 5 + 2, 3 + 3 + 2, 3 + 2 + 2 and four times 2; one GPU holds nothing."""
    assert set(maximal((5, 3, 2), 8)) == {(1, 1, 0), (1, 0, 1), (0, 2, 1), (0, 1, 2), (0, 0, 4)}
    assert maximal((5, 3, 2), 1) == ((0, 0, 0),)
    assert maximal((), 8) == ((),)


def test_equals_the_model_by_groups_at_scale() -> None:
    """With twenty jobs of any demands on two racks both models have the same optimum."""
    problem = half_busy(racks=2, jobs=20, demands="any", weights="drawn", seed=1)
    assert patterns(problem).objective == laminar(problem).objective


def test_too_many_patterns_are_refused() -> None:
    """A machine of 200 GPUs can be filled with a dozen demands in more ways than are listed."""
    jobs = [Job(name=str(gpus), gpus=gpus, model="vgg11") for gpus in range(2, 14)]
    with pytest.raises(Unsupported, match="ways to fill 200 GPUs; use laminar"):
        patterns(Consolidation(cluster=Cluster.uniform(machines=1, gpus=200), jobs=jobs))


def indices(*gpus: int) -> Indices:
    """Return the index sets for jobs of a sensitive model on racks with two and one machines of four GPUs."""
    jobs = [Job(name=str(index), gpus=each, model="resnet18") for index, each in enumerate(gpus)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    return Indices(ConsolidationCase.of(Consolidation(cluster=cluster, busy=[8, 9, 10, 11], jobs=jobs)))


def test_columns_are_only_where_jobs_fit() -> None:
    """Six GPUs fit on no machine and not on the second rack."""
    found = indices(2, 6)
    racks, root = found.case.vacancy.levels[1], found.case.vacancy.root
    assert found.alone == [(2, racks[0]), (2, racks[1])]
    assert found.across == [(2, racks[0]), (2, racks[1]), (2, root), (6, racks[0]), (6, root)]


def test_jobs_of_one_demand_share_places() -> None:
    """Numbers by demand become numbers by kind: each job that is taken gets one of the places."""
    found = indices(2, 2, 6)
    stays, spared = divisible.choose(
        {"take[0,0]": 2.0, f"alone[2,{found.case.vacancy.levels[1][1]}]": 2.0}, found.case
    )
    assert dict(stays) == {(0, 2): 2}
    assert list(spared) == []


def test_rounded_worths_are_no_less() -> None:
    """Worths that are rounded up bound the true ones, and differ by less than a hundred-millionth."""
    problem = half_busy(racks=2, jobs=20, weights="drawn", seed=1)
    form = divisible.standard_form(problem)
    exact, rounded = (each.exact_costs(problem, form) for each in (divisible, Divisible(rounded=True)))
    largest = Fraction(max(exact))
    for true, raised in zip(exact, rounded, strict=True):
        assert 0 <= Fraction(raised) - Fraction(true) < largest / 100_000_000


def test_an_asked_gap_is_met() -> None:
    """With a gap the solve may stop early, within it and with a bound that holds."""
    problem = half_busy(racks=4, jobs=100, weights="drawn", seed=2)
    near, best = divisible(problem, gap=1e-3), divisible(problem)
    assert best.status is Status.OPTIMAL
    assert unwrap(near.gap) <= 1e-3
    assert unwrap(near.objective) <= best.objective <= unwrap(near.bound)  # type: ignore[operator]  # it is optimal


def test_a_start_with_too_few_jobs_is_no_start_of_the_model() -> None:
    """Where jobs come first, a start with none of them does no harm."""
    problem = half_busy(racks=2, machines=2, jobs=12, maximize="lexicographic", seed=1)
    result = divisible(problem, start=ConsolidationSolution(placed={}))
    assert result.status is Status.OPTIMAL
    assert result.objective == divisible(problem).objective


@pytest.mark.parametrize("maximize", ["value", "lexicographic", "fragmentation"])
def test_model_an_optimum_is_a_start(maximize: str) -> None:
    """A solution is written as columns that the model takes, at its own value."""
    problem = half_busy(racks=2, machines=4, jobs=15, maximize=maximize, seed=3)  # type: ignore[arg-type]
    best = divisible(problem)
    form = divisible.standard_form(problem)
    point = form.point(divisible.encode(unwrap(best.solution), problem))
    assert form.is_feasible(point)
    assert form.objective(point) == pytest.approx(float(best.objective or 0), rel=1e-9)


def test_out_of_time_there_is_a_placement_and_a_bound() -> None:
    """Without any time the placement by value density is returned with the bound of the knapsack."""
    result = divisible(half_busy(racks=4, jobs=100, seed=1), time_limit=0.0)
    assert result.status is Status.FEASIBLE
    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert result.bound is not None


def test_empty_programs_have_a_form() -> None:
    """Without columns and rows there is a form with a constant."""
    form = NamedProgram().form(offset=3)
    assert (form.columns, form.rows, form.objective([])) == ((), (), 3.0)


def test_entries_stand_where_they_were_put() -> None:
    """Costs are kept exactly, limits and entries by name."""
    program = NamedProgram()
    program.column("x", cost=Fraction(1, 3), upper=2)
    program.column("y")
    program.row("less", [("x", 2), ("y", 1)], upper=4)
    program.row("more", [("y", 1)], lower=1)
    form = program.form()
    assert list(program.costs.values()) == [Fraction(1, 3), 0]
    assert form.matrix.toarray().tolist() == [[2, 1], [0, 1]]
    assert (form.row_lower.tolist(), form.row_upper.tolist()) == ([-inf, 1], [4, inf])
    assert form.column_upper.tolist() == [2, inf]
    assert form.integer.all()


def _every_level(
    problem: Consolidation, gpus: int, worths: Sequence[Any], room: Sequence[int]
) -> tuple[int, ...]:
    del problem
    return tuple(level for level in range(len(worths)) if gpus <= room[level])


def _every_pattern(demands: Sequence[int], free: int) -> Iterator[tuple[int, ...]]:
    for numbers in product(*(range(free // demand + 1) for demand in demands)):
        if sum(count * demand for count, demand in zip(numbers, demands, strict=True)) <= free:
            yield numbers


#: Each rule by which something is left out: where it stands, and what leaves nothing out.
RULES: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "levels on which jobs are worth no more": (
        sys.modules["formulations.consolidation.kinds"],
        "_levels",
        _every_level,
    ),
    "patterns to which a job can be added": (
        sys.modules["formulations.consolidation.patterns"],
        "_extend",
        _every_pattern,
    ),
}

#: A model that is slower on each wider tier.
_SLOWER = {"x": TierPenalty(machine=0.1, rack=0.5, network=3.0)}


def _tight(busy: Sequence[int], *needs: int, weight: float = 1.0, **fields: Any) -> Consolidation:
    """Return jobs that just fit on two racks of two machines of four GPUs, some of which are busy."""
    jobs = [Job(name=str(each), gpus=gpus, model="x", weight=weight) for each, gpus in enumerate(needs)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    return Consolidation(cluster=cluster, busy=busy, jobs=jobs, penalties=_SLOWER, **fields)


TIGHT = [
    _tight([], 4, 4, 4, 4),
    _tight([0], 3, 4, 8),
    _tight([0, 4], 6, 8),
    _tight([0, 1], 14),
    _tight([], 3, 3, 1, 1, 8),
    _tight([8], 2, 2, 3, 4, 4),
    _tight([8], 2, 2, 3, 4, weight=0.0, maximize="lexicographic"),
]

#: Problems, and their optima by trying everything.
PROBLEMS = [(problem, oracle.optimum(problem)) for problem in [*(tiny(seed) for seed in range(20)), *TIGHT]]


@pytest.mark.parametrize("rule", ["none", *RULES])
@pytest.mark.parametrize("kind", [Divisible, Patterns, Laminar])
def test_what_is_left_out_changes_no_optimum(
    kind: type[GroupModel], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every model proves the best value, and so it does with each rule switched off."""
    maximal.cache_clear()
    if rule in RULES:
        monkeypatch.setattr(*RULES[rule])
    taken = 0
    for problem, optimum in PROBLEMS:
        try:
            found = kind()(problem)
        except Unsupported:
            continue
        assert (found.status, found.objective) == (Status.OPTIMAL, optimum), problem
        taken += 1
    maximal.cache_clear()
    assert taken > len(PROBLEMS) / 4


def test_value_and_bound_enclose_the_optimum() -> None:
    """Whatever the tree and the objective: the placement is legal, and no optimum is above the bound."""
    for problem in seeds(60):
        solution, bound = begin(ConsolidationCase.of(problem))
        assert problem.violations(solution) == []
        assert problem.objective(solution) <= oracle.optimum(problem) <= bound


def test_good_places_go_before_poor_ones() -> None:
    """A MobileNet that would be split waits until the ResNet-50, worth less on a machine, has its GPUs."""
    jobs = [Job(name="m", gpus=4, model="mobilenetv3", weight=2.0), Job(name="r", gpus=6, model="resnet50")]
    problem = Consolidation(cluster=Cluster.uniform(racks=2, machines=1, gpus=4), busy=[0, 4], jobs=jobs)
    case = ConsolidationCase.of(problem)
    assert [case.kinds[k].gpus for k, _ in densest_first(case)] == [6]


def test_the_bound_takes_part_of_a_job() -> None:
    """Six free GPUs hold a job of four, and half of one of four."""
    jobs = [Job(name="a", gpus=4, weight=2.0), Job(name="b", gpus=4)]
    problem = Consolidation(cluster=Cluster.uniform(machines=1, gpus=6), jobs=jobs)
    assert knapsack_bound(ConsolidationCase.of(problem)) == 10


def test_nothing_competes() -> None:
    """Where every job has its best place, value and bound are one number."""
    problem = Consolidation(
        cluster=Cluster.uniform(machines=2, gpus=4), jobs=[Job(name=n, gpus=4, model="vgg11") for n in "ab"]
    )
    solution, bound = begin(ConsolidationCase.of(problem))
    assert problem.objective(solution) == bound


def case(*gpus: int, busy: tuple[int, ...] = (), maximize: str = "value") -> ConsolidationCase:
    """Return jobs of a sensitive model on two racks of two machines with four GPUs."""
    jobs = [Job(name=f"j{index}", gpus=each, model="resnet18") for index, each in enumerate(gpus)]
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    return ConsolidationCase.of(Consolidation(cluster=cluster, busy=busy, jobs=jobs, maximize=maximize))  # type: ignore[arg-type]


def worth(problem: ConsolidationCase, stays: Stays) -> Fraction:
    """Add up what jobs that stay in groups are worth on their levels."""
    nodes = problem.vacancy.nodes
    return Fraction(sum(count * problem.kinds[k].worths[nodes[v].level] for (k, v), count in stays.items()))


def test_a_rack_job_takes_what_is_left() -> None:
    """A job that may go anywhere in a rack is split where no machine of it has room for all of it."""
    problem = case(3, 3, 2)
    kind = {kind.gpus: k for k, kind in enumerate(problem.kinds)}
    rack = problem.vacancy.levels[1][0]
    solution = problem.placed({(kind[3], 0): 1, (kind[3], 1): 1, (kind[2], rack): 1})
    assert solution.placed == {"j0": (0, 1, 2), "j1": (4, 5, 6), "j2": (3, 7)}


def test_a_narrower_place_is_taken_where_there_is_one() -> None:
    """A job that is to stay in the cluster gets one machine, the fullest that has room."""
    problem = case(2, busy=(0, 1, 4, 8))
    solution = problem.placed({(0, problem.vacancy.root): 1})
    assert solution.placed == {"j0": (2, 3)}
    assert problem.problem.objective(solution) > worth(problem, {(0, problem.vacancy.root): 1})


def test_spared_machines_are_not_touched() -> None:
    """The machines that are to be left whole have no job."""
    problem = case(2, maximize="fragmentation")
    solution = problem.placed({(0, problem.vacancy.root): 1}, spared=(0, 1, 3))
    assert solution.placed == {"j0": (8, 9)}
    assert problem.spared(solution) == (0, 1, 3)


def test_the_most_jobs_are_the_smallest() -> None:
    """Of jobs of 8, 6, 5 and 1 GPUs three fit on 12 free ones, where jobs come first."""
    assert case(8, 6, 5, 1, busy=(0, 1, 2, 3), maximize="lexicographic").required == 3
    assert case(8, 6, 5, 1).required == 0


def test_what_was_placed_is_found_again() -> None:
    """On any tree the groups of a placement are worth what the placement is, or less than it by its bonus."""
    for problem in seeds(60):
        own = ConsolidationCase.of(problem)
        stays = densest_first(own)
        solution = own.placed(stays)
        assert problem.violations(solution) == []
        found = own.located(solution)
        assert sum(found.values()) == len(solution.placed) == sum(stays.values())
        assert worth(own, found) >= worth(own, stays)
        bonus = problem.job_bonus * len(solution.placed) + problem.machine_bonus * problem.whole_machines(
            solution
        )
        assert worth(own, found) + bonus == problem.objective(solution)


def test_jobs_that_fit_nowhere_are_not_located() -> None:
    """A solution may be empty."""
    assert case(40).located(ConsolidationSolution(placed={})) == {}


CLUSTER = Cluster.uniform(racks=2, machines=2, gpus=4)


def of(
    *jobs: tuple[int, str, float], maximize: str = "value"
) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Return demand, jobs and levels of the kinds of jobs with demand, model and weight."""
    problem = Consolidation(
        cluster=CLUSTER,
        jobs=[
            Job(name=str(n), gpus=gpus, model=model, weight=weight)
            for n, (gpus, model, weight) in enumerate(jobs)
        ],
        maximize=maximize,  # type: ignore[arg-type]  # one of the three
    )
    return [(kind.gpus, kind.jobs, kind.levels) for kind in kinds(problem, room=(4, 8, 16))]


def test_jobs_alike_are_one_kind() -> None:
    """Demand, model and weight alike make a kind, the most valuable for each GPU first."""
    found = of((4, "alexnet", 1.0), (4, "vgg11", 1.0), (4, "alexnet", 1.0), (4, "alexnet", 2.0))
    assert [jobs for _, jobs, _ in found] == [(3,), (1,), (0, 2)]


def test_levels_no_better_than_the_next_are_left_out() -> None:
    """A ResNet-50 gains nothing from a machine over a rack, and one GPU nothing from anything."""
    assert of((4, "resnet50", 1.0), (4, "vgg11", 1.0), (1, "vgg11", 1.0)) == [
        (1, (2,), (2,)),
        (4, (1,), (0, 1, 2)),
        (4, (0,), (1, 2)),
    ]


def test_levels_without_room_are_left_out() -> None:
    """Six GPUs fit on no machine, sixteen on no rack, and seventeen nowhere."""
    assert of((6, "vgg11", 1.0), (16, "vgg11", 1.0), (17, "vgg11", 1.0)) == [
        (6, (0,), (1, 2)),
        (16, (1,), (2,)),
    ]


def test_worthless_jobs_count_only_where_jobs_do() -> None:
    """A job of weight 0 is no kind, unless the number of jobs comes first."""
    assert of((2, "vgg11", 0.0)) == []
    assert of((2, "vgg11", 0.0), maximize="lexicographic") == [(2, (0,), (2,))]


def test_a_place_counts_as_the_next_level_of_equal_worth() -> None:
    """A ResNet-50 on a machine counts as one on a rack."""
    problem = Consolidation(cluster=CLUSTER, jobs=[Job(name="a", gpus=4, model="resnet50")])
    (kind,) = kinds(problem, room=(4, 8, 16))
    assert [kind.counted(level) for level in range(3)] == [1, 1, 2]
    assert kind.worths == (4 / Fraction("1.12"), 4 / Fraction("1.12"), 4 / Fraction("1.38"))


def vacancy(cluster: Cluster, busy: list[int]) -> Vacancy:
    """Return the free GPUs of a cluster."""
    return Vacancy.of(Consolidation(cluster=cluster, busy=busy, jobs=[]))


def test_groups_without_free_gpus_are_left_out() -> None:
    """Of two racks of two machines one machine is full, and so are both of the other rack."""
    found = vacancy(Cluster.uniform(racks=2, machines=2, gpus=2), [0, 1, 2, 4, 5, 6, 7])
    assert [(node.level, node.parent, node.free) for node in found.nodes] == [(0, 1, 1), (1, 2, 1), (2, 2, 1)]
    assert found.gpus == ((3,),)
    assert found.stems == (1,)


def test_a_full_cluster_is_one_empty_group() -> None:
    """The whole cluster is there, with nothing free."""
    found = vacancy(Cluster.uniform(machines=2, gpus=1), [0, 1])
    assert [(node.level, node.free) for node in found.nodes] == [(2, 0)]
    assert (found.gpus, found.stems, found.room) == ((), (), (0, 0, 0))


def test_machines_without_a_busy_gpu_are_whole() -> None:
    """A machine with one busy GPU is not whole."""
    found = vacancy(Cluster.uniform(machines=3, gpus=2), [3])
    assert [node.whole for node in found.nodes[:3]] == [True, False, True]


def test_paths_lead_through_every_level() -> None:
    """In a tree with pods a GPU stands in its machine, rack, pod and the cluster."""
    racks = [Rack(name=f"r{r}", machines=[Machine(name=f"m{r}", gpus=2)]) for r in range(4)]
    pods = [Switch(name=f"p{p}", level="pod", switches=racks[2 * p : 2 * p + 2]) for p in range(2)]
    found = vacancy(Cluster(network=Switch(name="all", level="network", switches=pods)), [])
    assert [[found.nodes[v].level for v in found.path(leaf)] for leaf in range(4)] == [[0, 1, 2, 3]] * 4
    assert [found.around(0, level) for level in range(4)] == [0, 4, 8, 10]
    assert found.leaves[8] == (0, 1)


def test_a_group_has_the_free_gpus_of_what_is_inside() -> None:
    """On any tree the free GPUs of a group are those of its innermost groups."""
    for problem in seeds(40):
        found = Vacancy.of(problem)
        for v, node in enumerate(found.nodes):
            assert node.free == sum(len(found.gpus[leaf]) for leaf in found.leaves[v])
        assert found.nodes[found.root].free == problem.free_gpus
