"""Prices below and lists above, for many jobs."""

from functools import partial
from itertools import count

import pytest

from formulations.scheduling import event_orders, exact
from formulations.scheduling import priced as module
from formulations.scheduling.best import Best
from formulations.scheduling.incumbents import Incumbents
from formulations.scheduling.instance import Instance
from formulations.scheduling.priced import PricedSearch, load_kernels
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.result import Status
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.schedule.bounds import lower_bound, mean_jct
from gsopt.schedule.bounds.prices import price_bound
from instances.scheduling import elastic_jobs
from tests.effort import cases
from tests.strategies.scheduling import tiny


def _closed(problem: Scheduling, budget: Budget | None = None) -> Best:
    best = Best(problem, Instance.of(problem), budget or Budget(), "exact")
    incumbents = Incumbents(best)
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
        best, optimum = _closed(problem), event_orders(problem).objective
        assert optimum is not None
        assert best.instance.mean_jct(best.lower) <= float(optimum) * (1 + SUM)
        assert best.instance.mean_jct(best.total) >= float(optimum) * (1 - SUM)


def test_forty_jobs() -> None:
    """The search ends with the gap asked for, which plain bounds and lists are far from."""
    problem = elastic_jobs(jobs=40, gpus=16, load=1.2, seed=5)
    first = Best(problem, Instance.of(problem), Budget(), "exact")
    Incumbents(first).serve()
    plain = mean_jct(lower_bound(problem.workload, problem.gpus), problem.workload)
    found = exact(problem, gap=0.06)

    assert found.bound is not None
    assert found.objective is not None
    assert float(found.bound) > plain
    assert float(found.objective) < first.instance.mean_jct(first.total)
    assert found.gap is not None
    assert found.gap <= 0.06
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
    jobs = [ElasticJob(name=str(i), release=0, work=2, rates={1: 1.0}) for i in range(32)]
    problem = Scheduling(gpus=64, jobs=jobs, fairness=0.1)

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

    assert Incumbents(Best(problem, Instance.of(problem), Budget(time_limit=0.1), "exact")).is_ready
