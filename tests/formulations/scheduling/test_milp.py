"""The model of record for scheduling, and its rows and cells."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from itertools import accumulate, pairwise, product
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.common.rows import Entry, SparseRows
from formulations.scheduling import cells as module
from formulations.scheduling import event_orders, milp
from formulations.scheduling.cells import Cells, cell_form, encode
from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import lift_prices, shortest_mixture
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.positions import Positions
from formulations.scheduling.timetable import TimetableStep, replay
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidSolution, Unsupported
from gsopt.core.numbers.grid import decimal
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from gsopt.schedule.judge import judge
from gsopt.solvers.backends import CpSat, Highs, Scip
from gsopt.solvers.standard_form import LARGEST_BIG_M, StandardForm
from tests.effort import cases
from tests.strategies.scheduling import figure_4, one_by_one, packing, rigid, tiny, wandering
from tests.unwrap import unwrap

Found = Result[SchedulingSolution]

#: The module; its name in the package is the method's.
MODULE = import_module("formulations.scheduling.milp")

#: Seeds of tiny instances; every other one has a fairness constraint.
SEEDS = range(cases(64))


def _agree(found: Found, oracle: Found) -> bool:
    if oracle.objective is None:
        return found.status is oracle.status is Status.INFEASIBLE
    return found.status is Status.OPTIMAL and found.objective == pytest.approx(oracle.objective, rel=1e-6)


def test_the_optimum_is_that_of_every_order() -> None:
    """On tiny instances, half of them with deadlines, the model finds what all orders of events find."""
    problems = [tiny(seed, fair=seed % 2 == 1) for seed in SEEDS]
    pairs = [(milp(problem), event_orders(problem)) for problem in problems]

    assert [problem.name for problem, pair in zip(problems, pairs, strict=True) if not _agree(*pair)] == []
    assert {found.status for found, _ in pairs} == {Status.OPTIMAL, Status.INFEASIBLE}
    messages = {found.message for found, _ in pairs}
    assert "no schedule keeps all deadlines" in messages
    assert "kOptimal, 1 cuts" in messages


def _poor(instance: Instance, budget: Budget) -> Iterator[OrderPlan]:
    del budget
    yield one_by_one(instance)


def test_a_poor_schedule_to_start_from_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimum is found from a schedule of one job at a time too, whose windows cut off next to nothing."""
    monkeypatch.setattr(MODULE, "good_plans", _poor)
    problems = [tiny(seed, fair=seed % 2 == 1) for seed in SEEDS if seed % 3 == 0]
    assert [each.name for each in problems if not _agree(milp(each), event_orders(each))] == []


def test_scip_agrees() -> None:
    """A second solver proves the same optima."""
    problems = [tiny(seed, fair=seed % 2 == 1) for seed in range(cases(12))]
    assert [each.name for each in problems if not _agree(milp(each, backend=Scip()), event_orders(each))] == []


def test_cp_sat_takes_no_times() -> None:
    """A solver without continuous columns is refused."""
    with pytest.raises(Unsupported, match="continuous"):
        milp(packing(), backend=CpSat())


def _shifted(problem: Scheduling, factor: float) -> tuple[Scheduling, float]:
    jobs = [job.model_copy(update={"release": job.release + 10 * factor}) for job in problem.jobs]
    return problem.model_copy(update={"jobs": tuple(jobs)}), 1.0


def _renamed(problem: Scheduling, factor: float) -> tuple[Scheduling, float]:
    del factor
    jobs = [job.model_copy(update={"name": f"other {job.name}"}) for job in reversed(problem.jobs)]
    return problem.model_copy(update={"jobs": tuple(jobs)}), 1.0


def _scaled(problem: Scheduling, factor: float) -> tuple[Scheduling, float]:
    jobs = [
        job.model_copy(update={"release": job.release * factor, "work": job.work * factor})
        for job in problem.jobs
    ]
    fairness = None if problem.fairness is None else problem.fairness * factor
    return problem.model_copy(update={"jobs": tuple(jobs), "fairness": fairness}), factor


