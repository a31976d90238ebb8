"""Offers: tiers, patience, orders and turns decide who gets which GPUs, and when."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import inf
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Action, Decider, Start, State, Stop, replay, simulate
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.parts.offers import Offers
from gsopt.simulation.parts.options import offers
from gsopt.simulation.parts.patience import Timer, Timers, always_waits, never_waits
from gsopt.simulation.parts.sensitivity import network_sensitivity, relative_sensitivity
from gsopt.simulation.parts.tiers import Tiers
from gsopt.simulation.parts.ties import settled
from gsopt.simulation.parts.turns import Turn, Turns
from heuristics.policies import fifo_skipping
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing, workload


class Asked:
    """Patience that keeps what it is asked and told; jobs wait for so many seconds, each one in its turn."""

    def __init__(self, *waits: float) -> None:
        self.waits = waits
        self.asked: list[tuple[Any, int, int]] = []
        self.told: list[tuple[int, int, Any]] = []

    def seconds(self, state: State, job: int, tier: int, gpus: tuple[int, ...], /) -> float:
        """Return the same seconds for every tier."""
        assert len(gpus) in {0, state.jobs[job].gpus}
        self.asked.append((state.now, job, tier))
        return self.waits[job % len(self.waits)]

    def accept(self, _state: State, job: int, tier: int, waited: Any, /) -> None:
        """Note what has been accepted."""
        assert waited >= self.waits[job % len(self.waits)]
        self.told.append((job, tier, waited))


def test_jobs_are_asked_when_there_is_an_offer() -> None:
    """A job is asked as long as enough GPUs are free, again when it would accept, and told when it does."""
    patience = Asked(3.0)
    run = simulate(workload((0, 9, 2), (0, 9, 2)), lambda state: Offers(state, patience), cluster=3)
    assert run.start_times == (3, 12)
    assert patience.asked == [(0, 0, 0), (0, 1, 0), (3, 0, 0), (12, 1, 0)]
    assert patience.told == [(0, 0, 3), (1, 0, 12)]


@pytest.mark.parametrize("waits", [(3.0, 7.0), (7.0, 3.0)])
def test_each_job_accepts_when_its_own_time_has_come(waits: tuple[float, float]) -> None:
    """Of several jobs that decline, the first to change its mind is asked then, wherever it stands."""
    jobs = workload((0, 9, 2), (0, 9, 2))
    assert simulate(jobs, lambda state: Offers(state, Asked(*waits)), cluster=4).start_times == waits


def test_offers_go_in_the_order_of_keys() -> None:
    """The smallest key comes first; of equal keys who has waited longer, then the lower number."""

    def policy(state: State) -> Decider:
        return Offers(state, Timers(state, never_waits), lambda state, job: -state.jobs[job].gpus)

    assert simulate(workload((0, 1, 1), (0, 1, 2), (0, 1, 2), (0, 1, 3)), policy, cluster=3).start_times == (
        1,
        1,
        2,
        0,
    )


def test_without_patience_it_is_list_scheduling() -> None:
    """Jobs that accept anything start as `fifo_skipping` starts them, whatever the cluster."""
    random = Random(4)
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    for _ in range(20):
        jobs = bundle(
            Job(
                name=str(i),
                release_date=random.randint(0, 20),
                duration=random.randint(1, 9),
                gpus=random.randint(1, 16),
            )
            for i in range(25)
        )
        for gpus in (cluster, Cluster.plain(16)):
            scenario = Scenario(workload=jobs, cluster=gpus)
            offered = replay(scenario, lambda state: Offers(state, Timers(state, never_waits)))
            assert offered.completion_times == replay(scenario, fifo_skipping).completion_times


def test_leases_on_an_epoch_clock_end() -> None:
    """A lease that is shorter than a tick of the clock ends at the next one."""

    def policy(state: State) -> Decider:
        return Offers(state, Timers(state, always_waits), lease=1e-9)

    late = workload((0, 1e-6, 1), (1e12, 0.001, 1))
    assert simulate(late, policy, cluster=1).completion_times[1] > 1e12


@pytest.mark.parametrize("exact", [False, True])
def test_leases_end_together(exact: bool) -> None:
    """All leases that end at one time are offered anew at once, and who has waited comes first."""

    def policy(state: State) -> Decider:
        return Offers(state, Timers(state, never_waits), lease=2)

    jobs = workload((0, 4, 1), (0, 4, 1), (1, 1, 2))
    assert simulate(jobs, policy, cluster=2, exact=exact).completion_times == (5, 5, 3)


def answers(cluster: Cluster, jobs: list[Job], speed: Speed | None = None) -> list[tuple[int, Any]]:
    """Return the best tier of each job, and its speed there, before anything runs."""
    found: list[tuple[int, Any]] = []

    def look(state: State) -> Iterable[Action]:
        if not found:
            tiers = Tiers(state)
            found.extend((tiers.best(state.jobs[job]), tiers.fastest(state, job)) for job in state.arrived)
        return map(Start, state.arrived[:1])

    simulate(bundle(jobs), doing(look), cluster=cluster, speed=speed or Speed())
    return found


@pytest.mark.parametrize("seed", range(cases(12)))
def test_the_best_tier_is_that_of_the_best_set(seed: int) -> None:
    """Of all sets of as many GPUs that suit a job, the closest has its best tier."""
    random = Random(seed)
    racks = [
        Rack(
            name=f"r{r}",
            machines=[
                Machine(name=f"m{r}.{m}", gpus=random.randint(1, 3), gpu_type=random.choice("xy"))
                for m in range(random.randint(1, 2))
            ],
        )
        for r in range(2)
    ]
    cluster = Cluster(racks=racks)
    type_of = [cluster.machines[machine].gpu_type for machine in cluster.machine_of]
    jobs = [
        Job(name=f"{kind}{gpus}", release_date=0, duration=1, gpus=gpus, gpu_type=kind)
        for kind in ("", "x", "y")
        for gpus in range(1, cluster.room(kind) + 1)
    ]
    for job, (best, _) in zip(jobs, answers(cluster, jobs), strict=True):
        suit = [gpu for gpu, kind in enumerate(type_of) if job.gpu_type in {"", kind}]
        closest = min(cluster.levels.index(cluster.tier(some)) for some in combinations(suit, job.gpus))
        assert best == closest


def test_speeds_on_the_best_tier() -> None:
    """A job that fits a machine has the speed of a machine, a larger one that of a rack, or of the network."""
    speed = Speed(tiers={"cnn": TierPenalty(machine=0.25, rack=1.0, network=3.0)})
    jobs = [Job(name=str(n), release_date=0, duration=1, gpus=n, model="cnn") for n in (1, 2, 3, 5)]
    found = answers(Cluster.uniform(racks=2, machines=2, gpus=2), jobs, speed)
    assert found == [(0, 1), (0, 0.8), (1, 0.5), (2, 0.25)]


def test_a_plain_cluster_has_one_tier() -> None:
    """All its GPUs are as close as can be."""
    jobs = [Job(name=str(n), release_date=0, duration=1, gpus=n) for n in (1, 4)]
    assert answers(Cluster.plain(4), jobs) == [(0, 1), (0, 1)]


def test_memory_counts() -> None:
    """Machines of too little memory are none."""
    machines = [Machine(name="small", gpus=4, memory=16), Machine(name="large", gpus=2, memory=80)]
    cluster = Cluster(racks=[Rack(name=m.name + "'s", machines=[m]) for m in machines])
    jobs = [Job(name=str(m), release_date=0, duration=1, gpus=3, memory=m) for m in (16, 0)]
    jobs.append(Job(name="both", release_date=0, duration=1, gpus=6, memory=8))
    assert [best for best, _ in answers(cluster, jobs)] == [0, 0, 2]


#: Machines of two GPUs, racks of four, eight in all.
TREE = Cluster.uniform(racks=2, machines=2, gpus=2)


def waits(timer: Timer, gpus: int) -> list[float]:
    """Return how long a job waits before it accepts each tier, from the innermost out."""
    found: list[float] = []

    def look(state: State) -> Iterable[Action]:
        patience = Timers(state, timer)
        found.extend(patience.seconds(state, 0, tier, tuple(range(gpus))) for tier in range(3))
        return map(Start, state.arrived)

    simulate(workload((0, 1, gpus)), doing(look), cluster=TREE)
    return found[:3]


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        (2, [0, 12, 24]),
        (3, [0, 0, 24]),  # no machine has room for it
        (5, [0, 0, 0]),  # no rack has
    ],
)
def test_better_tiers_are_waited_for(gpus: int, expected: list[float]) -> None:
    """The timers of tiers that a job could never have do not count."""
    assert waits(lambda tier, _gpus: (12, 24)[tier], gpus) == expected


def test_an_outer_tier_is_not_accepted_before_an_inner_one() -> None:
    """Where an inner timer is the longer one it counts for the outer tier too."""
    assert waits(lambda tier, _gpus: (24, 12)[tier], 2) == [0, 24, 24]


def test_timers_may_depend_on_the_demand() -> None:
    """A timer is asked for the demand of the job."""
    assert waits(lambda tier, gpus: 10 * gpus + tier, 2) == [0, 20, 21]


def test_two_extremes() -> None:
    """Who never waits accepts everything, who always waits accepts the best tier only."""
    assert waits(never_waits, 1) == [0, 0, 0]
    assert waits(always_waits, 1) == [0, inf, inf]


#: Two racks of one machine of four GPUs.
RACKS = Cluster.uniform(racks=2, machines=1, gpus=4)

SPEED = Speed(tiers={"cnn": TierPenalty(machine=1.0, rack=2.0, network=7.0)})


def after(seconds: float, gpus: dict[str, tuple[int, ...]], *, exact: bool = False) -> list[tuple[Any, Any]]:
    """List both kinds of priority of jobs that have run on GPUs for so long, their models being their names."""
    found: list[tuple[Any, Any]] = []
    names = list(gpus)

    def look(state: State) -> Iterable[Action]:
        tiers = Tiers(state)
        if state.now == seconds:
            jobs = range(len(names))
            found.extend(
                (network_sensitivity(state, job), relative_sensitivity(tiers, state, job)) for job in jobs
            )
            return map(Stop, jobs)
        return [Start(job, gpus[names[job]]) for job in state.arrived]

    jobs = [Job(name=name, release_date=0, duration=99, gpus=len(gpus[name]), model="cnn") for name in names]
    last = Job(name="last", release_date=seconds, duration=1, gpus=1)
    simulate(bundle([*jobs, last]), doing(look), cluster=RACKS, speed=SPEED, exact=exact)
    return found


def test_sensitivity_is_the_speed_that_a_job_has_had() -> None:
    """It is 1 for one GPU, 1/2 on a machine and 1/8 on the network; relative to the best tier 1, 1 and 1/4."""
    found = after(4, {"alone": (0,), "machine": (1, 2), "network": (3, 4)})
    assert found == [(1, 1), (0.5, 1), (0.125, 0.25)]


def test_sensitivity_does_not_depend_on_the_demand() -> None:
    """A job's time is that on the GPUs it demands."""
    assert after(3, {"two": (0, 1), "three": (4, 5, 6)})[0] == after(3, {"three": (4, 5, 6)})[0]


