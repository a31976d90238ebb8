"""Models of sharing in slots."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from random import Random

import pytest

import gsopt
from formulations.sharing import exact, slots, time_indexed
from formulations.sharing.best import BestSharing
from formulations.sharing.following import at_events, in_slots
from formulations.sharing.listing import shortest_first, take_lists
from formulations.sharing.slots import task_of
from formulations.sharing.slotted import FULL, Slotted
from formulations.sharing.time_indexed import plan_of, slot_model
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.backends.slotted import USERS, Planned, solve
from gsopt.solvers.standard_form import StandardForm
from heuristics import sharing as policies
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events
from tests.effort import cases
from tests.exactness import sharing as oracle
from tests.unwrap import unwrap


def test_it_is_between_the_optimum_and_the_best_policy() -> None:
    """With starts at events no plan is below the optimum, nor is one worse than any policy."""
    for seed in range(cases(15)):
        problem = interfering_jobs(jobs=4, gpus=2, seed=seed)
        found, proven = gsopt.solve(problem, method=slots), exact(problem)
        every = [getattr(policies, name)(problem).objective for name in policies.__all__]
        assert found.objective is not None
        assert proven.objective is not None
        assert proven.objective <= found.objective <= min(value for value in every if value is not None)
        assert unwrap(found.bound) <= proven.objective


def test_a_start_between_events_is_kept_where_it_is_legal() -> None:
    """The plan of 25 s in all is a schedule for starts at any time; with starts at events it is one of 26 s."""
    anywhere, at_events = slots(between_events(starts="any"), most=10), slots(between_events(), most=10)
    assert anywhere.objective == Fraction(25 - 10, 4)
    assert anywhere.message == "Model C: starts at any time; slots of 1 s: 3.75 is optimal"
    assert at_events.objective == Fraction(26 - 10, 4)
    assert at_events.message.startswith("Model E: starts at arrivals and ends; slots of 1 s: ")


@pytest.mark.parametrize("most", [1, 5])
def test_rounding_is_no_part_of_the_schedule(most: int) -> None:
    """Plans on long slots are followed on the clock, and are never worse than the best list."""
    problem = interfering_jobs(jobs=4, gpus=2, seed=0)
    best = BestSharing(problem, Budget(), "lists")
    take_lists(best)
    result = slots(problem, most=most)

    assert result.objective is not None
    assert result.objective <= best.known_value
    assert unwrap(result.bound) <= result.objective


def test_no_time_and_no_patience() -> None:
    """Without time, and when told to stop, the best list is returned with the bound of areas."""
    problem = interfering_jobs(jobs=8, gpus=4, seed=1)
    late = slots(problem, time_limit=0.0)
    stopped = slots(problem, on_incumbent=lambda found: found.objective is not None)

    assert (late.status, late.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert (stopped.status, stopped.stopped_by) == (Status.FEASIBLE, StoppedBy.INTERRUPT)
    assert unwrap(late.bound) > 0


def test_what_it_does_not_handle_is_said() -> None:
    """No slots, and more jobs than the model is for, are refused."""
    with pytest.raises(InvalidInput, match="most: 0: must be at least 1"):
        slots(between_events(), most=0)
    with pytest.raises(Unsupported, match="41 jobs on 1 GPUs: at most 40"):
        slots(interfering_jobs(jobs=41, gpus=1))


def test_lists_are_schedules() -> None:
    """What starts shortest first keeps every rule, and alone no GPU has two users."""
    for seed in range(cases(100)):
        problem = oracle.draw(Random(seed))
        alone, shared = (shortest_first(problem, partners) for partners in (0, 1))
        assert problem.model_copy(update={"share_limit": 1}).violations(alone) == []
        assert problem.violations(shared) == []
        best = BestSharing(problem, Budget(), "lists")
        take_lists(best)
        assert unwrap(best.value) <= min(problem.objective(alone), problem.objective(shared))


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


def drawn(seed: int, most: int) -> Slotted:
    """Draw a slot model of up to three jobs on up to three GPUs."""
    problem = oracle.draw(Random(seed))
    return Slotted.of(problem, shortest_first(problem, 0), most)


def by_cp_sat(model: Slotted) -> int | None:
    """Return the least sum of ends that CP-SAT proves; None when there is no plan."""
    answer = CpSat().call(solve, task_of(model, Budget())).answer
    if answer.plan is None:
        assert answer.status == "INFEASIBLE"
        return None
    ends = unwrap(model.ends(dict(enumerate(answer.plan))))
    assert sum(ends.values()) == answer.bound
    return sum(ends.values())


def by_highs(model: Slotted) -> int | None:
    """Return the least sum of ends that HiGHS proves; None when there is no plan."""
    form = StandardForm.from_pyomo(slot_model(model))
    found = Highs().solve(form)
    if found.values is None:
        assert found.status.value == "infeasible"
        return None
    ends = unwrap(model.ends(plan_of(model, form.named(form.rounded(found.values)))))
    assert sum(ends.values()) == round(found.objective or 0)
    return sum(ends.values())


def by_trying(model: Slotted) -> int | None:
    """Return the least sum of ends of all plans; None when there is none."""
    problem = model.problem
    ways = [
        list(product(range(release, model.horizon), combinations(range(problem.gpus), job.gpus)))
        for job, release in zip(problem.jobs, model.release, strict=True)
    ]
    return min((total for plan in product(*ways) for total in totals(model, plan)), default=None)


def totals(model: Slotted, plan: tuple[tuple[int, tuple[int, ...]], ...]) -> Iterator[int]:
    """Yield the sum of the ends of a plan, or nothing when it breaks a rule: slot by slot, GPU by GPU."""
    left, total = list(model.work), 0
    for slot in range(model.horizon):
        done = [FULL * (left[job] > 0 and start <= slot) for job, (start, _) in enumerate(plan)]
        runs = [job for job, amount in enumerate(done) if amount]
        for gpu in range(model.problem.gpus):
            users = [job for job in runs if gpu in plan[job][1]]
            pairs = [(one, two) for one in users for two in users if one != two]
            if len(users) > USERS or any(two not in model.beside[one] for one, two in pairs):
                return
            for one in users:
                done[one] = min([done[one], *(model.beside[one][two] for other, two in pairs if other == one)])
        for job in runs:
            left[job] -= done[job]
            total += (slot + 1) * (left[job] <= 0)
    if max(left) <= 0:
        yield total


def test_both_solvers_prove_the_same_optimum() -> None:
    """On random instances the least sum of ends is the same from constraints and from the program."""
    models = [drawn(seed, 7) for seed in range(cases(100))]
    assert [by_cp_sat(model) for model in models] == [by_highs(model) for model in models]


def test_no_plan_is_better() -> None:
    """On the tiniest instances the optimum is the least of all plans."""
    models = [drawn(seed, 4) for seed in range(100, 100 + cases(100))]
    assert [by_cp_sat(model) for model in models] == [by_trying(model) for model in models]
    assert [by_highs(model) for model in models[:20]] == [by_trying(model) for model in models[:20]]


@pytest.mark.parametrize("starts", ["events", "any"])
def test_it_follows_its_plan_at_events(starts: str) -> None:
    """The reference gives a schedule that is no better than the optimum, and its value in slots."""
    problem = between_events(starts=starts)
    result, proven = time_indexed(problem), exact(between_events())
    assert result.objective == proven.objective
    assert result.message == "slots of 0.5 s: 3.75 is optimal"
    assert unwrap(result.bound) < 3.75


def test_larger_instances_are_refused() -> None:
    """What has too many places in time says so."""
    with pytest.raises(Unsupported, match="places in time: the reference model takes at most 3,000"):
        time_indexed(interfering_jobs(jobs=12, gpus=16))
