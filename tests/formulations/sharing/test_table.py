"""States that were seen: which are told apart, and which are left out."""

from formulations.sharing.jobs import Jobs
from formulations.sharing.stack import PENDING, RUNNING, Stack, new_stack
from formulations.sharing.table import is_new, new_table
from gsopt.compiled import twin
from gsopt.job import Job
from gsopt.problems.sharing import Sharing
from tests.formulations.sharing.searching import floats_of


def two_alike() -> tuple[Jobs, Stack]:
    """Give two jobs of the same size on two GPUs, all of which each of them demands."""
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
    """The same state is left out at the same cost and a higher one, and later, but not at a lower one."""
    jobs, stack = two_alike()
    table = new_table(jobs, 64)
    run(stack, 0)
    seen = []
    for cost, time in ((5.0, 1.0), (5.0, 1.0), (6.0, 1.0), (5.0, 2.0), (4.0, 1.0)):
        stack.cost[0], stack.time[0] = cost, time
        stack.cost_rest[0], stack.time_rest[0] = 4 * cost, 4 * time  # in seconds
        stack.due_rest[0, 0] = stack.time_rest[0] + 4
        seen.append(bool(twin(is_new)(jobs, stack, 0, table)))

    assert seen == [True, False, False, False, True]
