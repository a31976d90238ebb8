"""Methods."""

import pickle
from functools import partial
from inspect import signature
from typing import Any

import pytest

from gsopt.core.budget import DEFAULTS, UNLIMITED, Budget
from gsopt.core.errors import Contradiction, Exited, InvalidInput, InvalidSolution, TimeUp
from gsopt.core.method import NoSolution, accepts, exact_method, heuristic, name_of, proves, run
from gsopt.core.result import Level, Result, Status, StoppedBy
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.problems.scheduling import SchedulingSolution
from tests.gsopt.evaluation.test_lift import Sorted
from tests.gsopt.problems.test_reclaiming import figure_5, pick
from tests.unwrap import unwrap


@heuristic
def first_servers(problem: Reclaiming, *, skip: int = 0) -> ReclaimingSolution:
    """Return the first servers of the list."""
    names = [server.name for server in problem.servers]
    return ReclaimingSolution(servers=names[skip : skip + problem.demand])


def test_function_becomes_a_judged_method() -> None:
    """A plain function gains timing and judging and keeps its name; the judge stops a broken solution."""
    result = first_servers(figure_5(2), skip=1)
    assert (result.method, result.status, result.objective) == ("first_servers", Status.FEASIBLE, 2)
    assert result.runtime >= 0
    assert first_servers.__doc__ == "Return the first servers of the list."
    with pytest.raises(
        InvalidSolution, match="first_servers on reclaiming: servers: 1 are returned, the demand is 2"
    ):
        first_servers(figure_5(2), skip=5)


def leave(problem: Reclaiming) -> ReclaimingSolution:
    """End the program."""
    raise SystemExit(len(problem.servers))


def test_a_method_cannot_end_the_program() -> None:
    """What `sys.exit` raises is an error like any other; Ctrl-C and a method's own errors stay as they are."""
    for method in (leave, heuristic(leave)):
        with pytest.raises(Exited, match="leave must not end the program: SystemExit: 6"):
            run(method, figure_5(2))

    def fail(problem: Reclaiming, *, error: type[BaseException]) -> ReclaimingSolution:
        raise error(problem.word)

    for error in (KeyboardInterrupt, ZeroDivisionError):
        with pytest.raises(error):
            run(fail, figure_5(2), error=error)


def test_options() -> None:
    """A method knows its options; those without use are named, and those beside a budget are refused."""
    assert accepts(first_servers, "skip")
    assert not accepts(first_servers, "seed")
    result = worst_servers(figure_5(2), log=True, gap=0.5)
    assert result.message == "last; worst_servers takes no log"
    with pytest.raises(InvalidInput, match=r"gap: 0\.5: must be part of the budget"):
        worst_servers(figure_5(2), budget=Budget(), gap=0.5)
    with pytest.raises(InvalidInput, match=r"budget: 3: must be a gsopt\.Budget"):
        worst_servers(figure_5(2), budget=3)  # type: ignore[arg-type]


@exact_method(unused=["backend", "log"])
def worst_servers(
    problem: Reclaiming, budget: Budget, *, bound: int = 0, stop: bool = False
) -> Result[ReclaimingSolution]:
    """Return the last servers of the list."""
    if stop:
        raise KeyboardInterrupt
    names = [server.name for server in problem.servers]
    solution = ReclaimingSolution(servers=names[len(names) - problem.demand :])
    return Result.judged(
        problem, method="worst_servers", solution=solution, bound=bound, message="last", runtime=budget.runtime
    )


def test_exact_methods_and_starts() -> None:
    """Options or a budget do; a better start comes back with the technique's bound, a broken one is refused."""
    assert set(signature(worst_servers).parameters) == {"problem", "bound", "stop", "budget", *DEFAULTS}
    by_options = worst_servers(figure_5(2), time_limit=5.0, bound=1)
    by_budget = worst_servers(figure_5(2), budget=Budget(time_limit=5.0), bound=1)
    assert (by_options.objective, by_options.bound) == (by_budget.objective, by_budget.bound) == (2, 1)
    with pytest.raises(TypeError, match="colour"):
        worst_servers(figure_5(2), colour="red")
    result = worst_servers(figure_5(2), start=pick("s1", "s2"), bound=1)
    assert (result.objective, result.bound, result.status) == (1, 1, Status.OPTIMAL)
    assert result.message == "last; the start is the best known"
    worse = worst_servers(figure_5(2), start=pick("s3", "s6"))
    assert (worse.solution, worse.message) == (worst_servers(figure_5(2)).solution, "last")
    with pytest.raises(InvalidSolution, match=r"start on .* the demand is 2"):
        worst_servers(figure_5(2), start=pick("s1"))
    with pytest.raises(Contradiction, match="better than the bound 2"):
        worst_servers(figure_5(2), start=pick("s1", "s2"), bound=2)


def test_starts_and_processes() -> None:
    """Ctrl-C gives the start back, one of another kind is refused, and methods are pickled by their name."""
    result = worst_servers(figure_5(2), start=pick("s1", "s2"), stop=True)
    assert (result.objective, result.stopped_by) == (1, StoppedBy.INTERRUPT)
    with pytest.raises(KeyboardInterrupt):
        worst_servers(figure_5(2), stop=True)
    assert pickle.loads(pickle.dumps(worst_servers)) is worst_servers  # noqa: S301 - our own
    with pytest.raises(InvalidInput, match="start: 's1': must be a ReclaimingSolution"):
        worst_servers(figure_5(2), start="s1")


