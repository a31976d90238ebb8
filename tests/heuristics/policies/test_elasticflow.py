"""ElasticFlow: deadlines planned and kept, the plan and its parts by hand, and every kind of scenario."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import Action, Policy, Start, State, simulate
from gsopt.testing import check_policy
from heuristics.policies.elasticflow import relaxed
from heuristics.policies.elasticflow.guaranteeing import DeadlineDecision, Guaranteeing, Rules
from heuristics.policies.elasticflow.plan import by_deadline, keeps_all, shares, with_spare
from heuristics.policies.elasticflow.policy import elasticflow
from heuristics.policies.elasticflow.profile import PlannedShare, ProfileRequest, SlotProfile, levels_of
from heuristics.policies.elasticflow.relaxed import could_keep_all
from instances.scenarios import elasticflow as published
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios
from tests.gsopt.simulation.scripts import doing
from tests.heuristics.policies.shared import mixed, pieces, traces

LENGTH = 60.0


def drawn(random: Random, most: int = 8, gpus: int = 8) -> list[ProfileRequest]:
    """Draw jobs whose deadlines are somewhat later than they need alone, on levels that are powers of 2."""
    requests = []
    for number in range(random.randint(1, most)):
        levels = (1, 2, 4, 8)[: random.randint(1, gpus.bit_length())]
        speeds = tuple(level ** random.choice([0.5, 0.75, 0.9]) for level in levels)
        speeds = tuple(sorted(speeds))
        slots = random.randint(1, 40)
        work = random.uniform(0.2, 0.9) * slots * LENGTH * speeds[-1] * random.choice([0.3, 1.0])
        if len(set(speeds)) == len(speeds):
            requests.append(ProfileRequest(number, work, levels, speeds, slots))
    return requests


MENU = [(1, 1.0), (2, 1.8), (4, 3.0)]


def made(*sizes: tuple[float, float, float | None]) -> Workload:
    """Make elastic jobs of (release date, duration, deadline)."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, menu=MENU, deadline=due)
        for i, (r, d, due) in enumerate(sizes)
    )


def test_by_hand() -> None:
    """Each job has the fewest GPUs that keep its deadline, and the last GPU goes to the first of equals."""
    replay = simulate(made((0, 360, 240), (0, 360, 480)), elasticflow, cluster=4, record=True)
    first = [(each.job, each.gpus) for each in pieces(replay) if each.start == 0]
    assert first == [("j0", 2), ("j1", 2)]
    assert replay.completion_times == (200, 200)


@pytest.mark.parametrize(
    ("options", "times"),
    [({}, (100, 220)), ({"slot": 50}, (100, 200)), ({"rejected": "never"}, (100, None))],
)
def test_rejected_jobs(options: dict[str, Any], times: tuple[float | None, ...]) -> None:
    """A job that cannot be complete in time waits for the slot after the other is complete, or for ever."""
    jobs = bundle(
        Job(name=name, release_date=r, duration=100, gpus=1, deadline=150) for name, r in [("a", 0), ("b", 10)]
    )
    assert simulate(jobs, elasticflow, cluster=1, bound=False, **options).completion_times == times


def test_planned_is_not_kept() -> None:
    """Overheads are not planned, so a job that is admitted may be late; without them it is not."""
    told: list[DeadlineDecision] = []
    work = made((0, 230, 240))
    kept = [
        simulate(work, elasticflow, cluster=1, overheads=Overhead(start=start), on_admission=told.append)
        for start in (0, 20)
    ]
    assert [each.admitted for each in told] == [True, True]
    assert [replay.metrics.deadlines_kept for replay in kept] == [1, 0]


def test_exact_admits_what_the_rule_refuses() -> None:
    """The relaxation admits a job that minimum satisfactory shares by deadline have no room for."""
    flat = [(1, 1.0), (2, 1.0 + 1e-6)]
    early = Job(name="a", release_date=0, duration=110, gpus=1, menu=flat, deadline=120)
    late = Job(name="b", release_date=0, duration=115, gpus=2, deadline=180)
    told: list[DeadlineDecision] = []
    for policy in (elasticflow, partial(elasticflow, exact=True)):
        simulate(bundle([early, late]), policy, cluster=2, on_admission=told.append)
    assert [each.admitted for each in told] == [True, False, True, True]


