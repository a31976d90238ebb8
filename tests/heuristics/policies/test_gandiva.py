"""Gandiva: migration, growth, rotation, and packing in pairs, each with the parts that it is made of."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from math import nan
from random import Random
from statistics import mean
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Decider, Policy, Replay, State, simulate
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.placer import FreeGpus, consolidated
from gsopt.testing import check_policy
from heuristics.policies import fifo, gandiva, gandiva_growing, gandiva_rotation
from heuristics.policies.gandiva.gandiva_packing import gandiva_packing
from heuristics.policies.gandiva.matching import best_matching
from heuristics.policies.gandiva.migrating import Migrating
from heuristics.policies.gandiva.packing import PackedShares, Pairing
from heuristics.policies.gandiva.rotating import Rotating, RotationGroup
from heuristics.policies.gavel.ledger import Portions
from heuristics.policies.gavel.rounds import Rounds
from instances.interference import gavel as read_pairs
from instances.traces import gavel as read
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios
from tests.gsopt.simulation.scripts import workload
from tests.heuristics.policies.shared import counts, drawn, held, job, machine, run, traces

RACKS = Cluster.uniform(racks=2, machines=1, gpus=3)

SPEED = Speed(tiers={"cnn": TierPenalty(machine=0.0, rack=0.5, network=1.0)})


def cnns(*sizes: tuple[float, float, int]) -> Workload:
    """Make jobs of (release date, duration, GPUs) of one model."""
    return bundle(job.model_copy(update={"model": "cnn"}) for job in workload(*sizes).jobs)


def test_a_job_moves_when_closer_gpus_are_free() -> None:
    """It runs at half its speed over two racks for 4 s, and then on a machine."""
    run = simulate(cnns((0, 4, 2), (0, 9, 2), (0, 5, 2)), gandiva, cluster=RACKS, speed=SPEED, record=True)
    assert held(run, "j2") == [(0, (2, 5), ""), (4, (0, 1), "")]
    assert run.completion_times == (4, 9, 7)


@pytest.mark.parametrize(("placement", "gpus"), [("best", (6, 7)), ("first", (0, 1))])
def test_placement(placement: str, gpus: tuple[int, ...]) -> None:
    """A job that comes has the tightest machine, or the first one."""
    jobs, machines = cnns((0, 1, 4), (0, 9, 2), (1, 1, 2)), Cluster.uniform(machines=2, gpus=4)
    run = simulate(jobs, gandiva, cluster=machines, record=True, placement=placement)
    assert held(run, "j2") == [(1, gpus, "")]


def test_a_job_may_move_onto_gpus_of_its_own() -> None:
    """What it holds counts as free for it: one more GPU beside one of its own is enough."""
    jobs = cnns((0, 9, 1), (0, 2, 1), (0, 9, 2), (0, 5, 2))
    machines = Cluster.uniform(racks=1, machines=2, gpus=3)
    run = simulate(jobs, gandiva, cluster=machines, speed=SPEED, record=True)
    assert held(run, "j3") == [(0, (2, 5), ""), (2, (1, 2), "")]


def test_a_job_moves_when_gpus_come_back() -> None:
    """Machines that return are as good as GPUs that jobs leave."""
    changes = [CapacityChange(time=0, gpus=4), CapacityChange(time=5, gpus=6)]
    jobs = cnns((0, 9, 2), (0, 9, 2))
    run = simulate(jobs, gandiva, cluster=RACKS, speed=SPEED, record=True, capacity_changes=changes)
    assert held(run, "j1") == [(0, (2, 3), ""), (5, (3, 4), "")]


def test_waiting_jobs_come_before_those_that_would_move() -> None:
    """GPUs that become free go to who waits, however far apart others run."""
    run = simulate(
        cnns((0, 4, 2), (0, 9, 2), (0, 5, 2), (1, 3, 2)), gandiva, cluster=RACKS, speed=SPEED, record=True
    )
    assert run.start_times[3] == 4
    assert starts(run, "j2") == [0, 7]


def test_jobs_take_turns() -> None:
    """When a lease ends, who has waited longer comes first; without leases nobody is stopped."""
    jobs = cnns((0, 4, 6), (1, 4, 6))
    turns = simulate(jobs, gandiva, cluster=RACKS, lease=2)
    assert turns.completion_times == (6, 8)
    assert turns.metrics.preemptions == 2
    assert simulate(jobs, gandiva, cluster=RACKS, lease=None).metrics.preemptions == 0


def test_gandiva_is_always_legal() -> None:
    """Every replay is legal, repeatable and within the bound."""
    workload = cnns((0, 5, 2), (0, 9, 4), (1, 6, 3), (1, 2, 1), (2, 8, 5), (9, 3, 2), (9, 7, 6))
    calm = Scenario(workload=workload, cluster=Cluster.uniform(racks=2, machines=2, gpus=2), speed=SPEED)
    changes = (CapacityChange(time=3, gpus=3), CapacityChange(time=12, gpus=8))
    overheads = {"": Overhead(start=0.5, stop=1, resize=0.25)}
    rough = calm.model_copy(update={"capacity_changes": changes, "overheads": overheads})
    assert check_policy(gandiva, [calm, rough], lease=3) == 4
    assert check_policy(gandiva, [calm, rough], lease=None, placement="first") == 4


@pytest.mark.parametrize("seed", range(6))
def test_after_every_decision_nobody_could_move_closer(seed: int) -> None:
    """Whoever is not on the best tier finds no better one among the GPUs that are free then, and his own."""
    random = Random(seed)
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    jobs = workload(*((random.randint(0, 30), random.randint(1, 12), random.randint(1, 9)) for _ in range(30)))
    looked = 0

    def watched(state: State) -> Decider:
        inner = Migrating(state, lease=random.choice([None, 5.0]))

        class Watched:
            preemptive = True

            def decide(self, state: State) -> Any:
                nonlocal looked
                yield from inner.decide(state)
                for number in state.running:
                    own = state.placement(number)
                    free: list[list[int]] = [[] for _ in cluster.machines]
                    for gpu in sorted((*state.free_gpus(), *own)):
                        free[cluster.machine_of[gpu]].append(gpu)
                    other = consolidated(FreeGpus(cluster, range(len(free)), free), len(own))
                    levels = [cluster.levels.index(cluster.tier(gpus)) for gpus in (own, other)]
                    assert levels[0] <= levels[1]
                    looked += 1

        return Watched()

    simulate(jobs, watched, cluster=cluster)
    assert looked > 50


_MENU = ((1, 1.0), (2, 2.0), (4, 4.0))


def grown(*sizes: tuple[float, float, int], elastic: bool = True) -> Replay:
    """Run jobs of (release date, duration, GPUs) on four GPUs."""
    menus = {g: tuple((count, speed / g) for count, speed in _MENU) if elastic else () for _, _, g in sizes}
    jobs = (job.model_copy(update={"menu": menus[job.gpus]}) for job in workload(*sizes).jobs)
    return simulate(bundle(jobs), gandiva_growing, cluster=4, record=True)


def test_who_started_first_grows_first() -> None:
    """Of three jobs the first has two GPUs, until it is complete."""
    run = grown((0, 8, 1), (0, 8, 1), (0, 8, 1))
    assert counts(run, "j0") == [(0, 2)]
    assert counts(run, "j1") == [(0, 1), (4, 2)]


def test_jobs_shrink_to_their_demand_where_somebody_waits() -> None:
    """A job on all GPUs gives all but its demand back to one that comes, and more where another one waits."""
    run = grown((0, 16, 1), (1, 2, 1), (2, 2, 4))
    assert counts(run, "j0")[:3] == [(0, 4), (1, 2), (2, 1)]
    assert counts(run, "j2")[0][1] == 4


def test_menus_without_more_are_no_reason_to_grow() -> None:
    """Rigid jobs run in the order of their release."""
    sizes = [(0.0, 5.0, 1), (0.0, 2.0, 4), (1.0, 3.0, 2), (2.0, 1.0, 1)]
    run = grown(*sizes, elastic=False)
    assert run.completion_times == simulate(run.scenario.workload, fifo, cluster=4).completion_times


def test_who_fits_may_pass() -> None:
    """Without blocking a small job starts beside a running one, before a large one that waits."""
    jobs = workload((0, 4, 3), (0, 4, 4), (0, 4, 1))
    assert simulate(jobs, gandiva_growing, cluster=4).start_times == (0, 4, 8)
    assert simulate(jobs, gandiva_growing, cluster=4, blocks=False).start_times == (0, 4, 0)


@settings(max_examples=cases(24))
@given(plain_scenarios(elastic=True))
def test_growing_is_always_legal(scenario: Scenario) -> None:
    """Every decision is legal and every figure the judge's, whatever comes and goes."""
    assert check_policy(gandiva_growing, [scenario]) == 2


