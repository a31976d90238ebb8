"""CP-SAT on slots: shared slots do less, two jobs to a GPU, and what may not share does not."""

from typing import Any

from gsopt.solvers.backends import CpSat
from gsopt.solvers.backends.slotted import Planned, SlottedAnswer, SlottedJob, Task, solve


def answer(*jobs: SlottedJob, gpus: int = 1, upper: int = 99, hint: Any = None) -> SlottedAnswer:
    """Solve a task of jobs that do 10 in a slot alone."""
    task = Task(jobs, gpus, 10, upper, hint, {"num_workers": 1})
    found: SlottedAnswer = CpSat().call(solve, task).answer
    return found


def job(work: int, *, beside: dict[int, int], demand: int = 1, release: int = 0, latest: int = 9) -> SlottedJob:
    """Return a job, from the first slot on unless told otherwise."""
    return SlottedJob(release, latest, work, demand, beside)


def test_sharing_that_does_not_pay() -> None:
    """Two jobs of a slot are done in turn where both would take two slots beside each other."""
    found = answer(job(10, beside={1: 9}), job(10, beside={0: 9}))

    assert (found.status, found.bound) == ("OPTIMAL", 3)
    assert found.plan is not None
    assert {planned.start for planned in found.plan} == {0, 1}


def test_two_share_where_that_is_faster() -> None:
    """Jobs of two slots that lose a tenth beside each other share: 2 + 2 slots, where in turn is 2 + 4."""
    found = answer(job(18, beside={1: 9}), job(18, beside={0: 9}))

    assert (found.status, found.bound) == ("OPTIMAL", 4)
    assert found.plan == (Planned(0, (0,)), Planned(0, (0,)))


def test_three_do_not_share() -> None:
    """A third job waits for a GPU that two hold, though it would lose nothing beside them."""
    three = [job(10, beside={other: 10 for other in range(3) if other != number}) for number in range(3)]

    assert answer(*three).bound == 1 + 1 + 2
    assert answer(*three, gpus=2).bound == 3


def test_memory_keeps_jobs_apart() -> None:
    """Jobs that may not share take turns, and there is no plan where one must end before."""
    assert answer(job(20, beside={}), job(20, beside={})).bound == 2 + 4
    assert answer(job(20, beside={}, latest=3), job(20, beside={}, latest=3)).status == "INFEASIBLE"


def test_the_worst_partner_counts() -> None:
    """A job on two GPUs, beside another on each, does what the slower pair leaves it."""
    wide = job(10, beside={1: 10, 2: 2}, demand=2, latest=5)
    found = answer(wide, job(50, beside={0: 10}, latest=5), job(50, beside={0: 10}, latest=5), gpus=2)

    assert (found.status, found.bound) == ("OPTIMAL", 5 + 5 + 5)


def test_a_known_plan_may_be_told() -> None:
    """A hint on other numbers of GPUs changes no optimum, and nothing above the known sum is found."""
    jobs = [job(10, beside={}), job(20, beside={})]
    hint = (Planned(0, (1,)), Planned(0, (0,)))

    assert answer(*jobs, gpus=2, upper=3, hint=hint).bound == 3
    assert answer(*jobs, gpus=2, upper=2, hint=hint).status == "INFEASIBLE"
