"""Gavel: its authors' simulator, objectives, rounds and shares; Themis by Gavel's rounds and by auctions."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import prod
from random import Random
from typing import Any

import pytest

from formulations.shares import exact
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.method import NoSolution
from gsopt.problems.shares import Shares
from gsopt.problems.shares import TimeShares as Solution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, linear_menu
from gsopt.scenario.training import Training
from gsopt.simulation import Policy, Replay, State, simulate
from gsopt.simulation.parts.inventory import Inventory
from gsopt.testing import check_policy
from heuristics.policies.gavel.auction import Award, auction
from heuristics.policies.gavel.gavel import gavel
from heuristics.policies.gavel.ledger import TimeLedger
from heuristics.policies.gavel.rounds import Divide, Form, Rounds
from heuristics.policies.gavel.steps import StepsLeft, steps_left
from heuristics.policies.gavel.themis import themis
from heuristics.policies.gavel.themis_auction import themis_auction
from heuristics.policies.gavel.time_shares import Isolated, TimeSharing
from instances.scenarios import sia
from instances.scenarios.sia import RESTARTS
from instances.traces import gavel as read
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import workload
from tests.heuristics.policies.shared import ALIKE, mixed, pieces, traces
from tests.unwrap import unwrap

#: Completion times of the 15 jobs of the artifact evaluation on four V100s, in the authors' simulator.
PUBLISHED: Mapping[str, tuple[float, ...]] = {
    "max_min": (
        *(2106.818, 4377.260, 5601.607, 7623.497, 3141.461, 3779.717, 5223.216, 4992.371, 4850.256),
        *(1239.500, 4303.066, 2684.081, 5238.269, 4962.989, 4114.110),
    ),
    "finish_time": (
        *(2826.867, 5440.432, 5225.462, 7607.020, 3861.530, 3779.883, 4503.706, 4975.894, 5193.770),
        *(1239.501, 4663.192, 1604.200, 4518.759, 4946.512, 4474.236),
    ),
    # With shares rounded to five decimal places, as its port does; without, a solver's last digits choose who
    # has the GPUs that are left over, and the mean is 3,346.676 s.
    "max_sum": (
        *(4828.935, 1857.511, 3802.157, 7825.640, 4423.723, 899.994, 3783.757, 2112.631, 2330.494),
        *(159.523, 5225.256, 524.242, 3798.809, 5525.123, 3754.286),
    ),
    "makespan": (
        *(4626.812, 5459.955, 4881.804, 5468.535, 4581.511, 5219.201, 5223.071, 4992.226, 5209.779),
        *(5397.647, 4663.221, 5402.373, 5238.124, 4962.844, 5556.781),
    ),
}

#: Shares of v100, p100 and k80 that the authors' simulator gives the same jobs for finish times on two GPUs of
#: each type, in each of its four decisions; and when the jobs then complete there.
TYPED_SHARES: Sequence[Mapping[str, tuple[float, float, float]]] = (
    {
        "0": (0.28201167889, 3.4e-10, 2.2e-10),
        "1": (1e-10, 0.08907591969, 0.22820365219),
        "2": (0.28401143129, 5.2e-10, 1.9e-10),
        "3": (8e-11, 0.32449198177, 1.129e-08),
        "4": (0.2832607763, 2.8e-10, 2.7e-10),
        "5": (2.6e-10, 0.38446864464, 3.8e-10),
        "6": (0.04709697626, 0.33472267703, 1.7e-10),
        "7": (2.8e-10, 0.38908242699, 3.9e-10),
        "8": (2.8e-10, 0.38908242699, 3.9e-10),
        "9": (0.13766135466, 1.8e-10, 9e-11),
        "10": (0.2832607763, 2.8e-10, 2.7e-10),
        "11": (0.13800744869, 1.1e-10, 1.3e-10),
        "12": (2.1e-10, 5e-10, 0.77416474503),
        "13": (0.26902075271, 2.5e-10, 1.9e-10),
        "14": (2.3e-10, 3.8e-10, 0.76942793625),
    },
    {
        "0": (2.242e-08, 0.26084859431, 1.89e-08),
        "1": (8.3e-10, 3.54e-09, 0.3038301933),
        "2": (7.24e-09, 0.22948124673, 9.75e-09),
        "3": (1.2e-09, 6.4e-09, 0.46761635733),
        "4": (0.07840472886, 0.17111193172, 0.01373883257),
        "5": (2.37e-09, 0.10640173554, 7.681e-08),
        "6": (3.77e-09, 0.29171661303, 7.78e-09),
        "7": (2.42e-09, 0.21301411852, 8.273e-08),
        "8": (2.42e-09, 0.20561793871, 8.366e-08),
        "9": (0.82971009874, 0.17028989499, 2.32e-09),
        "10": (0.082732972, 0.18122795995, 0.01386038611),
        "12": (1.68e-09, 5.48e-09, 0.45077749749),
        "13": (0.1794420538, 4.622e-08, 1.364e-08),
        "14": (1.74e-09, 4.69e-09, 0.44634623704),
    },
    {
        "1": (0.07641790889, 0.21211604644, 0.20844214987),
        "2": (0.11917036952, 0.18446238335, 0.21837004839),
        "3": (0.1021447937, 0.37797986161, 0.2528191088),
        "6": (0.21194634016, 0.32887195396, 0.17758567644),
        "7": (0.10070444718, 0.15695920617, 0.23598991631),
        "8": (0.08982037697, 0.13591146233, 0.22479842799),
        "12": (0.13419229388, 0.24230166705, 0.27105294093),
        "14": (0.99999999994, 3e-11, 3e-11),
    },
    {
        "3": (1.477e-08, 0.99999996344, 1.379e-08),
    },
)
TYPED = (
    *(3034.883, 4557.105, 4972.238, 5929.695, 2938.464, 2753.265, 4085.461, 4299.335, 4386.673),
    *(1599.492, 3380.161, 1244.224, 3845.431, 3163.210, 3972.261),
)

#: Seconds from submission to completion of the first 12 jobs of Sia's Philly workload 6 on four nodes of four
#: GPUs, in Sia's port of Gavel.
PORTED: Mapping[str, tuple[int, ...]] = {
    "max_min": (10453, 10402, 17105, 12525, 16257, 11857, 9331, 11579, 9000, 11832, 13874, 8758),
    "max_sum": (5413, 5672, 14385, 9595, 16377, 7797, 4241, 6339, 4630, 6232, 12434, 4028),
    "finish_time": (8653, 8242, 17390, 11085, 15297, 10417, 8251, 10859, 8280, 10342, 13274, 8038),
}


@pytest.mark.parametrize("objective", PUBLISHED)
def test_as_its_authors_simulate_it(objective: str) -> None:
    """Every job completes within a thousandth of the time at which it does there."""
    folder = traces()
    jobs = read(folder).workload
    run = simulate(jobs, gavel, cluster=4, objective=objective, bound=False)
    assert run.completion_times == pytest.approx(PUBLISHED[objective], rel=1e-3)


def test_shares_on_several_types_tie() -> None:
    """The authors' shares are optimal too, and with them every job completes as there; not so with ours."""
    jobs = read(traces(), gpu_types=("v100", "p100", "k80")).workload
    given = iter(TYPED_SHARES)

    def theirs(problem: Shares) -> Solution:
        shares = {name: dict(zip(problem.gpus, own, strict=True)) for name, own in next(given).items()}
        solution = problem.fitted(shares)
        assert float(problem.objective(solution)) == pytest.approx(
            float(unwrap(exact(problem).objective)), rel=1e-5
        )
        return solution

    def policy(state: State) -> Rounds:
        return Rounds(state, TimeSharing("finish_time", theirs))

    run = partial(simulate, jobs, cluster=mixed(2, "v100", "p100", "k80"), bound=False)
    assert run(policy).completion_times == pytest.approx(TYPED, rel=3e-4)
    assert next(given, None) is None
    assert run(gavel, objective="finish_time").completion_times != pytest.approx(TYPED, rel=3e-4)


