"""Exact methods for goodput."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import isclose
from random import Random
from typing import Any

import numpy as np
import pytest

from formulations.goodput import counting, exact, milp
from formulations.goodput.beginning import bound_alone, current_gpus, mean
from formulations.goodput.case import Floats, GoodputCase, GoodputOption
from formulations.goodput.counting import Counting
from formulations.goodput.packing import NodePacking, pack
from formulations.goodput.patterned import Patterned
from formulations.goodput.patterns import NodeKind, Pattern, Stay
from formulations.goodput.program import OptionProgram
from formulations.goodput.reduced import ReducedOptions
from formulations.goodput.rows import KeyedRows
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.result import Status
from gsopt.problems.goodput import Goodput
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.scaling import optimize
from gsopt.testing import brute_force, check_formulation
from heuristics.goodput import genetic, greedy
from instances.goodput import running_jobs
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.strategies.goodput import LINEAR, committed, job, tiny
from tests.unwrap import unwrap


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    assert check_formulation(exact, committed()) == len(committed())


def test_proves_the_optimum_of_hard_numbers() -> None:
    """On 500 instances the optimum of the oracle is proven, by each technique."""
    messages = set()
    for seed in range(cases(500)):
        problem = tiny(seed)
        result, best = exact(problem), oracle.optimum(problem)
        assert result.status is Status.OPTIMAL, seed
        assert abs(Fraction(unwrap(result.objective)) - best) <= problem.resolution(best), seed
        messages.add(result.message)
    assert messages >= {"current GPUs", "packed counts", "integer program"}


@pytest.mark.parametrize("gpus", [8, 64])
def test_large_nodes_are_proven_too(gpus: int) -> None:
    """Three jobs of more than half a node on two of them are proven, whichever program takes them."""
    jobs = [job(name, [0.1] * (gpus // 2) + [1.0]) for name in "abc"]
    result = exact(Goodput(nodes=[gpus, gpus], jobs=jobs))
    assert (result.status, result.message) == (Status.OPTIMAL, "integer program")


@pytest.mark.parametrize("method", [genetic, greedy], ids=["genetic", "greedy"])
def test_no_heuristic_is_better(method: Any) -> None:
    """On decisions like those of the paper no heuristic finds more than what is proven."""
    for seed in range(2):
        problem = running_jobs(nodes=4, jobs=6, seed=seed)
        result, found = exact(problem), method(problem)
        assert result.status is Status.OPTIMAL
        assert result.objective is not None
        assert found.objective >= result.objective - problem.resolution(result.objective)


def test_many_jobs_are_decided_by_counts() -> None:
    """Where jobs outnumber the GPUs the knapsack, packed, is the optimum."""
    result = exact(running_jobs(jobs=160, seed=1))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "packed counts", "")


def test_a_start_does_not_keep_the_program_from_its_proof() -> None:
    """An optimum that is given comes back, proven."""
    problem = running_jobs(jobs=15, seed=1)
    best = exact(problem)
    assert best.solver == "highs"
    again = exact(problem, start=best.solution)
    assert (again.status, again.objective) == (Status.OPTIMAL, best.objective)


def test_tables_that_are_too_large_leave_the_current_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tables do not fit jobs keep what they have, and why is said."""
    monkeypatch.setattr(counting, "LARGEST_TABLE", 10)
    result = exact(running_jobs(nodes=4, jobs=9, seed=3))
    assert result.status is Status.FEASIBLE
    assert result.message == "current GPUs; a table of 9 jobs by 16 GPUs is too large"


def test_proves_the_optimum_of_small_instances() -> None:
    """On committed small instances both solvers prove the optimum that enumeration finds."""
    problems = committed()
    assert check_formulation(milp, problems[::4], backends=[Highs()]) == len(problems[::4])
    assert check_formulation(milp, problems[2::4], backends=[CpSat()]) == len(problems[2::4])


def test_size_is_as_documented() -> None:
    """Columns for shapes, jobs and nodes, and rows for jobs and nodes."""
    problem = running_jobs(nodes=4, jobs=9, seed=1)
    form = milp.standard_form(problem)
    shapes = sum(name.startswith("runs[") for name in form.columns)
    holding = sum(bool(job.current) for job in problem.jobs)
    assert form.matrix.shape == (4 * 9 + 2 * 9 * 4 + 2 * 4, shapes + 9 + holding + 3 * 9 * 4)


