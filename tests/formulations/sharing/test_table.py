"""States that were seen: which are told apart, and which are left out."""

from typing import Any

import numpy as np
import pytest

from formulations.sharing import table as states
from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import ENDED, PENDING, RUNNING, Stack, new_stack
from formulations.sharing.table import is_new, new_table, table_within
from gsopt.core.numbers.compiled import twin
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from tests.exactness import sharing as oracle
from tests.formulations.sharing.searching import floats_of, least_in_fractions
from tests.formulations.sharing.tiny import TINY


def two_alike() -> tuple[Jobs, Stack]:
    """Return two jobs of the same size on two GPUs, both of which each of them demands."""
    given = [Job(name=name, release_date=0, duration=4, gpus=2) for name in "ab"]
    jobs = floats_of(Sharing(gpus=2, jobs=given))
    return jobs, new_stack(jobs)


def run(stack: Stack, job: int) -> None:
    """Let one of the jobs run alone, and the other wait."""
    stack.state[0], stack.own[0], stack.free[0] = PENDING, 0, 0
    stack.state[0, job], stack.own[0, job] = RUNNING, 2


def test_who_runs_and_who_waits_is_told_apart() -> None:
    """Two jobs of the same size, of which the one runs and the other waits, make two states."""
    jobs, stack = two_alike()
    table = new_table(jobs, 64)
    seen = []
    for job in (0, 1, 0, 1):
        run(stack, job)
        seen.append(bool(twin(is_new)(jobs, stack, 0, table)))

    assert seen == [True, True, False, False]


def test_only_a_lower_cost_makes_a_state_new() -> None:
    """A state is left out at no lower a cost, and later; but not at a lower cost, or much earlier."""
    jobs, stack = two_alike()
    table = new_table(jobs, 64)
    run(stack, 0)
    seen = []
    for cost, time in ((5.0, 1.0), (5.0, 1.0), (6.0, 1.0), (5.0, 2.0), (4.0, 1.0), (4.75, 0.5)):
        stack.cost[0], stack.time[0] = cost, time
        stack.cost_rest[0], stack.time_rest[0] = 4 * cost, 4 * time  # in seconds
        stack.due[0, 0], stack.due_rest[0, 0] = time + 1, stack.time_rest[0] + 4
        seen.append(bool(twin(is_new)(jobs, stack, 0, table)))

    assert seen == [True, False, False, False, True, True]


def test_states_of_the_same_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all states have one key, the search still takes none for another."""
    monkeypatch.setattr(states, "remainder", lambda *_: 0)

    assert all(least_in_fractions(tiny.problem) == oracle.optimum(tiny.problem) for tiny in TINY)


@pytest.mark.parametrize(
    ("columns", "where", "change"),
    [
        (["due"], 2, 0.05),
        (["time", "due"], ..., 0.05),
        (["due_rest"], 2, 1),
        (["time_rest", "due_rest"], ..., 1),
        (["own"], 2, 1),
        (["shared"], (2, 1), 1),
        (["state"], 0, ENDED),
    ],
)
def test_every_number_of_a_state_counts(columns: list[str], where: Any, change: float) -> None:
    """A state that differs from one seen in one respect, and has the same key, is new at a higher cost."""
    jobs = floats_of(TINY[0].problem)._replace(near=np.array([0.1]))
    stack, table = new_stack(jobs), new_table(jobs, 1)
    stack.state[0] = PENDING, RUNNING, RUNNING, PENDING
    stack.own[0], stack.shared[0, 1, 2], stack.shared[0, 2, 1] = (0, 1, 2, 0), 1, 1
    stack.time[0], stack.due[0], stack.cost[0] = 0.1, 0.9, 2.0
    assert twin(is_new)(jobs, stack, 0, table)
    assert not twin(is_new)(jobs, stack, 0, table)

    stack.cost[0] += 1
    for column in columns:
        getattr(stack, column)[0, where] += change
    table.keys[:] = states.remainder(jobs, stack, 0, states.arrives(jobs, stack, 0))
    assert twin(is_new)(jobs, stack, 0, table)


def test_a_cost_within_rounding_is_higher_only_if_that_is_certain() -> None:
    """At a cost within rounding of the one seen, a state is new unless the remainders are the same."""
    jobs, stack = two_alike()
    seen = []
    for rest, behind in ((0, np.nextafter(5.0, 6.0)), (1, np.nextafter(5.0, 6.0)), (0, 4.0)):
        table = new_table(jobs, 1)
        run(stack, 0)
        for cost in (5.0, behind):
            stack.cost[0], stack.cost_rest[0] = cost, rest * (cost == behind)
            new = bool(twin(is_new)(jobs, stack, 0, table))
        seen.append(new)

    assert seen == [False, True, True]


def test_rounding_may_hide_a_state_but_not_merge_two() -> None:
    """Where floats are too wrong for remainders to prove anything, no state is left out."""
    jobs, stack = two_alike()
    table = new_table(jobs, 64)
    run(stack, 0)
    stack.slip[0] = jobs.near[0] / 16

    assert [bool(twin(is_new)(jobs, stack, 0, table)) for _ in range(2)] == [True, True]


@pytest.mark.parametrize("memory", [0, 10_000, 1_000_000])
def test_a_table_keeps_to_its_memory(memory: int) -> None:
    """A table has as many places as its bytes hold, and never none."""
    table = table_within(floats_of(TINY[0].problem), memory)
    place = sum(column.nbytes // len(table.keys) for column in table)

    assert len(table.keys) == max(1, memory // place)
