"""Models of CP-SAT with intervals, and what it tells of them."""

from typing import Any

import pytest

from gsopt.solvers.backends import CpSat
from gsopt.solvers.backends.cumulative import Activity, ActivityTask, Chosen, CumulativeAnswer, Way, solve
from gsopt.solvers.backends.process import Frame, FrameKind
from gsopt.solvers.backends.slotted import Planned, SlottedAnswer, SlottedJob, SlottedTask
from gsopt.solvers.backends.slotted import solve as solve_of_slotted
from tests.gsopt.solvers.backends import functions
from tests.unwrap import unwrap

# Activities with optional ways: what CP-SAT finds of them in its worker


PARAMETERS: dict[str, Any] = {"num_workers": 1}


def answer(*activities: Activity, last: bool = True, **fields: Any) -> CumulativeAnswer:
    """Solve activities on two resources of two units, which are also one group."""
    task = ActivityTask(activities, (2, 2), ((0, 1),), last, 0, 100, None, PARAMETERS)
    reply = CpSat().call(solve, task._replace(**fields))
    assert isinstance(reply.answer, CumulativeAnswer)
    return reply.answer


def activity(*ways: Way, release: int = 0) -> Activity:
    """Return an activity that may end by 100."""
    return Activity(release, 100, ways)


def test_by_hand() -> None:
    """Units come from both resources, waiting may pay, ends add up, and below the optimum is nothing."""
    both = activity(Way(5, 3, (0, 1)))
    found = answer(both, both)
    assert (found.status, found.bound) == ("OPTIMAL", 10)
    assert {each.start for each in unwrap(found.chosen)} == {0, 5}
    assert [sum(each.units.values()) for each in unwrap(found.chosen)] == [3, 3]
    near_or_far = activity(Way(3, 2, (0,)), Way(3, 2, (1,)), Way(9, 2, (0, 1)))
    found = answer(activity(Way(4, 1, (0,))), activity(Way(4, 1, (1,))), near_or_far)
    last = unwrap(found.chosen)[2]
    assert (found.bound, last.start, last.way in {0, 1}) == (7, 4, True)
    found = answer(*(activity(Way(each, 2, (0,)), Way(each, 2, (1,))) for each in (3, 1, 2)), last=False)
    assert (found.status, found.bound) == ("OPTIMAL", 1 + 2 + 4)
    found = answer(activity(Way(5, 1, (0,))), upper=4)
    assert (found.status, found.chosen, found.bound) == ("INFEASIBLE", None, 5)


@pytest.mark.parametrize("length", [0, 3])
def test_a_hint_that_is_a_solution_is_found_again(length: int) -> None:
    """A known solution is no obstacle, nor is an activity that takes no time."""
    both = activity(Way(length, 3, (0, 1)), release=2)
    found = answer(both, hint=(Chosen(2, 0, {0: 2, 1: 1}),))
    assert (found.status, found.bound) == ("OPTIMAL", 2 + length)


# CP-SAT on slots: shared slots do less, two jobs to a GPU, and what may not share does not


def answer_of_slotted(*jobs: SlottedJob, gpus: int = 1, upper: int = 99, hint: Any = None) -> SlottedAnswer:
    """Solve a task of jobs that do 10 in a slot alone."""
    task = SlottedTask(jobs, gpus, 10, upper, hint, {"num_workers": 1})
    found: SlottedAnswer = CpSat().call(solve_of_slotted, task).answer
    return found


def job(work: int, *, beside: dict[int, int], demand: int = 1, release: int = 0, latest: int = 9) -> SlottedJob:
    """Return a job, from the first slot on unless told otherwise."""
    return SlottedJob(release, latest, work, demand, beside)


def test_sharing_by_hand() -> None:
    """Two jobs share where that is faster and memory allows it, never three, and the worst partner counts."""
    found = answer_of_slotted(job(10, beside={1: 9}), job(10, beside={0: 9}))
    assert (found.status, found.bound) == ("OPTIMAL", 3)
    assert {planned.start for planned in unwrap(found.plan)} == {0, 1}
    found = answer_of_slotted(job(18, beside={1: 9}), job(18, beside={0: 9}))
    assert (found.status, found.bound) == ("OPTIMAL", 4)
    assert found.plan == (Planned(0, (0,)), Planned(0, (0,)))
    three = [job(10, beside={other: 10 for other in range(3) if other != number}) for number in range(3)]
    assert answer_of_slotted(*three).bound == 1 + 1 + 2
    assert answer_of_slotted(*three, gpus=2).bound == 3
    assert answer_of_slotted(job(20, beside={}), job(20, beside={})).bound == 2 + 4
    assert answer_of_slotted(job(20, beside={}, latest=3), job(20, beside={}, latest=3)).status == "INFEASIBLE"
    wide = job(10, beside={1: 10, 2: 2}, demand=2, latest=5)
    narrow = job(50, beside={0: 10}, latest=5)
    found = answer_of_slotted(wide, narrow, narrow, gpus=2)
    assert (found.status, found.bound) == ("OPTIMAL", 5 + 5 + 5)


def test_what_is_read() -> None:
    """The last incumbent, every bound and whole lines are read, whatever plan is known before."""
    jobs = [job(10, beside={}), job(20, beside={})]
    hint = (Planned(0, (1,)), Planned(0, (0,)))
    assert answer_of_slotted(*jobs, gpus=2, upper=3, hint=hint).bound == 3
    assert answer_of_slotted(*jobs, gpus=2, upper=2, hint=hint).status == "INFEASIBLE"
    answer, frames = solve_of_following(10)
    incumbents = [told for kind, told in frames if kind is FrameKind.INCUMBENT]
    assert answer == ("OPTIMAL", 5, 0.5)
    assert incumbents[-1][0] == 5
    assert all(bound <= 0.5 for _, bound in incumbents)
    assert all(told <= 0.5 for kind, told in frames if kind is FrameKind.BOUND)
    text = "".join(told for kind, told in solve_of_following(10)[1] if kind is FrameKind.LOG)
    assert text.endswith("\n")
    assert len(text.splitlines()) > 10
    assert solve_of_following(4)[0] == ("INFEASIBLE", None, None)


# What is told while CP-SAT runs, and how it ends


def solve_of_following(most: int) -> tuple[Any, list[Frame]]:
    """Solve the little model in a worker; give its answer and what was heard."""
    frames: list[Frame] = []
    reply = CpSat().call(functions.larger, most, hear=frames.append)
    return reply.answer, frames