@pytest.mark.parametrize("change", [_shifted, _renamed, _scaled])
def test_what_does_not_change_the_optimum(change: Callable[..., tuple[Scheduling, float]]) -> None:
    """Later clocks and other names leave the optimum as it is, and longer times scale it."""

    @settings(deadline=None, max_examples=cases(40))
    @given(st.integers(0, 10**6), st.sampled_from([0.1, 60.0, 3600.0]))
    def check(seed: int, factor: float) -> None:
        problem = tiny(seed, fair=seed % 2 == 1)
        changed, scale = change(problem, factor)
        before, after = milp(problem), milp(changed)
        assert before.status is after.status
        if before.objective is not None:
            assert after.objective == pytest.approx(before.objective * scale, rel=1e-6)

    check()


@settings(deadline=None, max_examples=cases(80))
@given(st.integers(0, 10**6))
def test_a_schedule_is_a_point_of_the_model_and_back(seed: int) -> None:
    """An optimal schedule satisfies every row at the judge's value, and is read back as good."""
    problem = tiny(seed)
    best = event_orders(problem)
    assert best.objective is not None
    form = milp.standard_form(problem)
    point = form.point(milp.encode(unwrap(best.solution), problem))

    assert form.violation(point) <= 1e-6
    assert form.objective(point) == pytest.approx(best.objective)
    assert problem.objective(milp.extract(form.named(point), problem)) == pytest.approx(best.objective)


def test_without_time_the_schedule_of_the_local_search_is_given() -> None:
    """When the time is up at once there still are a schedule and a bound."""
    result = milp(figure_4(), time_limit=0)
    assert result.status in {Status.FEASIBLE, Status.OPTIMAL}
    assert (result.stopped_by, result.solver) == (StoppedBy.TIME_LIMIT, "")


def test_a_gap_that_is_met_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a gap of 90 % the first bound will do."""
    monkeypatch.setattr(MODULE, "good_plans", _poor)
    result = milp(figure_4(), gap=0.9)
    assert unwrap(result.gap) <= 0.9


def test_a_callback_may_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback that returns True leaves a schedule no worse than the one to start from."""
    monkeypatch.setattr(MODULE, "good_plans", _poor)
    problem = figure_4()
    heard: list[Found] = []

    def stop(result: Found) -> bool:
        heard.append(result)
        return True

    result = milp(problem, on_incumbent=stop)

    assert [each.objective for each in heard] == [result.objective]
    assert result.stopped_by is StoppedBy.INTERRUPT


def test_the_arrays_are_the_model_of_record() -> None:
    """On tiny instances with and without deadlines and orders, both builders give the same columns and rows."""
    for seed in range(cases(30)):
        problem = tiny(seed, fair=seed % 3 == 2)
        instance = Instance.of(problem)
        _, completions = wandering(instance, Random(seed))
        windows = Windows.of(instance, sum(completions))
        if seed % 2:
            first, second = sorted(range(len(instance)), key=completions.__getitem__)[:2]
            windows = windows.narrowed(windows.spans, [(first, second)])
        positions = Positions.of(problem, instance, sum(completions), windows)
        if positions.contradict:  # no schedule keeps the deadlines
            continue
        cells = Cells.of(positions)
        filled, recorded = cell_form(cells), StandardForm.from_pyomo(MODULE._model(cells))  # noqa: SLF001

        assert _columns(filled) == _columns(recorded), problem.name
        assert _rows(filled) == _rows(recorded), problem.name
        assert filled.offset == pytest.approx(recorded.offset)


def _columns(form: StandardForm) -> dict[str, tuple[float, ...]]:
    used = set(form.matrix.nonzero()[1].tolist())
    parts = (form.cost, form.column_lower, form.column_upper, form.integer)
    return {name: tuple(float(part[i]) for part in parts) for i, name in enumerate(form.columns) if i in used}


