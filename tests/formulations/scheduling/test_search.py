"""The search over positions, with cuts and prices."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from formulations.scheduling import event_orders, exact
from formulations.scheduling import priced as module
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.cells import encode
from formulations.scheduling.incumbents import KnownLists
from formulations.scheduling.instance import Instance
from formulations.scheduling.mixture import lift_prices
from formulations.scheduling.order import OrderPlan
from formulations.scheduling.positions import Positions
from formulations.scheduling.priced import PricedSearch, load_kernels
from formulations.scheduling.search import PositionSearch, plan_of
from formulations.scheduling.timetable import TimetableStep, replay
from gsopt.core.budget import Budget
from gsopt.core.errors import ModelMismatch
from gsopt.core.numbers.tolerances import CONTINUOUS, MISMATCH, SUM
from gsopt.core.problem import Number
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.scheduling import ElasticJob, Scheduling, SchedulingSolution
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds import (
    height_bound,
    lower_bound,
    mean_busy_time_bound,
    mean_jct,
    moore_hodgson_bound,
    position_bound,
    srpt_bound,
)
from gsopt.schedule.bounds.prices import price_bound
from gsopt.solvers.backends import Highs, Incumbent, Outcome
from gsopt.solvers.standard_form import StandardForm
from heuristics.scheduling import efq, elastic_las, elastic_srtf, equal_share, fifo, las, srtf
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import one_by_one, packing, rigid, tiny
from tests.unwrap import unwrap

#: What a solver does with a model and the options of the solve.
Answer = Callable[[StandardForm, dict[str, Any]], Outcome]

#: An outcome of which nothing is known.
NOTHING = Outcome(Status.UNKNOWN, None, None, None, StoppedBy.TIME_LIMIT, "scripted", message="scripted")


def _highs(form: StandardForm, options: dict[str, Any]) -> Outcome:
    return Highs().solve(form, start=options["start"])


@dataclass
class ScriptedBackend:
    """A backend with scripted outcomes for models with and without binaries, which keeps its calls."""

    answer: Answer = _highs
    relaxed: Answer = _highs
    name: str = "scripted"
    calls: list[tuple[StandardForm, dict[str, Any]]] = field(default_factory=list)

    def solve(self, form: StandardForm, **options: Any) -> Outcome:
        """Return the scripted outcome."""
        self.calls.append((form, options))
        return (self.answer if form.integer.any() else self.relaxed)(form, options)

    @property
    def whole(self) -> list[tuple[StandardForm, dict[str, Any]]]:
        """The calls for models with binaries."""
        return [each for each in self.calls if each[0].integer.any()]


def _search(problem: Scheduling, *, plan: bool = True, **options: Any) -> PositionSearch:
    """Begin a search from one job after the other, or from nothing."""
    instance, budget = Instance.of(problem), Budget(**options)
    best = BestSchedule(problem, instance, budget, "test")
    if plan:
        best.take(one_by_one(instance))
    return PositionSearch(best, Positions.of(problem, instance, best.limit), budget)


def _gaps() -> Scheduling:
    """Return jobs on 3, 3 and 5 of 8 GPUs for a second each, of which no two long ones fit beside a third."""
    jobs = [
        ElasticJob(name=str(number), release=0, work=1, rates={gpus: 1.0})
        for number, gpus in enumerate((3, 3, 5))
    ]
    return Scheduling(name="gaps", gpus=8, jobs=jobs)


def test_the_optimum_is_that_of_every_order() -> None:
    """From a poor schedule, or none, the bracket closes at the optimum, or there is proven to be none."""
    cuts = infeasible = 0
    for seed in range(36):
        problem = tiny(seed, jobs=(2, 3), fair=seed % 3 == 2)
        oracle = event_orders(problem)
        search = _search(problem)
        if search.positions.contradict:
            assert oracle.status is Status.INFEASIBLE
            continue
        search.run()
        best = search.best
        assert search.stopped_by is StoppedBy.FINISHED
        assert search.solver == "highs"
        assert search.message.endswith(f", {len(search.cuts)} cuts")
        assert [lift_prices(best.instance, cut) for cut in search.cuts] == search.cuts
        if oracle.objective is None:
            assert best.infeasible == "no schedule keeps all deadlines"
            infeasible += 1
        else:
            assert best.closed
            assert best.instance.mean_jct(best.total) == pytest.approx(oracle.objective, rel=CONTINUOUS)
            assert best.instance.mean_jct(best.lower) <= float(oracle.objective) * (1 + 1e-9)
            cuts += len(search.cuts)
    assert cuts >= 3
    assert infeasible >= 1


def test_what_no_configurations_do_is_cut_off_at_the_root() -> None:
    """Only two of three jobs run at a time: a cut says so, found in the first of at most two relaxations."""
    solver = ScriptedBackend()
    search = _search(_gaps(), backend=solver)
    search.run()

    assert search.cuts == [{(0, 0): 0.5, (1, 0): 0.5, (2, 0): 0.5}]
    assert search.best.total == pytest.approx(1 + 1 + 2)
    assert [form.integer.any() for form, _ in solver.calls] == [False, False, True]
    rows = [sum(name.startswith("mixture") for name in form.rows) for form, _ in solver.calls]
    assert rows == [0, rows[1], rows[1]]
    assert rows[1] > 0


def test_what_no_configurations_do_is_cut_off_in_the_end() -> None:
    """Where relaxations say nothing the model is solved, cut and solved again, until nothing is left to cut."""
    solver = ScriptedBackend(relaxed=lambda *_: NOTHING)
    search = _search(_gaps(), backend=solver)
    search.run()

    assert search.cuts == [{(0, 0): 0.5, (1, 0): 0.5, (2, 0): 0.5}]
    assert [form.integer.any() for form, _ in solver.calls] == [False, True, True]
    assert search.best.total == pytest.approx(4)
    assert search.message.endswith(", 1 cuts")


def _full() -> Scheduling:
    """Return jobs of which relaxations leave much to be cut off: three cuts, and then four rounds of more."""
    return tiny(2, jobs=(4, 5), gpus=(6, 7, 8, 9, 10))


def test_relaxations_are_cut_twice_at_most() -> None:
    """After two rounds of cuts the model is solved as it is, whatever is left."""
    solver = ScriptedBackend(answer=lambda *_: NOTHING)
    search = _search(_full(), backend=solver)
    search.run()
    assert [form.integer.any() for form, _ in solver.calls] == [False, False, True]
    assert len(search.cuts) >= 4


def test_no_further_cell_is_looked_at_when_the_time_is_up() -> None:
    """Of the cells of a relaxation in which no configurations fit only the first is cut off then."""

    def late(form: StandardForm, options: dict[str, Any]) -> Outcome:
        search.budget = Budget(time_limit=0.0)
        return _highs(form, options)

    search = _search(_full(), backend=ScriptedBackend(relaxed=late))
    search.run()
    assert len(search.cuts) <= 1


def test_what_is_short_of_the_horizon_is_cut_off_too() -> None:
    """Beside a job ten thousand times as long, three that do not fit at once are told apart all the same."""
    works = [(1, 5), (1, 5), (1, 5), (10_000, 1)]
    jobs = [ElasticJob(name=str(i), release=0, work=w, rates={g: 1.0}) for i, (w, g) in enumerate(works)]
    search = _search(Scheduling(gpus=13, jobs=jobs))
    search.run()

    assert {(0, 0): 0.5, (1, 0): 0.5, (2, 0): 0.5} in search.cuts
    assert search.best.total == pytest.approx(10_004)


def test_cuts_from_elsewhere_are_in_the_model_from_the_beginning() -> None:
    """A cut that is given is not found again."""
    problem, solver = _gaps(), ScriptedBackend()
    cut = {(0, 0): 0.5, (1, 0): 0.5, (2, 0): 0.5}
    before = _search(problem)
    search = PositionSearch(before.best, before.positions, Budget(backend=solver), [cut])
    search.run()

    assert search.cuts == [cut]
    assert [form.integer.any() for form, _ in solver.calls] == [False, True]
    assert search.best.closed


def test_the_solver_starts_from_the_best_schedule() -> None:
    """The start is the best schedule as a point of the model; relaxations have none, nor has the unknown."""
    solver = ScriptedBackend(answer=lambda *_: NOTHING)
    search = _search(packing(), backend=solver)
    search.run()
    form, options = solver.whole[0]

    assert options["start"] is not None
    assert form.violation(options["start"]) <= 1e-6
    value = search.best.instance.mean_jct(search.best.total)
    assert form.objective(options["start"]) * _scale(search) == pytest.approx(value)
    assert {o["start"] is None for f, o in solver.calls if not f.integer.any()} == {True}

    fair = packing().model_copy(update={"fairness": 2.0})
    solver = ScriptedBackend(answer=lambda *_: NOTHING)
    _search(fair, plan=False, backend=solver).run()
    assert [options["start"] for _, options in solver.whole] == [None]


def _scale(search: PositionSearch) -> float:
    """Return what a unit of the solver's objective is in seconds: a thousandth of what an end costs."""
    return search.positions.unit / len(search.best.instance) / 1e3