@pytest.mark.parametrize("objective", PORTED)
def test_as_its_port_runs_it(objective: str) -> None:
    """Every job completes in the second in which it does there."""
    folder = traces()
    scenario = sia(folder / "sia/workloads/philly/workload-6.csv", nodes=4, jobs=12)
    run = simulate(scenario, gavel, rounds="port", objective=objective, restart=RESTARTS, bound=False)
    assert run.jct == PORTED[objective]


def test_steps_of_adaptive_jobs_are_iterations() -> None:
    """Steps left and steps per second are those of the batch, whatever progress a step makes."""
    scenario = sia(traces() / "sia/workloads/philly/workload-6.csv", nodes=4, jobs=1)
    (job,) = scenario.workload.jobs
    seen: list[StepsLeft] = []
    batch = job.batch_size
    assert batch is not None

    def divide(state: State, jobs: Sequence[int], inventory: Inventory) -> dict[int, dict[str, float]]:
        trainee = state.trainee(0)
        assert trainee is not None
        course = trainee.course
        seen.append(steps_left(state, 0, inventory))
        assert seen[-1].total == course.application.iterations(batch, course.application.epochs - 1)
        done = course.iterations(batch, trainee.share * course.work)
        assert seen[-1].left == pytest.approx(max(1.0, seen[-1].total - done), abs=0.5)
        assert seen[-1].rates == {"aws": course.iteration_rate((4, job.gpus - 4), batch)}
        return equally(state, jobs, inventory)

    simulate(scenario, partial(Rounds, divide=divide, form="port"), bound=False)
    assert seen[0].left == seen[0].total
    assert all(each.left == round(each.left) >= 1 for each in seen)
    assert all(one.left > other.left for one, other in pairwise(seen))