@settings(max_examples=cases(24), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_any_jobs(scenario: Scenario) -> None:
    """Whatever the jobs, with deadlines for two in three, all that is booked is what the judge finds."""
    jobs = [
        job if number % 3 == 2 else job.model_copy(update={"deadline": job.release_date + 2 * job.duration})
        for number, job in enumerate(scenario.workload.jobs)
    ]
    due = scenario.model_copy(update={"workload": bundle(jobs)})
    assert check_policy(elasticflow, [due], slot=0.5) == 2
    assert check_policy(partial(elasticflow, exact=True), [due], slot=0.5, exact=False) == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rejected": "first"}, "rejected: 'first': must be one of last, never"),
        ({"slot": -1}, "slot: -1"),
        ({"rules": "code"}, "rules: 'code': must be one of paper, program"),
        ({"on_admission": "print"}, "on_admission: 'print': must be a function, or None"),
    ],
)
def test_bad_options(options: dict[str, Any], reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=reason):
        simulate(made((0, 9, None)), elasticflow, cluster=1, **options)


def single(*sizes: tuple[float, float, float | None]) -> Workload:
    """Make jobs of one GPU of (release date, duration, deadline)."""
    return bundle(job.model_copy(update={"menu": ()}) for job in made(*sizes).jobs)


def guaranteeing(slot: float, **options: Any) -> Policy:
    """Make a policy that admits by minimum satisfactory shares."""
    return lambda state: Guaranteeing(state, keeps_all, slot=slot, **{"drops": False, **options})


def run(
    workload: Workload, *, slot: float = 10, cluster: Any = 1, **options: Any
) -> tuple[Any, list[DeadlineDecision]]:
    """Simulate, on one GPU unless told; return completion times and decisions about deadlines."""
    told: list[DeadlineDecision] = []
    changes = options.pop("capacity_changes", ())
    policy = guaranteeing(slot, on_admission=told.append, **options)
    return simulate(workload, policy, cluster=cluster, capacity_changes=changes).completion_times, told


def test_newcomers_are_admitted_one_by_one() -> None:
    """Of two jobs of one slot that cannot both be in time the first is admitted, though it is due later."""
    times, told = run(single((0, 50, 60), (0, 30, 40)))
    assert times == (50, 80)
    assert told == [DeadlineDecision(0, 0, admitted=True), DeadlineDecision(1, 0, admitted=False)]


@pytest.mark.parametrize(("drops", "last"), [(False, 80), (True, None)])
def test_rejected_jobs_come_last_or_never(drops: bool, last: float | None) -> None:
    """A rejected job gets what is left over, or nothing; a job without a deadline is told of to nobody."""
    times, told = run(single((0, 50, 60), (0, 30, 40), (0, 10, None)), drops=drops)
    assert times == ((50, 80, 90) if last else (50, None, 60))
    assert [each.job for each in told] == [0, 1]


def test_admitted_jobs_stop_those_that_are_not() -> None:
    """A job that is admitted takes the GPU of one without a deadline at the next slot."""
    assert run(single((0, 40, None), (5, 20, 31)))[0] == (60, 30)


def test_what_has_become_late_is_served_first_of_what_is_left() -> None:
    """A job that is late by the overhead of its stop goes on before one without a deadline."""
    assert run(single((0, 30, None), (1, 30, 45)), slot=10)[0] == (60, 40)


def test_a_job_that_is_late_in_any_case_keeps_nobody_out() -> None:
    """An admitted job that lost its GPUs for too long is late, and newcomers are admitted all the same."""
    changes = [CapacityChange(time=10, gpus=0), CapacityChange(time=60, gpus=2)]
    times, told = run(single((0, 50, 60), (60, 20, 100)), cluster=2, capacity_changes=changes)
    assert (times, [each.admitted for each in told]) == ((100, 80), [True, True])