def rotated(*sizes: tuple[float, float, int], gpus: int = 4, **options: Any) -> Replay:
    """Run jobs of (release date, duration, GPUs) on a plain cluster."""
    return simulate(workload(*sizes), gandiva_rotation, cluster=gpus, record=True, **options)


def starts(run: Replay, name: str) -> list[float]:
    """Return when a job began its turns."""
    return [start for start, _, _ in held(run, name)]


def test_jobs_of_a_group_take_turns_of_a_minute() -> None:
    """Three jobs on one GPU, of which the second came late: turns end at whole minutes."""
    run = rotated((0, 100, 1), (30, 100, 1), (30, 10, 1), gpus=1)
    assert starts(run, "j0") == [0, 130]
    assert starts(run, "j1") == [60, 170]
    assert starts(run, "j2") == [120]


def test_turns_are_as_long_as_they_are_said_to_be() -> None:
    """Two jobs take turns of 20 s."""
    run = rotated((0, 50, 1), (0, 30, 1), gpus=1, span=20)
    assert (starts(run, "j0"), starts(run, "j1")) == ([0, 40, 70], [20, 60])


def test_groups_are_of_jobs_of_one_size() -> None:
    """Jobs join the group of their size that has the fewest, and nobody else's."""
    run = rotated((0, 100, 2), (0, 100, 1), (0, 100, 1), (0, 100, 1), (0, 100, 2))
    assert [starts(run, name)[0] for name in ("j0", "j1", "j2", "j3", "j4")] == [0, 0, 0, 60, 60]


