"""ONES, the rules and the optimum that it is compared with, and their parts."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.enumeration import brute_force
from gsopt.core.errors import InvalidInput
from gsopt.core.method import NoSolution
from gsopt.core.result import Result
from gsopt.problems.batching import Batches, Batching, Grant
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Phase
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.training import Training
from gsopt.simulation import Action, Decider, Policy, Resize, Start, State, Wake, simulate
from gsopt.simulation.parts.ways import ways_of
from gsopt.testing import check_policy
from heuristics.policies import fifo, srtf, tiresias
from heuristics.policies.ones.capped import capped
from heuristics.policies.ones.decision import BatchingDecision
from heuristics.policies.ones.dividing import Dividing, Division, Forced, Roster
from heuristics.policies.ones.epochs import Epochs
from heuristics.policies.ones.exact_batching import exact_batching
from heuristics.policies.ones.limits import BatchLimits, Penalty
from heuristics.policies.ones.policy import ones
from heuristics.policies.ones.remaining_work import Costs, Knowledge, RemainingWork
from instances.workloads import ones as jobs_of_ones
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios
from tests.gsopt.simulation.scripts import doing

_FASTER = Mode(name="large", menu=[(1, 2.0)], samples=80)


def _watch(job: Job, change_at: int | None = None, **physics: Any) -> list[tuple[Any, int]]:
    """Return when how many whole epochs were counted, asking at the ends of epochs only."""
    epochs, seen = Epochs(), []

    def decide(state: State) -> Iterable[Action]:
        for number in epochs.passed(state, state.running):
            seen.append((state.now, epochs.whole(number)))
            if epochs.whole(number) == change_at:
                yield Resize(number, 1, "large")
        yield from map(Start, state.arrived)
        if (time := epochs.next_end(state)) is not None:
            yield Wake(time)

    simulate(bundle([job]), doing(decide), cluster=1, exact=True, **physics)
    return seen


def _passing(**fields: Any) -> Job:
    training = Training(epoch=10, samples=40)
    given: dict[str, Any] = {"duration": 8, "modes": [_FASTER], "training": training} | fields
    return Job(name="a", release_date=0, gpus=1, **given)


def test_ends_follow_the_mode() -> None:
    """An epoch takes two seconds, and half of one in a mode of twice the speed and twice the samples."""
    assert _watch(_passing()) == [(2, 1), (4, 2), (6, 3)]
    assert _watch(_passing(), change_at=2) == [(2, 1), (4, 2), (4.5, 3), (5, 4), (5.5, 5)]


def test_ends_are_found_through_overheads_and_phases() -> None:
    """Overheads and slow phases put ends off, however often one has to ask."""
    assert _watch(_passing(), overheads=Overhead(start=3)) == [(5, 1), (7, 2), (9, 3)]
    slow = [Phase(until=0.5, slowdown=3), Phase(until=1)]
    assert _watch(_passing(phases=slow))[0] == (6, 1)


def test_overheads_cause_one_look_too_many() -> None:
    """A job of short epochs after a long overhead is looked at once before it is over, and not again."""
    asked = []
    epochs = Epochs()

    def decide(state: State) -> Iterable[Action]:
        asked.append(state.now)
        epochs.passed(state, state.running)
        yield from map(Start, state.arrived)
        if (time := epochs.next_end(state)) is not None:
            yield Wake(time)

    simulate(bundle([_passing()]), doing(decide), cluster=1, exact=True, overheads=Overhead(start=1000))
    assert asked == [0, 2, 1002, 1004, 1006, 1008]


def test_jobs_without_epochs() -> None:
    """They have no epochs, and no end of one."""
    assert _watch(_passing(training=None, modes=[])) == []


_DOUBLING_MODES = [Mode(name=str(k), menu=[(k, 1.5)], batch_size=32 * k) for k in (2, 4, 8)]
_DOUBLING = Job(name="a", release_date=0, duration=9, gpus=1, batch_size=32, modes=_DOUBLING_MODES)


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        ("never", [64, 128, 256, 256]),
        ("current", [64, 128, 128, 64]),  # of 256: ceil(512 / 4) after 25 s at 0.1/s, ceil(512 / 8) after 61 s
        ("compound", [64, 128, 64, 16]),  # ceil(256 / 4), ceil(128 / 8)
    ],
)
def test_epochs_by_hand(penalty: Penalty, expected: list[int]) -> None:
    """Limits double up to the largest batch, and long jobs are scaled down as the reading has it."""
    limits = BatchLimits(penalty, rate=0.1)
    limits.arrive({0: _DOUBLING}, now=0)
    assert limits.of(0) == 32
    found = []
    for elapsed in (4, 9, 25, 61):
        limits.finish_epochs(0, 1, elapsed)
        found.append(limits.of(0))
    assert found == expected


def test_several_epochs_at_once_are_several_steps() -> None:
    """Two epochs double the limit twice."""
    limits = BatchLimits("never")
    limits.arrive({0: _DOUBLING}, now=0)
    limits.finish_epochs(0, 2, 5)
    assert limits.of(0) == 128


def test_rejection_halves_down_to_one() -> None:
    """Each rejection halves what is used and what it doubles from, and 1 stays 1."""
    limits = BatchLimits("current", rate=0.1)
    limits.arrive({0: _DOUBLING}, now=0)
    for expected in (16, 8, 4, 2, 1, 1):
        limits.reject([0])
        assert limits.of(0) == expected
    limits.finish_epochs(0, 1, 1)
    assert limits.of(0) == 2


def test_the_rate_is_that_of_arrivals() -> None:
    """Without a rate sigma is that of the arrivals so far; it needs two, at different times."""
    limits = BatchLimits()
    assert limits.rate == 0
    limits.arrive({0: _DOUBLING}, now=10)
    assert limits.rate == 0
    limits.arrive({1: _DOUBLING, 2: _DOUBLING}, now=14)
    assert limits.rate == 0.5
    assert BatchLimits(rate=3).rate == 3


def test_rejection_may_end_at_what_one_gpu_holds() -> None:
    """With that floor a limit above it is halved down to it, and one below it by a penalty stays."""
    limits = BatchLimits("compound", rate=0.1, floor="gpu")
    limits.arrive({0: _DOUBLING}, now=0)
    limits.finish_epochs(0, 2, 5)
    found = []
    for _ in range(3):
        limits.reject([0])
        found.append(limits.of(0))
    assert found == [64, 32, 32]
    limits.finish_epochs(0, 1, 61)
    limits.reject([0])
    assert limits.of(0) == 8


@pytest.mark.parametrize("step", ["arrive", "forget"])
def test_jobs_without_batch_sizes_have_no_limit(step: Any) -> None:
    """A job that has none, or has gone, may have any batch; rules pass over it."""
    limits = BatchLimits("compound", rate=1)
    rigid = Job(name="a", release_date=0, duration=9, gpus=1)
    limits.arrive({0: rigid if step == "arrive" else _DOUBLING}, now=0)
    if step == "forget":
        limits.forget([0])
    limits.finish_epochs(0, 1, 5)
    limits.reject([0])
    assert limits.of(0) is None


_LARGE = Mode(name="large", menu=[(2, 2.0)], batch_size=64)


def _elastic_job(name: str, release_date: float, duration: float) -> Job:
    menu = [(1, 1), (2, 1.5)]
    return Job(
        name=name,
        release_date=release_date,
        duration=duration,
        gpus=1,
        batch_size=32,
        menu=menu,
        modes=[_LARGE],
    )


def _first_two(division: Division) -> Sequence[int]:
    """Return the first job two GPUs, and whoever is next what is left."""
    chosen, free = [], division.gpus
    for _ in division.jobs:
        chosen.append(min(2, free))
        free -= chosen[-1]
    return chosen


def _policy(state: State) -> Decider:
    return Dividing(state, _first_two)


def test_a_division_shows_what_is_there() -> None:
    """A rule sees the jobs in the order of their arrival, with the work left, their ways and what they hold."""
    seen: list[Division] = []

    def watching(state: State) -> Decider:
        def rule(division: Division) -> Sequence[int]:
            seen.append(division)
            return _first_two(division)

        return Dividing(state, rule)

    run = simulate(bundle([_elastic_job("a", 0, 8), _elastic_job("b", 1, 2)]), watching, cluster=3)
    assert run.completion_times == (4, 3)
    first, second, third = seen
    assert (first.numbers, first.held.tolist(), first.started.tolist()) == ((0,), [0], [False])
    assert (second.numbers, second.held.tolist(), second.started.tolist()) == ((0, 1), [2, 0], [True, False])
    assert (second.left.tolist(), second.batches.tolist()) == ([6, 2], [64, 0])
    assert second.speeds.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert second.capped([1, 2]).tolist() == [[0, 1, 0], [0, 1, 2]]
    assert (third.numbers, third.held.tolist(), third.batches.tolist()) == ((0,), [2], [64])


def test_jobs_run_in_their_best_mode() -> None:
    """On two GPUs the large batch is faster, on one only the default mode runs."""
    run = simulate(bundle([_elastic_job("a", 0, 8), _elastic_job("b", 0, 8)]), _policy, cluster=3, record=True)
    assert run.schedule is not None
    held = [(each.job, each.start, each.end, each.gpus, each.mode) for each in run.schedule.segments]
    assert held == [("a", 0, 4, 2, "large"), ("b", 0, 4, 1, ""), ("b", 4, 6, 2, "large")]


def test_limits_keep_batches_small() -> None:
    """A job whose limit is below the large batch runs in its default mode, whatever it gets."""

    def limited(state: State) -> Decider:
        return Dividing(state, _first_two, limit=lambda job: 63 if job == 0 else None)

    run = simulate(bundle([_elastic_job("a", 0, 9), _elastic_job("b", 0, 9)]), limited, cluster=4)
    assert run.completion_times == (6, 4.5)


def test_capacity_that_comes_and_goes() -> None:
    """Jobs wait while no GPU is there and share what there is; simulator and judge agree."""
    changes = [CapacityChange(time=1, gpus=0), CapacityChange(time=3, gpus=1), CapacityChange(time=6, gpus=3)]
    jobs = bundle([_elastic_job("a", 0, 8), _elastic_job("b", 0, 8)])
    given = Scenario(workload=jobs, cluster=Cluster.plain(3), capacity_changes=tuple(changes))
    assert check_policy(_policy, [given]) == 2


def test_racks_of_equal_machines() -> None:
    """On machines that are alike GPUs are placed by number, and memory rules modes out."""
    racks = Cluster(racks=(Rack(name="r", machines=(Machine(name="m", gpus=3, memory=8),)),))
    job = Job(
        name="a", release_date=0, duration=9, gpus=1, memory=8, menu=[(1, 1), (2, 1.5)],
        modes=[Mode(name="large", menu=[(2, 2.0)], batch_size=64, memory=9)],
    )  # fmt: skip
    given = Scenario(workload=bundle([job]), cluster=racks)
    assert check_policy(_policy, [given]) == 2
    assert simulate(given, _policy).completion_times == (6,)


def test_several_kinds_are_refused() -> None:
    """A rule divides GPUs of one kind: others are refused in one line."""
    machines = [Machine(name=kind, gpus=1, gpu_type=kind) for kind in ("old", "new")]
    racks = Cluster(racks=(Rack(name="r", machines=tuple(machines)),))
    with pytest.raises(InvalidInput, match="GPUs of 2 kinds"):
        simulate(bundle([_elastic_job("a", 0, 8)]), _policy, cluster=racks)


_RULES = ("shortest", "arrival", "share")


def _linear_job(name: str, duration: float, release_date: float = 0, most: int = 3) -> Job:
    """Return a job that is as fast as it has GPUs, up to so many."""
    modes = [Mode(name=str(k), menu=[(k, float(k))], batch_size=8 * k) for k in range(2, most + 1)]
    return Job(name=name, release_date=release_date, duration=duration, gpus=1, batch_size=8, modes=modes)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("shortest", (7, 1, 4)),  # b on 3 and c on 1; from 1 on c on 3 and a on 1; from 4 on a on 3
        ("arrival", (4, 5, 25 / 3)),  # a on 3 until 4; b on 3 until 5; c on 3 from then on
        ("share", (6, 3, 19 / 3)),  # a on 2, b and c on 1; from 3 on a and c on 2; from 6 on c on 3
    ],
)
def test_rules_by_hand(rule: str, expected: tuple[float, ...]) -> None:
    """Of three jobs on four GPUs each rule makes what it says."""
    jobs = bundle([_linear_job("a", 12), _linear_job("b", 3), _linear_job("c", 10)])
    run = simulate(jobs, capped, cluster=4, rule=rule, exact=True)
    assert tuple(map(float, run.completion_times)) == pytest.approx(expected)


def test_rigid_jobs_of_one_gpu() -> None:
    """On jobs of one GPU that do not scale the rules are the classical ones."""
    jobs = bundle(Job(name=str(i), release_date=i % 4, duration=1 + 7 * i % 5, gpus=1) for i in range(9))
    for rule, classical in (("shortest", srtf), ("arrival", fifo)):
        ours = simulate(jobs, capped, cluster=2, rule=rule).completion_times
        assert ours == simulate(jobs, classical, cluster=2).completion_times


def test_no_such_rule() -> None:
    """A rule that is none is refused by name."""
    with pytest.raises(InvalidInput, match="rule: 'widest': must be one of shortest, arrival, share"):
        simulate(bundle([_linear_job("a", 1)]), capped, cluster=1, rule="widest")


_TWO_JOBS = bundle(
    Job(name=n, release_date=0, duration=d, gpus=1, menu=[(1, 1.0), (2, 1.5)]) for n, d in [("a", 3), ("b", 6)]
)


def _enumerate(problem: Batching) -> Result[Batches]:
    found = brute_force(problem)
    return Result.judged(problem, method="enumeration", runtime=0.0, solution=found and found[1])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"criterion": "sruf", "forced": "none"}, (2, 6)),  # a is the least work, on both GPUs
        ({"criterion": "sruf", "forced": "new"}, (3, 5)),  # both have never run
        ({"criterion": "sruf", "forced": "all"}, (3, 5)),
        ({"criterion": "rate"}, (3, 5)),
        ({"criterion": "sum_time"}, (3, 5)),
        ({"criterion": "sruf", "reconfiguration": 100.0}, (3, 5)),  # both GPUs are used, whatever it costs
    ],
)
def test_optima_by_hand(options: dict[str, Any], expected: tuple[float, ...]) -> None:
    """Two jobs on two GPUs complete as the criterion has it."""
    assert simulate(_TWO_JOBS, exact_batching, cluster=2, **options).completion_times == expected
    solved = simulate(_TWO_JOBS, exact_batching, cluster=2, solver=_enumerate, **options)
    assert solved.completion_times == expected


@pytest.mark.parametrize("solver", ["dp", "exact"])
def test_methods_by_name(solver: str) -> None:
    """A method of the decision by its name solves every event as the arrays do."""
    given = Scenario(workload=jobs_of_ones(jobs=4, gpus=4, seed=3), cluster=Cluster.plain(4))
    ours = simulate(given, exact_batching, bound=False)
    assert simulate(given, exact_batching, bound=False, solver=solver).jct == pytest.approx(ours.jct)


_DIVIDING: list[tuple[Policy, dict[str, Any]]] = [
    *((capped, {"rule": rule}) for rule in _RULES),
    (exact_batching, {}),
    (exact_batching, {"criterion": "sruf", "forced": "new"}),
    (exact_batching, {"criterion": "sum_time", "caps": "batch"}),
]


@settings(max_examples=cases(40), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_simulator_and_judge_agree(scenario: Scenario) -> None:
    """Whatever the jobs, overheads and changes of capacity, all that is booked is what the judge finds."""
    for policy, options in _DIVIDING:
        assert check_policy(policy, [scenario], exact=False, **options) == 1


def test_elastic_batch_sizes() -> None:
    """Jobs of ONES complete under every rule and criterion, in fractions too, and no bound is beaten."""
    given = Scenario(workload=jobs_of_ones(jobs=10, gpus=8, seed=3), cluster=Cluster.plain(8))
    assert check_policy(exact_batching, [given]) == 2
    for policy, options in _DIVIDING:
        assert check_policy(policy, [given], exact=False, **options) == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"criterion": "jct"}, "criterion: 'jct': must be one of sruf, rate, sum_time"),
        ({"forced": "old"}, "forced"),
        ({"caps": "refresh"}, "caps"),
        ({"criterion": "sum_time", "forced": "new"}, "must be all where criterion is sum_time"),
        ({"reconfiguration": -1}, "reconfiguration"),
        ({"reconfiguration": float("nan")}, "reconfiguration"),
        ({"solver": "no such"}, "method"),
        ({"solver": lambda _: NoSolution("none")}, "must find a solution at every event"),
    ],
)
def test_bad_options_of_optima(options: dict[str, Any], reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=reason):
        simulate(_TWO_JOBS, exact_batching, cluster=2, **options)


_SMALL = Scenario(workload=jobs_of_ones(jobs=5, gpus=4, load=1.2, seed=3), cluster=Cluster.plain(4))

#: With few generations, which is faster.
_quick = partial(ones, most_generations=2)


def _job(name: str, release_date: float, epochs: int, most: int = 4) -> Job:
    """Return a job that is as fast as it has GPUs; an epoch takes ten seconds on one."""
    modes = [Mode(name=str(k), menu=[(k, float(k))], batch_size=32 * k) for k in range(2, most + 1)]
    training = Training(epoch=1000, samples=1000 * epochs)
    return Job(
        name=name, release_date=release_date, duration=10 * epochs, gpus=1, batch_size=32, modes=modes,
        training=training,
    )  # fmt: skip


def _segments(*jobs: Job, gpus: int, **options: Any) -> list[tuple[str, float, int, str]]:
    run = simulate(bundle(jobs), partial(ones, **options), cluster=gpus, record=True, exact=True)
    assert run.schedule is not None
    return [(each.job, float(each.start), each.gpus, each.mode) for each in run.schedule.segments]


def test_a_job_alone_doubles_at_every_epoch() -> None:
    """It begins on one GPU, and its batch doubles at each end of an epoch until it is the largest."""
    assert _segments(_job("a", 0, 9), gpus=4, penalty="never") == [
        ("a", 0, 1, ""), ("a", 10, 2, "2"), ("a", 15, 4, "4"),
    ]  # fmt: skip


def test_new_jobs_get_a_gpu_at_once() -> None:
    """A job that comes gets a GPU of the job that has run, which has not passed an epoch yet."""
    found = _segments(_job("a", 0, 30), _job("b", 16, 3), gpus=4, penalty="never", knowledge="known")
    assert ("b", 16, 1, "") in found
    assert ("a", 16, 3, "3") in found


def test_updates_wait_for_an_epoch_of_every_running_job() -> None:
    """With a slow job beside it a fast one keeps its GPUs, unless schedules need not wait."""
    slow = _job("slow", 0, 3).model_copy(update={"modes": (), "training": Training(epoch=5000, samples=15000)})
    waits = _segments(slow, _job("fast", 0, 20), gpus=4, penalty="never", knowledge="known")
    changes = [start for name, start, _, _ in waits if name == "fast"]
    assert changes[:2] == [0, 10]
    at_once = _segments(
        slow, _job("fast", 0, 20), gpus=4, penalty="never", knowledge="known", every_epoch=False
    )
    assert [start for name, start, _, _ in at_once if name == "fast"][:3] == [0, 10, 15]


@pytest.mark.parametrize(
    "options", [{}, {"knowledge": "known"}, {"penalty": "compound", "forced": "new", "floor": "gpu"}]
)
def test_on_jobs_of_ones(options: dict[str, Any]) -> None:
    """All that is booked is what the judge finds, runs are repeatable, and no bound is beaten."""
    assert check_policy(_quick, [_SMALL], exact=False, **options) == 1


@settings(max_examples=cases(30), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_jobs_without_training(scenario: Scenario) -> None:
    """With known work any jobs will do, with overheads and changes of capacity."""
    assert check_policy(ones, [scenario], exact=False, knowledge="known") == 1


def test_overheads_are_paid() -> None:
    """Where scaling costs ten seconds the same jobs take longer than where it costs none."""
    free = simulate(_SMALL, _quick, bound=False).metrics.mean_jct
    slow = _SMALL.model_copy(update={"overheads": {"": Overhead(start=10, resize=10)}})
    assert simulate(slow, _quick, bound=False).metrics.mean_jct > free + 10


def test_elastic_batches_are_worth_it() -> None:
    """At a light load jobs complete in less than half of Tiresias' time where none is scaled down."""
    given = Scenario(workload=jobs_of_ones(jobs=5, gpus=8, load=0.2, seed=1), cluster=Cluster.plain(8))
    ours = simulate(given, _quick, bound=False, penalty="never").metrics.mean_jct
    assert ours < 0.5 * simulate(given, tiresias, bound=False).metrics.mean_jct


