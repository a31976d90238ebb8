"""Compute: the computation of a cell in a worker process, which caches the most recent instances."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isfinite
from statistics import fmean
from threading import Timer
from time import perf_counter
from typing import Any

from gsopt import simulation
from gsopt.core.budget import Budget
from gsopt.core.errors import GsoptError, TimeUp, Unsupported, kept_running, one_line
from gsopt.core.files import noting_reads
from gsopt.core.problem import Problem
from gsopt.core.result import plain
from gsopt.evaluation import catalogue
from gsopt.evaluation.hard_instances import HardInstances
from gsopt.evaluation.ratio import worst_of
from gsopt.evaluation.solve import solve
from gsopt.evaluation.trust import trusting
from gsopt.scenario.events import Loan
from gsopt.schedule.benefit import sharing_benefits
from gsopt.schedule.bounds import MeanBound, mean_jct_bound
from gsopt.schedule.figures import percentile
from gsopt.schedule.judge import judged
from gsopt.schedule.loans import Loans
from gsopt.simulation.policy import Policy
from gsopt.solvers.backends.process import FrameKind
from gsopt.studies.cells import Cell
from gsopt.studies.instance import Excerpt, Simulated
from gsopt.studies.rows import CellOutcome, CellState

#: Seconds after the time limit within which a run should notice by itself that the limit has been reached.
_GRACE = 1.0

#: The instances that this process loaded most recently, by key, each with the files from which it was read.
_LOADED: dict[str, tuple[Any, Mapping[str, str]]] = {}
_MOST_LOADED = 2


def compute(cell: Cell, link: Any = None, *, bound: MeanBound | None = None) -> CellOutcome:
    """Compute a cell, and return its outcome, which also reports any error.

    Parameters
    ----------
    cell
        The cell.
    link
        The link to the parent process, if there is one. With a link, the process is terminated if a policy's
        decision lasts more than a second beyond the time limit of the run.
    bound
        A bound that holds for every policy on the instance, or None.
    """
    begin = perf_counter()
    try:
        with trusting(cell.trust), kept_running(cell.method):
            instance, sources = _load(cell)
            figures = _solved(cell, instance) if cell.word else _simulated(cell, instance, bound, link)
    except Unsupported as reason:
        return CellOutcome(CellState.UNSUPPORTED, {}, perf_counter() - begin, str(reason))
    except GsoptError as error:
        return CellOutcome(CellState.FAILED, {}, perf_counter() - begin, str(error), type(error).__name__)
    except Exception as error:  # noqa: BLE001 - the other cells of the study do not depend on it
        return CellOutcome(CellState.FAILED, {}, perf_counter() - begin, one_line(error), type(error).__name__)
    simple = {name: _finite(plain(value)) for name, value in figures.items()}
    named = {catalogue.place_of(path): digest for path, digest in sources.items()}
    return CellOutcome(CellState.DONE, simple, perf_counter() - begin, sources=named)


def prove(cell: Cell, link: Any = None, *, evaluations: int | None = None) -> MeanBound | None:
    """Return a lower bound on the mean JCT of any policy on a cell's instance.

    Return None if the instance has no jobs or cannot be loaded. `evaluations` is the maximum number of price
    vectors to try; None for a default number.
    """
    del link  # to the parent process
    try:
        (scenario, round_length), _ = _load(cell)
        return mean_jct_bound(scenario, evaluations=evaluations, round_length=round_length)
    except GsoptError:  # that of an instance that cannot be loaded, which the cells then say
        return None


def recorded(cell: Cell) -> simulation.Replay:
    """Simulate the cell of a policy again, judge the schedule, and return the run."""
    (scenario, round_length), _ = _load(cell)
    with trusting(cell.trust):
        run = simulation.replay(scenario, _policy(cell), round_length=round_length, record=True)
    if run.schedule is not None:
        judged(run.schedule, scenario, fairness=False)
    return run


def _load(cell: Cell) -> tuple[Any, Mapping[str, str]]:
    """Return a cell's instance and the digests of the files from which it was read."""
    key = cell.instance_key
    if key not in _LOADED:
        with noting_reads() as noted:
            loaded = cell.load()
        while len(_LOADED) >= _MOST_LOADED:
            del _LOADED[next(iter(_LOADED))]
        _LOADED[key] = loaded, noted
    return _LOADED[key]


