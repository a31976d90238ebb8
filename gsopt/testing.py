"""Testing: checks for new formulations, heuristics, backends and policies.

gsopt's own tests use them too.

A check returns the number of results that it checked. If it fails, it raises an error with a one-line message,
usually AssertionError. `check_judge`, however, does not fail if the judge accepts a broken solution: it returns
the number of broken solutions that the judge rejects, and the number of all that were tried.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import isclose
from typing import Any

import numpy as np

from gsopt.core.enumeration import brute_force as brute_force  # noqa: PLC0414 - one of the checks' public oracles
from gsopt.core.errors import BrokenModel, Unsupported
from gsopt.core.method import MethodLike, name_of
from gsopt.core.method import run as run_method
from gsopt.core.numbers.tolerances import CLAIM
from gsopt.core.problem import Number, Problem, S, Sense
from gsopt.core.result import Result, Status, StoppedBy, plain, settles
from gsopt.evaluation.catalogue import find_method, find_policy
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import MeanBound, mean_jct_bound
from gsopt.schedule.judge import judge
from gsopt.simulation import Policy, Replay, replay
from gsopt.solvers.backends import Backend
from gsopt.solvers.standard_form import StandardForm

#: Cache of the bounds of the most recent scenarios, as many policies are checked on the same scenario.
_BOUNDS: deque[tuple[Scenario, MeanBound | None]] = deque(maxlen=8)


def check_formulation(
    method: MethodLike | str,
    problems: Iterable[Problem[Any]],
    *,
    backends: Sequence[Backend] = (),
) -> int:
    """Check that an exact method proves the brute-force optimum of tiny instances.

    Parameters
    ----------
    method
        A formulation or any other exact method, or its name.
    problems
        Instances small enough to enumerate; those that the method does not support are skipped.
    backends
        Solvers, each of which is checked on every instance. If empty, the method chooses its solver.

    Returns
    -------
    int
        Number of results checked.

    Raises
    ------
    AssertionError
        A result is not proven or not the optimum, or the method supports none of the instances.
    InvalidSolution
        A solution breaks a rule.

    Examples
    --------
    >>> import gsopt
    >>> from formulations.reclaiming import milp
    >>> check_formulation(milp, [gsopt.load("reclaiming/aryl-figure-5")])
    1
    """
    checked = 0
    options: Sequence[dict[str, Any]] = [{"backend": backend} for backend in backends] or [{}]
    for problem in problems:
        oracle = brute_force(problem)
        for option in options:
            try:
                result = run_method(find_method(problem.word, method), problem, **option)
            except Unsupported:
                continue
            _check_exact(problem, result, oracle)
            checked += 1
    _ensure(checked > 0, f"{_name(method)}: no instance was checked")
    return checked


def check_heuristic(method: MethodLike | str, problems: Iterable[Problem[Any]], **options: Any) -> int:
    """Check that a heuristic finds feasible solutions of tiny instances and never beats the optimum.

    Parameters
    ----------
    method
        The heuristic, which may be a plain function ``problem -> solution``, or its name.
    problems
        Instances small enough to enumerate.
    options
        The heuristic's own options.

    Returns
    -------
    int
        Number of solutions checked.

    Raises
    ------
    AssertionError
        A solution is better than the optimum, none was found although the instance is feasible, or no solution
        was checked.
    InvalidSolution
        A solution breaks a rule.

    Examples
    --------
    >>> import gsopt
    >>> from heuristics.reclaiming import greedy
    >>> check_heuristic(greedy, [gsopt.load("reclaiming/aryl-figure-5")])
    1
    """
    checked = 0
    for problem in problems:
        oracle = brute_force(problem)
        result = run_method(find_method(problem.word, method), problem, **options)
        where = f"{result.method} on {problem.name or problem.word}"
        if result.objective is None:
            _ensure(oracle is None, f"{where}: found no solution though there is one")
            continue
        _ensure(oracle is not None, f"{where}: a solution of an infeasible instance")
        if oracle is not None:
            beaten = problem.sense.better(result.objective, oracle[0])
            better = f"{plain(result.objective)} is better than the optimum {plain(oracle[0])}"
            _ensure(not beaten or _equal(problem, result.objective, oracle[0]), f"{where}: {better}")
        checked += 1
    _ensure(checked > 0, f"{_name(method)}: no instance was checked")
    return checked


def check_judge(problem: Problem[S], solution: S, mutations: Iterable[S]) -> tuple[int, int]:
    """Count how many invalid variants of a feasible solution the judge rejects.

    Parameters
    ----------
    problem
        The problem.
    solution
        A solution without violations.
    mutations
        Solutions that each break a rule.

    Returns
    -------
    caught, tried
        Number of rejected solutions, and number of all solutions tried.

    Raises
    ------
    AssertionError
        The solution itself has a violation.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> kind = problem.solution_type
    >>> check_judge(problem, kind(servers=["s1", "s2"]), [kind(servers=["s1"]), kind(servers=["s1", "s1"])])
    (2, 2)
    """
    _ensure(not problem.violations(solution), "the solution to mutate must be feasible")
    verdicts = [bool(problem.violations(mutant)) for mutant in mutations]
    return sum(verdicts), len(verdicts)


def check_backend(backend: Backend) -> int:
    """Check that a backend solves small models, also from a given point, and detects models without an optimum.

    Returns
    -------
    int
        Number of models checked.

    Raises
    ------
    AssertionError
        A value, bound, solution or status is wrong.
    MissingSolver
        The solver is not installed.

    Examples
    --------
    >>> import gsopt
    >>> check_backend(gsopt.backends.Highs())
    6
    """
    models = _solvable()
    for form, optimum in models:
        _check_optimum(backend, form, optimum)
    _check_infeasible(backend)
    _check_unbounded(backend)
    outcome = backend.solve(_knapsack(), start=np.array([0.0, 1.0, 0.0, 1.0, 1.0]), time_limit=30)
    _ensure(_near(outcome.objective, 23.0), f"{backend.name}: the start of value 23 was lost")
    return len(models) + 3


def _name(method: MethodLike | str) -> str:
    return method if isinstance(method, str) else name_of(method)


def _check_exact(problem: Problem[Any], result: Result[Any], oracle: tuple[Number, Any] | None) -> None:
    where = f"{result.method} ({result.solver or 'own'}) on {problem.name or problem.word}"
    if oracle is None:
        _ensure(result.status is Status.INFEASIBLE, f"{where}: {result.status}, brute force finds no solution")
        return
    rounded = result.status is Status.FEASIBLE and result.solver
    hint = "; a formulation whose costs are rounded needs exact_costs" if rounded else ""
    _ensure(result.status is Status.OPTIMAL, f"{where}: {result.status}, not optimal{hint}")
    right = _equal(problem, result.objective, oracle[0])
    _ensure(right, f"{where}: {plain(result.objective)}, brute force finds {plain(oracle[0])}")


def _equal(problem: Problem[Any], value: Number | None, other: Number) -> bool:
    return settles(value, other, problem.resolution(other))


def _knapsack() -> StandardForm:
    return StandardForm.build(
        cost=[10, 13, 7, 8, 2],
        matrix=[[5, 6, 4, 3, 1]],
        row_lower=[-np.inf],
        row_upper=[10],
        column_upper=[1, 1, 1, 1, 1],
        sense=Sense.MAXIMIZE,
    )


def _solvable() -> list[tuple[StandardForm, float]]:
    """Return small models with their optima: a knapsack, a cover, and one with an equation and an offset."""
    ones = np.ones(7)
    cycle = np.eye(7) + np.roll(np.eye(7), 1, axis=1)  # every edge of a seven-cycle needs an end point
    cover = StandardForm.build(
        cost=ones, matrix=cycle, row_lower=ones, row_upper=np.inf * ones, column_upper=ones
    )
    equation = StandardForm.build(
        cost=[3, -2],
        matrix=[[1, 1], [1, -1]],
        row_lower=[4, -2],
        row_upper=[4, 2],
        column_lower=[-5, -5],
        column_upper=[9, 9],
        offset=0.5,
    )
    return [(_knapsack(), 23.0), (cover, 4.0), (equation, 3 * 1 - 2 * 3 + 0.5)]


def _check_infeasible(backend: Backend) -> None:
    form = StandardForm.build(cost=[1, 1], matrix=[[2, 2]], row_lower=[3], row_upper=[3], column_upper=[5, 5])
    outcome = backend.solve(form)
    _ensure(outcome.status is Status.INFEASIBLE, f"{backend.name}: {outcome.status}, not infeasible")
    _ensure(outcome.values is None and outcome.objective is None, f"{backend.name}: a point without a solution")


def _check_unbounded(backend: Backend) -> None:
    form = StandardForm.build(cost=[1], matrix=[[1]], row_lower=[0], row_upper=[np.inf], sense=Sense.MAXIMIZE)
    try:
        backend.solve(form)
    except (BrokenModel, Unsupported):
        return
    raise AssertionError(f"{backend.name}: an unbounded model passed as solved")


def _check_optimum(backend: Backend, form: StandardForm, optimum: float) -> None:
    outcome = backend.solve(form)
    name = backend.name
    _ensure(outcome.status is Status.OPTIMAL, f"{name}: {outcome.status}, not optimal")
    _ensure(outcome.stopped_by is StoppedBy.FINISHED, f"{name}: stopped by {outcome.stopped_by}")
    _ensure(_near(outcome.objective, optimum), f"{name}: {outcome.objective}, the optimum is {optimum}")
    _ensure(_near(outcome.bound, optimum), f"{name}: bound {outcome.bound}, the optimum is {optimum}")
    if outcome.values is None:
        raise AssertionError(f"{name}: no point")
    _ensure(form.is_feasible(outcome.values), f"{name}: the point breaks a row")


def _near(value: float | None, wanted: float) -> bool:
    return value is not None and isclose(value, wanted, rel_tol=CLAIM, abs_tol=CLAIM)


def _ensure(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def check_policy(
    policy: Policy | str,
    scenarios: Workload | Scenario | Iterable[Workload | Scenario],
    *,
    cluster: Cluster | int | str | None = None,
    round_length: float | None = None,
    exact: bool = True,
    **options: Any,
) -> int:
    """Check that a policy makes legal decisions, and that the judge and the simulator agree on every figure.

    Every job must complete, completion times must be equal, every other figure must agree to 1e-9, no bound may
    be beaten, and a second run must equal the first.

    Parameters
    ----------
    policy, options
        The policy or its name, and its options.
    scenarios
        One or more scenarios or workloads in which every job can complete, small enough for exact arithmetic.
    cluster
        The cluster on which workloads run, its number of GPUs, or equal racks such as ``4x8x8``.
    round_length
        As in `gsopt.simulate`.
    exact
        Whether to run the simulation in exact fractions as well.

    Returns
    -------
    int
        Number of runs judged, each of which is simulated twice.

    Raises
    ------
    AssertionError
        A job does not complete, a time or figure differs, the judge finds a broken rule, or there is no
        scenario.
    IllegalDecision
        A decision of the policy breaks a rule.
    Contradiction
        A bound is beaten.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> from heuristics.policies import srtf
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 1, 1)]]
    >>> check_policy(srtf, Workload(jobs=jobs), cluster=1)
    2
    """
    checked, policy = 0, find_policy(policy)
    one = isinstance(getattr(scenarios, "workload", scenarios), Workload)
    several: Iterable[Any] = [scenarios] if one else scenarios
    for given in several:
        scenario = Scenario.of(given, cluster)
        bound = _bound_of(scenario)
        for fractions in (False, True)[: 1 + exact]:
            run = partial(replay, scenario, policy, record=True, exact=fractions, bound=bound)
            run = partial(run, round_length=round_length, **options)
            first = run()
            _ensure(first == run(), f"{first.metrics.policy}: two runs of one scenario differ")
            _check_replay(first, fractions)
            checked += 1
    _ensure(checked > 0, f"{name_of(policy)}: no scenario was checked")
    return checked


def _bound_of(scenario: Scenario) -> MeanBound | None:
    """Return a bound for a scenario, using the cache."""
    for known, bound in _BOUNDS:
        if known is scenario:
            return bound
    bound = mean_jct_bound(scenario)
    _BOUNDS.append((scenario, bound))
    return bound


def _check_replay(run: Replay, exact: bool) -> None:
    metrics, where = run.metrics, run.metrics.policy
    missing = metrics.jobs - metrics.completed
    _ensure(missing == 0, f"{where}: {missing} jobs never complete")
    if run.schedule is None:
        raise AssertionError(f"{where}: no schedule was recorded")
    verdict = judge(run.schedule, run.scenario, exact=exact)
    _ensure(not verdict.violations, f"{where}: {'; '.join(verdict.violations[:1])}")
    same_times = (verdict.completion_times, verdict.ends) == (run.completion_times, metrics.ends)
    _ensure(same_times, f"{where}: the judge finds other completion times")
    for name, judged in replace(verdict, bound=metrics.bound).as_dict().items():
        booked = metrics.as_dict()[name]
        if judged is None or booked is None:
            _ensure(judged is booked, f"{where}: {name} is {booked}, the judge finds {judged}")
            continue
        scale = 1e-9 * max(1.0, float(verdict.mean_jct or 0))
        same_figure = judged == booked or isclose(judged, booked, rel_tol=1e-9, abs_tol=scale)
        _ensure(same_figure, f"{where}: {name} is {booked}, the judge finds {judged}")