def test_engines_draw_from_the_same_distribution() -> None:
    """DEAP takes the place of arrays in a run, and its schedules are as long to a fifth."""
    given = Scenario(workload=jobs_of_ones(jobs=3, gpus=2, seed=1), cluster=Cluster.plain(2))
    found = [
        simulate(given, _quick, bound=False, engine=each).metrics.mean_jct for each in ("vectorised", "deap")
    ]
    assert found[1] == pytest.approx(found[0], rel=0.2)


def test_seeds_differ() -> None:
    """Another seed draws another search."""
    given = Scenario(workload=jobs_of_ones(jobs=7, gpus=4, load=3, seed=1), cluster=Cluster.plain(4))
    runs = [simulate(given, _quick, bound=False, seed=seed).completion_times for seed in (1, 2)]
    assert runs[0] != runs[1]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"knowledge": "guessed"}, "knowledge: 'guessed': must be one of predicted, known"),
        ({"penalty": "always"}, "penalty: 'always': must be one of compound, current, never"),
        ({"forced": "none"}, "forced: 'none': must be one of new, all"),
        ({"floor": "none"}, "floor: 'none': must be one of sample, gpu"),
        ({"engine": "steam"}, "engine: 'steam': must be one of vectorised, deap"),
        ({"generations_per_second": -1}, "generations_per_second"),
        ({"most_generations": 0}, "most_generations"),
        ({"rate": float("nan")}, "rate"),
        ({"mutation_rate": 2}, "mutation_rate"),
        ({"population": 0}, "population"),
    ],
)
def test_bad_options(options: dict[str, Any], reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=reason):
        simulate(bundle([_job("a", 0, 2)]), ones, cluster=4, **options)