@pytest.mark.parametrize(("exact", "kind"), [(False, float), (True, Fraction)])
def test_sensitivities_that_differ_by_rounding_only_tie(exact: bool, kind: type) -> None:
    """After any time the speed is the same to the last digit, and exact in fractions."""
    found = [after(seconds, {"machine": (1, 2)}, exact=exact)[0][0] for seconds in (0.1, 0.7, 3.3)]
    assert set(found) == {0.5}
    assert all(isinstance(each, kind) for each in found)


def test_rounding_separates_no_priorities() -> None:
    """Sums of the same numbers in another order tie; numbers that differ by more do not."""
    assert settled(0.1 + 0.2 + 0.3) == settled(0.3 + 0.2 + 0.1)
    assert settled(1.0) < settled(1.0001)


def test_exact_priorities_stay_as_they_are() -> None:
    """Fractions and whole numbers have no rounding, and lose no digit."""
    fine = Fraction(1, 3) + Fraction(1, 10**30)
    assert settled(fine) == fine
    assert settled(10**30 + 1) == 10**30 + 1


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_is_a_walk_through_one_sorted_list(seed: int) -> None:
    """Jobs come in order while their needs are open, and who is removed on the way is missing the next time."""
    random = Random(seed)
    turns, all_of_them = Turns(), []
    for job in range(40):
        turn, need = Turn(random.randint(0, 4), random.randint(0, 4), job), random.choice([1, 2, 4, 8])
        turns.add(turn, need)
        all_of_them.append((turn, need))
    for _ in range(6):
        free = random.randint(0, 30)
        expected = []
        seen = []
        left = free
        for turn, need in sorted(all_of_them):
            if need <= left:  # which never becomes true again, since less and less is left
                expected.append((turn, need))
                left -= need if turn.job % 3 else 0
        for turn, need in turns.walk(lambda need: need <= free):  # noqa: B023 - it is meant to be the one of now
            seen.append((turn, need))
            if turn.job % 3:
                free -= need
                turns.remove(turn, need)
                all_of_them.remove((turn, need))
        assert seen == expected
    assert set(turns.needs) == {need for _, need in all_of_them}