def test_kinds_and_slots_are_refused() -> None:
    """GPUs of several kinds, and a slot that is no number of seconds, are refused in one line."""
    with pytest.raises(InvalidInput, match="cluster: GPUs of several kinds: must be alike"):
        run(single((0, 1, None)), cluster=mixed(2, "V100", "T4"))
    with pytest.raises(InvalidInput, match="slot: 0: must be a finite number of seconds"):
        run(single((0, 1, None)), slot=0)


def test_a_wait_that_is_over_begins_no_slot() -> None:
    """Who comes to an idle cluster waits for the next slot, though one was waited for before all completed."""
    assert run(single((0, 2, None), (0, 6, None), (25, 10, 60)), cluster=2)[0] == (2, 6, 40)


@pytest.mark.parametrize("epoch", [0, 1.7e9])
def test_slots_are_counted_in_spite_of_rounding(epoch: float) -> None:
    """A deadline three slots of a tenth of a second away leaves three slots, whatever the rounding."""
    assert run(single((epoch, 0.3, epoch + 0.3)), slot=0.1)[1][0].admitted


def test_what_was_planned_is_kept_when_a_job_is_ahead() -> None:
    """A job that could do with one GPU for longer goes on with two, so that the wide one has room."""
    given: list[tuple[str, float, float, int, list[tuple[int, float]], float | None]] = [
        ("ahead", 0, 270, 1, [(1, 1.0), (2, 1.5)], 240),
        ("wide", 0, 60, 2, [(2, 1.0)], 240),
        ("new", 60, 60, 1, [(1, 1.0)], None),
    ]
    work = bundle(
        Job(name=name, release_date=r, duration=d, gpus=g, menu=menu, deadline=due)
        for name, r, d, g, menu, due in given
    )
    assert run(work, slot=60, cluster=2)[0] == (180, 240, 300)


def test_gpus_that_are_left_over_go_to_the_earlier_deadline() -> None:
    """Of two jobs that gain the same from a third GPU that has it which is due first, though it came last."""
    menu = [(1, 1.0), (2, 2.0)]
    work = bundle(
        Job(name=f"j{i}", release_date=0, duration=60, gpus=1, menu=menu, deadline=due)
        for i, due in enumerate([600, 300])
    )
    assert run(work, slot=60, cluster=3)[0] == (60, 30)


def test_completions_that_rounding_delays_lose_no_slot() -> None:
    """A job that completes just after the end of its slot, on the clock, leaves the next one to others."""
    work = single((0, 0.4, 0.5), (0, 0.30000000000000004, 0.7), (0, 0.2, 0.9), (0, 0.30000000000000004, 1.2))
    times, told = run(work, slot=0.1)
    assert all(each.admitted for each in told)
    assert times == pytest.approx((0.4, 0.7, 0.9, 1.2), rel=SUM)


def test_jobs_that_are_through_but_for_rounding_are_not_stopped() -> None:
    """Where slots end with one completion, a job that completes with it but for rounding completes too."""
    menus = [[(1, 1.0), (3, 3.0)], [(4, 1.0)], [(1, 1.0), (2, 1.5)]]
    sizes = [(0.30000000000000004, 1, 0.1), (0.2, 4, 0.3), (0.1, 1, 0.4)]
    work = bundle(
        Job(name=f"j{i}", release_date=0, duration=d, gpus=g, menu=menu, deadline=due)
        for i, ((d, g, due), menu) in enumerate(zip(sizes, menus, strict=True))
    )
    assert run(work, slot=0.1, cluster=4)[0] == pytest.approx((0.1, 0.3, 0.1), rel=SUM)


LINEAR, FLAT = (1.0, 2.0, 4.0), (1.0, 1.2, 1.3)


def test_by_deadline_and_number() -> None:
    """The earliest deadline first, jobs without one last, and of equals the lower number."""
    requests = [ProfileRequest(n, 1.0, (1,), (1.0,), slots) for n, slots in enumerate([None, 3, 1, 3])]
    assert [request.number for request in by_deadline(requests)] == [2, 1, 3, 0]
    assert [request.number for request in by_deadline(requests[::-1])] == [2, 1, 3, 0]