def test_a_size_without_a_group_waits_for_gpus() -> None:
    """While a large job waits, a job that comes later joins a group, and goes on there when it is its turn."""
    run = rotated((0, 100, 1), (0, 50, 3), (10, 10, 4), (20, 10, 3))
    assert starts(run, "j2") == [100]
    assert starts(run, "j3") == [50]


def test_nobody_passes_who_waits_for_gpus() -> None:
    """A job of a size without a group waits behind one that waits for more GPUs than are free."""
    run = rotated((0, 100, 1), (10, 10, 4), (20, 10, 2))
    assert [starts(run, name) for name in ("j1", "j2")] == [[100], [110]]


def test_rounding_is_no_progress() -> None:
    """Five turns are as long as a start; that they are longer by 3e-17 s in fractions is no turn's work."""
    jobs, overheads = workload((0, 1, 1), (0, 1, 1)), {"": Overhead(start=0.5)}
    start = Scenario(workload=jobs, cluster=Cluster.plain(1), overheads=overheads)
    assert check_policy(gandiva_rotation, [start], span=0.1) == 2


def test_turns_go_on_when_a_partner_is_complete() -> None:
    """Whoever shared with a job that ends keeps its turn, though another one has waited."""
    three = [job("a", 0, 30, 1), job("x", 0, 200, 1), job("n", 0, 200, 1)]
    slow = {"a": {"x": 3.0, "n": 1.0}, "n": {"x": 3.0, "a": 1.0}, "x": {"a": 3.0, "n": 3.0}}
    shared = run(gandiva_rotation, *three, cluster=machine(1), slowdowns=slow)
    assert held(shared, "x")[0][0] == 60
    assert [each[0] for each in held(shared, "n")][:2] == [0, 120]


def test_whoever_has_not_begun_to_work_keeps_its_turn() -> None:
    """Where starting takes longer than a slice, jobs get something done in each turn."""
    run = rotated((0, 100, 1), (0, 100, 1), gpus=1, overheads=Overhead(start=90.0))
    assert starts(run, "j0") == [0, 240, 480, 720]
    assert starts(run, "j1") == [120, 360, 600, 820]


def test_jobs_without_checkpoints_run_to_their_end() -> None:
    """Whoever would begin anew keeps its turn, and the others wait."""
    first = job("a", 0, 100, 1, checkpoints=False)
    others = job("b", 0, 100, 1), job("c", 0, 70, 1)
    rotated = run(gandiva_rotation, first, *others, cluster=machine(1), share_limit=1)
    assert rotated.completion_times == (100, 270, 250)


def test_jobs_share_only_where_it_pays() -> None:
    """Two jobs that make 4/3 of the progress of one share from the start, others take turns."""
    two = [job("a", 0, 60, 1), job("b", 0, 60, 1)]
    good = run(gandiva_rotation, *two, cluster=machine(1), slowdown=1.5)
    assert good.completion_times == (90, 90)
    bad = run(gandiva_rotation, *two, cluster=machine(1), slowdown=2.5)
    assert bad.completion_times == (60, 120)
    anyhow = run(gandiva_rotation, *two, cluster=machine(1), slowdown=2.5, sharing="memory")
    assert anyhow.completion_times == (150, 150)
    never = run(gandiva_rotation, *two, cluster=machine(1), slowdown=1.5, sharing="never")
    assert never.completion_times == (60, 120)