def test_closed_needs_are_asked_once() -> None:
    """Of a thousand jobs that need too much none is looked at."""
    turns = Turns()
    for job in range(1000):
        turns.add(Turn(0, job, job), 8)
    turns.add(Turn(1, 0, 1000), 1)
    asked: list[int] = []

    def is_open(need: int) -> bool:
        asked.append(need)
        return need == 1

    assert [turn.job for turn, _ in turns.walk(is_open)] == [1000]
    assert asked == [8, 1]
    assert turns.first(8).job == 0


@pytest.mark.parametrize("option", ["order", "placement", "clock", "renew"])
def test_words(option: str) -> None:
    """A word that an option does not know is refused with those that it knows."""
    options: dict[str, Any] = {"order": "fifo", "placement": "best", "lease": None, option: "neither"}

    def policy(state: State) -> Any:
        return offers(state, None, **options)  # type: ignore[arg-type]

    with pytest.raises(InvalidInput, match=f"^{option}: 'neither': must be one of "):
        simulate(bundle([Job(name="a", release_date=0, duration=1, gpus=1)]), policy, cluster=1)


def test_multiples() -> None:
    """Multiples are instants, in floats and in fractions."""
    tenth = Instants(0.1)
    assert [tenth.reached(number * 0.1) for number in range(50)] == [True] * 50
    assert (tenth.after(0.0), tenth.reached(0.25)) == (0.1, False)
    third = Instants(3)
    assert [third.after(Fraction(time)) for time in ("7/2", "6")] == [6, 9]
    assert not third.reached(Fraction(7, 2))