def _rows(form: StandardForm) -> Counter[object]:
    """Return the rows as they are written with a positive coefficient of the first column by name."""
    found: list[object] = []
    for row in range(len(form.rows)):
        entries = form.matrix[[row]].tocoo()
        parts = sorted((form.columns[c], v) for c, v in zip(entries.col, entries.data, strict=True) if v)
        sign = 1 if not parts or parts[0][1] > 0 else -1
        limits = sorted(sign * limit + 0.0 for limit in (form.row_lower[row], form.row_upper[row]))
        found.append((tuple((name, f"{sign * v:.9e}") for name, v in parts), tuple(f"{x:.9e}" for x in limits)))
    return Counter(each for each in found if each[0])  # type: ignore[index]


def test_a_start_must_be_a_schedule() -> None:
    """A start that leaves a job out is refused, and one that is a schedule is not made worse."""
    problem = packing()
    wide, long = Run(job="a", start=2, end=3, gpus=2), Run(job="b", start=0, end=2, gpus=1)
    assert milp(problem, start=SchedulingSolution(runs=[wide, long])).objective == 2
    with pytest.raises(InvalidSolution, match="'b' does not complete"):
        milp(problem, start=SchedulingSolution(runs=[wide]))


def test_what_is_too_much_to_model_is_refused() -> None:
    """Sixteen jobs are refused, and so is a job of a billionth of the horizon."""
    job = ElasticJob(name="a", release=0, work=1, rates={1: 1.0})
    long = job.model_copy(update={"name": "b", "work": 1e10})

    with pytest.raises(Unsupported, match="milp: 16 jobs: the reference model takes at most 15"):
        milp(Scheduling(gpus=2, jobs=[job.model_copy(update={"name": str(i)}) for i in range(16)]))
    with pytest.raises(Unsupported, match="milp: the shortest job takes 1e-10 of the horizon"):
        milp(Scheduling(gpus=2, jobs=[job, long]))


def test_every_schedule_is_a_point_of_the_model() -> None:
    """A schedule satisfies every row at its value, in windows of its total and orders in which it completes."""
    for seed in range(cases(120)):
        problem = tiny(seed, jobs=(2, 3, 4, 5))
        instance, random = Instance.of(problem), Random(seed)
        steps, _ = wandering(instance, random)
        timetable = replay(instance, steps)
        rank = sorted(range(len(instance)), key=timetable.completions.__getitem__)
        orders = {(a, b) for i, a in enumerate(rank) for b in rank[i + 1 :] if random.random() < 0.3}
        total = timetable.total * random.choice((1 + 1e-9, 1.3))
        positions = Positions.of(problem, instance, total, Windows.of(instance, total, frozenset(orders)))
        cells = Cells.of(positions)
        form = cell_form(cells)
        point = form.point(encode(positions, timetable))

        assert form.violation(point) <= 1e-7, problem.name
        assert form.objective(point) == pytest.approx(instance.mean_jct(timetable.total), rel=1e-9)
        assert (point <= cells.largest * (1 + 1e-9)).all()


def test_the_optimum_is_never_cut_off() -> None:
    """On tiny instances, with deadlines and without, the model's optimum is at most that of all orders."""
    tight = found = 0
    for seed in range(cases(64)):
        problem = tiny(seed, jobs=(2, 3), fair=seed % 2 == 1)
        oracle, instance = event_orders(problem).objective, Instance.of(problem)
        if oracle is None:
            continue
        total = instance.total(float(oracle)) * (1 + 1e-7)
        outcome = Highs().solve(cell_form(Cells.of(Positions.of(problem, instance, total))))
        assert outcome.objective is not None
        assert outcome.objective <= float(oracle) * (1 + 1e-6)
        found += 1
        tight += outcome.objective >= float(oracle) * (1 - 1e-6)
    assert tight >= 0.85 * found >= cases(18)


def _two(*, gpus: int = 2, total: float = 1300.0) -> Positions:
    """Return a job of 400 s on one GPU or 200 s on two, and later one of 300 s on two; the unit is a second."""
    jobs = [
        ElasticJob(name="a", release=0, work=400, rates={1: 1.0, 2: 2.0}),
        ElasticJob(name="b", release=300, work=300, rates={2: 1.0}),
    ]
    instance = Instance.of(Scheduling(gpus=gpus, jobs=jobs))
    windows = Windows(((200.0, 700.0), (600.0, 900.0)))
    return Positions(instance, windows, (200.0, 600.0), (650.0, 1000.0), total)


