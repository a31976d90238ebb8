"""The model by positions and epochs."""

from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.scheduling import event_orders, milp
from formulations.scheduling.cells import Cells, cell_form
from formulations.scheduling.instance import Instance
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.positions import Positions
from formulations.scheduling.windows import Windows
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidSolution, Unsupported
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Run, Scheduling, SchedulingSolution
from gsopt.solvers.backends import CpSat, Scip
from gsopt.solvers.standard_form import StandardForm
from tests.effort import cases
from tests.strategies.scheduling import figure_4, one_by_one, packing, tiny, wandering

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


def test_area_is_not_enough_to_fit() -> None:
    """A job on both GPUs and one on either take 3 s, though their area fits in 2 s."""
    result = milp(packing())

    assert (result.status, result.objective) == (Status.OPTIMAL, (1 + 3) / 2)


def test_figure_4() -> None:
    """On six GPUs and counts of 1, 2, 4 and 6, completions at 3, 5.5 and 8 s are optimal."""
    result = milp(figure_4())

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx((3 + 8 + 5.5 - 2) / 3)


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
    assert best.solution is not None
    assert best.objective is not None
    form = milp.standard_form(problem)
    point = form.point(milp.encode(best.solution, problem))

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

    assert result.gap is not None
    assert result.gap <= 0.9


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

    with pytest.raises(Unsupported, match="milp: 16 jobs: the reference is for at most 15"):
        milp(Scheduling(gpus=2, jobs=[job.model_copy(update={"name": str(i)}) for i in range(16)]))
    with pytest.raises(Unsupported, match="milp: the shortest job takes 1e-10 of the horizon"):
        milp(Scheduling(gpus=2, jobs=[job, long]))