def test_a_late_job_takes_nothing_from_the_others() -> None:
    """What cannot be complete in time gets no share, and those behind it get theirs."""
    requests = [ProfileRequest(0, 900.0, (1,), (1.0,), 2), ProfileRequest(1, 60.0, (1,), (1.0,), 4)]
    assert shares(requests, 1, 60.0) == {1: PlannedShare(1, 1, 1)}
    assert not keeps_all(requests, 1, 60.0)


def test_levels_are_not_lowered_where_that_makes_others_late() -> None:
    """A job that is ahead could do with less for longer, but then another would have no room."""
    ahead = ProfileRequest(0, 180.0, (1, 2), (1.0, 1.5), 3)
    wide = ProfileRequest(1, 60.0, (2,), (1.0,), 3)
    assert shares([ahead, wide], 2, 60.0) == {0: PlannedShare(1, 1, 3)}
    assert shares([ahead, wide], 2, 60.0, {0: PlannedShare(2, 2, 9), 1: PlannedShare(2, 0, 9)}) == {
        0: PlannedShare(2, 2, 2),
        1: PlannedShare(2, 0, 3),
    }


def test_levels_are_lowered_where_that_makes_nobody_late() -> None:
    """Beside a job that is late in any case the other one has its least level, whatever it had before."""
    ahead = ProfileRequest(0, 180.0, (1, 2), (1.0, 1.5), 3)
    lost = ProfileRequest(1, 9000.0, (2,), (1.0,), 3)
    assert shares([ahead, lost], 2, 60.0, {0: PlannedShare(2, 2, 9)}) == {0: PlannedShare(1, 1, 3)}


def test_whoever_has_nothing_comes_first() -> None:
    """A job that would begin later gets its lowest level before another grows."""
    requests = [ProfileRequest(0, 600.0, (1, 2, 4), LINEAR, 9), ProfileRequest(1, 600.0, (1, 2, 4), FLAT, 20)]
    assert with_spare(requests, {0: PlannedShare(1, 1, 10), 1: PlannedShare(1, 0, 20)}, 2) == {0: 1, 1: 1}


def test_linear_jobs_grow_before_flat_ones() -> None:
    """GPUs that are left over go where they cost the least GPU time, past steps that do not fit."""
    requests = [ProfileRequest(0, 600.0, (1, 2, 4), FLAT, 9), ProfileRequest(1, 600.0, (1, 2, 4), LINEAR, 20)]
    planned = {0: PlannedShare(1, 1, 9), 1: PlannedShare(1, 1, 20)}
    assert [with_spare(requests, planned, gpus) for gpus in (3, 4, 5, 6)] == [
        {0: 1, 1: 2},
        {0: 2, 1: 2},
        {0: 1, 1: 4},
        {0: 2, 1: 4},
    ]


def test_a_job_without_a_share_saves_at_its_lowest_level() -> None:
    """One of half the gain on one GPU, though of two thirds on two, comes after one of three fifths."""
    requests = [
        ProfileRequest(0, 600.0, (1, 2), (1.0, 1.5), None),
        ProfileRequest(1, 600.0, (1, 2), (1.0, 1.6), 20),
    ]
    assert with_spare(requests, {1: PlannedShare(1, 1, 10)}, 3) == {0: 1, 1: 2}


def test_gains_count_for_each_gpu() -> None:
    """A step of two GPUs that gains more for each comes before one of one GPU, which costs less in all."""
    requests = [
        ProfileRequest(0, 600.0, (1, 2), (1.0, 1.5), 20),
        ProfileRequest(1, 600.0, (1, 3), (1.0, 2.2), 20),
    ]
    assert with_spare(requests, {0: PlannedShare(1, 1, 10), 1: PlannedShare(1, 1, 10)}, 4) == {0: 1, 1: 3}


def test_later_work_is_saved_at_the_level_of_the_share() -> None:
    """The smaller gain wins where each second that is saved later is one on two GPUs at poor speed."""
    requests = [
        ProfileRequest(0, 600.0, (1, 2), (1.0, 1.9), 20),
        ProfileRequest(1, 600.0, (1, 2, 3), (1.0, 1.5, 2.2), 20),
    ]
    planned = {0: PlannedShare(1, 1, 10), 1: PlannedShare(2, 2, 7)}
    assert with_spare(requests, planned, 4) == {0: 1, 1: 3}


