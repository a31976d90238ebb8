"""The arrays of the model of positions."""

from math import inf
from random import Random

import pytest

from formulations.scheduling import cells as module
from formulations.scheduling import event_orders
from formulations.scheduling.cells import Cells, cell_form, encode
from formulations.scheduling.instance import Instance
from formulations.scheduling.positions import Positions
from formulations.scheduling.timetable import TimetableStep, replay
from formulations.scheduling.windows import Windows
from gsopt.core.errors import Unsupported
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import LARGEST_BIG_M, StandardForm
from tests.effort import cases
from tests.strategies.scheduling import tiny, wandering


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
    jobs = [ElasticJob(name=name, release=0, work=100, rates={1: 1.0}) for name in "abc"]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))
    windows = Windows(((100.0, 1000.0),) * 3, frozenset({(2, 0)}))
    form = cell_form(Cells.of(Positions(instance, windows, (100.0,) * 3, (1000.0,) * 3, inf)))

    assert {name: _written(form, name) for name in form.rows if name.startswith("order")} == {
        "order[2,0,0]": "<= 0",
        "order[2,0,1]": "+ 1 z[0,1] - 1 z[2,0] <= 0",
        "order[2,0,2]": "+ 1 z[0,1] + 1 z[0,2] - 1 z[2,0] - 1 z[2,1] <= 0",
    }


def test_a_completion_is_in_no_earlier_epoch_than_the_one_before() -> None:
    """Where a position may be in one of the first epochs only if the position before it is in one of them."""
    jobs = [ElasticJob(name=str(date), release=date, work=9, rates={1: 1.0}) for date in (0, 100, 200)]
    instance = Instance.of(Scheduling(gpus=3, jobs=jobs))
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
    jobs = [ElasticJob(name=name, release=0, work=2, rates={1: 1.0}) for name in "ab"]
    problem = Scheduling(gpus=2, jobs=jobs)
    instance = Instance.of(problem)
    timetable = replay(instance, [TimetableStep(2.0, {0: 1, 1: 1})])
    for first, second in ((0, 1), (1, 0)):
        windows = Windows.of(instance, 4.0, frozenset({(first, second)}))
        values = encode(Positions.of(problem, instance, 4.0, windows), timetable)
        assert [name for name in values if name[0] == "z"] == [f"z[{first},0]", f"z[{second},1]"]


def test_jobs_that_complete_one_after_the_other_are_encoded_as_they_do() -> None:
    """However little earlier a job completes it is first, though more jobs must be before it."""
    jobs = [
        ElasticJob(name=name, release=0, work=work, rates={1: 1.0})
        for name, work in zip("abc", (6, 5, 1), strict=True)
    ]
    problem = Scheduling(gpus=2, jobs=jobs)
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
    job = ElasticJob(name="a", release=0, work=4, rates={1: 1.0})
    problem = Scheduling(gpus=1, jobs=[job])
    instance = Instance.of(problem)
    timetable = replay(instance, [TimetableStep(4, {0: 1})])
    positions = Positions.of(problem, instance, timetable.total)
    cells = Cells.of(positions)
    form = cell_form(cells)
    assert form.columns == ("z[0,0]", "v[0,0]", "T[0]", "l[0,0]", "y[0,0,0,0]")
    assert form.point(encode(positions, timetable)) == pytest.approx(cells.largest)


def test_too_many_times_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of more times of modes in cells than there may be is not made."""
    monkeypatch.setattr(module, "MOST_TIMES", 10)
    assert sum(map(len, Cells.of(_two()).times.values())) == 10

    monkeypatch.setattr(module, "MOST_TIMES", 9)
    with pytest.raises(Unsupported, match="milp: 10 times of modes in cells: at most 9"):
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