def test_memory_is_never_exceeded() -> None:
    """Jobs whose memory does not fit together take turns, whatever they would gain."""
    two = [job("a", 0, 60, 1, memory=6), job("b", 0, 60, 1, memory=6)]
    for sharing in ("measured", "memory"):
        apart = run(gandiva_rotation, *two, cluster=machine(1, memory=8), sharing=sharing)
        assert apart.completion_times == (60, 120)


def test_a_partner_follows_as_soon_as_one_is_complete() -> None:
    """A third job takes the place of the first one beside the second at once."""
    three = [job("a", 0, 30, 1), job("b", 0, 200, 1), job("c", 0, 30, 1)]
    shared = run(gandiva_rotation, *three, cluster=machine(1))
    assert held(shared, "c") == [(30, (0,), "")]


def test_gpus_that_go_away_dissolve_their_group() -> None:
    """Whoever took turns on them finds a place elsewhere."""
    changes = [{"time": 50.0, "gpus": 1}, {"time": 1000.0, "gpus": 2}]
    racks, jobs = Cluster.uniform(machines=2, gpus=1), workload(*[(0, 100, 1)] * 3)
    run = simulate(jobs, gandiva_rotation, cluster=racks, capacity_changes=changes, record=True)
    assert run.metrics.completed == 3


@pytest.mark.parametrize("cluster", [Cluster.plain(2), Cluster.uniform(machines=2, gpus=1)])
def test_gpus_that_go_as_the_last_job_completes_dissolve_its_group(cluster: Cluster) -> None:
    """Nobody loses the GPUs, as nobody holds them, and still no turn begins there before they are back."""
    changes = [CapacityChange(time=1, gpus=1), CapacityChange(time=4, gpus=2)]
    run = simulate(workload(*[(0, 1, 1)] * 4), gandiva_rotation, cluster=cluster, capacity_changes=changes)
    assert run.completion_times == (1, 1, 2, 3)