def test_steps_per_second_are_those_on_each_type() -> None:
    """On each type of GPU a job has the iterations per second that were measured there."""
    types = {"aws": 6, "rtx": 3, "dgx-ext": 2}
    scenario = sia(traces() / "sia/workloads/philly/workload-1.csv", nodes=types, jobs=20)
    seen = set()

    def divide(state: State, jobs: Sequence[int], inventory: Inventory) -> dict[int, dict[str, float]]:
        for job in jobs:
            trainee, batch = state.trainee(job), state.jobs[job].batch_size
            assert trainee is not None
            assert batch is not None
            for kind, rate in steps_left(state, job, inventory).rates.items():
                shape = inventory.shape(state, job, kind)
                assert rate == pytest.approx(trainee.course.on(kind).iteration_rate(shape, batch), rel=1e-12)
                seen.add(kind)
        return equally(state, jobs, inventory)

    simulate(scenario, partial(Rounds, divide=divide, form="port"), bound=False)
    assert seen == set(types)


def test_steps_of_other_jobs_are_those_of_their_batch() -> None:
    """A job of 400 samples in 100 s has a step of two samples each half second, and work in seconds without."""
    known = Job(
        name="a",
        release_date=0,
        duration=100,
        gpus=1,
        batch_size=2,
        training=Training(epoch=1, samples=400),
    )
    seen: list[StepsLeft] = []

    def divide(state: State, jobs: Sequence[int], inventory: Inventory) -> dict[int, dict[str, float]]:
        seen.extend(steps_left(state, job, inventory) for job in jobs)
        return equally(state, jobs, inventory)

    jobs = bundle([known, known.model_copy(update={"name": "b", "batch_size": None})])
    simulate(jobs, partial(Rounds, divide=divide, interval=40), cluster=1, bound=False)
    assert seen[:2] == [StepsLeft(200, 200, {"gpu": 2.0}), StepsLeft(100, 100, {"gpu": 1.0})]


SCENARIOS = [
    *ALIKE,
    Scenario(
        workload=workload((0, 50, 1), (0, 20, 2), (10, 35, 2), (10, 9, 1)),
        cluster=mixed(2, "v100", "k80"),
        speed=Speed(gpu_types={"k80": 3.0}),
    ),
    Scenario(workload=workload((0, 5, 1), (0, 5, 1)), cluster=Cluster.plain(1)),
]


@pytest.mark.parametrize(
    ("objective", "rounds"),
    [
        ("max_min", "original"),
        ("finish_time", "port"),
        ("makespan", "original"),
        ("fifo", "port"),
        ("max_sum", "original"),
    ],
)
def test_it_passes_the_check(objective: str, rounds: str) -> None:
    """Whatever counts, it replays scenarios of all kinds legally, and every job completes."""
    options: dict[str, Any] = {"objective": objective, "rounds": rounds, "interval": 15, "renewal": 40}
    assert check_policy(gavel, SCENARIOS, **options) == 2 * len(SCENARIOS)


def test_the_fast_type_goes_to_who_gains_from_it() -> None:
    """Of two jobs on a GPU of each type, the one that is hardly slower on the slow type has it more often."""
    made = bundle(
        Job(
            name=name,
            release_date=0,
            duration=3600,
            gpus=1,
            gpu_type="v100",
            modes=[Mode(name="k80", menu=[(1, speed)], gpu_type="k80")],
        )
        for name, speed in (("much", 0.1), ("little", 0.9))
    )
    run = simulate(made, gavel, cluster=mixed(1, "v100", "k80"), record=True)
    placed = {each.job: each.placement for each in pieces(run)[:2]}
    assert placed == {"much": (0,), "little": (1,)}


def test_fifo_is_by_linear_programs_or_a_strict_queue() -> None:
    """The paper's lets a small job pass one that does not fit, the code's queue does not."""
    jobs = workload((0, 100, 3), (0, 100, 4), (0, 100, 1))
    options: dict[str, Any] = {"objective": "fifo", "bound": False}
    assert simulate(jobs, gavel, cluster=4, **options).start_times == (0, 100, 0)
    assert simulate(jobs, gavel, cluster=4, shares="queue", **options).start_times == (0, 100, 200)


def test_water_filling_raises_who_can_have_more() -> None:
    """Beside a large job that is held down by itself the others get what is left of the time, and not less."""
    jobs = workload((0, 3600, 4), (0, 3600, 1), (0, 3600, 1))
    runs = [simulate(jobs, gavel, cluster=4, shares=name, bound=False) for name in ("exact", "water_filling")]
    assert all(run.metrics.completed == 3 for run in runs)