def test_linear_jobs_tie() -> None:
    """Of jobs that are as many times faster as they have GPUs the first one grows, whatever the rounding."""
    whole, thirds = (1.0, 2.0, 3.0), (1 / 3, 2 / 3, 3 / 3)
    requests = [ProfileRequest(n, 600.0, (1, 2, 3), speeds, 60) for n, speeds in enumerate([whole, thirds])]
    assert with_spare(requests, {0: PlannedShare(2, 2, 5), 1: PlannedShare(2, 2, 15)}, 5) == {0: 3, 1: 2}


def by_slots(left: list[int], request: ProfileRequest) -> PlannedShare | None:
    """Serve a job slot by slot."""
    for top in request.levels:
        missing, taken = request.work, list[int]()
        for free in left[: None if request.slots is None else int(request.slots)]:
            if missing <= 1e-9 * request.work:
                break
            taken.append(max([level for level in request.levels if level <= min(free, top)], default=0))
            missing -= request.speed(taken[-1]) * LENGTH
        if missing <= 1e-9 * request.work:
            for slot, count in enumerate(taken):
                left[slot] -= count
            return PlannedShare(top, taken[0] if taken else 0, len(taken))
    return None


def test_slots_one_by_one_say_the_same() -> None:
    """Every share, and what is left in every slot, is that of a plan which goes through all slots."""
    for seed in range(cases(200)):
        profile, left = SlotProfile(8, LENGTH), [8] * 60
        for request in drawn(Random(seed)):
            assert profile.serve(request) == by_slots(left, request), seed
        begin, flat = 0, list[int]()
        for end, free in profile.left:
            flat += [free] * (min(end, 60) - begin)
            begin = min(end, 60)
        assert flat == left, seed


def test_work_that_is_done_takes_nothing() -> None:
    """A job without work left needs no slot."""
    profile = SlotProfile(1, LENGTH)
    assert profile.serve(ProfileRequest(0, 0.0, (1,), (1.0,), 4)) == PlannedShare(1, 0, 0)
    assert [free for _, free in profile.left] == [1]


@pytest.mark.parametrize("slots", [0, -3])
def test_deadlines_that_have_passed_cannot_be_kept(slots: int) -> None:
    """A job whose deadline is in the past gets no share."""
    assert SlotProfile(1, LENGTH).serve(ProfileRequest(0, 1.0, (1,), (1.0,), slots)) is None


def test_a_level_that_is_not_left_is_made_up_for_later() -> None:
    """A job runs on the GPUs that are left until others are complete, and then on its level."""
    profile = SlotProfile(4, LENGTH)
    assert profile.serve(ProfileRequest(0, 360.0, (3,), (3.0,), 9)) == PlannedShare(3, 3, 2)
    assert profile.serve(ProfileRequest(1, 600.0, (1, 4), (1.0, 4.0), 4)) == PlannedShare(4, 1, 4)
    assert [free for _, free in profile.left] == [0, 0, 4]


def test_work_that_is_too_much_by_rounding_is_in_time() -> None:
    """Three slots of work, but for a few roundings of it, are three slots."""
    request = ProfileRequest(0, work=3 * LENGTH * (1 + 1e-12), levels=(1,), speeds=(1.0,), slots=3)
    assert SlotProfile(1, LENGTH).serve(request) == PlannedShare(1, 1, 3)


