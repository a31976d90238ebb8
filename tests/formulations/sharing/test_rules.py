"""What the search leaves out: no optimum with any rule on, and none that a rule being off would bring."""

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from formulations.sharing import exact
from formulations.sharing.best import Best, Parts
from formulations.sharing.jobs import Jobs, arrays_of, in_floats
from formulations.sharing.listing import in_turn, shortest_first
from formulations.sharing.lower import lower
from formulations.sharing.search import nothing_found, search
from formulations.sharing.stack import PENDING, Stack, new_stack
from formulations.sharing.table import new_table
from gsopt.core.budget import Budget
from gsopt.core.numbers.compiled import twin
from gsopt.core.result import Status
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from tests.exactness import sharing as oracle
from tests.formulations.sharing.searching import alone_from, least_in_fractions, search_all
from tests.formulations.sharing.tiny import CLOSE, NODES, TINY


def at_release(jobs: Jobs, stack: Stack, depth: int, ends: Any, begins: Any) -> None:
    """Let every pending job begin at its release, whatever room there is."""
    del ends
    for job in range(len(begins)):
        begins[job] = max(stack.time[depth], jobs.release[job] * (stack.state[depth, job] == PENDING).item())


#: Rules by the names of what they are asked, and an answer that leaves out nothing.
OFF: dict[str, Callable[..., Any]] = {
    "search.lower": lambda *_: 0,
    "search.is_new": lambda *_: True,
    "search.is_least": lambda *_: True,
    "lower.insertion_bound": lambda *_: 0,
    "lower.area_bound": lambda *_: 0,
    "lower.wait_for_room": at_release,
    "lower.weigh": lambda *_: None,
    "insertion.cover": lambda *_: 0,
    "insertion.beside": lambda *_: 0,
}


def switch_off(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a rule of the plain search leave out nothing."""
    module, name = rule.split(".")
    monkeypatch.setattr(import_module(f"formulations.sharing.{module}"), name, OFF[rule])


@pytest.mark.parametrize("number", range(len(TINY)))
def test_every_optimum_is_found(number: int) -> None:
    """With all rules on, the search finds the least value of all schedules, in fractions and in floats."""
    problem = TINY[number].problem
    optimum = oracle.optimum(problem)
    jobs, units = arrays_of(problem)
    floats = in_floats(jobs)
    found = search_all(floats, new_stack(floats), twin(search))

    assert least_in_fractions(problem) == optimum
    assert list(found.rest) == list(units.rests(units.total(optimum)))


@pytest.mark.parametrize("number", range(len(CLOSE)))
def test_what_floats_cannot_tell_is_proven(number: int) -> None:
    """Schedules that differ by less than rounding are told apart, and so are two events."""
    problem = CLOSE[number].problem
    result = exact(problem)

    assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem))


@pytest.mark.parametrize("rule", OFF)
def test_no_rule_changes_an_optimum(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one rule off, the search finds the same as with all of them on."""
    problems = [tiny.problem for tiny in TINY if len(tiny.jobs) < 4 or tiny.gpus < 3]
    known = [least_in_fractions(problem) for problem in problems]
    switch_off(rule, monkeypatch)

    assert [least_in_fractions(problem) for problem in problems] == known


def test_no_bound_is_above_the_least_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """At nodes on the way, the bound is a fraction and no more than the least sum of ends behind."""
    bound = twin(lower)
    switch_off("search.lower", monkeypatch)
    step = twin(search)
    for tiny in NODES:
        jobs, _ = arrays_of(tiny.problem)
        stack = new_stack(jobs)
        for _ in range(12):
            step(jobs, stack, new_table(jobs, 1), nothing_found(jobs), 1)
            given = bound(jobs, stack, int(stack.depth[0]), np.inf)
            assert isinstance(given, Fraction)
            assert given <= search_all(jobs, alone_from(jobs, stack), step).value[0]


def test_jobs_that_may_meet_are_not_parted() -> None:
    """A job that ends after the next release only because it has waited is in one part with it, else not."""
    jobs = [
        Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 0, 3), ("c", 6, 1)]
    ]
    for release, parts in ((6, 1), (7, 1), (8, 2)):
        jobs[2] = jobs[2].model_copy(update={"release_date": release})
        problem = Sharing(gpus=1, jobs=jobs, share_limit=1)
        best = Best(problem, Budget(), "parts")
        best.take(in_turn(problem))  # b waits for 4 s, and c for 1 s where it arrives at 6 s
        assert len(Parts(best).every) == parts


def test_parts_change_no_optimum() -> None:
    """Solved part by part, jobs with gaps between them have the optimum of all of them together."""
    for tiny in TINY[:4]:
        early, late = (
            tiny.problem,
            [job.model_copy(update={"name": f"late {job.name}"}) for job in tiny.problem.jobs[:2]],
        )
        late = [job.model_copy(update={"release_date": job.release_date + 1000.0}) for job in late]
        problem = early.model_copy(update={"jobs": (*early.jobs, *late)})
        best = Best(problem, Budget(), "parts")
        best.take(shortest_first(problem, 0))
        parts = Parts(best).every

        assert len(parts) > 1
        total = sum(least_in_fractions(part.problem) * len(part.problem.jobs) for part in parts)
        assert total == oracle.optimum(problem) * len(problem.jobs)