@pytest.mark.parametrize(
    ("policy", "options", "line"),
    [
        (
            gavel,
            {"objective": "jct"},
            "objective: 'jct': must be one of max_min, finish_time, makespan, fifo, max_sum",
        ),
        (gavel, {"rounds": "fixed"}, "rounds: 'fixed': must be one of original, port"),
        (gavel, {"isolated": "never"}, "isolated: 'never': must be one of accumulated, present"),
        (gavel, {"interval": 0}, "interval: 0: must be a finite number of seconds, at least"),
        (gavel, {"renewal": -1}, "renewal: -1: must be a finite number of seconds, at least"),
        (gavel, {"restart": -1}, "restart: -1: must be a finite number of seconds, at least 0"),
        (gavel, {"restart": {"cnn": -1}}, "restart.cnn: -1: must be a finite number of seconds, at least 0"),
        (gavel, {"shares": "simplex"}, "shares: 'simplex': "),
        (themis_auction, {"lease": 0}, "lease: 0: must be a finite number of seconds, at least"),
        (themis_auction, {"lease": None}, "lease: None: must be a finite number of seconds, at least"),
        (themis_auction, {"bidding": 0}, "bidding: 0: must be a number above 0 and at most 1"),
    ],
)
def test_bad_options_are_refused(policy: Policy, options: dict[str, Any], line: str) -> None:
    """An option out of its range is refused in one line."""
    with pytest.raises(InvalidInput, match=f"^{line}"):
        simulate(workload((0, 1, 1)), policy, cluster=1, **options)


def test_a_claim_falls_with_the_time_had() -> None:
    """Of two jobs with equal shares and half a round of credit, one that had a round claims a third as much."""
    ledger = TimeLedger(180.0)
    for job in (0, 1):
        ledger.enter((job,), ["x"])
    ledger.add((0,), "x", 360.0)
    assert ledger.claim((1,), "x", 0.5).priority == 2.0
    assert ledger.claim((0,), "x", 0.5).priority == 0.66666667


def test_time_of_a_job_that_left_counts_among_that_of_all() -> None:
    """Claims of the others rise by it, all alike."""
    ledger = TimeLedger(180.0)
    ledger.enter((0,), ["x"])
    ledger.enter((1,), ["x"])
    ledger.leave(1)
    ledger.add((1,), "x", 180.0)
    assert ledger.claim((0,), "x", 1.0).priority == 3.0


def test_a_new_beginning_keeps_what_was_missed() -> None:
    """A job that had 100 s of the 300 s that it was to have begins with its credit, and misses 200 s."""
    ledger = TimeLedger(180.0)
    ledger.enter((0,), ["x", "y"])
    ledger.add((0,), "x", 100.0)
    ledger.reset({(0,): {"x": 0.5}}, 600.0)
    assert ledger.claim((0,), "x", 0.5) == (0.5, 200.0, 0.5)
    assert ledger.claim((0,), "y", 0.0).deficit == 0.0


def test_claims_that_differ_by_rounding_tie() -> None:
    """Tenths of a second that were added up are no more than as many seconds at once."""
    ledger = TimeLedger(0.3)
    for job in (0, 1):
        ledger.enter((job,), ["x"])
    for _ in range(3):
        ledger.add((0,), "x", 0.1)
    ledger.add((1,), "x", 0.3)
    assert ledger.claim((0,), "x", 0.7) == ledger.claim((1,), "x", 0.7 + 1e-16)
    ledger.reset({(0,): {"x": 0.3}, (1,): {"x": 0.1 + 0.2}}, 1.0)
    assert ledger.claim((0,), "x", 0.5) == ledger.claim((1,), "x", 0.5)


Sizes = Sequence[tuple[float, float, int]]


def equally(state: State, jobs: Sequence[int], inventory: Inventory) -> dict[int, dict[str, float]]:
    """Return all jobs equal shares on all kinds."""
    del state
    return {job: dict.fromkeys(inventory.kinds_of(job), 1 / len(jobs)) for job in jobs}


def always(shares: Callable[[int], dict[str, float]]) -> Divide:
    """Grant each job the same shares each time."""

    def divide(state: State, jobs: Sequence[int], inventory: Inventory) -> dict[int, dict[str, float]]:
        del state, inventory
        return {job: shares(job) for job in jobs}

    return divide


def run(sizes: Sizes, divide: Divide = equally, cluster: Cluster | int = 1, **options: Any) -> Replay:
    """Replay jobs of (release date, duration, GPUs) in fractions."""
    jobs = workload(*sizes)
    physics = {name: options.pop(name) for name in ("capacity_changes", "clock_start") if name in options}
    policy = partial(Rounds, divide=divide, **options)
    return simulate(jobs, policy, cluster=cluster, record=True, exact=True, bound=False, **physics)


