"""The slot model: what is rounded how, when jobs end in it, and that they end no later without slots."""

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest

from formulations.sharing.following import at_events, in_slots
from formulations.sharing.listing import shortest_first
from formulations.sharing.slotted import Slotted
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from gsopt.solvers.backends.slotted import Planned
from tests.effort import cases
from tests.exactness import sharing as oracle


def with_plans(count: int) -> Iterator[tuple[Slotted, dict[int, Planned], dict[int, int]]]:
    """Draw problems with random plans that keep the rules of the slots, and their ends."""
    for seed in range(count):
        random = Random(seed)
        problem = oracle.draw(random)
        model = Slotted.of(problem, shortest_first(problem, 0), random.choice((3, 8, 50)))
        plan: dict[int, Planned] = {}
        for job, release in enumerate(model.release):
            gpus = tuple(random.sample(range(problem.gpus), problem.jobs[job].gpus))
            plan[job] = Planned(release + random.randint(0, model.horizon // 2), gpus)
        if (ends := model.ends(plan)) is not None:
            yield model, plan, ends


def test_no_job_ends_later_without_slots() -> None:
    """A plan is a schedule for starts at any time, and each job ends as early as in the plan."""
    tried = 0
    for model, plan, ends in with_plans(cases(500)):
        anywhere = model.problem.model_copy(update={"starts": "any"})
        solution = model.solution(plan)
        assert anywhere.violations(solution) == []
        for job, (_, end) in enumerate(anywhere.spans(solution)):
            last = model.problem.origin + ends[job] * model.slot
            assert end <= last + Fraction(anywhere.resolution(last - model.problem.origin))
        assert anywhere.objective(solution) <= model.value(sum(ends.values())) + Fraction(1, 10**6)
        tried += 1
    assert tried >= cases(500) // 4


def test_followed_plans_are_schedules() -> None:
    """At events a plan becomes a schedule of the same jobs on the same GPUs, whatever was rounded."""
    for model, plan, ends in with_plans(cases(500)):
        followed = at_events(model, plan, ends)
        names = [job.name for job in model.problem.jobs]
        assert model.problem.violations(followed) == []
        assert {run.job: run.gpus for run in followed.runs} == {
            names[job]: tuple(sorted(planned.gpus)) for job, planned in plan.items()
        }


def test_followed_schedules_are_plans() -> None:
    """In slots a schedule becomes a plan that keeps the rules, and without rounding it is the same."""
    for seed in range(cases(200)):
        problem = oracle.draw(Random(seed))
        known = shortest_first(problem, seed % 2)
        plan = in_slots(Slotted.of(problem, known, 50), known)
        assert plan is None or len(plan) == len(problem.jobs)
    jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 2, 3)]]
    problem = Sharing(gpus=1, jobs=jobs, default_interference=2.0)
    known = shortest_first(problem, 0)
    model = Slotted.of(problem, known, 7)

    assert in_slots(model, known) == {0: Planned(0, (0,)), 1: Planned(4, (0,))}


@pytest.mark.parametrize(
    ("most", "slot", "release", "work"),
    [
        (25, Fraction(1, 2), (0, 5), (20160, 30240)),  # divides all times
        (50, Fraction(1, 4), (0, 10), (40320, 60480)),  # divides all times twice
        (7, Fraction(2), (0, 2), (5040, 7560)),  # divides the run times
        (4, Fraction(5, 2), (0, 1), (4032, 6048)),  # divides nothing
    ],
)
def test_slots_are_as_short_as_they_may_be(
    most: int, slot: Fraction, release: tuple[int, ...], work: tuple[int, ...]
) -> None:
    """A part of the step of all times is the slot; else of that of run times; else what makes so many slots."""
    given = [("a", 0.0, 4.0), ("b", 2.5, 6.0)]
    jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in given]
    problem = Sharing(gpus=1, jobs=jobs, default_interference=1.5)
    model = Slotted.of(problem, shortest_first(problem, 0), most)

    assert (model.slot, model.release, model.work) == (slot, release, work)
    assert model.beside == ({1: 1680}, {0: 1680})
    assert model.horizon == -(-Fraction(25, 2) // slot)


def test_what_does_not_divide_is_rounded_against_the_job() -> None:
    """Work is rounded up, and what a shared slot does of it down."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 1.0), ("b", 1.3)]]
    problem = Sharing(gpus=1, jobs=jobs, default_interference=1.7)
    model = Slotted.of(problem, shortest_first(problem, 0), 3)

    assert model.slot == Fraction(23, 30)
    assert model.work == (3287, 4274)  # 3286.96 and 4273.04
    assert model.beside == ({1: 1482}, {0: 1482})  # 1482.35


def test_ends_by_hand() -> None:
    """Beside each other two jobs do two thirds; what needs more memory than their GPU has is refused."""
    sizes = {"a": (2.0, 1), "b": (2.0, 1), "c": (1.0, 2)}
    jobs = [Job(name=n, release_date=0, duration=d, gpus=1, memory=m) for n, (d, m) in sizes.items()]
    problem = Sharing(gpus=2, jobs=jobs, default_interference=1.5, memory=2)
    model = Slotted.of(problem, shortest_first(problem, 0), 3)
    on = {gpu: Planned(0, (gpu,)) for gpu in (0, 1)}

    assert model.horizon == 4
    assert model.ends({0: on[0], 1: on[0]}) == {0: 3, 1: 3}
    assert model.ends({0: on[0], 1: Planned(1, (0,))}) == {0: 3, 1: 4}
    assert model.ends({0: on[0], 1: on[1], 2: Planned(1, (0,))}) is None
    assert model.ends({0: on[0], 1: on[1], 2: Planned(2, (0,))}) == {0: 2, 1: 2, 2: 3}