def test_an_end_costs_a_thousand() -> None:
    """The solver's costs are those of the model, scaled, and so is what is taken off for the release dates."""
    problem = tiny(3, jobs=(3,))
    solver = ScriptedBackend(answer=lambda *_: NOTHING)
    search = _search(problem, backend=solver)
    search.run()
    form = solver.whole[0][0]

    assert set(form.cost.tolist()) == {0.0, 1e3}
    instance = search.best.instance
    assert instance.released > 0
    assert form.offset * _scale(search) == pytest.approx(-instance.released / len(instance))


@pytest.mark.parametrize(("gap", "asked"), [(0.0, CONTINUOUS / 4), (1e-9, CONTINUOUS / 4), (1e-3, 1e-3)])
def test_the_solver_stops_at_the_gap_or_at_what_makes_no_difference(gap: float, asked: float) -> None:
    """The gap is the budget's, or a quarter of the difference at which schedules count as equal."""
    solver = ScriptedBackend(answer=lambda *_: NOTHING)
    _search(packing(), backend=solver, gap=gap).run()
    assert [options["gap"] for _, options in solver.calls] == [asked] * len(solver.calls)


def test_the_solver_gets_half_of_the_time() -> None:
    """Half of the time left is kept for proofs; without limit, callback or log the solver has none either."""
    solver, free = ScriptedBackend(answer=lambda *_: NOTHING), ScriptedBackend(answer=lambda *_: NOTHING)
    _search(packing(), backend=solver, time_limit=1e6, log=True, on_incumbent=lambda _: None).run()
    _search(packing(), backend=free).run()

    assert all(0.499e6 < options["time_limit"] <= 0.5e6 for _, options in solver.calls)
    assert all(options["log"] and options["on_incumbent"] for _, options in solver.calls)
    for _, options in free.calls:
        assert (options["time_limit"], options["on_incumbent"], options["log"]) == (None, None, False)


