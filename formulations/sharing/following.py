"""Following: conversions between schedules and plans in slots; each job waits for the same jobs in both."""

from collections.abc import Mapping

from formulations.sharing.slotted import Slotted
from gsopt.problems.sharing import SharingSolution, run_at
from gsopt.problems.waiting import Run
from gsopt.schedule.course import ProgressOfJobs
from gsopt.solvers.backends.slotted import Planned


def in_slots(model: Slotted, known: SharingSolution) -> dict[int, Planned] | None:
    """Convert a schedule to a plan in slots, or return None if the plan does not end by the horizon.

    Each job waits for the jobs that end by its start in the schedule, and starts in the first slot after their
    ends and its release. So no jobs share a GPU in the plan that do not share one in the schedule.
    """
    problem, spans = model.problem, model.problem.spans(known)
    gpus = {run.job: tuple(run.gpus) for run in known.runs}
    plan: dict[int, Planned] = {}
    for job in sorted(range(len(spans)), key=lambda job: (spans[job][0], job)):
        ended = model.ends(plan)
        if ended is None:
            return None
        waited = [ended[other] for other in plan if spans[other][1] <= spans[job][0]]
        plan[job] = Planned(max([model.release[job], *waited]), gpus[problem.jobs[job].name])
    return None if model.ends(plan) is None else plan


def at_events(model: Slotted, plan: Mapping[int, Planned], ends: Mapping[int, int]) -> SharingSolution:
    """Convert a plan in slots to a schedule with starts at events.

    Each job waits for the jobs that end by its start in the plan, and starts as soon as they have ended and it
    has been released.
    """
    problem, waiting, runs = model.problem, set(plan), list[Run]()
    course = ProgressOfJobs(problem.durations, problem.slowdown, problem.releases)
    while True:
        for job in sorted(waiting):
            waited = {other for other, end in ends.items() if end <= plan[job].start}
            if problem.releases[job] <= course.now and waited <= course.ends.keys():
                course.start(job, plan[job].gpus)
                waiting.remove(job)
                runs.append(run_at(problem.jobs[job].name, course.now, plan[job].gpus))
        event = course.next_event
        if not waiting or event is None:
            return SharingSolution(runs=runs)
        course.pass_until(event)
