"""Listing: quick schedules, which run the jobs one by one or start the shortest ones that fit."""

from collections.abc import Iterable, Iterator

from formulations.sharing.best import BestSharing
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact
from gsopt.problems.sharing import Sharing, SharingSolution, run_at
from gsopt.problems.waiting import Run
from gsopt.schedule.course import ProgressOfJobs


def take_lists(best: BestSharing) -> None:
    """Try quick schedules: jobs one after another, and shortest first both without and with sharing."""
    if best.solution is None or not best.budget.passed:
        best.take(in_turn(best.problem))
    for partners in (0, 1):
        if not best.budget.passed:
            best.take(shortest_first(best.problem, partners, best.budget))


def in_turn(problem: Sharing) -> SharingSolution:
    """Run the jobs one after another, in ascending order of release date."""
    return SharingSolution(runs=list(_one_by_one(problem, range(len(problem.jobs)), problem.origin)))


def _one_by_one(problem: Sharing, jobs: Iterable[int], now: Exact) -> Iterator[Run]:
    for job in sorted(jobs, key=lambda job: problem.releases[job]):
        now = max(now, problem.releases[job])
        given = problem.jobs[job]
        yield run_at(given.name, now, range(given.gpus))
        now += problem.durations[job]


def shortest_first(problem: Sharing, partners: int, budget: Budget | None = None) -> SharingSolution:
    """Start the shortest jobs that fit at each event, on free GPUs first.

    A job starts on free GPUs or, if `partners` is 1, also on GPUs with one user with which it may share. When
    time runs out, the remaining jobs run one after another.
    """
    course = ProgressOfJobs(problem.durations, problem.slowdown, problem.releases)
    waiting = sorted(range(len(problem.jobs)), key=lambda job: (problem.durations[job], problem.jobs[job].gpus))
    runs = []
    while waiting and not (budget is not None and budget.passed):
        for job in [job for job in waiting if problem.releases[job] <= course.now]:
            room = _room(problem, course, job, partners)
            if len(room) >= problem.jobs[job].gpus:
                chosen = tuple(sorted(room[: problem.jobs[job].gpus]))
                course.start(job, chosen)
                waiting.remove(job)
                runs.append(run_at(problem.jobs[job].name, course.now, chosen))
        if (event := course.next_event) is not None:
            course.pass_until(event)
    while waiting and course.due and (event := course.next_event) is not None:
        course.pass_until(event)
    return SharingSolution(runs=[*runs, *_one_by_one(problem, waiting, course.now)])


def _room(problem: Sharing, course: ProgressOfJobs, job: int, partners: int) -> list[int]:
    """Return the GPUs on which a job may start, in ascending order of their number of users."""
    users = {gpu: course.users.get(gpu, []) for gpu in range(problem.gpus)}
    room = [
        gpu
        for gpu, own in users.items()
        if len(own) <= partners and all(problem.may_share(user, job) for user in own)
    ]
    return sorted(room, key=lambda gpu: len(users[gpu]))
