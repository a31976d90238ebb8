"""Solving: the default method, its options, and the start that heuristics hand over."""

from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from time import perf_counter
from typing import Any

import pytest

import gsopt
from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.method import accepts, exact_method, heuristic
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.evaluation import catalogue
from gsopt.problems.reader import problem_types
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.solvers.backends import Highs, close
from gsopt.solvers.backends.process import POOL
from heuristics.reclaiming import greedy
from tests.exactness.trial import instance
from tests.gsopt.core.test_method import first_servers
from tests.gsopt.problems.test_reclaiming import figure_5, pick
from tests.processes import PATIENCE
from tests.refusals import assert_refused

#: The module, whose name is that of its function.
_SOLVE = import_module("gsopt.evaluation.solve")


def test_solve_takes_a_method_or_its_name() -> None:
    """Exact by default, a method is given as a callable or by name; quick ones do not see the time limit."""
    result = gsopt.solve(figure_5(3))
    assert (result.method, result.status, result.objective) == ("exact", Status.OPTIMAL, 2)
    assert gsopt.solve(figure_5(2), first_servers, time_limit=1).objective == 1
    assert gsopt.solve(figure_5(2), "greedy").objective == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "greedyy"}, "method: 'greedyy': must be one of"),
        ({"time_limit": -1}, "time_limit: -1: must be a number of seconds"),
        ({"time_limit": "soon"}, "time_limit: 'soon': must be a number of seconds from 0 to 1e9, or such as"),
        ({"time_limit": float("nan")}, "time_limit: nan: must be a number of seconds"),
        ({"method": first_servers, "colour": 1}, "colour: is not an option of first_servers"),
    ],
)
def test_wrong_arguments_give_one_line(arguments: dict[str, Any], message: str) -> None:
    """A method, limit or option that does not exist is refused by name."""
    assert_refused(message, gsopt.solve, figure_5(2), **arguments)


@exact_method()
def idle(problem: Reclaiming, budget: Budget) -> Result[ReclaimingSolution]:
    """Find nothing by itself."""
    return Result.judged(problem, method="idle", bound=0, runtime=budget.runtime)


def test_exact_methods_start_from_the_best_heuristic() -> None:
    """An exact method that finds nothing gives what the best heuristic found, or the start that it got."""
    problem = gsopt.load("reclaiming/small/hypergraph")
    found = [method(problem).objective for method in catalogue.heuristics("reclaiming").values()]
    assert gsopt.solve(problem, idle).objective == min(value for value in found if value is not None)
    assert gsopt.solve(figure_5(2), idle, start=pick("s3", "s4")).solution == pick("s3", "s4")


def test_no_heuristic_begins_when_half_of_the_time_is_over() -> None:
    """With hardly any time the first heuristic alone gives the start, and there always is one."""
    problem = figure_5(2)
    first = next(iter(catalogue.heuristics("reclaiming").values()))
    assert gsopt.solve(problem, idle, time_limit=0.0).solution == first(problem).solution


def test_warming_up_leaves_nothing_to_start() -> None:
    """After warming up, a solver's process is idle and the exact methods are loaded."""
    close()
    gsopt.warm_up("highs")
    assert len(POOL.pids) == 1
    gsopt.warm_up(Highs())
    gsopt.solve(figure_5(2), "milp")
    assert len(POOL.pids) == 1
    with pytest.raises(InvalidInput, match="solvers: 'hihgs': must be one of"):
        gsopt.warm_up("hihgs")


def test_a_name_in_the_place_of_a_problem_is_refused() -> None:
    """Solving a string says how to get a problem from it."""
    assert_refused("must be a problem", gsopt.solve, "reclaiming/aryl-figure-5")


class Clock:
    """A clock that stands still unless it is put forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Begin now, so that the budgets of a test begin no earlier."""
        self.now = perf_counter()
        monkeypatch.setattr("gsopt.core.budget.perf_counter", lambda: self.now)


def slow(clock: Clock, seconds: float, given: list[Budget]) -> Any:
    """Make a heuristic that takes so long, and notes its budget."""

    @heuristic
    def method(problem: Reclaiming, *, budget: Budget = UNLIMITED) -> ReclaimingSolution:
        given.append(budget)
        clock.now += seconds
        return pick(*[server.name for server in problem.servers[: problem.demand]])

    return method


