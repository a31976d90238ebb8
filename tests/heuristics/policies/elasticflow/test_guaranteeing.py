"""Guaranteeing: who is admitted, told, dropped, and served last."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange
from gsopt.simulation import State, simulate
from heuristics.policies.elasticflow.guaranteeing import Admission, Guaranteeing
from heuristics.policies.elasticflow.plan import keeps_all
from tests.gsopt.simulation.scenarios import bundle


def made(*sizes: tuple[float, float, float | None]) -> Workload:
    """Make jobs of one GPU of (release date, duration, deadline)."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=1, deadline=due)
        for i, (r, d, due) in enumerate(sizes)
    )


def run(workload: Workload, *, drops: bool = False, slot: float = 10) -> tuple[Any, list[Admission]]:
    """Simulate on one GPU; give completion times and what was told."""
    told: list[Admission] = []

    def policy(state: State) -> Guaranteeing:
        return Guaranteeing(state, keeps_all, slot=slot, drops=drops, on_admission=told.append)

    return simulate(workload, policy, cluster=1).completion_times, told


def test_newcomers_are_admitted_one_by_one() -> None:
    """Of two jobs of one slot that cannot both be in time the first is admitted, though it is due later."""
    times, told = run(made((0, 50, 60), (0, 30, 40)))
    assert times == (50, 80)
    assert told == [Admission(0, 0, admitted=True), Admission(1, 0, admitted=False)]


@pytest.mark.parametrize(("drops", "last"), [(False, 80), (True, None)])
def test_rejected_jobs_come_last_or_never(drops: bool, last: float | None) -> None:
    """A rejected job gets what is left over, or nothing; a job without a deadline is told of to nobody."""
    times, told = run(made((0, 50, 60), (0, 30, 40), (0, 10, None)), drops=drops)
    assert times == ((50, 80, 90) if last else (50, None, 60))
    assert [each.job for each in told] == [0, 1]


def test_admitted_jobs_stop_those_that_are_not() -> None:
    """A job that is admitted takes the GPU of one without a deadline at the next slot."""
    assert run(made((0, 40, None), (5, 20, 31)))[0] == (60, 30)


def test_what_has_become_late_is_served_first_of_what_is_left() -> None:
    """A job that is late by the overhead of its stop goes on before one without a deadline."""
    assert run(made((0, 30, None), (1, 30, 45)), slot=10)[0] == (60, 40)


def test_a_job_that_is_late_in_any_case_keeps_nobody_out() -> None:
    """An admitted job that lost its GPUs for too long is late, and newcomers are admitted all the same."""
    told: list[Admission] = []

    def policy(state: State) -> Guaranteeing:
        return Guaranteeing(state, keeps_all, slot=10, drops=False, on_admission=told.append)

    changes = [CapacityChange(time=10, gpus=0), CapacityChange(time=60, gpus=2)]
    work = made((0, 50, 60), (60, 20, 100))
    times = simulate(work, policy, cluster=2, capacity_changes=changes).completion_times
    assert (times, [each.admitted for each in told]) == ((100, 80), [True, True])


def test_kinds_and_slots_are_refused() -> None:
    """GPUs of several kinds, and a slot that is no number of seconds, are refused in one line."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("V100", "T4")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    with pytest.raises(InvalidInput, match="cluster: GPUs of several kinds: must be alike"):
        simulate(
            made((0, 1, None)),
            lambda state: Guaranteeing(state, keeps_all, slot=60, drops=False),
            cluster=cluster,
        )
    with pytest.raises(InvalidInput, match="slot: 0: must be a finite number of seconds"):
        run(made((0, 1, None)), slot=0)


def test_a_wait_that_is_over_begins_no_slot() -> None:
    """Who comes to an idle cluster waits for the next slot, though one was waited for before all completed."""

    def policy(state: State) -> Guaranteeing:
        return Guaranteeing(state, keeps_all, slot=10, drops=False)

    work = made((0, 2, None), (0, 6, None), (25, 10, 60))
    assert simulate(work, policy, cluster=2).completion_times == (2, 6, 40)


@pytest.mark.parametrize("epoch", [0, 1.7e9])
def test_slots_are_counted_in_spite_of_rounding(epoch: float) -> None:
    """A deadline three slots of a tenth of a second away leaves three slots, whatever the rounding."""
    assert run(made((epoch, 0.3, epoch + 0.3)), slot=0.1)[1][0].admitted


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

    def policy(state: State) -> Guaranteeing:
        return Guaranteeing(state, keeps_all, slot=60, drops=False)

    assert simulate(work, policy, cluster=2).completion_times == (180, 240, 300)


def test_gpus_that_are_left_over_go_to_the_earlier_deadline() -> None:
    """Of two jobs that gain the same from a third GPU that has it which is due first, though it came last."""
    menu = [(1, 1.0), (2, 2.0)]
    work = bundle(
        Job(name=f"j{i}", release_date=0, duration=60, gpus=1, menu=menu, deadline=due)
        for i, due in enumerate([600, 300])
    )

    def policy(state: State) -> Guaranteeing:
        return Guaranteeing(state, keeps_all, slot=60, drops=False)

    assert simulate(work, policy, cluster=3).completion_times == (60, 30)


def test_completions_that_rounding_delays_lose_no_slot() -> None:
    """A job that completes just after the end of its slot, on the clock, leaves the next one to others."""
    work = made((0, 0.4, 0.5), (0, 0.30000000000000004, 0.7), (0, 0.2, 0.9), (0, 0.30000000000000004, 1.2))
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

    def policy(state: State) -> Guaranteeing:
        return Guaranteeing(state, keeps_all, slot=0.1, drops=False)

    times = simulate(work, policy, cluster=4).completion_times
    assert times == pytest.approx((0.1, 0.3, 0.1), rel=SUM)