def test_a_start_is_a_point_of_the_model() -> None:
    """A solution becomes columns of which the model counts what the judge counts."""
    problem = running_jobs(nodes=4, jobs=9, seed=2)
    solution, _ = milp.at_once(problem)
    form = milp.standard_form(problem)
    point = form.point(milp.encode(solution, problem))
    assert form.violation(point) == 0
    assert np.isclose(form.objective(point), float(problem.objective(solution)), rtol=SUM)


def shapes(options: tuple[GoodputOption, ...]) -> list[tuple[int, int, int]]:
    """Return GPUs and numbers of nodes of options."""
    return [(option.gpus, option.least, option.most) for option in options]


def test_numbers_of_nodes_with_one_speed_up_are_one_option() -> None:
    """Two to four nodes with the same speed-up are one option, one node is another one."""
    rows = [[1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0], [3.0, 4.0], [4.0]]
    case = GoodputCase.of(Goodput(nodes=[4] * 4, jobs=[job("a", *rows)]))
    singles, several = [(k, 1, 1) for k in (1, 2, 3, 4)], [(2, 2, 2), (3, 2, 3), (4, 2, 4)]
    assert sorted(shapes(case.options[0])) == sorted([(0, 0, 0), *singles, *several])


def test_a_speed_up_that_rises_with_the_nodes_is_another_option() -> None:
    """Three nodes that are faster than two are not taken for as fast."""
    case = GoodputCase.of(Goodput(nodes=[3] * 3, jobs=[job("a", [0.0], [0.0, 1.0], [2.0])]))
    assert shapes(case.options[0]) == [(0, 0, 0), (3, 2, 2), (3, 3, 3)]


def test_what_gains_nothing_is_no_option() -> None:
    """More GPUs on as many nodes that are no faster are left out, and so is what is no better than no GPUs."""
    case = GoodputCase.of(Goodput(nodes=[4], jobs=[job("a", [0.0, 1.0, 1.0, 0.9]), job("b", [1.0], age=0.0)]))
    assert shapes(case.options[0]) == [(0, 0, 0), (2, 1, 1)]
    assert shapes(case.options[1]) == [(0, 0, 0)]


def test_nodes_and_limits_leave_out_what_cannot_be() -> None:
    """Options are within the job's limit, the nodes, and the GPUs of the largest of these."""
    rows = [[1.0, 2.0, 3.0, 4.0], [2.5, 3.5, 4.5], [6.0]]
    case = GoodputCase.of(Goodput(nodes=[1, 2], jobs=[job("a", *rows), job("b", *rows, max_gpus=1)]))
    assert shapes(case.options[0]) == [(0, 0, 0), (1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 2, 2)]
    assert shapes(case.options[1]) == [(0, 0, 0), (1, 1, 1)]


def test_costs_are_those_of_the_judge() -> None:
    """Each option costs what the judge counts, to the error that is stated."""
    problem = running_jobs(nodes=4, jobs=9, seed=3)
    case = GoodputCase.of(problem)
    kept = 0
    for place, options in enumerate(case.options):
        for option in options:
            exact = problem.cost(place, option.least, option.gpus, restarts=not option.keeps)
            assert isclose(option.cost, exact, rel_tol=case.error)
            kept += option.keeps
    assert kept == sum(bool(job.current) for job in problem.jobs)


@pytest.mark.parametrize("power", range(-10, 0))
def test_no_option_is_where_a_job_does_not_run(power: int) -> None:
    """Whatever floor and power, an option has a speed-up, and costs less than no GPUs."""
    for floor in (1e-9, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.3, 1.0):
        gaps = job("a", [0.0, 0.0, 1.0, 1.0, 0.0, 2.0], [0.0, 3.0], [0.0, 0.0, 1e-9])
        case = GoodputCase.of(Goodput(nodes=[6, 6, 6], jobs=[gaps], power=power, floor=floor))
        idle, *others = case.options[0]
        assert idle.gpus == 0
        assert all(gaps.speedup(option.least, option.gpus) for option in others), floor
        assert all(option.cost < idle.cost for option in others), floor