def _with_bound(bound: float) -> Answer:
    return lambda *_: replace(NOTHING, bound=bound)


@pytest.mark.parametrize("part", [0.5, 1.0, 1e3])
def test_a_bound_is_proven_before_it_is_believed(part: float) -> None:
    """However high a bound the solver claims, what is known is raised as far as can be proven."""
    problem = tiny(3, jobs=(3,))
    oracle = event_orders(problem).objective
    search = _search(problem)
    best, instance = search.best, search.best.instance
    least = instance.total(float(oracle or 0))
    claimed = best.lower + part * (least - best.lower)
    search.budget = Budget(backend=ScriptedBackend(_with_bound(instance.mean_jct(claimed) / _scale(search))))
    search.run()

    assert min(claimed, least) * (1 - 1e-6) <= best.lower <= least
    assert (search.solver, search.message) == ("scripted", "scripted, 0 cuts")


def _stopped(reason: StoppedBy) -> Answer:
    return lambda form, options: replace(_highs(form, options), stopped_by=reason, bound=None)


def test_a_solver_that_stops_early_ends_the_search() -> None:
    """After a time limit or an interrupt nothing is cut or solved again, but what was found is kept."""
    for reason in (StoppedBy.TIME_LIMIT, StoppedBy.INTERRUPT, StoppedBy.CRASH):
        solver = ScriptedBackend(_stopped(reason), relaxed=lambda *_: NOTHING)
        search = _search(_gaps(), backend=solver)
        search.run()
        assert len(solver.whole) == 1
        assert search.stopped_by is reason
        assert search.cuts == []
        assert search.best.total == pytest.approx(4)
        assert not search.best.closed


