"""The default exact method of scheduling, against the enumeration of orders and the reference model."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from formulations.scheduling import event_orders, exact, milp
from formulations.scheduling.annealing import Annealing
from formulations.scheduling.best import Best
from formulations.scheduling.instance import Instance
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.order import OrderPlan
from gsopt.core.budget import Budget
from gsopt.core.files import write
from gsopt.core.numbers.clock import clock_error
from gsopt.core.numbers.tolerances import CONTINUOUS, SUM
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.scheduling import ElasticJob, Scheduling, SchedulingSolution
from gsopt.schedule.bounds import lower_bound, mean_jct
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import figure_4, one_by_one, packing, tiny

Found = Result[SchedulingSolution]

#: The module; its name in the package is the method's.
MODULE = import_module("formulations.scheduling.exact")


def test_the_optimum_is_that_of_every_order() -> None:
    """On tiny instances, with and without deadlines, the optimum or its absence is proven."""
    infeasible = 0
    for seed in range(cases(120)):
        problem = tiny(seed, fair=seed % 3 == 2)
        found, oracle = exact(problem), event_orders(problem)
        assert found.status is oracle.status, problem.name
        if oracle.objective is not None:
            assert found.objective == pytest.approx(oracle.objective, rel=SUM), problem.name
            assert _bound(found) <= oracle.objective * (1 + SUM), problem.name
        infeasible += oracle.status is Status.INFEASIBLE
    assert infeasible >= cases(5)


def test_no_bound_on_the_way_is_above_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a poor schedule, with windows that leave much to be ruled out, no bound ever exceeds the optimum."""
    bounds: list[float] = []

    def keep(self: Best, total: float) -> None:
        bounds.append(self.instance.mean_jct(total))
        raise_bound(self, total)

    raise_bound = Best.raise_bound
    monkeypatch.setattr(Best, "raise_bound", keep)
    monkeypatch.setattr(LocalSearch, "begin", _poor)
    monkeypatch.setattr(MODULE, "best_nearby_plan", lambda *_, **__: None)
    techniques: set[str] = set()
    for seed in range(cases(40)):
        problem = tiny(seed, jobs=(3, 4))
        optimum = event_orders(problem).objective
        assert optimum is not None
        bounds.clear()
        found = exact(problem)
        value = float(found.objective or 0)
        assert found.status is Status.OPTIMAL, problem.name
        assert value == pytest.approx(optimum, rel=SUM)
        assert len(bounds) >= 3
        # a proof that nothing is better than the schedule known raises the bound to any height
        assert all(bound <= optimum * (1 + SUM) or bound >= value for bound in bounds), problem.name
        assert _bound(found) <= optimum * (1 + SUM), problem.name
        techniques.add(found.message)
    assert "model of positions" in techniques


def _poor(self: LocalSearch, budget: Budget, *, known: Sequence[OrderPlan] = ()) -> Iterator[OrderPlan]:
    del budget, known
    yield one_by_one(self.instance)


def test_the_bound_is_the_one_found() -> None:
    """Where branch and bound closes the bracket, the tiny gap that its tolerances leave is shown."""
    problem = elastic_jobs(jobs=7, gpus=8, load=1.5, seed=9)
    result = exact(problem)

    assert (result.status, result.message) == (Status.OPTIMAL, "model of positions")
    assert 0 < float(result.objective or 0) - _bound(result) < CONTINUOUS * float(result.objective or 0)
    assert result.gap is not None
    assert 0 < result.gap < CONTINUOUS


def test_the_optimum_is_that_of_the_reference_model() -> None:
    """On twenty instances of five and six jobs both methods prove the same optimum."""
    for seed in range(cases(20)):
        problem = elastic_jobs(jobs=5 + seed % 2, gpus=(2, 4, 6, 8)[seed % 4], load=1.2, seed=seed)
        found, other = exact(problem), milp(problem)
        assert found.status is other.status is Status.OPTIMAL, problem.name
        assert found.objective == pytest.approx(other.objective, rel=CONTINUOUS)
        for proof in (found, other):
            assert _bound(proof) <= float(found.objective or 0) * (1 + SUM)


@pytest.mark.parametrize("fair", [False, True])
def test_late_dates_change_nothing(fair: bool) -> None:
    """Instances are solved alike at second 0 and at 1.7e9, as seconds since 1970, up to its ticks."""
    later = 1.7e9
    for seed in range(cases(12)):
        problem = tiny(seed, fair=fair, halves=True)
        jobs = [job.model_copy(update={"release": job.release + later}) for job in problem.jobs]
        moved = problem.model_copy(update={"jobs": tuple(jobs)})
        ticks = clock_error(later, 0)
        for method in (exact, milp):
            before, after = method(problem), method(moved)
            assert after.status is before.status, problem.name
            assert after.stopped_by is before.stopped_by
            if before.objective is not None:
                assert after.objective == pytest.approx(before.objective, abs=ticks, rel=0)
                assert _bound(after) == pytest.approx(_bound(before), abs=ticks, rel=SUM)


def _bound(result: Found) -> float:
    assert result.bound is not None
    return float(result.bound)


def test_figure_4() -> None:
    """The schedule that Figure 4 shows is optimal: completions at 3, 5.5 and 8 s."""
    result = exact(figure_4())

    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx((3 + 8 + 5.5 - 2) / 3)


