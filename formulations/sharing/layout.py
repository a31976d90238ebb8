"""Layout: conversion of a search's schedule to start times and individual GPUs."""

from collections.abc import Iterable

from formulations.sharing.jobs import Units
from formulations.sharing.search import FoundSchedule
from gsopt.problems.sharing import Sharing, SharingSolution, run_at
from gsopt.schedule.course import ProgressOfJobs


def laid_out(problem: Sharing, units: Units, found: FoundSchedule) -> SharingSolution:
    """Return the schedule that a search found; among GPUs with the same users, a start takes the first ones."""
    course, runs, passed = ProgressOfJobs(problem.durations, problem.slowdown, problem.releases), [], 0
    for place in sorted(range(len(units.order)), key=lambda place: (found.begun[place], place)):
        while passed < found.begun[place] and (event := course.next_event) is not None:
            course.pass_until(event)
            passed += 1
        chosen: list[int] = []
        for other, count in enumerate(found.taken[place]):
            if count:
                holders = [] if other == len(units.order) else [units.order[other]]
                chosen += _first(
                    count, (gpu for gpu in range(problem.gpus) if course.users.get(gpu, []) == holders)
                )
        job = units.order[place]
        course.start(job, chosen)
        runs.append(run_at(problem.jobs[job].name, course.now, chosen))
    return SharingSolution(runs=runs)


def _first(count: int, gpus: Iterable[int]) -> list[int]:
    return [gpu for gpu, _ in zip(gpus, range(count), strict=False)]