def _solved(cell: Cell, problem: Problem[Any] | Excerpt) -> dict[str, Any]:
    if isinstance(problem, Excerpt):
        return _worst(cell, problem)
    result = solve(problem, cell.method, **cell.arguments)
    measures = {} if result.solution is None else problem.measures(result.solution)
    return {
        "objective": result.objective,
        "bound": result.bound,
        "resolution": None if result.objective is None else problem.resolution(result.objective),
        "own_gap": result.gap,
        "runtime": result.runtime,
        "status": result.status.value,
        "stopped_by": result.stopped_by.value,
        "level": result.level.value,
        "solver": result.solver,
        "message": result.message,
        "unit": problem.unit,
        "sense": problem.sense.value,
        **problem.headline(),
        **measures,
    }


def _worst(cell: Cell, given: Excerpt) -> dict[str, Any]:
    """Find the instance of a space on which a method is farthest from the optimum."""
    method, begin = catalogue.find_method(cell.word, cell.method), perf_counter()
    if given.part is None:
        search = HardInstances(method, given.optima, seed=given.seed, **cell.arguments)
        found = search.run(Budget(time_limit=given.seconds))
    else:
        found = worst_of(given.optima.space.picks(given.part), method, given.optima, **cell.arguments)
    return {**found.as_dict(), "runtime": perf_counter() - begin}


def _simulated(cell: Cell, instance: Simulated, bound: MeanBound | None, link: Any) -> dict[str, Any]:
    (scenario, round_length), policy, begin = instance, _policy(cell), perf_counter()
    lent = "scenario" in cell.instance or any(isinstance(each, Loan) for each in scenario.events)
    with _given_up(cell, link):
        run = simulation.replay(
            scenario,
            policy,
            round_length=round_length,
            bound=bound,
            record=scenario.share_limit > 1 or lent,
            budget=Budget(time_limit=cell.time_limit),
        )
    runtime = perf_counter() - begin
    return {
        **run.metrics.as_dict(),
        "proof": run.metrics.proof,
        "runtime": runtime,
        "decision_median": percentile(run.decision_seconds, 50),
        "decision_p99": percentile(run.decision_seconds, 99),
        **_worth(run, lent=lent),
    }


def _policy(cell: Cell) -> Policy:
    return partial(catalogue.find_policy(cell.method), **cell.arguments)


def _worth(run: simulation.Replay, *, lent: bool) -> dict[str, Any]:
    """Judge the schedule of a run, if recorded, and return figures on the benefit of sharing and of loans."""
    if run.schedule is None:
        return {}
    judged(run.schedule, run.scenario, fairness=False)
    worth = _worth_of_sharing(run) if run.scenario.share_limit > 1 else {}
    return worth | (Loans(run.schedule, run.scenario).as_dict() if lent else {})


def _worth_of_sharing(run: simulation.Replay) -> dict[str, Any]:
    """Return the mean benefit of sharing for jobs that joined others, and the fraction of benefits above 1.

    The dict is empty if no job joined others, or if the benefit is not defined (`sharing_benefits`).
    """
    try:
        benefits = [] if run.schedule is None else list(sharing_benefits(run.schedule, run.scenario).values())
    except Unsupported:
        return {}
    if not benefits:
        return {}
    right = sum(benefit > 1 for benefit in benefits)
    return {"sharing_benefit": fmean(benefits), "sharing_right": right / len(benefits)}


@contextmanager
def _given_up(cell: Cell, link: Any) -> Iterator[None]:
    """Terminate the process of a run if a decision lasts beyond the time limit of the run."""
    if link is None or cell.time_limit is None:
        yield
        return

    def give_up() -> None:
        message = f"the time limit of {cell.time_limit:g} s is over, and a decision goes on"
        link.send(
            FrameKind.ANSWER,
            CellOutcome(CellState.FAILED, {}, perf_counter() - begin, message, TimeUp.__name__),
        )
        os._exit(0)

    begin = perf_counter()
    timer = Timer(cell.time_limit + _GRACE, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