def test_a_gap_that_is_met_ends_the_search() -> None:
    """Where the solver stopped at the gap the solution is cut off all the same, and the gap is the reason."""

    def rough(form: StandardForm, options: dict[str, Any]) -> Outcome:
        found = _highs(form, options)
        return replace(found, stopped_by=StoppedBy.GAP, bound=unwrap(found.bound) * 0.95)

    solver = ScriptedBackend(rough, relaxed=lambda *_: NOTHING)
    search = _search(_gaps(), backend=solver, gap=0.1)
    search.run()

    assert len(solver.whole) == 2
    assert search.stopped_by is StoppedBy.GAP
    assert len(search.cuts) == 1


def _infeasible(*_: object) -> Outcome:
    return Outcome(Status.INFEASIBLE, None, None, None, StoppedBy.FINISHED, "scripted")


@pytest.mark.parametrize(("fairness", "said"), [(2.0, ""), (0.1, "no schedule keeps all deadlines")])
def test_a_solver_that_finds_nothing_is_believed_where_that_is_proven(fairness: float, said: str) -> None:
    """That no schedule keeps the deadlines is believed if dual values prove it, and not with one at hand."""
    search = _search(packing(), backend=ScriptedBackend(_infeasible, relaxed=lambda *_: NOTHING))
    search.run()
    assert search.best.infeasible == ""
    assert search.best.lower < search.best.total

    fair = packing().model_copy(update={"fairness": fairness})
    search = _search(fair, plan=False, backend=ScriptedBackend(_infeasible, relaxed=lambda *_: NOTHING))
    search.run()
    assert search.best.infeasible == said


def test_an_interrupt_at_the_root_is_passed_on() -> None:
    """Ctrl-C while a relaxation is solved ends all."""
    solver = ScriptedBackend(relaxed=lambda *_: replace(NOTHING, stopped_by=StoppedBy.INTERRUPT))
    search = _search(packing(), backend=solver)
    with pytest.raises(KeyboardInterrupt):
        search.run()
    assert solver.whole == []


def test_without_time_nothing_is_solved() -> None:
    """A budget that has passed asks nothing of the solver; nor does a bracket that is closed."""
    solver = ScriptedBackend()
    late = _search(packing(), backend=solver, time_limit=0.0)
    late.run()
    other = _search(packing())
    other.budget = Budget(backend=solver, time_limit=0.0)
    other.run()
    closed = _search(packing(), backend=solver)
    closed.best.raise_bound(closed.best.total)
    closed.run()

    assert solver.calls == []
    assert late.stopped_by is other.stopped_by is StoppedBy.TIME_LIMIT
    assert closed.stopped_by is StoppedBy.FINISHED


def _cheap(part: float) -> Answer:
    """Answer with the optimum of the model, its completion times all shorter by a part."""

    def answer(form: StandardForm, options: dict[str, Any]) -> Outcome:
        found = _highs(form, options)
        assert found.values is not None
        ends = np.array([name[0] == "T" for name in form.columns])
        return replace(found, values=np.where(ends, found.values * (1 - part), found.values), bound=None)

    return answer


