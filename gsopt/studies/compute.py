"""Compute: one cell, in a worker process that keeps the instances it has loaded last."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
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
from gsopt.evaluation.solve import solve
from gsopt.evaluation.trust import trusting
from gsopt.scenario.events import Loan
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.benefit import sharing_benefits
from gsopt.schedule.bounds import MeanBound, mean_jct_bound
from gsopt.schedule.figures import percentile
from gsopt.schedule.judge import judged
from gsopt.schedule.loans import Loans
from gsopt.schedule.schedule import Schedule
from gsopt.simulation.policy import Policy
from gsopt.solvers.backends.process import FrameKind
from gsopt.studies.cells import Cell
from gsopt.studies.instance import load_problem, load_scenario
from gsopt.studies.options import typed
from gsopt.studies.outcome import Outcome, State

#: Seconds after a time limit that a run has to find out by itself.
_GRACE = 1.0


def compute(cell: Cell, link: Any = None, *, bound: MeanBound | None = None) -> Outcome:
    """Compute a cell; whatever goes wrong in it is an outcome too.

    Parameters
    ----------
    cell
        The cell.
    link
        The link to the parent process, if there is one: a policy whose decision goes on beyond the time limit
        is given up then, and the process with it.
    bound
        What is proven of every policy on its instance, if it is a policy's and anything is.
    """
    begin = perf_counter()
    try:
        with trusting(cell.trust), kept_running(cell.method):
            figures = _decided(cell) if cell.word else _replayed(cell, bound, link)
    except Unsupported as reason:
        return Outcome(State.UNSUPPORTED, {}, perf_counter() - begin, str(reason))
    except GsoptError as error:
        return Outcome(State.FAILED, {}, perf_counter() - begin, str(error), type(error).__name__)
    except Exception as error:  # noqa: BLE001 - the other cells of the study do not depend on it
        return Outcome(State.FAILED, {}, perf_counter() - begin, one_line(error), type(error).__name__)
    simple = {name: _finite(plain(value)) for name, value in figures.items()}
    return Outcome(State.DONE, simple, perf_counter() - begin, sources=_sources(cell))


def _decided(cell: Cell) -> dict[str, Any]:
    problem, _ = _problem(json.dumps(cell.instance))
    method = catalogue.find_method(cell.word, cell.method)
    result = solve(problem, method, **typed(method, cell.options))
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


def prove(cell: Cell, link: Any = None, *, evaluations: int | None = None) -> MeanBound | None:
    """Bound what every policy does on a cell's instance; None where nothing can be proven.

    Parameters
    ----------
    cell
        A cell of a policy.
    link
        The link to the parent process, which this needs not.
    evaluations
        How many prices to try; None for the usual share.
    """
    del link
    try:
        scenario, *_ = _scenario(json.dumps(cell.instance))
        return mean_jct_bound(scenario, evaluations=evaluations)
    except GsoptError:  # that of an instance that cannot be loaded, which the cells then say
        return None


def _replayed(cell: Cell, bound: MeanBound | None, link: Any) -> dict[str, Any]:
    scenario, round_length, _ = _scenario(json.dumps(cell.instance))
    chosen = _policy(cell)
    begin = perf_counter()
    shared = scenario.share_limit > 1
    lent = "scenario" in cell.instance or any(isinstance(each, Loan) for each in scenario.events)
    with _given_up(cell, link):
        run = simulation.replay(
            scenario,
            chosen,
            round_length=round_length,
            bound=bound,
            record=shared or lent,
            budget=Budget(time_limit=cell.time_limit),
        )
    runtime = perf_counter() - begin
    worth: dict[str, Any] = {}
    if run.schedule is not None:
        judged(run.schedule, scenario, fairness=False)
        worth = _worth(run.schedule, scenario) if shared else {}
        worth |= Loans(run.schedule, scenario).as_dict() if lent else {}
    took = {
        "decision_median": percentile(run.decision_seconds, 50),
        "decision_p99": percentile(run.decision_seconds, 99),
    }
    return {**run.metrics.as_dict(), "proof": run.metrics.proof, "runtime": runtime, **took, **worth}


@contextmanager
def _given_up(cell: Cell, link: Any) -> Iterator[None]:
    """Abandon the process of a run that does not end within the time limit, as a decision goes on."""
    if link is None or cell.time_limit is None:
        yield
        return

    def give_up() -> None:
        message = f"the time limit of {cell.time_limit:g} s is over, and a decision goes on"
        link.send(FrameKind.ANSWER, Outcome(State.FAILED, {}, perf_counter() - begin, message, TimeUp.__name__))
        os._exit(0)

    begin = perf_counter()
    timer = Timer(cell.time_limit + _GRACE, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def recorded(cell: Cell) -> simulation.Replay:
    """Replay a policy's cell once more, and keep its schedule, which is judged.

    Raises
    ------
    InvalidInput
        The instance cannot be loaded any more.
    """
    scenario, round_length, _ = _scenario(json.dumps(cell.instance))
    with trusting(cell.trust):
        run = simulation.replay(scenario, _policy(cell), round_length=round_length, record=True)
    if run.schedule is not None:
        judged(run.schedule, scenario, fairness=False)
    return run


def _worth(schedule: Schedule, scenario: Scenario) -> dict[str, Any]:
    """Return what sharing was worth to the jobs that came: the mean benefit, and the part of it above 1.

    Nothing where no job started beside others, or where that cannot be told (`sharing_benefits`).
    """
    try:
        benefits = list(sharing_benefits(schedule, scenario).values())
    except Unsupported:
        return {}
    if not benefits:
        return {}
    right = sum(benefit > 1 for benefit in benefits)
    return {"sharing_benefit": fmean(benefits), "sharing_right": right / len(benefits)}


def _policy(cell: Cell) -> Policy:
    policy = catalogue.find_policy(cell.method)
    return partial(policy, **typed(policy, cell.options))


def _sources(cell: Cell) -> dict[str, str]:
    """Name the files that a cell's instance, which is loaded, was read from, with the digest of each."""
    *_, noted = (_problem if cell.word else _scenario)(json.dumps(cell.instance))
    return {catalogue.place_of(path): digest for path, digest in noted.items()}


@lru_cache(maxsize=2)
def _problem(definition: str) -> tuple[Problem[Any], Mapping[str, str]]:
    with noting_reads() as noted:
        return load_problem(json.loads(definition)), noted


@lru_cache(maxsize=2)
def _scenario(definition: str) -> tuple[Scenario, float | None, Mapping[str, str]]:
    with noting_reads() as noted:
        return *load_scenario(json.loads(definition)), noted


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