def _written(form: StandardForm, name: str) -> str:
    """Write a row as a sum and its limits."""
    row = form.rows.index(name)
    entries = form.matrix[[row]].tocoo()
    pairs = [(form.columns[column], value) for column, value in zip(entries.col, entries.data, strict=True)]
    parts = [f"{'-' if value < 0 else '+'} {abs(value):g} {column}" for column, value in sorted(pairs)]
    low, high = form.row_lower[row], form.row_upper[row]
    limits = f"= {low:g}" if low == high else f">= {low:g}" if high == inf else f"<= {high:g}"
    assert low in {high, -inf} or high == inf
    return " ".join([*parts, limits])


ROWS = {
    "job[0]": "+ 1 z[0,0] + 1 z[0,1] = 1",
    "position[1]": "+ 1 z[0,1] + 1 z[1,1] = 1",
    "epoch[0]": "+ 1 v[0,0] + 1 v[0,1] = 1",
    "epoch[1]": "+ 1 v[1,1] = 1",
    "time[0]": "+ 1 T[0] - 1 l[0,0] - 1 l[1,0] = 0",
    "time[1]": "+ 1 T[1] - 1 l[0,0] - 1 l[0,1] - 1 l[1,0] - 1 l[1,1] = 0",
    "after[0]": "+ 1 T[0] - 200 v[0,0] - 300 v[0,1] >= 0",
    "before[0]": "+ 1 T[0] - 300 v[0,0] - 650 v[0,1] <= 0",
    "after[1]": "+ 1 T[1] - 600 v[1,1] >= 0",
    "before[1]": "+ 1 T[1] - 1000 v[1,1] <= 0",
    "earliest[0]": "+ 1 T[0] - 200 z[0,0] - 600 z[1,0] >= 0",
    "latest[1]": "+ 1 T[1] - 700 z[0,1] - 900 z[1,1] <= 0",
    "succession[1,0]": "+ 1 v[0,0] >= 0",
    "limit": "+ 1 T[0] + 1 T[1] <= 1300",
    "length[0]": "+ 1 l[0,0] + 1 l[0,1] = 300",
    "opened[0,1]": "+ 1 l[0,1] - 100 v[0,0] <= 0",
    "opened[1,1]": "+ 1 l[1,1] - 700 v[0,0] - 700 v[0,1] <= 0",
    "closed[0,0]": "+ 1 l[0,0] - 300 v[0,0] - 300 v[0,1] <= 0",
    "closed[1,0]": "+ 1 l[1,0] - 350 v[0,1] <= 0",
    "closed[0,1]": "+ 1 l[0,1] - 100 v[1,1] <= 0",
    "closed[1,1]": "+ 1 l[1,1] - 700 v[1,1] <= 0",
    "alone[0,1,0]": "- 1 l[1,0] + 1 y[0,0,1,0] + 1 y[0,1,1,0] <= 0",
    "alone[1,1,0]": "- 1 l[1,0] + 1 y[1,0,1,0] <= 0",
    "area[0,0]": "- 2 l[0,0] + 1 y[0,0,0,0] + 2 y[0,1,0,0] <= 0",
    "area[1,1]": "- 2 l[1,1] + 1 y[0,0,1,1] + 2 y[0,1,1,1] + 2 y[1,0,1,1] <= 0",
    "groups[2,0,1,1]": "- 1 l[1,1] + 1 y[0,0,1,1] + 1 y[0,1,1,1] + 1 y[1,0,1,1] <= 0",
    "work[0]": " ".join(
        [
            *(f"+ 0.0025 y[0,0,{e},{p}]" for e, p in ((0, 0), (0, 1), (1, 0), (1, 1))),
            *(f"+ 0.005 y[0,1,{e},{p}]" for e, p in ((0, 0), (0, 1), (1, 0), (1, 1))),
            "= 1",
        ]
    ),
    "work[1]": "+ 0.00333333 y[1,0,1,0] + 0.00333333 y[1,0,1,1] = 1",
    "until[1,1]": "+ 0.00333333 y[1,0,1,1] - 1 z[1,1] <= 0",
    "until[0,1]": (
        "+ 0.0025 y[0,0,0,1] + 0.0025 y[0,0,1,1] + 0.005 y[0,1,0,1] + 0.005 y[0,1,1,1] - 1 z[0,1] <= 0"
    ),
    "enough[1,0]": "+ 0.00333333 y[1,0,1,0] - 1 z[1,0] >= 0",
}


