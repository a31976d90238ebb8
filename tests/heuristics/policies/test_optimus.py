"""Optimus and AFS: steps and comparisons by hand, their parts, who waits, and every kind of scenario."""

from collections.abc import Iterable, Sequence
from functools import cache, partial
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.core.method import NoSolution
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.measurements import MeasuredPlacement
from gsopt.scenario.adaptive.validation import Epoch, Validation
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.scenario.training import Training
from gsopt.simulation import Action, Assign, Decider, Policy, State, simulate
from gsopt.simulation.parts.pool import Count, Kinds
from gsopt.testing import check_policy
from heuristics.policies import equal_share
from heuristics.policies.optimus.adaptive import iterations_left, seconds_per_iteration
from heuristics.policies.optimus.candidates import Candidates, GpuCandidate
from heuristics.policies.optimus.convergence import samples_until
from heuristics.policies.optimus.granting import Granting, Grants, place_on_emptiest
from heuristics.policies.optimus.policy import afs, optimus
from heuristics.policies.optimus.race import by_time_saved, race
from heuristics.policies.optimus.rules import by_method, by_steps, wins
from instances.scenarios import pollux
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, rich_scenarios
from tests.gsopt.simulation.scripts import doing, workload
from tests.heuristics.policies.shared import mixed, pieces, traces


@cache
def twenty_jobs() -> Scenario:
    """Return the scenario; made once, as it is made of tens of thousands of measured steps."""
    folder = traces()
    return pollux(folder, trace="philly", nodes=2, jobs=20)


#: No word for what is known.
UNKNOWN: Any = "none"

#: Its exact form; `exact` of `simulate` is about fractions.
EXACT, EXACT_AFS = partial(optimus, exact=True), partial(afs, exact=True)

MENU = [(1, 1.0), (2, 1.5), (3, 1.8), (4, 2.0)]