def turns(replay: Replay, job: str) -> list[tuple[Any, Any]]:
    """Return when a job ran."""
    return [(each.start, each.end) for each in pieces(replay, job)]


def test_jobs_take_turns_by_what_they_have_had() -> None:
    """Two jobs of equal shares run round by round in turn; the last round ends with its job."""
    replay = run([(0, 540, 1), (0, 540, 1)])
    assert turns(replay, "j0") == [(0, 360), (720, 900)]
    assert turns(replay, "j1") == [(360, 720), (900, 1080)]


def test_a_job_of_twice_the_share_has_two_rounds_of_three() -> None:
    """Of three rounds the job with two thirds of the time has two."""
    divide = always(lambda job: {"gpu": 1 / 3 if job else 2 / 3})
    replay = run([(0, 9000, 1), (0, 9000, 1)], divide, interval=60)
    assert sum(min(end, 1800) - start for start, end in turns(replay, "j0") if start < 1800) == 1200


def test_a_job_that_comes_waits_for_the_next_shares_and_its_room_is_kept() -> None:
    """Shares of second 10 hold until 1,930 s; who comes before runs from the first round after that."""
    replay = run([(10, 4000, 1), (20, 700, 1), (30, 700, 1)], cluster=2, clock_start=0)
    assert turns(replay, "j1")[0][0] == 10 + 6 * 360
    late = run([(10, 4000, 1), (20, 700, 1)], cluster=2, renewal=300, clock_start=0)
    assert late.start_times == (10, 370)


@pytest.mark.parametrize("first", [0, 1_700_000_000])
def test_the_first_shares_hold_until_something_happens(first: int) -> None:
    """As in Gavel's program, a job that comes in the first round runs in the second, whatever the date."""
    found = run([(first, 4000, 1), (first + 20, 700, 1)], cluster=2)
    assert found.start_times == (first, first + 360)


def test_nobody_waits_for_shares_while_all_gpus_are_idle() -> None:
    """When the only job with a share is complete the shares are computed at once."""
    assert run([(10, 100, 1), (20, 700, 1)]).start_times == (10, 110)


def test_a_round_ends_when_all_its_jobs_are_through() -> None:
    """GPUs of a job that completes stay idle until the round is over for all."""
    replay = run([(0, 100, 1), (0, 200, 1), (0, 500, 1)], cluster=2)
    assert replay.start_times == (0, 0, 200)


def test_rounds_of_the_port_begin_at_multiples_of_their_length() -> None:
    """A job that comes in a round runs in the next one, even where all GPUs are idle."""
    replay = run([(10, 100, 1), (400, 700, 1)], form="port", clock_start=0)
    assert replay.start_times == (360, 720)
    replay = run([(10, 100, 1), (365, 50, 1), (366, 30, 1)], form="port", clock_start=0)
    assert replay.start_times == (360, 720, 1080)


def test_the_port_forgets_nothing() -> None:
    """A newcomer has its turns until it has had as much time as the others, whatever the renewal."""
    replay = run([(0, 7200, 1), (720, 7200, 1)], form="port", renewal=1)
    assert turns(replay, "j1")[0] == (720, 1440)


def test_the_original_counts_anew_with_new_shares() -> None:
    """What a job had before the last computation is only what it may miss then, and no part of its time."""
    replay = run([(0, 7200, 1), (720, 7200, 1)], renewal=1)
    assert turns(replay, "j1")[0] == (1080, 1440)


def test_what_does_not_fit_is_skipped_and_runs_on_what_is_left_only_if_it_may() -> None:
    """A large job is passed over; jobs without a share run beside it only where that is allowed."""
    divide = always(lambda job: {"gpu": 0.0 if job else 1.0})
    sizes = [(0, 100, 2), (0, 100, 2), (0, 100, 1)]
    assert run(sizes, divide, cluster=3).start_times == (0, 100, 0)
    assert run(sizes[:1] + sizes[2:], divide, cluster=3, leftovers=False).start_times[0] == 0


@pytest.mark.parametrize(("form", "second"), [("original", 357), ("port", 360)])
def test_a_round_has_whole_steps(form: Form, second: float) -> None:
    """A job with steps of seven seconds is through with a round of the original after 51 of them."""
    jobs = bundle(
        Job(
            name=name,
            release_date=0,
            duration=1400,
            gpus=1,
            batch_size=2,
            training=Training(epoch=1, samples=400),
        )
        for name in "ab"
    )
    replay = simulate(jobs, partial(Rounds, divide=equally, form=form), cluster=1, exact=True, bound=False)
    assert replay.start_times == (0, second)


def test_each_kind_is_given_away_before_the_next() -> None:
    """The original fills the first kind though claims on the second are larger; the port goes by claims."""
    divide = always(lambda job: {"x": 0.1, "y": 0.2 if job else 0.9})
    cluster = mixed(1, *"xy")
    for form, place in (("original", (0,)), ("port", (1,))):
        replay = run([(0, 100, 1), (0, 100, 1)], divide, cluster=cluster, form=form)
        assert next(each.placement for each in pieces(replay) if each.job == "j0") == place