def test_the_bound_holds_and_the_optimum_is_left() -> None:
    """No optimum is below the least cost, and its options, or as good ones, are not ruled out by its value."""
    ruled_out = 0
    for seed in range(cases(200)):
        problem = tiny(seed)
        case = GoodputCase.of(problem)
        found, best = Counting.of(case), unwrap(brute_force(problem))
        assert mean(case, found.least) <= oracle.optimum(problem), seed
        alive = found.alive(float(best[0]) * len(problem.jobs), Budget())
        for place, vector in enumerate(problem.vectors(best[1])):
            kept = vector == problem.currents[place]
            cost = problem.cost(place, sum(map(bool, vector)), sum(vector), restarts=not kept)
            assert any(option.cost <= cost * (1 + case.error) for option in alive[place]), seed
        ruled_out += sum(map(len, case.options)) - sum(map(len, alive))
    assert ruled_out > 0


def test_the_choice_costs_the_least() -> None:
    """The options that are chosen cost together what the knapsack says, on no more GPUs than there are."""
    problem = running_jobs(nodes=4, jobs=9, seed=3)
    found = Counting.of(GoodputCase.of(problem))
    choice = found.choice()
    assert sum(option.cost for option in choice) == pytest.approx(found.least)
    assert sum(option.gpus for option in choice) <= problem.total


def test_without_time_nothing_is_ruled_out() -> None:
    """A budget that has passed leaves all options."""
    case = GoodputCase.of(running_jobs(nodes=4, jobs=9, seed=3))
    assert Counting.of(case).alive(0.0, Budget(time_limit=0.0)) == list(case.options)