def made(*sizes: tuple[float, float]) -> Workload:
    """Make elastic jobs of (release date, duration)."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, menu=MENU) for i, (r, d) in enumerate(sizes)
    )


@pytest.mark.parametrize(
    ("sizes", "gpus", "expected"),
    [
        ([(0, 90), (0, 360)], 4, (90, 192)),  # 120 s and 40 s of the long one are more than 30 s
        ([(0, 90), (0, 90)], 3, (60, 76 + 2 / 3)),  # the first of equals gets the third GPU
        ([(0, 60), (0, 60), (0, 60)], 2, (60, 60, 100)),  # jobs beyond the capacity wait
        ([(0, 30), (10, 60)], 4, (15, 90)),  # a job starts at the next multiple of the interval
    ],
)
def test_by_hand(sizes: list[tuple[float, float]], gpus: int, expected: tuple[float, ...]) -> None:
    """Jobs complete when the largest reductions of the time left say."""
    assert simulate(made(*sizes), optimus, cluster=gpus).completion_times == pytest.approx(expected)


def test_only_who_changes_moves() -> None:
    """A job whose number of GPUs stays keeps its GPUs while another grows beyond a machine."""
    replay = simulate(
        made((0, 60), (0, 600)), optimus, cluster=Cluster.uniform(machines=2, gpus=2), record=True
    )
    placed = [(each.job, each.start, each.placement) for each in pieces(replay)]
    assert placed == [("j0", 0, (0,)), ("j1", 0, (1, 2, 3)), ("j1", 60, (0, 1, 2, 3))]


@pytest.mark.parametrize(
    ("policies", "times"),
    [((optimus, EXACT), [(120, 80), (30, 100)]), ((afs, EXACT_AFS), [(120, 80), (30, 90)])],
)
def test_exact_differs_where_steps_rise(policies: list[Policy], times: list[tuple[float, ...]]) -> None:
    """A job whose second GPU saves nothing and whose third saves all gets them only by the exact division."""
    late = Job(name="late", release_date=0, duration=120, gpus=1, menu=[(1, 1.0), (2, 1.0), (3, 4.0)])
    even = Job(name="even", release_date=0, duration=120, gpus=1, menu=[(1, 1.0), (2, 1.25), (3, 1.5)])
    jobs = bundle([late, even])
    assert [simulate(jobs, policy, cluster=4).completion_times for policy in policies] == times


@settings(max_examples=cases(24), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_elastic_jobs(scenario: Scenario) -> None:
    """Whatever the jobs, overheads and changes of capacity, all that is booked is what the judge finds."""
    assert check_policy(optimus, [scenario], interval=0.5) == check_policy(afs, [scenario]) == 2
    assert check_policy(EXACT, [scenario], exact=False, interval=None) == 1
    assert check_policy(EXACT_AFS, [scenario], exact=False) == 1


@settings(max_examples=cases(24), deadline=None)
@given(scenario=rich_scenarios())
def test_racks_of_several_kinds(scenario: Scenario) -> None:
    """The same holds where GPUs have types and memory, and machines come and go."""
    assert check_policy(optimus, [scenario], exact=False, interval=0.5) == 1
    assert check_policy(afs, [scenario], exact=False) == 1


def test_as_its_authors_have_it() -> None:
    """Work is predicted from losses: until three were seen a job has one GPU, then more."""
    training = Training(epoch=10, samples=5000, initial_loss=2.0, loss=0.25, curvature=2)
    long = Job(name="long", release_date=0, duration=5000, gpus=1, menu=MENU, training=training)
    replay = simulate(
        bundle([long]), optimus, cluster=4, record=True, interval=600, stops=True, knowledge="predicted"
    )
    assert [(each.start, each.gpus) for each in pieces(replay)] == [(0, 1), (1200, 4)]
    assert replay.completion_times == (1200 + 3800 / 2,)


def test_the_first_step_that_does_not_fit_may_end_it() -> None:
    """A job whose step needs two GPUs ends the decision for one whose step would have fit."""
    wide = Job(name="wide", release_date=0, duration=600, gpus=1, menu=[(1, 1.0), (3, 3.0)])
    jobs = bundle([wide, *made((0, 60)).jobs])
    found = [simulate(jobs, optimus, cluster=3, stops=stops).completion_times for stops in (False, True)]
    assert found == [(240, 40), (240, 60)]


def test_the_simulator_of_pollux() -> None:
    """20 jobs complete to the second when they do in the simulator of the authors of Pollux."""
    spans = "4688 22083 5959 26887 6049 6046 4732 4761 9513 10472 9287 97049 9532 11205 15067 14973 13575 15631"
    replay = simulate(twenty_jobs(), optimus, bound=False)
    assert replay.jct == (*map(float, spans.split()), 16585, 19330)
    assert replay.metrics.mean_jct == pytest.approx(16171.2)


@pytest.mark.parametrize("policy", [optimus, afs])
def test_edges(policy: Policy) -> None:
    """No jobs at all, and one GPU, are no exceptions."""
    assert simulate(bundle([]), policy, cluster=1).completion_times == ()
    assert check_policy(policy, [Scenario(workload=made((0, 9), (0, 3)), cluster=Cluster.plain(1))]) == 2


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (partial(optimus, interval=0), "interval: 0: must be a finite number of seconds"),
        (EXACT, "cluster: .*: must be alike"),
        (partial(optimus, knowledge=UNKNOWN), "knowledge: 'none': must be one of known, predicted"),
        (partial(EXACT, solver="best"), "solver: 'best': must be one of .*exact, "),
        (partial(afs, interval=0), "interval: 0: must be a finite number of seconds"),
        (EXACT_AFS, "cluster: .*: must be alike"),
    ],
)
def test_bad_options(policy: Policy, reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=reason):
        simulate(made((0, 9)), policy, cluster=mixed(2, "V100", "T4"))


@pytest.mark.parametrize("policy", [EXACT, EXACT_AFS])
def test_the_solver_divides(policy: Policy) -> None:
    """A method that leaves jobs their fewest GPUs is asked, and obeyed, in place of the exact one."""
    asked: list[int] = []

    def fewest(problem: Allocation) -> AllocationSolution:
        asked.append(problem.capacity)
        return AllocationSolution(extra={})

    run = simulate(made((0, 60)), partial(policy, solver=fewest), cluster=4)
    assert (run.completion_times, asked[0]) == ((60,), 3)


@pytest.mark.parametrize(
    ("sizes", "gpus", "expected"),
    [
        ([(0, 90), (0, 360)], 4, (60, 195)),  # the short one wins the third GPU, the long one the last
        ([(0, 360), (0, 90)], 3, (226 + 2 / 3, 60)),  # whichever is released first
        ([(0, 90), (0, 60), (0, 60)], 1, (210, 120, 60)),  # of jobs without GPUs the last of the shortest
        ([(0, 90), (10, 30)], 1, (120, 40)),  # at every event
    ],
)
def test_afs_by_hand(sizes: list[tuple[float, float]], gpus: int, expected: tuple[float, ...]) -> None:
    """Jobs complete when the winners of the comparisons say."""
    assert simulate(made(*sizes), afs, cluster=gpus).completion_times == pytest.approx(expected)


def test_steps_of_several_gpus_count_for_each() -> None:
    """A job that doubles its speed on three more GPUs loses to one that gains two thirds of it on one."""
    wide = Job(name="wide", release_date=0, duration=60, gpus=1, menu=[(1, 1.0), (4, 2.0)])
    even = Job(name="even", release_date=0, duration=90, gpus=1, menu=MENU)
    assert simulate(bundle([wide, even]), afs, cluster=5).completion_times == (52.5, 45)


def test_steps_that_gain_nothing_are_not_taken() -> None:
    """A job that is no faster on two GPUs stays on one, though nobody else wants them."""
    flat = Job(name="flat", release_date=0, duration=60, gpus=1, menu=[(1, 1.0), (2, 1.0)])
    assert simulate(bundle([flat]), afs, cluster=2).metrics.gpu_seconds == 60


def test_afs_in_the_simulator_of_pollux() -> None:
    """20 jobs have the mean that the rule has in the simulator of the authors of Pollux."""
    replay = simulate(twenty_jobs(), afs, interval=60, bound=False)
    assert replay.metrics.mean_jct == pytest.approx(13242.1)


ITEM = Job(name="a", release_date=0, duration=1, gpus=1)


def candidate(number: int, left: list[float]) -> GpuCandidate:
    """Make a job that has so much left on 1, 2, ... GPUs."""
    return GpuCandidate(number, ITEM, tuple(range(1, len(left) + 1)), tuple(left))


def grants_of(gpus: int) -> Grants:
    """Make grants of so many GPUs."""
    pool = Count()
    pool.give_back(gpus)
    return Grants(pool, {})


def total(jobs: list[GpuCandidate], grants: Grants) -> float:
    """Sum the times that are left."""
    return sum(float(job.left[grants.rung(job)]) for job in jobs)


def best(jobs: list[GpuCandidate], gpus: int) -> float:
    """Find the least sum of the times left by a table over the GPUs."""
    table = {0: 0.0}
    for job in jobs:
        wider: dict[int, float] = {}
        for used, value in table.items():
            for count, left in zip(job.counts, job.left, strict=True):
                if used + count <= gpus:
                    wider[used + count] = min(value + left, wider.get(used + count, value + left))
        table = wider
    return min(table.values())


def drawn(random: Random, *, convex: bool) -> list[GpuCandidate]:
    """Draw jobs of whole times left; convex ones save less with each GPU."""
    jobs = []
    for number in range(random.randint(1, 5)):
        saved = [random.randint(0 if convex else -9, 40) for _ in range(random.randint(0, 5))]
        if convex:
            saved.sort(reverse=True)
        left = [300.0]
        for each in saved:
            left.append(left[-1] - each)
        jobs.append(candidate(number, left))
    return jobs


def test_the_race_is_optimal_where_each_step_saves_less() -> None:
    """The exact division is the best there is, and the race finds none better, and one as good if convex."""
    for seed in range(cases(500)):
        random, convex = Random(seed), seed % 2 == 0
        jobs = drawn(random, convex=convex)
        gpus = len(jobs) + random.randint(0, 10)
        race, exact = grants_of(gpus), grants_of(gpus)
        by_steps(jobs, race)
        by_method(jobs, exact, find_method("allocation", "exact"))
        assert total(jobs, exact) == best(jobs, gpus) <= total(jobs, race), seed
        assert not convex or total(jobs, race) == best(jobs, gpus), seed


def test_the_race_may_lose() -> None:
    """Where the second step saves more than the first, the race gives the GPUs to another job."""
    jobs = [candidate(0, [10, 9, 1]), candidate(1, [10, 8, 7])]
    race, exact = grants_of(4), grants_of(4)
    by_steps(jobs, race)
    by_method(jobs, exact, find_method("allocation", "exact"))
    assert (total(jobs, race), total(jobs, exact)) == (17, 11)


def test_no_jobs_and_no_solution() -> None:
    """Nobody asks for nothing; a method without a solution is refused."""
    by_method([], grants_of(2), find_method("allocation", "exact"))
    jobs = [candidate(0, [10, 9])]
    with pytest.raises(InvalidInput, match="must find a solution at every event"):
        by_method(jobs, grants_of(2), lambda _: NoSolution("none"))


@pytest.mark.parametrize(("shortest_first", "served"), [(False, {0: 1}), (True, {1: 1})])
def test_who_gets_the_fewest_gpus_where_they_are_scarce(shortest_first: bool, served: dict[int, int]) -> None:
    """The first job does, or the shortest one."""
    grants = grants_of(1)
    jobs = [candidate(0, [10, 9]), candidate(1, [8, 7])]
    by_method(jobs, grants, find_method("allocation", "exact"), shortest_first=shortest_first)
    assert grants.holdings == served


def test_by_the_paper() -> None:
    """The winner of two jobs on any GPUs is the one whose choice gives the two of them less time in sum.

    The comparison is derived from what follows when the next GPU goes to the shorter job, which gives it up
    when it is complete, or to the longer one.
    """
    random = Random(3)
    for _ in range(cases(400)):
        small, large = sorted(random.uniform(10, 500) for _ in range(2))
        have, more = (1.0, random.uniform(1.05, 2.0)), (1.0, random.uniform(1.05, 2.0))
        one = GpuCandidate(0, ITEM, (1, 2), (small / have[0], small / have[1]))
        other = GpuCandidate(1, ITEM, (1, 2), (large / more[0], large / more[1]))
        if one.left[0] >= other.left[1]:
            continue  # the longer job would be through first with one GPU more
        to_short = 2 * one.left[1] + (large - one.left[1] * more[0]) / more[1]
        to_long = 2 * one.left[0] + (large - one.left[0] * more[1]) / more[1]
        assert wins(one, 0, other, 0) == (to_short < to_long) == (not wins(other, 0, one, 0))


class Step(NamedTuple):
    """A step of so many GPUs."""

    rank: float
    gpus: int


@pytest.mark.parametrize(("stops", "order"), [(False, [1, 1]), (True, [1])])
def test_a_step_that_does_not_fit_ends_its_contender_or_all(stops: bool, order: list[int]) -> None:
    """Of two GPUs the step of three is not granted; the others go on unless the race stops."""
    asking = [[Step(2.0, 3), Step(0.0, 1)], [Step(1.0, 1), Step(3.0, 1)]]
    left = [2]

    def take(_: int, step: Step) -> bool:
        if step.gpus > left[0]:
            return False
        left[0] -= step.gpus
        return True

    assert [place for place, _ in race(map(iter, asking), take, stops=stops)] == order


def test_equals_go_in_the_order_of_their_names() -> None:
    """Of equal ranks the candidate that is named first goes first."""
    asking = [[Step(1.0, 1)] * 2, [Step(1.0, 1)]]
    assert [place for place, _ in race(map(iter, asking), lambda *_: True)] == [0, 0, 1]


def test_time_saved_counts_per_gpu() -> None:
    """A step that saves as much with more GPUs ranks behind, and one that saves nothing has no rank."""
    assert by_time_saved(9.0, 3.0, 1) < by_time_saved(9.0, 3.0, 2)
    assert by_time_saved(3.0, 9.0, 1) is None


def last_first(jobs: Sequence[GpuCandidate], grants: Grants) -> None:
    """Grant to the job that came last first."""
    for job in reversed(jobs):
        grants.grow(job)


@pytest.mark.parametrize(
    ("interval", "round_length", "expected"),
    [(None, None, (10, 3)), (5, None, (13, 7)), (5, 7, (15, 9)), (5, 2, (12, 8))],
)
def test_intervals(interval: float | None, round_length: float | None, expected: tuple[float, ...]) -> None:
    """Decisions are taken at every event or at multiples of an interval, or in the first round after them."""
    jobs = made((0, 8), (1, 2))  # with a choice, though there is one GPU only
    policy = partial(Granting, grant=last_first, interval=interval)
    assert simulate(jobs, policy, cluster=1, round_length=round_length).completion_times == expected


def test_nobody_asks_where_time_changes_nothing() -> None:
    """Rigid jobs are looked at when something has happened, not at every interval."""
    asked = []

    def watching(jobs: Sequence[GpuCandidate], grants: Grants) -> None:
        asked.append(len(jobs))
        last_first(jobs, grants)

    simulate(workload((0, 1e9, 1), (1, 1e9, 1)), lambda state: Granting(state, watching, interval=5), cluster=2)
    assert asked == [1, 2, 1, 0]


def test_a_wait_that_is_over_grants_nothing() -> None:
    """Who comes to an idle cluster waits for the next interval, though one was waited for before."""
    found = simulate(made((0, 3), (13, 3)), lambda state: Granting(state, last_first, interval=5), cluster=1)
    assert found.completion_times == (3, 18)


@pytest.mark.parametrize("interval", [0, -1, float("nan"), float("inf"), "60"])
def test_bad_intervals(interval: float) -> None:
    """An interval that is no number of seconds is refused."""
    jobs = bundle([Job(name="a", release_date=0, duration=5, gpus=1)])
    with pytest.raises(InvalidInput, match=r"interval: .* must be a finite number of seconds"):
        simulate(jobs, lambda state: Granting(state, last_first, interval=interval), cluster=1)


def test_only_gpus_that_suit_a_job_count() -> None:
    """A job gets GPUs of its type only, and first those that it held."""
    pool = Kinds(mixed(2, "V100", "T4"))
    pool.give_back((2, 2))
    grants = Grants(pool, {1: (0, 1)})
    typed = Job(name="a", release_date=0, duration=9, gpus=1, gpu_type="V100")
    other = Job(name="b", release_date=0, duration=9, gpus=1)
    assert grants.grow(GpuCandidate(1, other, (1,), (9.0,)))
    picky = GpuCandidate(0, typed, (2, 3), (9.0, 8.0))
    assert [grants.grow(picky), grants.may_grow(picky)] == [True, False]
    assert grants.holdings == {1: (0, 1), 0: (2, 0)}


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({0: 1, 1: 2, 2: 3}, {0: (0,), 1: (4, 5), 2: (1, 2, 3)}),  # the new one takes the freest machine
        ({0: 2, 1: 2, 2: 1}, {0: (1, 2), 1: (4, 5), 2: (0,)}),  # the fewest GPUs are placed first
        ({0: 4, 1: 2, 2: 2}, {0: (2, 3, 6, 7), 1: (4, 5), 2: (0, 1)}),  # over two machines
        ({1: 2, 2: 4}, {1: (4, 5), 2: (0, 1, 2, 3)}),
    ],
)
def test_placement_by_hand(second: dict[int, int], expected: dict[int, tuple[int, ...]]) -> None:
    """Whose number stays keeps its GPUs; others give theirs back and go where most GPUs are free."""
    steps, found = iter([{0: 1, 1: 2}, second]), list[dict[int, tuple[int, ...]]]()

    def follow(state: State) -> Iterable[Action]:
        step = next(steps, None)
        if step is not None:
            found.append(place_on_emptiest(state, step))
            yield Assign(found[-1])

    jobs = made((0, 9), (0, 9), (1, 9))
    simulate(jobs, doing(follow), cluster=Cluster.uniform(machines=2, gpus=4))
    assert found == [{0: (0,), 1: (4, 5)}, expected]


def seen(*jobs: Job, **given: Any) -> list[list[GpuCandidate]]:
    """Return the candidates that each event of a run shows."""
    found: list[list[GpuCandidate]] = []

    def watched(state: State) -> Decider:
        decider, candidates = equal_share(state), Candidates(state)
        there: set[int] = set()

        def decide(state: State) -> Iterable[Action]:
            there.update(state.arrived)
            there.difference_update(state.completed)
            found.append(candidates.of(state, sorted(there)))
            return decider.decide(state)

        return doing(decide)(state)

    simulate(bundle(jobs), watched, **given)
    return found


WIDE = [(1, 1.0), (2, 1.5), (4, 2.0)]


def test_slow_phases_count_on_all_numbers_alike() -> None:
    """In a phase at half the speed everything that is left takes twice as long."""
    job = Job(name="a", release_date=0, duration=60, gpus=1, menu=WIDE, phases=[Phase(until=1, slowdown=2)])
    assert seen(job, cluster=4)[0][0].left == (120.0, 80.0, 60.0)


def test_phases_are_those_of_now() -> None:
    """When a slow phase is over, less is left than by the speed at the beginning."""
    phases = [Phase(until=0.5, slowdown=2), Phase(until=1)]
    slow = Job(name="a", release_date=0, duration=60, gpus=1, phases=phases)
    other = Job(name="b", release_date=60, duration=1, gpus=1)
    assert [each.left for each in seen(slow, other, cluster=2)[1]] == [(30.0,), (1.0,)]


def test_wide_numbers_are_on_their_best_tier() -> None:
    """On more GPUs than a machine has a job pays for the network between machines."""
    speed = Speed(tiers={"wild": TierPenalty(machine=0.0, rack=1.0, network=1.0)})
    job = Job(name="a", release_date=0, duration=60, gpus=1, menu=WIDE, model="wild")
    cluster = Cluster.uniform(machines=2, gpus=2)
    assert seen(job, cluster=cluster, speed=speed)[0][0].left == (60.0, 40.0, 60.0)


def test_gpus_that_are_away_are_not_asked_for() -> None:
    """While GPUs are away the larger numbers are left out, and a job without any other contends for none."""
    rigid = Job(name="b", release_date=0, duration=60, gpus=2)
    elastic = Job(name="a", release_date=0, duration=60, gpus=1, menu=WIDE)
    changes = [CapacityChange(time=0, gpus=1), CapacityChange(time=30, gpus=4)]
    first, second, *_ = seen(elastic, rigid, cluster=4, capacity_changes=changes)
    assert [each.counts for each in first] == [(1,)]
    assert [each.counts for each in second] == [(1, 2, 4), (2,)]


APPLICATION = Application(
    name="resnet18",
    placements=[
        MeasuredPlacement(shape=[1], points=[(8, 0.1, 0.0), (16, 0.2, 0.0)]),
        MeasuredPlacement(shape=[2], points=[(8, 0.15, 0.05), (16, 0.25, 0.05)]),
        MeasuredPlacement(shape=[1, 2], points=[(8, 0.3, 0.2), (16, 0.4, 0.2)]),
    ],
    validations=[
        Validation(batch=16, epochs=[Epoch(progress=n, iterations=10 * n, sqr=1, var=1) for n in (1, 2, 3)]),
        Validation(batch=96, epochs=[Epoch(progress=n, iterations=2 * n, sqr=1, var=1) for n in (1, 2, 3)]),
    ],
    limits=Limits(initial_batch=16, most_batch=64, least_local=8, most_local=16),
    epochs=3,
)


@pytest.mark.parametrize(
    ("batch", "shape", "doubled", "expected"),
    [
        (16, (1,), True, 0.2),  # twice 8 samples
        (16, (1,), False, 0.2),  # once 16 samples
        (32, (1,), False, 0.4),  # above the initial batch two are taken in any case
        (48, (1,), True, 0.6),
        (24, (2,), True, 0.2),  # two GPUs need not divide 12 samples
        (48, (2,), True, 0.2 + 0.15),  # twice 12 samples, of which only the second is exchanged
        (48, (2, 1), True, 0.4),
        (48, (3,), True, None),
    ],
)
def test_iterations_by_hand(batch: int, shape: tuple[int, ...], doubled: bool, expected: float | None) -> None:
    """Each GPU takes its part in as few sub-batches as fit, and only the last of them is exchanged."""
    found = seconds_per_iteration(APPLICATION, batch, shape, doubled=doubled)
    assert found == (None if expected is None else pytest.approx(expected))


def test_whole_epochs_count() -> None:
    """What is left are the iterations behind the epoch in which the job is, and one in the last epoch."""
    assert [iterations_left(APPLICATION, 16, epoch) for epoch in range(3)] == [20, 10, 1]


@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 1.0, 0.0), (0.01, 0.5, 0.0), (0.01, 0.25, 0.25)])
def test_curves_of_its_own_form(a: float, b: float, c: float) -> None:
    """Of a curve 1 / (a k + b) + c the samples until a loss are found, exactly where c is tried."""
    seen = [(float(k), 1 / (a * k + b) + c) for k in (0, 20, 50, 90)]
    target = 1 / (a * 200 + b) + c
    assert samples_until(seen, target) == pytest.approx(200, rel=0.02 if c else 1e-6)


def test_what_is_never_reached() -> None:
    """Where losses rise, or none at all is wanted, nothing can be told."""
    assert samples_until([(0.0, 1.0), (1.0, 0.5), (2.0, 0.3)], 0.0) is None
    assert samples_until([(0.0, 1.0), (1.0, 1.5), (2.0, 2.0)], 0.5) is None