def test_seconds_after_a_multiple_are_excused() -> None:
    """So many after it are as good as the multiple, more or any before it are not."""
    instants = Instants(10)
    assert [instants.reached(time, 0.5) for time in (20.0, 20.5, 20.75, 19.75)] == [True, True, False, False]


def test_a_wait_ends_once() -> None:
    """Where decisions come later than what was waited for, the first of them is the instant."""
    instants = Instants(60)
    assert instants.ask(61.0) == 120
    assert (instants.reached(125.0), instants.reached(125.0)) == (True, False)


def test_a_wait_that_is_not_asked_for_again_is_over() -> None:
    """Who decides before the instant and does not wait for it any more has to ask anew."""
    instants = Instants(60)
    instants.ask(61.0)
    assert (instants.reached(100.0), instants.reached(125.0)) == (False, False)
    instants.ask(126.0)
    assert not instants.reached(130.0)
    assert (instants.ask(130.0), instants.reached(181.0)) == (180, True)


@pytest.mark.parametrize("interval", [0, -1, 5e-324, float("inf"), float("nan"), "1", None])
def test_bad_intervals(interval: float) -> None:
    """An interval is a finite number of seconds, and none of next to nothing."""
    with pytest.raises(InvalidInput, match="must be a finite number of seconds, at least 1e-06"):
        Instants(interval, "each")