def test_area_is_not_enough_to_fit() -> None:
    """A job on both GPUs and one on either take 3 s, though their area fits in 2 s."""
    assert exact(packing()).objective == pytest.approx((1 + 3) / 2)


def test_fairness_that_cannot_be_kept_is_proven() -> None:
    """An infeasible constant is refused with the smallest that is possible."""
    job = ElasticJob(name="a", release=0, work=2, rates={1: 1.0})
    result = exact(Scheduling(gpus=4, jobs=[job], fairness=1.0))

    assert result.status is Status.INFEASIBLE
    assert "the smallest fairness possible is 1.5 s" in result.message


def test_shortest_first_is_optimal_on_one_gpu() -> None:
    """On one GPU with jobs at once the optimum is shortest processing time first."""
    works = [1 + (7 * i) % 13 for i in range(12)]
    jobs = [ElasticJob(name=str(i), release=0, work=work, rates={1: 1.0}) for i, work in enumerate(works)]
    result = exact(Scheduling(gpus=1, jobs=jobs))

    clock = [sum(sorted(works)[: i + 1]) for i in range(len(works))]
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(sum(clock) / len(works))


@pytest.mark.parametrize("jobs", [15, 60])
def test_a_time_limit_leaves_a_bracket(jobs: int) -> None:
    """What takes too long ends with a schedule and a bound no weaker than the plain bounds."""
    problem = elastic_jobs(jobs=jobs, gpus=8, load=1.5, seed=3)
    result = exact(problem, time_limit=2.0)

    assert result.status in {Status.FEASIBLE, Status.OPTIMAL}
    assert result.objective is not None
    plain = mean_jct(lower_bound(problem.workload, problem.gpus), problem.workload)
    assert plain * (1 - SUM) <= _bound(result) <= result.objective


def test_times_too_different_for_a_model_leave_a_bracket() -> None:
    """Where a job takes a nanosecond and another one years, there is a schedule and a bound all the same."""
    sizes = {"a": (3e-4, 3), "b": (1.5e-9, 2), "c": (3.6e8, 2), "d": (6e5, 2)}
    jobs = [ElasticJob(name=n, release=0, work=work, rates={on: 1.0}) for n, (work, on) in sizes.items()]
    result = exact(Scheduling(gpus=3, jobs=jobs))

    assert result.status is Status.FEASIBLE
    assert _bound(result) <= float(result.objective or 0) <= 1.01 * _bound(result)


def test_without_time_there_still_is_a_schedule() -> None:
    """A limit of 0 leaves the first list schedule and the plain bounds."""
    result = exact(elastic_jobs(jobs=12, gpus=8, seed=1), time_limit=0)

    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert _bound(result) > 0


def test_the_start_is_kept_however_short_the_time() -> None:
    """A good schedule that is given is the answer where nothing better is found."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.5, seed=5)
    search = Annealing(Instance.of(problem))
    search.improve(500)
    start = search.timetable.solution
    result = exact(problem, time_limit=0, start=start)

    assert float(result.objective or 0) <= problem.objective(start)
    assert float(exact(problem, time_limit=0).objective or 0) > float(result.objective or 0)


def test_a_gap_that_is_met_ends_the_search() -> None:
    """With a wide gap the search ends before the bracket closes."""
    problem = elastic_jobs(jobs=12, gpus=8, load=1.5, seed=5)
    result = exact(problem, gap=0.2)

    assert result.stopped_by is StoppedBy.GAP
    assert result.gap is not None
    assert CONTINUOUS < result.gap <= 0.2


def test_a_callback_hears_of_judged_schedules_and_may_end_the_search() -> None:
    """Results come with falling values and bounds that hold; returning True stops."""
    problem = elastic_jobs(jobs=10, gpus=8, load=1.5, seed=27)
    heard: list[Found] = []
    result = exact(problem, on_incumbent=heard.append)
    values = [float(each.objective or 0) for each in heard]

    assert len(heard) >= 3
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(float(result.objective or 0), rel=SUM)
    assert all(_bound(each) <= values[-1] * (1 + SUM) for each in heard)
    stopped = exact(problem, on_incumbent=lambda _: True)
    assert (stopped.objective, stopped.stopped_by) == (heard[0].objective, StoppedBy.INTERRUPT)


def test_nothing_is_modelled_by_pyomo() -> None:
    """Solving imports no Pyomo, and few jobs no compiler, which take longer than many a limit."""
    code = (
        "import sys, gsopt; from formulations.scheduling import exact;"
        "from instances.scheduling import elastic_jobs;"
        "found = exact(elastic_jobs(jobs=7, gpus=8, load=1.5, seed=9));"
        "print(found.message, {'pyomo', 'numba'} & {*sys.modules})"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert out.strip() == "model of positions set()"


def test_an_interrupt_keeps_what_is_known(tmp_path: Path) -> None:
    """Ctrl-C during a long solve is answered with the best schedule."""
    file = tmp_path / "long.json"
    write(elastic_jobs(jobs=40, gpus=16, load=1.5, seed=2), file)
    code = (
        "import sys, gsopt; from formulations.scheduling import exact;"
        "result = exact(gsopt.load(sys.argv[1]), on_incumbent=lambda _: print('heard', flush=True));"
        "print(result.status, result.stopped_by)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "heard\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)

    assert out.splitlines()[-1] == "feasible interrupt"