def test_tables_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More cells than memory holds are said to be too many."""
    monkeypatch.setattr(counting, "LARGEST_TABLE", 10)
    with pytest.raises(Unsupported, match="a table of 9 jobs by 16 GPUs is too large"):
        Counting.of(GoodputCase.of(running_jobs(nodes=4, jobs=9, seed=3)))


def of(nodes: list[int], *options: GoodputOption) -> list[tuple[int, ...]]:
    """Pack options of as many jobs."""
    problem = Goodput(nodes=nodes, jobs=[job(f"j{k}", *LINEAR) for k in range(len(options))])
    return pack(GoodputCase.of(problem), options).vectors


def single(gpus: int) -> GoodputOption:
    """Return an option on one node."""
    return GoodputOption(gpus, 1, 1, 0.5)


def test_jobs_on_one_node_go_where_the_least_is_left() -> None:
    """The largest job first, and each to the fullest node that has room."""
    assert of([4, 3], single(1), single(3), single(3)) == [(1, 0), (0, 3), (3, 0)]


def test_jobs_on_several_nodes_take_the_emptiest() -> None:
    """On as few nodes as hold the GPUs, at least one on each, and none beside a part of another such job."""
    assert of([4, 4, 4], GoodputOption(6, 2, 3, 0.5)) == [(4, 2, 0)]
    assert of([4, 4, 4], GoodputOption(3, 3, 3, 0.5)) == [(1, 1, 1)]
    assert of([2, 2, 2, 2], GoodputOption(3, 2, 2, 0.5), GoodputOption(2, 2, 2, 0.5)) == [
        (2, 1, 0, 0),
        (0, 0, 1, 1),
    ]
    assert of([2, 2, 2], GoodputOption(3, 2, 2, 0.5), GoodputOption(2, 2, 2, 0.5)) == [(2, 1, 0), (0, 0, 0)]


def test_improving_never_breaks_a_rule() -> None:
    """On random instances what is improved, and exchanged, costs no more and breaks no rule."""
    better = 0
    for seed in range(100):
        problem = tiny(seed)
        case = GoodputCase.of(problem)
        orders = [sorted(options, key=lambda option: option.cost) for options in case.options]
        packing = NodePacking(case)
        costs = [packing.cost]
        packing.improve(orders, Budget())
        costs.append(packing.cost)
        packing.exchange(range(len(orders)), orders, Budget())
        costs.append(packing.cost)
        assert costs == sorted(costs, reverse=True), seed
        assert problem.violations(case.solution(packing.vectors)) == [], seed
        better += costs[0] > costs[1]
    assert better > 10


def test_a_job_without_gpus_displaces_another_one() -> None:
    """A job that needs both GPUs moves the one that has them to the other node."""
    jobs = [job("a", [1.0, 3.0]), job("b", [0.0, 3.0])]
    case = GoodputCase.of(Goodput(nodes=[2, 1], jobs=jobs))
    orders = [sorted(options, key=lambda option: option.cost) for options in case.options]
    packing = pack(case, [case.options[0][2], case.options[1][0]])
    assert packing.vectors == [(2, 0), (0, 0)]
    packing.exchange([1], orders, Budget())
    assert packing.vectors == [(0, 1), (2, 0)]


def _case(nodes: Sequence[int], *rows: list[float]) -> GoodputCase:
    """Return a problem of jobs on one node with these speed-ups."""
    return GoodputCase.of(
        Goodput(nodes=nodes, jobs=[job(f"j{number}", row) for number, row in enumerate(rows)])
    )


def _relaxed(program: OptionProgram) -> float:
    """Return the least cost if numbers of nodes and options need not be whole."""
    form = program.form
    costs = program.costs(1.0)
    free = replace(form, cost=np.array(costs, dtype=float), integer=np.zeros(len(costs), dtype=np.bool_))
    found = unwrap(optimize(free, Budget()).values)
    return float(free.cost @ found)


def test_whole_nodes_are_a_tighter_relaxation() -> None:
    """Of jobs of four and five GPUs a node of eight holds 1.5 in patterns, and 1.8 by the sum."""
    case = _case([8], [0.0] * 3 + [1.0], [0.0] * 4 + [1.0])
    idle, alone = (option.cost for option in case.options[0])
    assert _relaxed(Patterned(case, case.options)) == pytest.approx((idle - alone) / 2)
    assert _relaxed(ReducedOptions(case, case.options)) == pytest.approx((idle - alone) / 5)


@pytest.mark.parametrize(("nodes", "sizes", "is_small"), [(1, 4, True), (40, 4, True), (1, 32, False)])
def test_few_patterns_are_a_small_program(nodes: int, sizes: int, is_small: bool) -> None:
    """Nodes that are alike count once; jobs of each size up to 32 fill a node of 32 in thousands of ways."""
    case = _case([32] * nodes, [float(size) for size in range(1, sizes + 1)])
    assert Patterned(case, case.options).is_small is is_small


def test_nodes_that_are_too_large_are_not_looked_into() -> None:
    """No pattern of a node of a million GPUs is listed."""
    case = _case([1_000_000], [1.0, 2.0])
    assert not Patterned(case, case.options).is_small


def test_a_part_takes_the_room_that_is_left() -> None:
    """Two jobs of three GPUs and one of five on two nodes leave no GPU idle: a part has what is left."""
    jobs = [job("small", [0.0, 0.0, 1.0]), job("wide", [], [0.0] * 3 + [9.0]), job("third", [0.0, 0.0, 1.0])]
    case = GoodputCase.of(Goodput(nodes=[4, 7], jobs=jobs))
    program = Patterned(case, case.options)
    proof = optimize(program.form, Budget(), costs=program.costs(1.0))
    vectors = program.vectors(unwrap(proof.values))
    assert sorted(map(sum, vectors)) == [3, 3, 5]
    assert np.sum(vectors, axis=0).tolist() == [4, 7]


def _enumerated(kind: NodeKind, sizes: list[int], *, parts: bool) -> set[Pattern]:
    """Try every subset of stays and every number of jobs of each size."""
    found = set()
    for number in range(len(kind.stays) + 1):
        for stays in combinations(kind.stays, number):
            wide = sum(stay.is_wide for stay in stays)
            for counts in product(range(kind.gpus + 1), repeat=len(sizes)):
                held = tuple(size for size, count in zip(sizes, counts, strict=True) for _ in range(count))
                left = kind.gpus - sum(stay.gpus for stay in stays) - sum(held)
                is_open = parts and not wide
                if left >= 0 and wide <= 1 and (is_open or all(size > left for size in sizes)):
                    found.add(Pattern(stays, held, left if is_open else 0))
    return found


@pytest.mark.parametrize("parts", [False, True])
def test_patterns_are_all_that_fit(parts: bool) -> None:
    """Patterns are those that counting finds, each once."""
    for seed in range(100):
        random = Random(seed)
        gpus = random.randint(0, 5)
        stays = tuple(
            Stay(job, random.randint(1, 3), random.random() < 0.5) for job in range(random.randint(0, 3))
        )
        sizes = sorted(random.sample(range(1, 6), random.randint(0, 3)))
        kind = NodeKind(gpus, stays, nodes=(0,))
        patterns = list(kind.patterns(sizes, parts=parts))
        assert len(set(patterns)) == len(patterns), seed
        assert set(patterns) == _enumerated(kind, sizes, parts=parts), seed


def test_parts_of_two_jobs_do_not_stay_together() -> None:
    """Of two jobs on several nodes at most one keeps its part of a node, though there is room for both."""
    kind = NodeKind(4, (Stay(0, 2, is_wide=True), Stay(1, 2, is_wide=True)), nodes=(0,))
    assert [len(pattern.stays) for pattern in kind.patterns([], parts=False)] == [0, 1, 1]


every_program = pytest.mark.parametrize("program", [Patterned, ReducedOptions])


@every_program
def test_all_options_have_the_optimum(program: type[OptionProgram]) -> None:
    """With every option left each program is exact by itself: its optimum is that of the oracle."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        case = GoodputCase.of(problem)
        if not problem.jobs:
            continue
        model, best = program(case, case.options), oracle.optimum(problem)
        costs = model.costs(float(best) * len(problem.jobs))
        proof = optimize(model.form, Budget(), costs=costs, offset=model.paid)
        solution = case.solution(model.vectors(unwrap(proof.values)))
        assert problem.violations(solution) == [], seed
        assert abs(problem.objective(solution) - best) <= problem.resolution(best), seed