_TRAINING = Training(epoch=10, samples=80)


def _trained_job(name: str, training: Training | None = _TRAINING) -> Job:
    double = Mode(name="double", menu=[(2, 1.6)], batch_size=64, samples=120 if training else None)
    return Job(
        name=name, release_date=0, duration=8, gpus=1, batch_size=32, menu=[(1, 1), (2, 1.2)], modes=[double],
        training=training,
    )  # fmt: skip


def _costs(knowledge: Knowledge, jobs: list[Job], gpus: int, forced: Forced = "new") -> Costs:
    """Let the first job run for two seconds, and give the costs of then."""
    outlook, rosters, found = RemainingWork(knowledge, forced, seed=0), list[Roster](), list[Costs]()

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            rosters.append(Roster(state))
        rosters[0].update(state)
        if state.now in (0, 2):
            division = rosters[0].division(state)
        if state.now == 0:
            yield from rosters[0].actions(state, division, [1] + [0] * (len(jobs) - 1))
            yield Wake(2)
        elif state.now == 2:
            found.append(outlook.costs(state, division))

    simulate(bundle(jobs), doing(decide), cluster=gpus, bound=False)
    return found[0]


def test_known_work_by_hand() -> None:
    """Known work counts in seconds, and a unit of it costs GPUs over speed, up to the cap of the batch."""
    costs = _costs("known", [_trained_job("a"), _trained_job("b")], gpus=3)
    assert costs.weight.tolist() == [6, 8]
    assert costs.unit.tolist() == [[0, 1, 1.25, np.inf]] * 2
    assert costs.draw is None


