"""Themis' auctions: who bids, for how long winners hold their GPUs, and what they pay."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.gavel.themis_auction import themis_auction
from tests.gsopt.simulation.scenarios import bundle


def jobs(*sizes: tuple[float, float, int], menu: bool = False) -> Workload:
    """Make jobs of (release date, duration, GPUs), elastic ones with a menu of 1 to 4 GPUs."""
    return bundle(
        Job(
            name=f"j{i}",
            release_date=r,
            duration=d,
            gpus=g,
            menu=linear_menu(g, {1, 2, 4, g}) if menu else (),
        )
        for i, (r, d, g) in enumerate(sizes)
    )


def test_a_lease_is_kept_until_it_ends() -> None:
    """A job that comes waits for the end of the lease, and then has the larger ratio."""
    run = simulate(jobs((0, 3000, 1), (100, 500, 1)), themis_auction, cluster=1, bound=False)
    assert run.start_times == (0, 1200)
    assert run.completion_times == (3500, 1700)


def test_a_winner_stays_where_it_is() -> None:
    """With GPUs for all, leases are renewed without a stop."""
    run = simulate(jobs((0, 3000, 1), (0, 500, 2)), themis_auction, cluster=3, bound=False)
    assert run.completion_times == (3000, 500)
    assert run.metrics.preemptions == 0


def test_what_is_left_is_given_away() -> None:
    """The only bidder leaves a GPU, which the job of the large demand cannot take and the small one can."""
    run = simulate(jobs((0, 1000, 2), (0, 1000, 2), (0, 900, 1)), themis_auction, cluster=3, bound=False)
    assert run.start_times == (0, 1000, 0)


def test_who_has_the_larger_ratio_bids() -> None:
    """An equal part of four GPUs is half of what the large job needs, and all that the small one does."""
    run = simulate(jobs((0, 100, 4), (0, 100, 1)), themis_auction, cluster=4, bound=False)
    assert run.start_times == (100, 0)


def test_isolation_is_on_no_more_gpus_than_are_demanded() -> None:
    """An equal part above the demand is the demand: after a lease the large job has the larger ratio."""
    run = simulate(jobs((0, 5000, 1), (0, 100, 4)), themis_auction, cluster=4, lease=250, bound=False)
    assert run.start_times == (0, 250)


def test_who_does_not_bid_gets_as_much_of_its_demand_as_there_is() -> None:
    """The small job bids, and an elastic one has two of the three GPUs that are left for its four."""
    elastic = Job(name="e", release_date=0, duration=100, gpus=4, menu=linear_menu(4, {1, 2, 4}))
    work = bundle([elastic, *jobs((0, 300, 1)).jobs])
    run = simulate(work, themis_auction, cluster=4, bound=False)
    assert run.completion_times == (200, 300)


def test_winners_of_elastic_size_pay() -> None:
    """Whoever wins all four GPUs for a lease delays the other to 2.6 times its time, and keeps two."""
    workload = jobs((0, 4000, 2), (0, 4000, 2), menu=True)
    starts = [
        simulate(workload, themis_auction, cluster=4, bidding=1.0, payments=payments, bound=False).start_times
        for payments in (False, True)
    ]
    assert starts == [(0, 1200), (0, 0)]


@pytest.mark.parametrize("thirds", [14, 31, 34, 56])
def test_ties_go_to_the_lower_number(thirds: int) -> None:
    """Three jobs that were never delayed have one ratio, whatever the rounding, and the first two go on."""
    time = thirds / 3 + 1
    workload = jobs((0, time, 1), (0, 1.1 * time, 1), (0.3, 1.3 * time, 1))
    assert simulate(workload, themis_auction, cluster=2, lease=0.3, bound=False).start_times[2] > 0.3


@pytest.mark.parametrize("thirds", range(1, 9))
def test_equal_bids_go_to_the_lower_numbers(thirds: int) -> None:
    """Where all bid the same for fewer GPUs than there are jobs, the first jobs win, whatever the rounding."""
    run = simulate(
        jobs(*[(0, thirds / 3, 1)] * 7), themis_auction, cluster=3, bidding=1.0, lease=3, bound=False
    )
    assert run.start_times[:3] == (0, 0, 0)


def test_bidders_are_counted_without_rounding() -> None:
    """Three of ten jobs bid, and win two GPUs each, though ten times the part is above 3; two take the rest."""
    part = 1 - 0.7
    assert 10 * part > 3
    menu = [(1, 1.0), (2, 2.0)]
    twice = [Job(name=f"j{i}", release_date=0, duration=9, gpus=1, menu=menu) for i in range(10)]
    run = simulate(bundle(twice), themis_auction, cluster=8, bidding=part, payments=False, bound=False)
    assert run.start_times.count(0) == 5


def test_what_is_left_goes_first_to_those_who_did_not_bid() -> None:
    """The bidder rather waits for two GPUs than runs on one, which the job behind it has first."""
    menu = [(1, 0.1), (2, 1.0)]
    slow = Job(name="bids", release_date=0, duration=100, gpus=2, menu=menu)
    work = bundle([*jobs((0, 1000, 1), (0, 400, 1), (399, 99, 1)).jobs, slow])
    run = simulate(work, themis_auction, cluster=2, lease=500, bound=False)
    assert run.start_times == (0, 0, 499, 400)


SCENARIOS = [
    Scenario(
        workload=jobs((0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1)),
        cluster=Cluster.plain(4),
        overheads={"": Overhead(start=2.0)},
        capacity_changes=[CapacityChange(time=20, gpus=3), CapacityChange(time=60, gpus=4)],
    ),
    Scenario(
        workload=jobs((0, 50, 1), (3, 20, 2), (10, 35, 2), (11, 30, 1), menu=True),
        cluster=Cluster.uniform(machines=2, gpus=2),
    ),
    Scenario(
        workload=jobs((0, 50, 1), (3, 20, 2)),
        cluster=Cluster.plain(2),
        capacity_changes=[CapacityChange(time=2, gpus=0), CapacityChange(time=30, gpus=2)],
    ),
    Scenario(  # without GPUs for a while, while one waits and another one comes
        workload=jobs((0, 50, 1), (0, 20, 1), (25, 5, 1)),
        cluster=Cluster.plain(1),
        capacity_changes=[CapacityChange(time=20, gpus=0), CapacityChange(time=60, gpus=1)],
    ),
    Scenario(workload=jobs(), cluster=Cluster.plain(1)),
    Scenario(workload=jobs((0, 5, 1), (0, 5, 1)), cluster=Cluster.plain(1)),
]


@pytest.mark.parametrize("options", [{}, {"bidding": 1.0}, {"payments": False}])
def test_it_passes_the_check(options: dict[str, Any]) -> None:
    """It replays scenarios of all kinds legally, and every job completes."""
    assert check_policy(themis_auction, SCENARIOS, lease=12, **options) == 2 * len(SCENARIOS)


def test_gpus_of_several_kinds_are_refused() -> None:
    """The GPUs of an auction are all alike."""
    machines = [Machine(name=kind, gpus=1, gpu_type=kind) for kind in ("v100", "k80")]
    with pytest.raises(Unsupported, match="auctions GPUs that are all alike, there are v100, k80"):
        simulate(jobs((0, 1, 1)), themis_auction, cluster=Cluster(racks=[Rack(name="r", machines=machines)]))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"lease": 0}, "lease: 0: must be a finite number of seconds, at least"),
        ({"lease": None}, "lease: None: must be a finite number of seconds, at least"),
        ({"bidding": 0}, "bidding: 0: must be a number above 0 and at most 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], line: str) -> None:
    """An option out of its range is refused in one line."""
    with pytest.raises(InvalidInput) as caught:
        simulate(jobs((0, 1, 1)), themis_auction, cluster=1, **options)
    assert str(caught.value).startswith(line)