@exact_method()
def hears_nothing_more(problem: Reclaiming, budget: Budget) -> Result[ReclaimingSolution]:
    """Report an incumbent, and do not catch Ctrl-C."""
    if budget.on_incumbent is not None:
        solution = ReclaimingSolution(servers=["s1", "s2"])
        budget.on_incumbent(Result.judged(problem, method="", solution=solution, runtime=0.0))
    raise KeyboardInterrupt


def test_what_was_reported_survives_an_interrupt() -> None:
    """After Ctrl-C, the best incumbent comes back if the caller asked for incumbents or progress."""
    for asked in (Budget(on_incumbent=lambda _: None), Budget(on_progress=lambda _: None)):
        result = hears_nothing_more(figure_5(2), budget=asked)
        assert (result.objective, result.stopped_by) == (1, StoppedBy.INTERRUPT)
    with pytest.raises(KeyboardInterrupt):
        hears_nothing_more(figure_5(2))


def test_plain_functions_are_run() -> None:
    """A function's solution is judged, a result is passed through, and anything else is refused in one line."""
    problem = figure_5(2)
    result = run(lambda _: pick("s1", "s2"), problem)
    assert (result.method, result.objective, result.level) == ("<lambda>", 1, Level.CHECKED)
    assert run(first_servers, problem, skip=1).objective == 2
    assert run(lambda _: NoSolution("none", proven=True), problem).status is Status.INFEASIBLE
    for wrong in (None, 7, SchedulingSolution(runs=[])):
        with pytest.raises(InvalidInput, match="must return a ReclaimingSolution, a Result or NoSolution"):
            run(lambda _, found=wrong: found, problem)
    with pytest.raises(InvalidInput, match=r"gsopt\.lift turns a policy into a heuristic"):
        run(Sorted, problem)


def test_names_of_callables() -> None:
    """Functions, classes and objects have names; a partial one shows its options."""

    class Chooser:
        def __call__(self, problem: Reclaiming) -> ReclaimingSolution:
            return pick(*(server.name for server in problem.servers))

    assert [name_of(each) for each in (Chooser, Chooser(), partial(first_servers, skip=2))] == [
        "Chooser",
        "Chooser",
        "first_servers(skip=2)",
    ]
    assert not accepts(dict, "seed")


def test_ctrl_c_leaves_the_best_that_was_told() -> None:
    """A method that is interrupted comes to the best incumbent that it has told of, or else to its start."""
    problem = figure_5(2)
    pairs = [pick(*(server.name for server in problem.servers[first : first + 2])) for first in range(5)]

    @exact_method()
    def telling(problem: Reclaiming, budget: Budget, *, known: int) -> Result[ReclaimingSolution]:
        for first in range(known):
            found = Result.judged(problem, method="telling", solution=pairs[first], runtime=0.0)
            unwrap(budget.on_incumbent)(found)
        raise KeyboardInterrupt

    values = [problem.objective(pair) for pair in pairs]
    found = telling(problem, known=5, on_progress=lambda _: None)
    assert (found.objective, found.stopped_by) == (min(values), StoppedBy.INTERRUPT)
    found = telling(problem, known=0, start=pairs[0], on_progress=lambda _: None)
    assert (found.solution, found.stopped_by) == (pairs[0], StoppedBy.INTERRUPT)
    with pytest.raises(KeyboardInterrupt):
        telling(problem, known=0, on_progress=lambda _: None)


@heuristic
def patient(problem: Reclaiming, *, budget: Budget = UNLIMITED) -> ReclaimingSolution:
    """Return the first servers of the list, if there is time."""
    if budget.passed:
        raise TimeUp("no time")
    return ReclaimingSolution(servers=[server.name for server in problem.servers[: problem.demand]])


def test_heuristic_takes_a_budget_or_a_time_limit() -> None:
    """A heuristic with a budget takes a time limit too, both checked; it is no exact method for that."""
    assert list(signature(patient).parameters) == ["problem", "budget", "time_limit"]
    assert (proves(patient), proves(worst_servers)) == (False, True)
    limited: Any = patient
    assert limited(figure_5(2), time_limit="3min").objective == 1
    late = limited(figure_5(2), time_limit=0)
    assert (late.solution, late.message, late.status) == (None, "no time", Status.UNKNOWN)
    assert late.stopped_by is StoppedBy.TIME_LIMIT
    assert patient(figure_5(2), budget=Budget(time_limit=0)).message == "no time"
    for wrong in ({"budget": 3}, {"time_limit": -1}, {"budget": Budget(), "time_limit": 3}):
        with pytest.raises(InvalidInput):
            limited(figure_5(2), **wrong)


def test_exact_method_out_of_time_leaves_start_and_bound() -> None:
    """What is known when a method gives up for time comes back: the start, and the bound that it reported."""

    @exact_method()
    def late(problem: Reclaiming, budget: Budget) -> Result[ReclaimingSolution]:
        budget.report(bound=1)
        raise TimeUp(f"no time for {problem.demand} servers")

    found = late(figure_5(2), start=pick("s3", "s4"))
    assert (found.objective, found.bound, found.stopped_by) == (2, 1, StoppedBy.TIME_LIMIT)
    assert found.message == "no time for 2 servers; the start is the best known"
    assert late(figure_5(2)).solution is None