@every_program
def test_packed_options_are_a_point_of_the_program(program: type[OptionProgram]) -> None:
    """What is packed keeps to every row, and is read from its point with as many GPUs on as many nodes."""
    for seed in range(40):
        case = GoodputCase.of(tiny(seed))
        packing = pack(case, [options[-1] for options in case.options])
        model = program(case, case.options)
        point = model.point(packing.chosen, packing.vectors)
        assert model.form.violation(point) == 0, seed
        found = model.vectors(np.asarray(point))
        for vector, packed in zip(found, packing.vectors, strict=True):
            assert (sum(vector), np.count_nonzero(vector)) == (sum(packed), np.count_nonzero(packed)), seed
        assert case.problem.violations(case.solution(found)) == [], seed


def _all_options(counting: Counting, *_: Any) -> Sequence[Sequence[GoodputOption]]:
    return counting.case.options


def _every_speed_up(table: Floats) -> Floats:
    return np.maximum(table, 0.0)


def _every_number_of_nodes(table: Floats) -> Any:
    return np.repeat(np.arange(1, len(table) + 1)[:, None], table.shape[1], axis=1)


_FILLED = sys.modules["formulations.goodput.patterns"]._filled  # noqa: SLF001 - a rule to be switched off


def _every_filling(sizes: Sequence[int], room: int, *, is_full: bool) -> Any:
    del is_full
    return _FILLED(sizes, room, is_full=False)


#: Each rule by which something is left out: where it stands, and what leaves nothing out.
RULES: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "options that cost too much beside the others": (Counting, "alive", _all_options),
    "GPUs that are no faster": (sys.modules["formulations.goodput.case"], "_grown", _every_speed_up),
    "numbers of nodes that are alike": (
        sys.modules["formulations.goodput.case"],
        "_last_equal",
        _every_number_of_nodes,
    ),
    "patterns in which another job fits": (
        sys.modules["formulations.goodput.patterns"],
        "_filled",
        _every_filling,
    ),
}