def test_what_the_rule_keeps_the_relaxation_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever minimum satisfactory shares admit could be kept in any parts too, by the programme alone."""
    monkeypatch.setattr(relaxed, "keeps_all", lambda *_: False)
    for seed in range(cases(500)):
        requests = drawn(Random(seed))
        assert not keeps_all(requests, 8, LENGTH) or could_keep_all(requests, 8, LENGTH), seed


def test_the_rule_refuses_what_could_be_kept() -> None:
    """By deadline the early job takes one GPU throughout; half of the time on both leaves the other enough."""
    early = ProfileRequest(0, 110.0, (1, 2), (1.0, 1.0 + 1e-9), 2)
    late = ProfileRequest(1, 230.0, (2,), (2.0,), 3)
    assert not keeps_all([early, late], 2, LENGTH)
    assert could_keep_all([early, late], 2, LENGTH)


def test_edges() -> None:
    """Nobody at all can be kept; a deadline that has passed cannot."""
    assert could_keep_all([], 1, LENGTH)
    assert not could_keep_all([ProfileRequest(0, 1.0, (1,), (1.0,), 0)], 1, LENGTH)
    assert could_keep_all([ProfileRequest(0, 60.0, (1,), (1.0,), 1)], 1, LENGTH)
    assert not could_keep_all([ProfileRequest(0, 61.0, (1,), (1.0,), 1)], 1, LENGTH)


def test_levels_that_are_no_faster_are_left_out() -> None:
    """More GPUs count only where they make a job faster than all fewer ones."""
    found: list[Any] = []

    def watched(state: State) -> Iterable[Action]:
        found.extend(levels_of(state, job) for job in state.arrived)
        yield from (Start(job, 1) for job in state.arrived)

    menu = [(1, 1.0), (2, 1.5), (4, 1.4), (8, 1.5), (16, 1.6), (32, 9.0)]
    job = Job(name="a", release_date=0, duration=1, gpus=1, menu=menu)
    simulate(bundle([job]), doing(watched), cluster=16)
    assert found == [((1, 2, 16), (1.0, 1.5, 1.6))]


#: The first decisions of the authors' program on its trace elasticVpollux_e, on 64 GPUs: whether the new jobs
#: are admitted, which they are, and of all jobs the iterations left and the seconds until the deadline.
DECISIONS: Sequence[tuple[bool, Sequence[int], Mapping[int, tuple[float, int]]]] = (
    (True, (0,), {0: (2011, 4511)}),
    (True, (1,), {1: (1548, 33)}),
    (True, (2,), {2: (14577, 37719)}),
    (False, (3, 4), {2: (14508.6, 37659), 3: (1548, 27), 4: (1548, 38)}),
    (True, (5,), {2: (14410, 37582), 5: (2264, 19400)}),
    (False, (6, 7), {5: (2223.62, 19340), 2: (14341.6, 37522), 6: (23972, 127775), 7: (1548, 22)}),
    (True, (8,), {5: (2172.71, 19280), 2: (14265.3, 37462), 8: (1423, 38945)}),
    (
        False,
        (9, 10),
        {5: (2095.46, 19190), 8: (1370.21, 38855), 2: (14157.5, 37372), 9: (3178, 1221), 10: (2264, 2106)},
    ),
    (
        True,
        (11, 12),
        {5: (2044.55, 19130), 8: (1330.96, 38795), 2: (14081.2, 37312), 11: (14577, 19221), 12: (2264, 3635)},
    ),
    (True, (13,), {5: (238.26, 16477), 2: (10615.6, 34659), 11: (11111.4, 16568), 13: (42123, 509951)}),
    (True, (14,), {13: (40451.3, 508786), 2: (9088.62, 33494), 11: (9584.45, 15403), 14: (23972, 408262)}),
    (
        True,
        (15, 16),
        {
            14: (23919, 408202),
            13: (40395.9, 508726),
            11: (9508.17, 15343),
            2: (9012.34, 33434),
            15: (14577, 24461),
            16: (14577, 20752),
        },
    ),
    (
        True,
        (17, 18),
        {
            14: (23865.9, 408142),
            13: (40340.4, 508666),
            16: (14500.7, 20692),
            15: (14500.7, 24401),
            11: (9431.89, 15283),
            2: (8936.06, 33374),
            17: (42123, 459078),
            18: (2264, 18309),
        },
    ),
    (
        True,
        (19,),
        {
            14: (23717.7, 407978),
            18: (2164.41, 18145),
            13: (40264.3, 508502),
            16: (14287.6, 20528),
            15: (14287.6, 24237),
            11: (9218.83, 15119),
            17: (42101.8, 458914),
            2: (8805.1, 33210),
            19: (1548, 35),
        },
    ),
    (
        False,
        (20,),
        {
            18: (2113.5, 18085),
            13: (40208.9, 508442),
            16: (14211.4, 20468),
            15: (14211.4, 24177),
            14: (23710.5, 407918),
            11: (9194.29, 15059),
            2: (8780.57, 33150),
            17: (42098, 458854),
            19: (187.49, -25),
            20: (14577, 38201),
        },
    ),
    (
        False,
        (21,),
        {
            14: (23657.4, 407858),
            18: (2075.99, 18025),
            13: (40180.2, 508382),
            16: (14135.1, 20408),
            15: (14135.1, 24117),
            11: (9118.01, 14999),
            2: (8732.5, 33090),
            17: (42094.1, 458794),
            19: (93.66, -85),
            21: (42123, 376450),
        },
    ),
)

#: The most GPUs on which the program runs a model; others run on up to 64.
MOST_GPUS = {"bert": 16, "cifar10": 16, "yolov3": 4, "ncf": 1}


def test_the_program_admits_by_minimum_satisfactory_shares() -> None:
    """Its decisions are those of the paper about all jobs at once, with the last part of a slot."""
    scenario = published(traces(), nodes=16, gpus_per_node=4)
    jobs = {int(job.name): job for job in scenario.workload.jobs}

    def request(job: int, left: float, seconds: int) -> ProfileRequest:
        item = jobs[job]
        levels = [count for count in item.counts if count <= MOST_GPUS.get(item.model, 64)]
        return ProfileRequest(
            number=job,
            work=left / iterations[job] * item.duration,
            levels=tuple(levels),
            speeds=tuple(map(item.speed, levels)),
            slots=max(seconds / 60, 0),
        )

    iterations = {job: state[job][0] for _, new, state in DECISIONS for job in new}
    for admitted, new, state in DECISIONS:
        requests = [request(job, *own) for job, own in state.items()]
        assert keeps_all(requests, 64, 60) == admitted, new


def test_new_jobs_of_the_program_are_admitted_together() -> None:
    """Neither of two jobs of one slot is admitted where one of them would be late."""
    times, told = run(single((0, 50, 60), (0, 30, 40)), rules="program")
    assert times == (50, 80)  # as jobs that are rejected, in order of release
    assert [each.admitted for each in told] == [False, False]


def test_slots_of_the_program_begin_with_events() -> None:
    """A job that comes more than a slot after the last event is decided on at once; the next one waits."""
    work = single((0, 100, 200), (13, 5, 19), (15, 5, 40))
    assert [each.time for each in run(work, cluster=3, rules="program")[1]] == [0, 13, 23]
    assert [each.time for each in run(work, cluster=3)[1]] == [0, 20, 20]


def test_jobs_of_the_program_use_the_slot_before_their_deadline() -> None:
    """A job of 15 s that is due in 16 s needs a part of the second slot, which the paper's plans leave out."""
    work = single((0, 15, 16))
    assert [[each.admitted for each in run(work, rules=rules)[1]] for rules in ("paper", "program")] == [
        [False],
        [True],
    ]


def test_a_late_job_of_the_program_keeps_everybody_out() -> None:
    """While an admitted job is late, nobody is admitted, though there is room."""
    work = single((0, 18, 20), (21, 5, 60))
    late = Overhead(start=5.0)
    decisions = {}
    for rules in ("paper", "program"):
        told: list[DeadlineDecision] = []
        policy = guaranteeing(10, on_admission=told.append, rules=rules)
        simulate(work, policy, cluster=2, overheads=late)
        decisions[rules] = [each.admitted for each in told]
    assert decisions == {"paper": [True, True], "program": [True, False]}


def test_how_many_are_admitted_on_the_published_trace() -> None:
    """Of 195 jobs on 64 GPUs the paper's rules admit 157, the program's 153; the program itself admits 145."""
    scenario = published(traces(), nodes=16, gpus_per_node=4)
    admissions: Mapping[Rules, int] = {"paper": 157, "program": 153}
    for rules, admitted in admissions.items():
        told: list[DeadlineDecision] = []
        policy = partial(elasticflow, rules=rules, rejected="never", on_admission=told.append)
        simulate(scenario, policy, bound=False)
        assert sum(each.admitted for each in told) == admitted