def test_the_rows_of_two_jobs() -> None:
    """Every kind of row is what the model of record says of it."""
    form = cell_form(Cells.of(_two()))
    assert {name: _written(form, name) for name in ROWS} == ROWS
    kinds = {name.split("[")[0] for name in form.rows}
    assert kinds == {name.split("[")[0] for name in ROWS}
    assert form.sense.value == "minimize"


def test_the_columns_of_two_jobs() -> None:
    """Positions and epochs are whole, times are in their windows, and the mean of the ends is minimised."""
    form = cell_form(Cells.of(_two()))
    limits = dict(
        zip(form.columns, zip(form.column_lower, form.column_upper, form.integer, strict=True), strict=True)
    )

    whole = {"z[0,0]", "z[0,1]", "z[1,0]", "z[1,1]", "v[0,0]", "v[0,1]", "v[1,1]"}
    assert {name for name, (_, _, integer) in limits.items() if integer} == whole
    assert {limits[name] for name in whole} == {(0, 1, True)}
    assert (limits["T[0]"], limits["T[1]"]) == ((200, 650, False), (600, 1000, False))
    assert limits["l[0,1]"] == (0, 100, False)
    assert limits["y[0,1,1,0]"] == (0, inf, False)
    costs = {name: cost for name, cost in zip(form.columns, form.cost, strict=True) if cost}
    assert costs == {"T[0]": 0.5, "T[1]": 0.5}
    assert form.offset == -150


def test_without_a_total_there_is_no_limit() -> None:
    """Where no schedule is known its total is no row, nor are windows that do not end."""
    positions = _two(total=inf)
    assert "limit" not in cell_form(Cells.of(positions)).rows
    windows = Windows(((200.0, inf), (600.0, 900.0)))
    free = Positions(positions.instance, windows, positions.lower, positions.upper, inf)
    assert not [name for name in cell_form(Cells.of(free)).rows if name.startswith("latest")]


def test_a_job_runs_from_its_release_until_it_must_be_complete() -> None:
    """Cells have no times of jobs that have not arrived, nor of those that complete before in any case."""
    two = _two()
    every = [(0, 0), (0, 1), (1, 0)]
    cells = Cells.of(two)
    assert dict(cells.times) == {(0, 0): every[:2], (0, 1): every[:2], (1, 0): every, (1, 1): every}
    assert cells.share == ((1 / 400, 2 / 400), (1 / 300,))

    ordered = Windows(two.windows.spans, frozenset({(0, 1)}))
    cells = Cells.of(Positions(two.instance, ordered, two.lower, two.upper, two.total))
    assert dict(cells.times) == {(0, 0): every[:2], (0, 1): [], (1, 0): every, (1, 1): every[2:]}
    assert cells.places == ((0, 0), (1, 1))
    assert cells.epochs == ((0, 0), (0, 1), (1, 1))


def test_an_order_is_a_row_for_each_position() -> None:
    """A job has one of the first p + 1 positions only if the one before it has one of the first p."""
    instance = Instance.of(rigid(*[(0, 100)] * 3))
    windows = Windows(((100.0, 1000.0),) * 3, frozenset({(2, 0)}))
    form = cell_form(Cells.of(Positions(instance, windows, (100.0,) * 3, (1000.0,) * 3, inf)))

    assert {name: _written(form, name) for name in form.rows if name.startswith("order")} == {
        "order[2,0,0]": "<= 0",
        "order[2,0,1]": "+ 1 z[0,1] - 1 z[2,0] <= 0",
        "order[2,0,2]": "+ 1 z[0,1] + 1 z[0,2] - 1 z[2,0] - 1 z[2,1] <= 0",
    }