def _pairs() -> list[Goodput]:
    """Return jobs among which GPUs are short, some of which run, and for which several nodes pay."""
    found: list[Goodput] = []
    for turn in range(4):
        grows = [[1.0, 1.9, 2.7], [1.6, 2.6 - turn / 4, 3.0], [2.2]]
        flat = [[1.0, 1.0, 1.2], [1.0, 1.0, 1.2 + turn]]
        jobs = [job("a", *grows, current=[1, 0, 0]), job("b", *flat), job("c", *grows, current=[0, 1, 1])]
        found.append(Goodput(nodes=[2, 1 + turn % 2, 2], jobs=jobs[: 2 + turn % 2], power=-1 - turn % 3))
    old = {"age": 1e6, "restarts": 30_000}  # a restart would cost nearly all of its speed
    one, two = [1.0], [3.0]
    wider = job("a", [0.1], [0.2, 0.3], [2.0])  # faster on three nodes than on two
    alike = job("a", [], [0.0, 2.0], [2.0])  # as fast on three nodes as on two
    stays = job("b", one, current=[1, 0, 0], **old)
    return [
        *found,
        Goodput(nodes=[2, 1, 1], jobs=[wider]),
        Goodput(nodes=[2, 1, 1], jobs=[alike, stays]),
        Goodput(
            nodes=[2, 1], jobs=[job("a", one, two, current=[1, 1], **old), job("b", one, current=[1, 0], **old)]
        ),
        Goodput(nodes=[1, 1], jobs=[job("a", [0.1], [3.0])]),
    ]


#: Problems, and their optima by trying everything.
PROBLEMS = [
    (problem, oracle.optimum(problem))
    for problem in [*(tiny(seed) for seed in range(16)), *_pairs()]
    if problem.jobs
]


@pytest.mark.parametrize("rule", ["none", *RULES])
@pytest.mark.parametrize("kind", [Patterned, ReducedOptions])
def test_what_is_left_out_changes_no_optimum(
    kind: type[OptionProgram], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the optimum as the limit, the best is still there; and so it is with each rule switched off."""
    if rule in RULES:
        monkeypatch.setattr(*RULES[rule])
    for problem, optimum in PROBLEMS:
        case = GoodputCase.of(problem)
        alive = Counting.of(case).alive(float(optimum) * len(problem.jobs), Budget())
        program = kind(case, alive)
        proof = optimize(program.form, Budget(), costs=program.costs(float(optimum)), offset=program.paid)
        found = problem.objective(case.solution(program.vectors(unwrap(proof.values))))
        assert found - optimum <= problem.resolution(optimum), problem


def test_rows_keep_what_is_written_down() -> None:
    """Columns and rows have their names and limits, in order, and each entry its place."""
    rows = KeyedRows()
    rows.column(("a", 1), 2)
    rows.column(("b", 1, 2), 1)
    rows.add(("low", 0), ("b", 1, 2), 3.0, 1.0, 5.0)
    rows.add(("low", 0), ("a", 1), -1.0, 1.0, 5.0)
    form = rows.form()
    assert (form.columns, form.rows) == (("a[1]", "b[1,2]"), ("low[0]",))
    assert form.matrix.toarray().tolist() == [[-1.0, 3.0]]
    assert (form.column_upper.tolist(), form.row_lower.tolist(), form.row_upper.tolist()) == ([2, 1], [1], [5])
    assert form.integer.all()


def test_what_breaks_a_rule_is_not_kept() -> None:
    """A job on GPUs that it may not have any more, and the second of two wide ones that meet, have none."""
    rows = ([1.0, 2.0], [1.5])
    jobs = [job("a", *rows, current=[1, 1]), job("b", *rows, current=[1, 1]), job("c", *rows, current=[2, 0])]
    problem = Goodput(nodes=[4, 2], jobs=[*jobs[:2], jobs[2].model_copy(update={"max_gpus": 1})])
    assert current_gpus(GoodputCase.of(problem)).gpus == {"a": (1, 1)}


def test_the_bound_holds() -> None:
    """No optimum is below it."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        assert bound_alone(GoodputCase.of(problem)) <= oracle.optimum(problem), seed