@pytest.mark.parametrize(("part", "refused"), [(2 * MISMATCH, True), (0.5 * MISMATCH, False), (-0.1, False)])
def test_a_model_that_counts_less_than_its_schedule_is_refused(part: float, refused: bool) -> None:
    """A value of the model below that of the best schedule by more than noise is an error in the model."""
    search = _search(packing(), backend=ScriptedBackend(_cheap(part)))
    if refused:
        with pytest.raises(ModelMismatch, match=r"milp: the model counts 1\.99999.*, the best schedule 2"):
            search.run()
    else:
        search.run()
        assert search.best.total == pytest.approx(4)


@pytest.mark.parametrize("late", [False, True])
def test_a_search_that_is_cut_short_refuses_nothing(late: bool) -> None:
    """Where the end is wanted, or the time is up, the best schedule may be worse than the model's solution."""

    def answer(form: StandardForm, options: dict[str, Any]) -> Outcome:
        if late:
            search.budget = Budget(time_limit=0.0)
        else:
            search.best.asked_to_stop = True
        return _cheap(0.1)(form, options)

    search = _search(packing(), backend=ScriptedBackend(answer))
    search.run()
    assert search.best.total == pytest.approx(4)


def test_incumbents_become_schedules_and_may_end_the_search() -> None:
    """A better solution on the way is told as a schedule; the solver stops if the callback wants it."""
    answers: list[Any] = []

    def hear(form: StandardForm, options: dict[str, Any]) -> Outcome:
        found = _highs(form, options)
        assert found.values is not None
        assert found.objective is not None
        answers.append(options["on_incumbent"](Incumbent(found.values, found.objective, None, 0.0)))
        return NOTHING

    for stops in (False, True):
        heard: list[float] = []

        def listen(result: Any, stops: bool = stops, heard: list[float] = heard) -> bool:
            heard.append(result.objective)
            return stops and len(heard) > 1

        search = _search(rigid((0, 3), (0, 1)), backend=ScriptedBackend(hear), on_incumbent=listen)
        search.run()
        assert heard == [3.5, 2.5]
        assert search.best.total == 5
        assert search.best.asked_to_stop is stops
    assert answers == [False, True]


def _ends(*ends: Sequence[float]) -> dict[str, float]:
    """Return values of columns: for each position its time, and the parts of the jobs that have it."""
    values = {f"T[{place}]": time for place, (time, *_) in enumerate(ends)}
    for place, (_, *parts) in enumerate(ends):
        values |= {f"z[{job},{place}]": part for job, part in enumerate(parts) if part}
    return values


def test_a_solution_is_read_as_an_order() -> None:
    """Jobs complete in the order of their positions' times, which a solution may mix."""
    problem = rigid((0, 1), (0, 9))
    positions = Positions.of(problem, Instance.of(problem), 100.0)
    orders = {
        (1.0, 10.0): _ends((100.0, 1, 0), (200.0, 0, 1)),
        (10.0, 9.0): _ends((100.0, 0, 1), (200.0, 1, 0)),
    }
    mixed = {(1.0, 10.0): _ends((100.0, 0.7, 0.3), (200.0, 0.3, 0.7))}

    for completions, values in (orders | mixed).items():
        plan = unwrap(plan_of(positions, values, Budget()))
        assert plan.completions == pytest.approx(completions)


def test_times_of_a_solution_are_in_the_model_s_unit() -> None:
    """A job that completes at 80 s, after an arrival at 50 s, does so though 80 s are less than one unit."""
    problem = rigid((0, 80), (50, 90))
    positions = Positions.of(problem, Instance.of(problem), 1e6)
    assert positions.unit > 80

    values = _ends((positions.time(80), 1, 0), (positions.time(170), 0, 1))
    plan = unwrap(plan_of(positions, values, Budget()))
    assert plan.completions == pytest.approx((80, 170))


def test_an_order_that_keeps_no_deadlines_is_no_plan() -> None:
    """Where every schedule of the order is late there is none."""
    problem = rigid((0, 1), (0, 9), fairness=0.5)
    positions = Positions.of(problem, Instance.of(problem))
    assert plan_of(positions, _ends((100.0, 1, 0), (200.0, 0, 1)), Budget()) is not None
    assert plan_of(positions, _ends((100.0, 0, 1), (200.0, 1, 0)), Budget()) is None