def test_a_completion_is_in_no_earlier_epoch_than_the_one_before() -> None:
    """Where a position may be in one of the first epochs only if the position before it is in one of them."""
    instance = Instance.of(rigid((0, 9), (100, 9), (200, 9), gpus=3))
    windows = Windows(((0.0, 1000.0),) * 3)
    form = cell_form(Cells.of(Positions(instance, windows, (0.0,) * 3, (1000.0,) * 3, inf)))

    assert _written(form, "succession[1,0]") == "+ 1 v[0,0] - 1 v[1,0] >= 0"
    assert _written(form, "succession[2,1]") == "+ 1 v[1,0] + 1 v[1,1] - 1 v[2,0] - 1 v[2,1] >= 0"
    assert "succession[1,2]" not in form.rows


def test_where_a_size_does_not_divide_the_gpus_only_whole_groups_count() -> None:
    """On three GPUs a job on one of them takes up no group of two."""
    form = cell_form(Cells.of(_two(gpus=3)))
    assert _written(form, "groups[2,0,1,1]") == "- 1 l[1,1] + 1 y[0,1,1,1] + 1 y[1,0,1,1] <= 0"


def test_a_cut_is_a_row_for_each_cell_it_prices() -> None:
    """Prices of modes make rows where such modes may run, without those that cost nothing."""
    form = cell_form(Cells.of(_two()), [{(0, 1): 0.5, (1, 0): 1.0, (0, 0): 0.0}, {(1, 0): 0.25}])

    assert {name: _written(form, name) for name in form.rows if name.startswith("mixture")} == {
        "mixture[0,0,0]": "- 1 l[0,0] + 0.5 y[0,1,0,0] <= 0",
        "mixture[0,0,1]": "- 1 l[0,1] + 0.5 y[0,1,0,1] <= 0",
        "mixture[0,1,0]": "- 1 l[1,0] + 0.5 y[0,1,1,0] + 1 y[1,0,1,0] <= 0",
        "mixture[0,1,1]": "- 1 l[1,1] + 0.5 y[0,1,1,1] + 1 y[1,0,1,1] <= 0",
        "mixture[1,1,0]": "- 1 l[1,0] + 0.25 y[1,0,1,0] <= 0",
        "mixture[1,1,1]": "- 1 l[1,1] + 0.25 y[1,0,1,1] <= 0",
    }


def test_jobs_that_complete_together_are_encoded_in_their_order() -> None:
    """Of two jobs that end at the same time, to rounding, the one that must be first has the first position."""
    problem = rigid((0, 2), (0, 2), gpus=2)
    instance = Instance.of(problem)
    timetable = replay(instance, [TimetableStep(2.0, {0: 1, 1: 1})])
    for first, second in ((0, 1), (1, 0)):
        windows = Windows.of(instance, 4.0, frozenset({(first, second)}))
        values = encode(Positions.of(problem, instance, 4.0, windows), timetable)
        assert [name for name in values if name[0] == "z"] == [f"z[{first},0]", f"z[{second},1]"]


def test_jobs_that_complete_one_after_the_other_are_encoded_as_they_do() -> None:
    """However little earlier a job completes it is first, though more jobs must be before it."""
    problem = rigid((0, 6), (0, 5), (0, 1), gpus=2)
    instance = Instance.of(problem)
    steps = [
        TimetableStep(1, {0: 1, 2: 1}),
        TimetableStep(5 - 1e-7, {0: 1, 1: 1}),
        TimetableStep(1e-7, {1: 1}),
        TimetableStep(1e-7, {0: 1}),
    ]
    timetable = replay(instance, steps)
    assert 0 < timetable.completions[0] - timetable.completions[1] < 1e-6

    windows = Windows.of(instance, 14.0, frozenset({(2, 1)}))
    values = encode(Positions.of(problem, instance, 14.0, windows), timetable)
    assert [name for name in values if name[0] == "z"] == ["z[2,0]", "z[1,1]", "z[0,2]"]