def test_gpus_that_come_back_are_used_in_the_next_round() -> None:
    """Who found no room has shares from 725 s on; nobody had time since then, and the first job goes first."""
    changes = [CapacityChange(time=0, gpus=1), CapacityChange(time=400, gpus=2)]
    replay = run([(5, 3000, 1), (5, 300, 2)], cluster=2, capacity_changes=changes, renewal=400)
    assert replay.start_times == (5, 1085)


def test_jobs_stay_where_they_are() -> None:
    """A job that runs in the next round too keeps its GPU, though the first one is free."""
    replay = run([(0, 100, 1), (0, 900, 1)], cluster=Cluster.uniform(machines=1, gpus=2))
    assert [each.placement for each in pieces(replay) if each.job == "j1"] == [(1,)]


THREE = workload((0, 900, 1), (0, 2500, 2), (100, 400, 1))


def problems(criterion: Any, **options: Any) -> list[Shares]:
    """Return the problems that a run of two GPUs in rounds of the port is divided by."""
    seen: list[Shares] = []

    def watched(problem: Shares) -> Solution:
        seen.append(problem)
        solution = exact(problem).solution
        assert solution is not None
        return solution

    def policy(state: State) -> Rounds:
        return Rounds(state, TimeSharing(criterion, watched, **options), form="port")

    simulate(THREE, policy, cluster=2, exact=True, bound=False)
    return seen


def test_work_left_and_age_are_told() -> None:
    """In the second round a job that ran in the first has 360 s less to do, and all are older."""
    first, second = problems("makespan")[:2]
    assert [(job.steps, job.age) for job in first.jobs] == [(900, 0), (2500, 0)]
    assert [(job.gpus, job.age) for job in second.jobs] == [(1, 360), (2, 360), (1, 260)]
    assert sum(job.steps for job in second.jobs) == 900 + 2500 + 400 - 360


def test_isolated_time_is_accumulated_at_the_speed_of_then() -> None:
    """Of two jobs each has half of two GPUs: 360 s of work on both are 720 s, on one 360 s."""
    second = problems("finish_time")[1]
    spent = {job.name: (left, job.isolated) for job, left in zip(second.jobs, (900, 2500, 400), strict=True)}
    for job in second.jobs:
        left, isolated = spent[job.name]
        done = left - job.steps
        assert isolated == pytest.approx(done * (2 if job.gpus > 1 else 1))


def test_isolated_time_at_present_is_that_of_all_the_work() -> None:
    """It is the wait for the next round, the restart, and all the work at the isolated speed of now."""
    second = problems("finish_time", isolated="present", restart=30)[1]
    for job, work, wait in zip(second.jobs, (900, 2500, 400), (360, 360, 260), strict=True):
        share = Fraction(2, 3 * job.gpus)
        assert float(second.isolated_times[job.name]) == pytest.approx(wait + 30 + work / share)


def test_restarts_may_differ_by_model() -> None:
    """A model that is not named restarts at once."""
    plain = problems("finish_time", isolated="present")[0]
    for restart, more in (({"": 30.0}, 30.0), ({"cnn": 30.0}, 0.0)):
        told = problems("finish_time", isolated="present", restart=restart)[0]
        for one, other in zip(told.jobs, plain.jobs, strict=True):
            assert one.isolated == other.isolated + more


def test_isolated_shares_where_a_method_finds_none() -> None:
    """A method without a solution does not stop the run: jobs have an equal part of the GPUs each."""
    none = partial(TimeSharing, "makespan", lambda problem: NoSolution(problem.word))
    run = simulate(THREE, lambda state: Rounds(state, none()), cluster=2, bound=False)
    assert run.metrics.completed == 3


JOBS = workload((0, 900, 1), (0, 2500, 2), (100, 400, 1), (700, 1500, 4), (800, 3000, 1))


@pytest.mark.parametrize(
    "options", [{}, {"interval": 100}, {"renewal": 100}, {"rounds": "port"}, {"shares": "equal_time"}], ids=str
)
def test_it_is_gavel_for_finish_times(options: dict[str, Any]) -> None:
    """Jobs complete as under the other name, with any option that makes a difference."""
    run = partial(simulate, workload((0, 1000, 1), (50, 700, 1), (400, 600, 1)), cluster=1, bound=False)
    times = run(themis, **options).completion_times
    assert times == run(gavel, objective="finish_time", **options).completion_times
    assert not options or times != run(themis).completion_times