def test_a_schedule_and_its_values_are_one() -> None:
    """The values of an optimal schedule are read back as a plan as good."""
    problem = tiny(5, jobs=(3,))
    search = _search(problem)
    search.run()
    plan = search.best.plan
    assert isinstance(plan, OrderPlan)
    instance = search.best.instance
    values = encode(search.positions, replay(instance, [TimetableStep(*step) for step in plan.steps]))
    again = unwrap(plan_of(search.positions, values, Budget()))

    assert again.total == pytest.approx(plan.total)


BOUNDS: tuple[Callable[[Workload, int], Number], ...] = (
    height_bound,
    srpt_bound,
    position_bound,
    mean_busy_time_bound,
    moore_hodgson_bound,
    lower_bound,
)

POLICIES: tuple[Callable[[Scheduling], Result[SchedulingSolution]], ...] = (
    efq,
    elastic_srtf,
    elastic_las,
    equal_share,
    fifo,
    srtf,
    las,
)

#: How far a value may be on the wrong side of another by rounding, relatively.
ROUNDING = 1e-9

#: How far every bound and every policy is from the optimum of some instance: they are no optimum renamed.
NOTEWORTHY = 0.01

#: The instances drawn, and the tests over which they are spread.
INSTANCES, PARTS = cases(500), 5