def test_columns_are_as_large_as_a_schedule_makes_them() -> None:
    """A job alone reaches the largest value of every column, in their order."""
    problem = rigid((0, 4))
    instance = Instance.of(problem)
    timetable = replay(instance, [TimetableStep(4, {0: 1})])
    positions = Positions.of(problem, instance, timetable.total)
    cells = Cells.of(positions)
    form = cell_form(cells)
    assert form.columns == ("z[0,0]", "v[0,0]", "T[0]", "l[0,0]", "y[0,0,0,0]")
    assert form.point(encode(positions, timetable)) == pytest.approx(cells.largest)


def test_too_many_times_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with more times to decide than there may be is not made."""
    monkeypatch.setattr(module, "MOST_TIMES", 10)
    assert sum(map(len, Cells.of(_two()).times.values())) == 10
    monkeypatch.setattr(module, "MOST_TIMES", 9)
    with pytest.raises(Unsupported, match=r"milp: 10 times to decide \(job, mode and cell\): at most 9"):
        Cells.of(_two())


@pytest.mark.parametrize(("factor", "made"), [(0.99, True), (1.01, False)])
def test_jobs_too_short_are_refused(factor: float, made: bool) -> None:
    """A job may be done in one unit of the largest coefficient of a model, and no sooner."""
    jobs = [
        ElasticJob(name="a", release=0, work=1, rates={1: 1.0, 2: factor * LARGEST_BIG_M}),
        ElasticJob(name="b", release=0, work=1, rates={1: 0.01}),
    ]
    instance = Instance.of(Scheduling(gpus=2, jobs=jobs))
    positions = Positions(instance, Windows(((0.0, 1000.0),) * 2), (0.0, 0.0), (1000.0, 1000.0), inf)
    if made:
        assert Cells.of(positions).share[0][1] == pytest.approx(factor * LARGEST_BIG_M)
    else:
        with pytest.raises(Unsupported, match=r"milp: the shortest job takes .* of the horizon: too fine"):
            Cells.of(positions)


def _alike(*, fairness: float | None = None) -> Scheduling:
    return rigid(*[(0, 2)] * 3, fairness=fairness)


def test_a_total_bounds_each_position() -> None:
    """Of three jobs of 2 s with a total of 13 s the first ends by 3 s, the second by 5 s, the last by 7 s."""
    positions = Positions.of(_alike(), Instance.of(_alike()), 13)
    assert positions.lower == pytest.approx((2, 4, 6))
    assert positions.upper == pytest.approx((3, 5, 7))


def test_deadlines_bound_each_position() -> None:
    """Jobs that are all due at 7 s complete by then, and none can be due before they can be complete."""
    problem = _alike(fairness=1)
    positions = Positions.of(problem, Instance.of(problem))
    assert positions.upper == pytest.approx((7, 7, 7))
    assert not positions.contradict


@pytest.mark.parametrize("seed", range(20))
def test_rounding_leaves_exact_completions_within(seed: int) -> None:
    """Where a total leaves nothing to spare, the optimum in fractions is within the windows in floats."""
    random = Random(seed)
    jobs = [
        ElasticJob(name=name, release=0, work=random.randint(1, 99) / 10, rates={1: random.choice((0.7, 3.0))})
        for name in "abc"
    ]
    problem = Scheduling(gpus=1, jobs=jobs)
    ends = list(accumulate(sorted(Fraction(decimal(job.work)) / decimal(job.rates[1]) for job in jobs)))
    positions = Positions.of(problem, Instance.of(problem), float(sum(ends)))

    for low, end, high in zip(positions.lower, ends, positions.upper, strict=True):
        assert low <= end <= high


@settings(deadline=None, max_examples=cases(60))
@given(st.integers(0, 10**6))
def test_an_optimal_schedule_is_within_its_windows(seed: int) -> None:
    """With the total of any schedule at all, the completions of an optimal one are in the windows and cells."""
    problem = tiny(seed)
    instance = Instance.of(problem)
    _, completions = wandering(instance, Random(seed))
    best = event_orders(problem)
    positions = Positions.of(problem, instance, sum(completions))
    times = sorted(judge(unwrap(best.solution).schedule, problem.scenario).completion_times)

    own = [time - instance.origin for time in times]
    for time, low, high in zip(own, positions.lower, positions.upper, strict=True):
        assert low <= time * (1 + 1e-9)
        assert time <= high * (1 + 1e-9)
    inside = [positions.time(time) for time in (0.0, *own)]
    for epoch, (begin, end) in enumerate(positions.epochs):
        for position, (since, until) in enumerate(pairwise(inside)):
            length = min(end, until) - max(begin, since)
            if length > 1e-6:
                assert length <= positions.cells[epoch, position] + 1e-6


#: Rows as lists of columns below 4 with whole coefficients.
ROWS_ROWS = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3).map(float)), max_size=6), max_size=6
)


@given(ROWS_ROWS)
def test_a_row_is_what_its_entries_add_up_to(entries: list[list[Entry]]) -> None:
    """Each row has the sum of the coefficients given for each column, and 0 elsewhere."""
    rows = SparseRows()
    expected = np.zeros((len(entries), 4))
    for number, own in enumerate(entries):
        rows.add(str(number), iter(own))
        for column, value in own:
            expected[number, column] += value

    assert rows.matrix(4).shape == expected.shape
    assert (rows.matrix(4).toarray() == expected).all()


def test_a_row_has_its_name_and_its_limits() -> None:
    """Rows stand in the order in which they come, each free on the side for which no limit is given."""
    rows = SparseRows()
    rows.add("least", [(0, 1.0)], lower=2.0)
    rows.add("empty", [])
    rows.add("most", [(1, 1.0)], upper=3.0)
    rows.add("equal", [(1, -1.0)], 4.0, 4.0)

    assert rows.names == ["least", "empty", "most", "equal"]
    assert rows.lower == [2.0, -inf, -inf, 4.0]
    assert rows.upper == [inf, inf, 3.0, 4.0]
    assert rows.matrix(2).toarray().tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, -1.0]]


def test_two_matrices_share_nothing() -> None:
    """Rows added to one matrix are not in another."""
    one, other = SparseRows(), SparseRows()
    one.add("only", [(0, 1.0)])
    assert other.names == []
    assert other.matrix(1).shape == (0, 1)


def test_mixture_area_is_not_enough_to_fit() -> None:
    """A job on both GPUs for 1 s and one on either for 2 s take 3 s, though their area fits in 2 s."""
    assert shortest_mixture(Instance.of(packing()), {(0, 0): 1.0, (1, 0): 2.0}).length == pytest.approx(3)


def test_nothing_takes_no_time() -> None:
    """Without times there is nothing to mix."""
    assert shortest_mixture(Instance.of(packing()), {}) == (0.0, {})


def test_prices_hold_however_early_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no further configuration is generated, the prices of those that are missing add up to 1 at most."""
    monkeypatch.setattr("formulations.scheduling.mixture.PRICING", 9.0)
    instance = Instance.of(rigid(*[(0, 1)] * 3, gpus=3))
    mixture = shortest_mixture(instance, dict.fromkeys([(0, 0), (1, 0), (2, 0)], 1.0))
    assert mixture.length == pytest.approx(3)
    assert sum(mixture.prices.values()) <= 1 + 1e-15


@settings(deadline=None, max_examples=cases(60))
@given(st.integers(0, 10**6))
def test_prices_prove_the_length(seed: int) -> None:
    """The prices of the times add up to the length, and those of no configuration to more than 1."""
    instance = Instance.of(tiny(seed))
    random = Random(seed)
    items = [(job, mode) for job, modes in enumerate(instance.modes) for mode in range(len(modes))]
    times = {item: random.uniform(0.1, 2) for item in items if random.random() < 0.7}
    length, prices = shortest_mixture(instance, times)

    assert sum(prices[item] * time for item, time in times.items()) == pytest.approx(length)
    raised = lift_prices(instance, prices)
    assert all(price <= raised[item] for item, price in prices.items() if price > 0)
    for choice in product(*([None, *range(len(modes))] for modes in instance.modes)):
        chosen = [(job, mode) for job, mode in enumerate(choice) if mode is not None]
        if sum(instance.modes[job][mode].gpus for job, mode in chosen) <= instance.gpus:
            assert sum(raised.get(item, 0.0) for item in chosen) <= 1 + 1e-9