@pytest.mark.parametrize("isolated", ["accumulated", "present"])
def test_it_passes_the_check_with_either_isolated_time(isolated: Isolated) -> None:
    """Both readings replay legally in rounds of the port, with restarts that cost."""
    scenario = Scenario(workload=JOBS, cluster=Cluster.plain(4), overheads={"": Overhead(start=30.0)})
    assert check_policy(themis, [scenario], rounds="port", isolated=isolated, restart=30.0) == 2


def test_each_kind_of_rounds_has_its_own_isolated_time() -> None:
    """The original accumulates, the port looks at the present speed."""
    run = partial(simulate, JOBS, themis, cluster=4, rounds="port", bound=False)
    times = {each: run(isolated=each).completion_times for each in (None, "present", "accumulated")}
    assert times[None] == times["present"] != times["accumulated"]


def largest(bids: list[dict[int, float]], gpus: int) -> float:
    """Find the largest product of values among all divisions."""
    return max(
        prod(bid[count] for bid, count in zip(bids, counts, strict=True))
        for counts in product(*bids)
        if sum(counts) <= gpus
    )


@pytest.mark.parametrize("seed", range(cases(500)))
def test_as_all_divisions_say(seed: int) -> None:
    """The product is the largest, and each part is what the others have over what they could have."""
    random = Random(seed)
    gpus = random.randint(0, 6)
    bids = [
        {0: 1.0}
        | {random.randint(1, 7): random.choice([1.0, 1.5, 2.0, random.uniform(0.5, 9)]) for _ in range(3)}
        for _ in range(random.randint(1, 4))
    ]
    awards = auction(bids, gpus)
    values = [bid[award.gpus] for bid, award in zip(bids, awards, strict=True)]

    assert sum(award.gpus for award in awards) <= gpus
    assert prod(values) == pytest.approx(largest(bids, gpus))
    for place, award in enumerate(awards):
        others = bids[:place] + bids[place + 1 :]
        assert award.part <= 1
        assert award.part == pytest.approx(prod(values) / values[place] / largest(others, gpus))


@pytest.mark.parametrize("seed", range(cases(200)))
def test_of_equal_bids_the_first_win(seed: int) -> None:
    """Later bidders have the fewest GPUs, in whichever order the logarithms of equal products are added."""
    random = Random(seed)
    bidders = random.randint(2, 8)
    gpus = random.randint(1, bidders - 1)
    awards = auction([{0: random.uniform(0.01, 1.0), 1: random.uniform(1.0, 9.0)}] * bidders, gpus)
    assert [award.gpus for award in awards] == [1] * gpus + [0] * (bidders - gpus)


def test_numbers_that_are_worth_nothing_more_are_not_taken() -> None:
    """Of equally good numbers a bidder has the fewest, in whichever order it bids them."""
    assert auction([{2: 3.0, 1: 3.0, 0: 3.0}], 2) == [Award(0, 1.0)]


def test_nobody_bids() -> None:
    """Without bidders, or without GPUs, nothing is won and nothing paid."""
    assert auction([], 4) == []
    assert auction([{0: 0.5, 1: 2.0}], 0) == [Award(0, 1.0)]


def test_rounding_takes_no_gpu() -> None:
    """What is left of two GPUs is one where it is half of them but for rounding, and two where it is more."""
    assert Award(2, 0.5000000000000002).kept([1, 2]) == 1
    assert Award(2, 0.5001).kept([1, 2]) == 2


def elastic(*sizes: tuple[float, float, int]) -> Workload:
    """Make jobs of (release date, duration, GPUs) with a menu of 1 to 4 GPUs."""
    jobs = workload(*sizes).jobs
    return bundle(job.model_copy(update={"menu": linear_menu(job.gpus, {1, 2, 4, job.gpus})}) for job in jobs)


def auctioned(workload: Workload, cluster: int = 1, **options: Any) -> Replay:
    """Run jobs under Themis' auctions."""
    return simulate(workload, themis_auction, cluster=cluster, bound=False, **options)


def test_a_lease_is_kept_until_it_ends() -> None:
    """A job that comes waits for the end of the lease, and then has the larger ratio."""
    run = auctioned(workload((0, 3000, 1), (100, 500, 1)))
    assert run.start_times == (0, 1200)
    assert run.completion_times == (3500, 1700)


def test_a_winner_stays_where_it_is() -> None:
    """With GPUs for all, leases are renewed without a stop."""
    run = auctioned(workload((0, 3000, 1), (0, 500, 2)), 3)
    assert run.completion_times == (3000, 500)
    assert run.metrics.preemptions == 0