def test_turns_end_after_they_begin_at_dates_of_today() -> None:
    """Where rounding makes a date the multiple of a span that follows it, a turn ends one span later."""
    begin, span = 1.7e9 + 0.1, 0.06
    assert (begin // span + 1) * span == begin
    run = rotated((begin, 0.2, 1), (begin, 0.2, 1), gpus=1, span=span)
    assert max(run.completion_times) == pytest.approx(begin + 0.4, abs=1e-6)


def test_rotation_is_always_legal() -> None:
    """Every decision is legal and every figure the judge's, with phases, overheads and GPUs that go."""
    policies: list[Policy] = [
        gandiva_rotation,
        partial(gandiva_rotation, span=2),
        partial(gandiva_rotation, span=0.5, sharing="memory"),
    ]
    for seed in range(cases(8)):
        for policy in policies:
            assert check_policy(policy, [drawn(Random(seed), rough=True)]) == 2


def test_jobs_wait_where_not_all_run() -> None:
    """A group with more jobs than run has one that waits."""
    assert [RotationGroup(1, (0,), [1, 2], running).waits for running in ({1}, {1, 2})] == [True, False]


def test_nobody_is_stopped_while_nobody_waits() -> None:
    """Jobs with GPUs of their own run to their ends, over any number of slices."""
    run = simulate(workload((0, 500, 1), (0, 500, 3)), Rotating, cluster=4, record=True)
    assert starts(run, "j0") == starts(run, "j1") == [0]


def test_many_jobs_on_few_gpus_all_get_their_turns() -> None:
    """Of ten jobs of five minutes on one GPU each has run after ten minutes."""
    run = simulate(workload(*[(0, 300, 1)] * 10), Rotating, cluster=1)
    assert run.start_times == tuple(60.0 * i for i in range(10))
    assert min(time for time in run.completion_times if time is not None) == 2460


@cache
def published() -> Scenario:
    """Return the 15 jobs of Gavel's artifact evaluation on four V100s, which share GPUs as was measured."""
    folder = traces()
    measured = read_pairs(folder).table.slowdowns
    jobs = [
        each.model_copy(update={"model": _configuration(each) if each.gpus == 1 else "wide"})
        for each in read(folder).workload.jobs
    ]
    assert {each.model for each in jobs} - {"wide"} <= measured.keys()
    return Scenario(
        workload=bundle(jobs),
        cluster=Cluster.uniform(machines=1, gpus=4),
        speed=Speed(interference=measured, default_interference=1e6),  # no speed: they do not run together
        share_limit=2,
    )


def _configuration(job: Job) -> str:
    """Return the name that the table of pairs has for a job; two models have one batch size only."""
    return job.model if job.model in {"A3C", "CycleGAN"} else f"{job.model} (batch size {job.batch_size})"


def played(scenario: Scenario, **options: Any) -> Replay:
    """Run it."""
    return simulate(scenario, gandiva_packing, bound=False, **options)


def test_random_pairs_are_as_good_as_its_authors() -> None:
    """The mean over draws lies within a deviation of theirs, 3,367.7 +- 193.5 s, and so does the makespan."""
    scenario = published()
    runs = [played(scenario, seed=seed) for seed in range(20)]
    assert mean(float(each.metrics.mean_jct or 0) for each in runs) == pytest.approx(3367.7, abs=193.5)
    assert mean(float(each.metrics.makespan or 0) for each in runs) == pytest.approx(6993.4, abs=407.8)


#: Seconds at which the 15 jobs are complete in Gavel's simulator with the best pairs, where two things about
#: pairs are changed in it: a job is complete when its own steps are done, and goes on alone at its speed alone;
#: and what is left over goes to jobs, not to pairs without a share.
COMPLETE = (
    *(1795.318, 2381.677, 3971.944, 6381.618, 3612.144, 2148.557, 2665.043, 2996.785),
    *(2854.670, 879.487, 3042.421, 884.213, 3385.880, 3346.503, 2768.937),
)


def test_the_best_pairs_run_as_its_authors_have_them() -> None:
    """Every job is complete when it is there, to a thousandth: rounds, steps, turns and leftovers agree."""
    best = played(published(), pairing="exact")
    assert [float(each) for each in best.completion_times] == pytest.approx(COMPLETE, rel=1e-3)


def test_who_gains_most_is_paired() -> None:
    """Of three jobs the two that disturb each other least share the GPU, the third has turns of its own."""
    three = [job(name, 0, 360, 1) for name in "abc"]
    slow = {"a": {"b": 1.8, "c": 1.25}, "b": {"a": 1.8, "c": 1.8}, "c": {"a": 1.25, "b": 1.8}}
    best = run(gandiva_packing, *three, cluster=machine(1), slowdowns=slow, pairing="exact")
    assert [each[0] for each in held(best, "a")] == [each[0] for each in held(best, "c")]
    assert held(best, "b")[0][0] == 360


def test_jobs_that_fit_are_not_packed() -> None:
    """With a GPU for each, nobody shares; with one GPU fewer, two do."""
    two = [job(name, 0, 300, 1) for name in "ab"]
    assert run(gandiva_packing, *two, cluster=machine(2), slowdown=1.5).completion_times == (300, 300)
    assert run(gandiva_packing, *two, cluster=machine(1), slowdown=1.25).completion_times == (375, 375)


def test_pairs_are_of_one_size_and_fit_the_memory() -> None:
    """Jobs of other sizes, and those whose memory is not enough for both, take turns."""
    sizes = [job("a", 0, 300, 1), job("b", 0, 300, 2)]
    assert run(gandiva_packing, *sizes, cluster=machine(2)).metrics.sharing == 0
    large = [job(name, 0, 300, 1, memory=5) for name in "ab"]
    assert run(gandiva_packing, *large, cluster=machine(1, memory=8)).metrics.sharing == 0
    assert run(gandiva_packing, *large, cluster=machine(1, memory=16)).metrics.sharing == 1


@pytest.mark.parametrize("pairing", ["random", "exact"])
def test_pairs_run_only_where_the_memory_is_enough_for_both(pairing: str) -> None:
    """A pair that fits the larger GPU is not put on the smaller one when that is left over."""
    sizes = {"large": 16, "small": 8}
    machines = [Machine(name=name, gpus=1, gpu_type=name, memory=memory) for name, memory in sizes.items()]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    four = [job(name, 0, 2000, 1, memory=6) for name in "abcd"]
    assert run(gandiva_packing, *four, cluster=cluster, pairing=pairing).metrics.sharing > 0


def test_jobs_that_cannot_run_together_are_no_pair() -> None:
    """Where one would make next to no progress, turns are taken."""
    two = [job(name, 0, 300, 1) for name in "ab"]
    assert run(gandiva_packing, *two, cluster=machine(1), slowdown=5000.0).metrics.sharing == 0


def test_a_pair_that_loses_is_given_up() -> None:
    """Jobs that make less progress together than in turns end all the same, as pairs are made anew."""
    jobs = [job("a", 0, 3000, 1), job("b", 0, 3000, 1), job("late", 400, 10, 1)]
    lost = run(gandiva_packing, *jobs, cluster=machine(1), slowdown=3.0, renewal=720)
    assert lost.metrics.completed == 3


def test_packing_is_always_legal() -> None:
    """Every decision is legal and every figure the judge's, also without racks and where GPUs come and go."""
    jobs = workload((0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1), (90, 30, 1))
    changes = [CapacityChange(time=15, gpus=2), CapacityChange(time=200, gpus=4)]
    racks: dict[str, Any] = {"cluster": Cluster.uniform(machines=2, gpus=2), "share_limit": 2}
    scenarios = [
        Scenario(workload=jobs, cluster=Cluster.plain(4)),
        Scenario(workload=jobs, **racks, speed=Speed(default_interference=1.5)),
        Scenario(workload=jobs, **racks, capacity_changes=changes, overheads={"": Overhead(start=1.0)}),
    ]
    for pairing, some in (("random", scenarios[:2]), ("exact", scenarios[2:])):
        check_policy(gandiva_packing, some, pairing=pairing, interval=8, renewal=20)


def test_rounds_are_as_long_as_they_are_said_to_be() -> None:
    """Two jobs take turns of 100 s, and a round ends with its job."""
    jobs = job("a", 0, 150, 1), job("b", 0, 150, 1)
    replayed = run(gandiva_packing, *jobs, cluster=machine(1), interval=100, share_limit=1)
    assert replayed.completion_times == (250, 300)


@pytest.mark.parametrize(
    ("policy", "option", "value", "rule"),
    [
        (gandiva, "lease", 0, ""),
        (gandiva, "lease", nan, ""),
        (gandiva, "placement", "tight", ""),
        (gandiva_rotation, "span", 0, "must be a finite number of seconds, at least"),
        (gandiva_rotation, "sharing", "always", "must be one of measured, memory, never"),
        (gandiva_packing, "pairing", "best", "must be one of random, exact"),
        (gandiva_packing, "interval", 0, "must be a finite number of seconds, at least"),
        (gandiva_packing, "renewal", -1, "must be a finite number of seconds, at least"),
        (gandiva_packing, "seed", "luck", "must be a whole number"),
    ],
)
def test_bad_options_are_refused(policy: Policy, option: str, value: Any, rule: str) -> None:
    """An option out of its range is one line."""
    with pytest.raises(InvalidInput, match=f"^{option}: {value!r}: {rule}"):
        simulate(workload((0, 1, 1)), policy, cluster=machine(1), **{option: value})


class Division(NamedTuple):
    """What a division gave."""

    parts: Portions
    pairs: Mapping[int, int]


def singles(names: str, **fields: Any) -> list[Job]:
    """Make jobs of one GPU, 100 s each, unless told."""
    made = {"release_date": 0, "duration": 100, "gpus": 1, **fields}
    return [Job(name=name, **made) for name in names]


def divisions(*jobs: Job, **options: Any) -> list[Division]:
    """Run jobs on one GPU, or a cluster, and return every division."""
    found: list[Division] = []
    speed = options.pop("speed", None)
    cluster = options.pop("cluster", machine(options.pop("gpus", 1)))

    def watched(state: State) -> Decider:
        packing = PackedShares(**options)

        def divide(state: State, jobs: Sequence[int], inventory: Inventory) -> Portions:
            found.append(Division(packing(state, jobs, inventory), dict(packing.pairs)))
            return found[-1].parts

        return Rounds(state, divide, renewal=360, pairs=lambda: packing.pairs)

    simulate(bundle(jobs), watched, cluster=cluster, share_limit=2, speed=speed, bound=False)
    return found


@pytest.mark.parametrize("pairing", ["random", "exact"])
@pytest.mark.parametrize("gpus", [1, 2])
def test_units_have_equal_parts(pairing: Pairing, gpus: int) -> None:
    """Three jobs that each take all GPUs are a pair and a job, each with half of the time."""
    parts, pairs = divisions(*singles("abc", gpus=gpus), gpus=gpus, pairing=pairing)[0]
    assert len(pairs) == 2
    assert all(pairs[other] == job for job, other in pairs.items())
    units = [job for job in range(3) if pairs.get(job, job) >= job]
    expected: dict[int, dict[str, float]] = {job: {"gpu": 0.5} if job in units else {} for job in range(3)}
    assert {job: dict(own) for job, own in parts.items()} == expected


def _of_kinds(**machines: int) -> Cluster:
    """Return machines of one GPU each, of a type and with a memory."""
    listed = [Machine(name=kind, gpus=1, gpu_type=kind, memory=memory) for kind, memory in machines.items()]
    return Cluster(racks=[Rack(name="r", machines=listed)])


def test_no_unit_has_more_than_all_of_the_time() -> None:
    """A pair on three of five GPUs, on which no other fits beside it, has all of the time and no more."""
    assert divisions(*singles("ab", gpus=3), gpus=5, pairing="exact")[0].parts == {0: {"gpu": 1.0}, 1: {}}


@pytest.mark.parametrize("seed", range(5, 17))
def test_as_many_draws_as_jobs(seed: int) -> None:
    """Of three jobs, two of one size, these are a pair if one of three draws gives them."""
    jobs = [*singles("ab"), *singles("c", gpus=2)]
    random = Random(seed)
    hit = any({*random.sample([0, 1, 2], 2)} == {0, 1} for _ in jobs)
    assert divisions(*jobs, gpus=2, seed=seed)[0].pairs == ({0: 1, 1: 0} if hit else {})


def test_jobs_of_one_model_are_told_apart_by_their_memory() -> None:
    """Of three jobs of one model those two are the best pair whose memory fits together."""
    jobs = [*singles("ab", model="m", memory=4), *singles("c", model="m", memory=14)]
    assert divisions(*jobs, pairing="exact", cluster=_of_kinds(x=16))[0].pairs == {0: 1, 1: 0}


def test_jobs_of_one_model_are_told_apart_by_their_gpus() -> None:
    """Of three jobs of one model those two are the best pair that run on one type, and have a part there."""
    jobs = [singles(name, model="m", gpu_type=kind)[0] for name, kind in [("a", "x"), ("b", ""), ("c", "y")]]
    parts, pairs = divisions(*jobs, pairing="exact", cluster=_of_kinds(x=16, y=16))[0]
    other = pairs[1]
    assert pairs == {1: other, other: 1}
    assert parts[min(1, other)] == {"x" if other == 0 else "y": 0.5}


@pytest.mark.parametrize("pairing", ["random", "exact"])
def test_both_of_a_pair_make_progress(pairing: Pairing) -> None:
    """Where one of two stands still beside the other, which does not mind, they are no pair."""
    slow = Speed(interference={"a": {"b": 1.0}, "b": {"a": 5000.0}})
    jobs = job("a", 0, 100, 1), job("b", 0, 100, 1)
    assert divisions(*jobs, pairing=pairing, speed=slow)[0].pairs == {}


def test_a_pair_is_parted_where_the_memory_for_both_is_gone() -> None:
    """Two of three jobs share the only GPU that has the memory; without it all take turns on the other one."""
    machines = [Machine(name=f"{memory}", gpus=1, memory=memory) for memory in (8, 16)]
    jobs = bundle(singles("abc", duration=3000, memory=6))

    def packed(state: State) -> Decider:
        packing = PackedShares()
        return Rounds(state, packing, pairs=lambda: packing.pairs)

    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    less = [CapacityChange(time=500, gpus=1)]
    run = simulate(jobs, packed, cluster=cluster, share_limit=2, capacity_changes=less, bound=False)
    assert run.metrics.completed == 3


def test_a_pair_that_loses_is_drawn_anew() -> None:
    """Jobs that do less together than in turns part at the next division, and others stay together."""
    jobs = job("a", 0, 3000, 1), job("b", 0, 3000, 1), job("c", 400, 3000, 1)
    slower = Speed(interference={"a": {"b": 3.0}, "b": {"a": 3.0}})
    kept = [divisions(*jobs, seed=seed)[1].pairs for seed in range(5)]
    assert kept == [{0: 1, 1: 0}] * 5
    anew = [divisions(*jobs, seed=seed, speed=slower)[1].pairs for seed in range(5)]
    assert any(pairs.get(0) != 1 for pairs in anew)


def test_who_has_lost_a_partner_has_no_share() -> None:
    """The job whose partner is complete has what is left over, until the time is divided again."""

    def divide(*_given: object) -> Portions:
        return {0: {"gpu": 0.9}, 1: {}, 2: {"gpu": 0.1}}

    def paired(state: State) -> Decider:
        return Rounds(state, divide, pairs=lambda: {0: 1, 1: 0})

    jobs = job("a", 0, 2000, 1), job("b", 0, 100, 1), job("c", 0, 2000, 1)
    replayed = run(paired, *jobs, cluster=machine(1))
    assert [starts(replayed, "a")[0], starts(replayed, "b"), starts(replayed, "c")[0]] == [0, [0], 360]
    assert replayed.completion_times[2] == 2360


def test_of_equal_pairs_that_goes_first_whose_later_job_came_first() -> None:
    """Of the pairs of the first with the last and of the two between, with equal shares, the latter begins."""

    def divide(*_given: object) -> Portions:
        return {0: {"gpu": 0.5}, 1: {"gpu": 0.5}, 2: {}, 3: {}}

    def paired(state: State) -> Decider:
        return Rounds(state, divide, pairs=lambda: {0: 3, 1: 2, 2: 1, 3: 0})

    replayed = run(paired, *(job(name, 0, 500, 1) for name in "abcd"), cluster=machine(1))
    assert replayed.start_times == (360, 0, 0, 360)


Values = Any  # a symmetric matrix


def _value(values: Values, pairs: list[tuple[int, int]]) -> float:
    jobs = [job for pair in pairs for job in pair]
    assert len(set(jobs)) == len(jobs)
    assert all(one < other and values[one, other] > 0 for one, other in pairs)
    return float(sum(values[pair] for pair in pairs))


def _most(values: Values) -> float:
    """Return the sum of a maximum weight matching of all pairs."""
    graph = nx.Graph()
    for one, other in zip(*np.nonzero(np.triu(values, 1) > 0), strict=True):
        graph.add_edge(one, other, weight=values[one, other])
    return float(sum(values[pair] for pair in nx.max_weight_matching(graph)))


def _tiny(random: Random) -> Values:
    """Draw values of few jobs, some of them worth nothing together, with many ties or none."""
    size = random.randint(1, 9)
    digits = random.choice([0, 15])
    return _symmetric([[round(random.uniform(-2, 3), digits) for _ in range(size)] for _ in range(size)])


def _alike(random: Random, size: int, kinds: int) -> Values:
    """Draw values of jobs of some kinds."""
    values = _symmetric([[random.uniform(-0.5, 1.0) for _ in range(kinds)] for _ in range(kinds)])
    of = [random.randrange(kinds) for _ in range(size)]
    return values[np.ix_(of, of)]


def _symmetric(rows: list[list[float]]) -> Values:
    values = np.array(rows, dtype=float)
    return np.triu(values) + np.triu(values, 1).T


def test_it_is_the_best_of_few_jobs() -> None:
    """The sum is that of a maximum weight matching of all pairs."""
    random = Random(11)
    for _ in range(cases(500)):
        values = _tiny(random)
        assert _value(values, best_matching(values)) == pytest.approx(_most(values), rel=SUM)


@pytest.mark.parametrize(("size", "kinds"), [(40, 5), (41, 5), (41, 41)])
def test_it_is_the_best_of_many_jobs(size: int, kinds: int) -> None:
    """So it is where many jobs are alike, where all differ, and where one has to be left out."""
    values = _alike(Random(size + kinds), size, kinds)
    assert _value(values, best_matching(values)) == pytest.approx(_most(values), rel=SUM)


@pytest.mark.parametrize("seed", [13, 71, 73])
def test_prices_bound_what_pairs_are_worth(seed: int) -> None:
    """So it is where some jobs are worth much with anybody: no pair seems cheap that is not."""
    random = Random(seed)
    own = [random.uniform(0, 3) for _ in range(12)]
    values = _symmetric([[one + other + random.uniform(0, 0.3) for other in own] for one in own])
    assert _value(values, best_matching(values)) == pytest.approx(_most(values), rel=SUM)


def test_odd_ones_are_looked_at_twice() -> None:
    """Two groups of three, whose bound no matching reaches, are joined by a pair that costs what is missing."""
    values = np.full((6, 6), 0.0)
    values[:3, :3] = values[3:, 3:] = 10.0
    values[2, 3] = values[3, 2] = 1.0
    assert _value(values, best_matching(values)) == 21.0


@pytest.mark.parametrize("values", [[], [[3]], [[0, 0], [0, 0]], [[1, -1], [-1, 1]]])
def test_nobody(values: list[list[float]]) -> None:
    """Without two jobs that are worth something together there are no pairs."""
    assert best_matching(values) == []