def drawn(seed: int) -> Scheduling:
    """Draw an instance of three to five jobs: loads, speed-up, arrivals and counts of GPUs in turn."""
    if seed >= INSTANCES - INSTANCES // 8:
        return tiny(seed, jobs=(3,))
    return elastic_jobs(
        jobs=3 + seed % 3,
        gpus=(2, 4, 6, 8, 3)[seed % 5],
        load=(0.8, 1.2, 2.0, 5.0)[seed % 4],
        scaling="linear" if seed % 7 == 0 else "concave",
        counts="alpha" if seed % 6 == 0 else "all",
        at_once=seed % 9 == 0,
        seed=seed,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_no_bound_is_above_the_optimum_and_no_policy_below(part: int) -> None:
    """No bound on the mean completion time is above the optimum, no policy is below it."""
    above: dict[str, list[float]] = defaultdict(list)
    for seed in range(part, INSTANCES, PARTS):
        problem = drawn(seed)
        result = exact(problem)
        assert result.status is Status.OPTIMAL, problem.about
        optimum = float(unwrap(result.objective))
        for bound in BOUNDS:
            proven = mean_jct(bound(problem.workload, problem.gpus), problem.workload)
            above[bound.__name__].append(optimum / proven - 1)
        for policy in POLICIES:
            above[policy.__name__].append(float(policy(problem).objective or 0) / optimum - 1)
    assert {name: min(gaps) for name, gaps in above.items() if min(gaps) < -ROUNDING} == {}
    assert {name: max(gaps) for name, gaps in above.items() if max(gaps) < NOTEWORTHY} == {}


@pytest.mark.parametrize(
    ("policy", "most"),
    [(efq, 0.15), (srtf, 1.5), (fifo, 1.5), (las, 1.5), (equal_share, 0.5)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_policies_on_the_committed_instances(
    policy: Callable[[Scheduling], Result[SchedulingSolution]], most: float
) -> None:
    """No policy is below a proven optimum of the suite, and elastic fair queuing is within 15 % in the mean."""
    gaps = []
    for problem in map(load, names("scheduling/small")):
        assert isinstance(problem, Scheduling)
        result, known = policy(problem), problem.about
        if known is None or known.objective is None or not known.proved_by:
            continue
        if result.objective is None:  # unfair
            assert problem.fairness is not None
            continue
        gaps.append(float(result.objective) / known.objective - 1)
    assert len(gaps) >= 60
    assert min(gaps) >= -ROUNDING
    assert 0.001 < fmean(gaps) <= most


def _closed(problem: Scheduling, budget: Budget | None = None) -> BestSchedule:
    best = BestSchedule(problem, Instance.of(problem), budget or Budget(), "exact")
    incumbents = KnownLists(best)
    incumbents.serve()
    PricedSearch(best, incumbents, cells=40).close()
    return best


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a cycle take few evaluations and steps."""
    few = partial(price_bound, evaluations=20)
    monkeypatch.setattr(module, "price_bound", few)
    monkeypatch.setattr("formulations.scheduling.incumbents._STEPS", 5)


@pytest.mark.usefixtures("_hurried")
def test_the_optimum_lies_between() -> None:
    """On tiny instances the bound is never above the optimum of every order, nor the value below."""
    for seed in range(cases(12)):
        problem = tiny(seed)
        best, optimum = _closed(problem), unwrap(event_orders(problem).objective)
        assert best.instance.mean_jct(best.lower) <= float(optimum) * (1 + SUM)
        assert best.instance.mean_jct(best.total) >= float(optimum) * (1 - SUM)


def test_forty_jobs() -> None:
    """The search ends with the gap asked for, which plain bounds and lists are far from."""
    problem = elastic_jobs(jobs=40, gpus=16, load=1.2, seed=5)
    first = BestSchedule(problem, Instance.of(problem), Budget(), "exact")
    KnownLists(first).serve()
    plain = mean_jct(lower_bound(problem.workload, problem.gpus), problem.workload)
    found = exact(problem, gap=0.06)

    assert float(unwrap(found.bound)) > plain
    assert float(unwrap(found.objective)) < first.instance.mean_jct(first.total)
    assert unwrap(found.gap) <= 0.06
    assert found.message == "prices and lists"


@pytest.mark.usefixtures("_hurried")
def test_dates_in_epoch_seconds_change_nothing() -> None:
    """Counted from 1970, the bracket around 35 rigid jobs is the same up to ticks of that clock."""
    drawn = elastic_jobs(jobs=35, gpus=8, load=0.7, seed=1)
    jobs = tuple(job.model_copy(update={"rates": {job.demand: job.rates[job.demand]}}) for job in drawn.jobs)
    later = tuple(job.model_copy(update={"release": job.release + 1.7e9}) for job in jobs)
    one, other = (exact(drawn.model_copy(update={"jobs": given}), gap=0.5) for given in (jobs, later))

    assert other.objective == pytest.approx(one.objective, rel=1e-6)
    assert other.bound == pytest.approx(one.bound, rel=1e-6)


def test_where_nothing_keeps_the_deadlines_the_search_ends() -> None:
    """A constant of fairness that no schedule keeps leaves a bound and no value, or is proven."""
    problem = rigid(*[(0, 2)] * 32, gpus=64, fairness=0.1)
    assert _closed(problem).completions is None
    assert exact(problem).status is Status.INFEASIBLE


def test_with_seconds_only_numpy_and_local_search_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where kernels cannot be loaded in time both sides are improved without them."""
    calls: list[object] = []

    def keep(*given: object, **options: object) -> object:
        calls.append(options["compiled"])
        return price_bound(*given, **(options | {"seconds": None, "evaluations": 20}))  # type: ignore[arg-type]

    asked = count()
    monkeypatch.setattr("formulations.scheduling.incumbents.is_ready", lambda *_: False)
    monkeypatch.setattr(module, "is_ready", lambda *_: False)
    monkeypatch.setattr(module, "price_bound", keep)
    monkeypatch.setattr(Budget, "passed", property(lambda _: next(asked) > 60))
    problem = elastic_jobs(jobs=30, gpus=8, load=1.2, seed=2)
    best = _closed(problem, Budget(time_limit=1e6))

    assert calls == [False]
    assert best.lower > sum(map(best.instance.earliest, range(30)))
    assert best.completions is not None


def test_loaded_kernels_are_ready() -> None:
    """After warming up, a limit of a moment is enough for kernels."""
    load_kernels()
    problem = elastic_jobs(jobs=30, gpus=8, load=1.2, seed=2)
    assert KnownLists(BestSchedule(problem, Instance.of(problem), Budget(time_limit=0.1), "exact")).is_ready