@pytest.mark.parametrize(
    ("sizes", "gpus", "options", "starts"),
    [
        # the only bidder leaves a GPU, which the job of the large demand cannot take and the small one can
        ([(0, 1000, 2), (0, 1000, 2), (0, 900, 1)], 3, {}, (0, 1000, 0)),
        # an equal part of four GPUs is half of what the large job needs, and all that the small one does
        ([(0, 100, 4), (0, 100, 1)], 4, {}, (100, 0)),
        # an equal part above the demand is the demand: after a lease the large job has the larger ratio
        ([(0, 5000, 1), (0, 100, 4)], 4, {"lease": 250}, (0, 250)),
    ],
)
def test_who_bids_and_who_gets_what_is_left(
    sizes: list[tuple[float, float, int]], gpus: int, options: dict[str, Any], starts: tuple[float, ...]
) -> None:
    """Jobs with the largest ratios bid, and GPUs that they leave are given away."""
    assert auctioned(workload(*sizes), gpus, **options).start_times == starts


def test_who_does_not_bid_gets_as_much_of_its_demand_as_there_is() -> None:
    """The small job bids, and an elastic one has two of the three GPUs that are left for its four."""
    run = auctioned(
        bundle([*elastic((0, 100, 4)).jobs, Job(name="b", release_date=0, duration=300, gpus=1)]), 4
    )
    assert run.completion_times == (200, 300)


def test_winners_of_elastic_size_pay() -> None:
    """Whoever wins all four GPUs for a lease delays the other to 2.6 times its time, and keeps two."""
    jobs = elastic((0, 4000, 2), (0, 4000, 2))
    for payments, starts in ((False, (0, 1200)), (True, (0, 0))):
        assert auctioned(jobs, 4, bidding=1.0, payments=payments).start_times == starts


@pytest.mark.parametrize("thirds", [14, 31, 34, 56])
def test_ties_go_to_the_lower_number(thirds: int) -> None:
    """Three made that were never delayed have one ratio, whatever the rounding, and the first two go on."""
    time = thirds / 3 + 1
    jobs = workload((0, time, 1), (0, 1.1 * time, 1), (0.3, 1.3 * time, 1))
    assert auctioned(jobs, 2, lease=0.3).start_times[2] > 0.3


@pytest.mark.parametrize("thirds", range(1, 9))
def test_equal_bids_go_to_the_lower_numbers(thirds: int) -> None:
    """Where all bid the same for fewer GPUs than there are made, the first made win, whatever the rounding."""
    run = auctioned(workload(*[(0, thirds / 3, 1)] * 7), 3, bidding=1.0, lease=3)
    assert run.start_times[:3] == (0, 0, 0)


def test_bidders_are_counted_without_rounding() -> None:
    """Three of ten made bid, and win two GPUs each, though ten times the part is above 3; two take the rest."""
    part = 1 - 0.7
    assert 10 * part > 3
    menu = [(1, 1.0), (2, 2.0)]
    twice = [Job(name=f"j{i}", release_date=0, duration=9, gpus=1, menu=menu) for i in range(10)]
    run = auctioned(bundle(twice), 8, bidding=part, payments=False)
    assert run.start_times.count(0) == 5


def test_what_is_left_goes_first_to_those_who_did_not_bid() -> None:
    """The bidder rather waits for two GPUs than runs on one, which the job behind it has first."""
    menu = [(1, 0.1), (2, 1.0)]
    slow = Job(name="bids", release_date=0, duration=100, gpus=2, menu=menu)
    jobs = bundle([*workload((0, 1000, 1), (0, 400, 1), (399, 99, 1)).jobs, slow])
    run = auctioned(jobs, 2, lease=500)
    assert run.start_times == (0, 0, 499, 400)


AUCTIONS = [
    *(scenario for scenario in SCENARIOS if not scenario.speed.gpu_types),
    Scenario(
        workload=elastic((0, 50, 1), (3, 20, 2), (10, 35, 2), (11, 30, 1)),
        cluster=Cluster.uniform(machines=2, gpus=2),
    ),
    Scenario(
        workload=workload((0, 50, 1), (3, 20, 2)),
        cluster=Cluster.plain(2),
        capacity_changes=[CapacityChange(time=2, gpus=0), CapacityChange(time=30, gpus=2)],
    ),
    Scenario(  # without GPUs for a while, while one waits and another one comes
        workload=workload((0, 50, 1), (0, 20, 1), (25, 5, 1)),
        cluster=Cluster.plain(1),
        capacity_changes=[CapacityChange(time=20, gpus=0), CapacityChange(time=60, gpus=1)],
    ),
]


@pytest.mark.parametrize("options", [{}, {"bidding": 1.0}, {"payments": False}])
def test_auctions_pass_the_check(options: dict[str, Any]) -> None:
    """It replays scenarios of all kinds legally, and every job completes."""
    assert check_policy(themis_auction, AUCTIONS, lease=12, **options) == 2 * len(AUCTIONS)


def test_auctions_are_of_one_kind() -> None:
    """The GPUs of an auction are all alike."""
    with pytest.raises(Unsupported, match="needs GPUs of one kind, but there are v100, k80"):
        simulate(workload((0, 1, 1)), themis_auction, cluster=mixed(1, "v100", "k80"))