def test_predicted_work_counts_in_samples() -> None:
    """Predicted work counts in samples, ten epochs before anything is learned, and is drawn."""
    costs = _costs("predicted", [_trained_job("a"), _trained_job("b")], gpus=2)
    assert costs.weight.tolist() == [100, 100]
    assert costs.unit.tolist() == [[0, 1 / 10, 2 / (1.6 * 120 / 8)]] * 2
    assert costs.draw is not None
    drawn = [costs.draw(np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert drawn[0].tolist() == drawn[1].tolist() != drawn[2].tolist()


def test_new_jobs_must_run_as_long_as_there_is_room() -> None:
    """Those that came first must, one GPU each; one that has run need not."""
    costs = _costs("known", [_trained_job(name) for name in "abcd"], gpus=2)
    assert costs.forced.tolist() == [False, True, True, False]


def test_all_jobs_must_run_shortest_first() -> None:
    """Those with the least left on their fewest GPUs must, whether they have run or not."""
    short, long = (
        _trained_job(name).model_copy(update={"duration": left}) for name, left in [("s", 4.0), ("l", 9.0)]
    )
    costs = _costs("known", [_trained_job("a"), long, short, _trained_job("b")], gpus=2, forced="all")
    assert costs.forced.tolist() == [True, False, True, False]


def test_predictions_need_a_training() -> None:
    """A job whose training is not described is refused by name, unless its work is known."""
    with pytest.raises(InvalidInput, match=r"training: of 'b': None: must be described"):
        _costs("predicted", [_trained_job("a"), _trained_job("b", training=None)], gpus=2)
    assert _costs("known", [_trained_job("a"), _trained_job("b", training=None)], gpus=2).draw is None


_CRITERIA = [("sruf", "none"), ("sruf", "new"), ("sruf", "all"), ("rate", "all"), ("sum_time", "all")]
_SPEEDS = st.integers(1, 40).map(lambda x: x / 8)


@st.composite
def divisions(draw: st.DrawFn) -> Division:
    """Draw three jobs or fewer, some with batch sizes, some that run, on five GPUs or fewer."""
    gpus = draw(st.integers(1, 5))
    jobs: list[Job] = []
    held: list[int] = []
    batches: list[int] = []
    for index in range(draw(st.integers(1, 3))):
        counts = draw(st.sets(st.integers(1, 5), min_size=1, max_size=3)) | {1}
        menu = [(count, 1.0 if count == 1 else draw(_SPEEDS)) for count in sorted(counts)]
        size = draw(st.sampled_from([None, 8]))
        large = [Mode(name="l", menu=[(3, draw(_SPEEDS))], batch_size=16)] if size else []
        jobs.append(
            Job(name=str(index), release_date=0, duration=9, gpus=1, menu=menu, batch_size=size, modes=large)
        )
        free = gpus - sum(held)
        held.append(draw(st.sampled_from([0, *(count for count in sorted(counts) if count <= free)])))
        batches.append(draw(st.sampled_from([size, 2 * size])) if size and held[-1] else 0)
    return Division(
        gpus=gpus,
        numbers=range(len(jobs)),
        jobs=jobs,
        left=np.array([draw(st.integers(1, 64)) / 4 for _ in jobs]),
        ways=[ways_of(job, draw(st.sampled_from([None, 8]))) for job in jobs],
        held=np.array(held),
        batches=np.array(batches),
        started=np.array([bool(count) or draw(st.booleans()) for count in held]),
    )


@pytest.mark.parametrize("caps", ["convergence", "batch"])
@pytest.mark.parametrize(("criterion", "forced"), _CRITERIA)
@settings(max_examples=cases(60), deadline=None)
@given(division=divisions(), reconfiguration=st.sampled_from([0.0, 0.75]))
def test_arrays_are_as_good_as_enumeration(
    criterion: Any, forced: Any, caps: Any, division: Division, reconfiguration: float
) -> None:
    """What the arrays choose is legal, and worth what the judge says is the optimum of the instance."""
    decision = BatchingDecision(criterion, forced, caps, reconfiguration)
    problem = decision.problem(division)
    solution = _batches(problem, decision.by_arrays(division).tolist())
    optimum = brute_force(problem)
    assert optimum is not None
    assert problem.violations(solution) == []
    assert float(problem.objective(solution)) == pytest.approx(float(optimum[0]))
    assert decision.by_method(division, lambda _: optimum[1]) == [
        optimum[1].running[job.name].gpus if job.name in optimum[1].running else 0 for job in problem.jobs
    ]


def _batches(problem: Batching, counts: list[int]) -> Batches:
    granted = {
        job.name: Grant(gpus=count, batch_size=job.fastest(count) or count)
        for job, count in zip(problem.jobs, counts, strict=True)
        if count
    }
    return Batches(running=granted)


def test_samples_are_those_of_the_default_mode() -> None:
    """A mode that needs twice the samples counts as half as fast: what is left is its time left."""
    large = Mode(name="l", menu=[(2, 1.5)], batch_size=16, samples=80)
    training = Training(epoch=4, samples=40)
    job = Job(name="a", release_date=0, duration=8, gpus=1, batch_size=8, modes=[large], training=training)
    division = Division(
        gpus=2, numbers=[7], jobs=[job], left=np.array([4.0]), ways=[ways_of(job)],
        held=np.array([0]), batches=np.array([0]), started=np.array([False]),
    )  # fmt: skip
    problem = BatchingDecision("rate", "all", "convergence", 0.0).problem(division)
    assert (problem.jobs[0].name, problem.jobs[0].remaining) == ("7", 20)
    solution = Batches(running={"7": Grant(gpus=2, batch_size=16)})
    assert float(problem.objective(solution)) == pytest.approx(1.5 / 4)


@pytest.mark.parametrize(("batch", "counts"), [(8, [1, 1]), (16, [2, 0])])
def test_another_batch_size_is_a_reconfiguration(batch: int, counts: list[int]) -> None:
    """A job that keeps its GPU is reconfigured where its batch changes, and then may as well have both GPUs."""
    grows = Job(name="a", release_date=0, duration=8, gpus=1, menu=[(1, 1.0), (2, 1.2)], batch_size=8)
    waits = Job(name="b", release_date=0, duration=10, gpus=1, batch_size=8)
    division = Division(
        gpus=2, numbers=[0, 1], jobs=[grows, waits], left=np.array([4.0, 10.0]),
        ways=[ways_of(grows), ways_of(waits)], held=np.array([1, 0]), batches=np.array([batch, 0]),
        started=np.array([True, False]),
    )  # fmt: skip
    decision = BatchingDecision("rate", "none", "batch", 0.1)
    assert decision.by_arrays(division).tolist() == counts
    assert decision.by_method(division, brute_force_of) == counts


def brute_force_of(problem: Batching) -> Batches:
    """Solve an instance by enumeration."""
    found = brute_force(problem)
    assert found is not None
    return found[1]