def test_heuristics_have_half_of_the_limit_and_exact_methods_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of half the limit each heuristic has two thirds of what is left; the method has the rest, or more."""
    clock, given, left = Clock(monkeypatch), list[Budget](), list[float | None]()
    late: list[Budget] = []
    methods = {"one": slow(clock, 20, given), "two": slow(clock, 70, given), "three": slow(clock, 1, late)}
    monkeypatch.setattr("gsopt.evaluation.solve.own_heuristics", lambda _: methods)

    @exact_method()
    def waiting(problem: Reclaiming, budget: Budget) -> Result[ReclaimingSolution]:
        left.append(budget.left())
        return Result.judged(problem, method="waiting", bound=0, runtime=budget.runtime)

    gsopt.solve(figure_5(demand=2), waiting, time_limit=60)
    (one, two), begin = given, clock.now - 90
    assert one.begin == two.begin
    assert one.time_limit == pytest.approx((begin - one.begin + 60) / 3)
    assert two.time_limit == pytest.approx((begin + 20 - one.begin + 60) / 3)
    assert late == []
    assert left == [pytest.approx(30)]
    gsopt.solve(figure_5(demand=2), waiting)
    assert late[0].time_limit is None
    assert left[1] is None


def test_a_heuristic_gets_the_whole_limit_where_it_is_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heuristic, and a plain function that takes a budget, has all the time for itself."""
    given: list[Budget] = []
    gsopt.solve(figure_5(demand=2), slow(Clock(monkeypatch), 0, given), time_limit="2min")

    def plain(problem: Reclaiming, budget: Budget) -> ReclaimingSolution:
        given.append(budget)
        return pick(*[server.name for server in problem.servers[: problem.demand]])

    gsopt.compare(figure_5(demand=2), [plain], time_limit=120)
    assert [budget.time_limit for budget in given] == [120, 120]


@dataclass(frozen=True, kw_only=True)
class Countdown(Budget):
    """A budget that has passed when it was looked at so many times."""

    looks: list[int] = field(default_factory=lambda: [0])
    most: int = 0

    @property
    def passed(self) -> bool:
        """Count a look."""
        self.looks[0] += 1
        return self.looks[0] > self.most


#: Heuristics with a budget; of the many policies, which all are simulated alike, the first ones.
TIMED = [
    (word, name)
    for word in problem_types()
    for name in [name for name, each in catalogue.own_heuristics(word).items() if accepts(each, "budget")][:4]
]


@pytest.mark.parametrize(("word", "name"), TIMED)
@pytest.mark.parametrize("most", [0, 4])
def test_heuristics_stop_when_time_is_over(word: str, name: str, most: int) -> None:
    """A heuristic that finds its time over gives what it has, or nothing, and does not go on."""
    problem = instance(word, seed=7)
    budget = Countdown(time_limit=PATIENCE, most=most)
    with suppress(Unsupported):
        found = catalogue.own_heuristics(word)[name](problem, budget=budget)
        assert found.solution is not None or found.message
    assert budget.looks[0] <= most + 3


@pytest.mark.parametrize("word", problem_types())
def test_something_is_found_without_any_time(word: str) -> None:
    """At a limit of 0 there is a solution wherever there is one at all."""
    for seed in range(2):
        problem = instance(word, seed)
        found, best = gsopt.solve(problem, time_limit=0), gsopt.solve(problem)
        assert (found.solution is None) == (best.solution is None)


def test_a_replay_of_years_is_left_out() -> None:
    """Policies that decide every minute of years are cut off at the next event, and the others are not."""
    long = ElasticJob(name="a", release=0, work=1.8e8, rates={1: 1.0, 2: 2.0, 3: 3.0})
    short = ElasticJob(name="b", release=0, work=300, rates={1: 1.0})
    problem = Scheduling(gpus=3, jobs=[long, short])
    policies = catalogue.own_heuristics("scheduling")
    budget = Countdown(time_limit=PATIENCE, most=100)
    found = policies["sia"](problem, budget=budget)
    assert (found.solution, budget.looks[0]) == (None, 101)
    assert "time limit" in found.message
    assert policies["srtf"](problem, budget=Countdown(time_limit=PATIENCE, most=100)).solution is not None


def test_ctrl_c_among_the_heuristics_leaves_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted before the exact method begins, a solve gives the best of the heuristics that have ended."""

    def interrupted(problem: Reclaiming) -> Result[ReclaimingSolution]:
        raise KeyboardInterrupt(problem.word)

    problem = figure_5(demand=2)
    monkeypatch.setattr(_SOLVE, "own_heuristics", lambda _: {"greedy": greedy, "interrupted": interrupted})
    found = gsopt.solve(problem)
    assert (found.objective, found.stopped_by) == (greedy(problem).objective, StoppedBy.INTERRUPT)
    monkeypatch.setattr(_SOLVE, "own_heuristics", lambda _: {"interrupted": interrupted})
    with pytest.raises(KeyboardInterrupt):
        gsopt.solve(problem)


def test_a_decision_may_have_no_heuristics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody has written a heuristic yet, an exact method begins without a start."""
    monkeypatch.setattr(_SOLVE, "own_heuristics", lambda _: {})
    assert gsopt.solve(figure_5(2), time_limit=10).status is Status.OPTIMAL
