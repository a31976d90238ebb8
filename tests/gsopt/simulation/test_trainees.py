"""Adaptive jobs in the simulator: how fast they are where, what they pay, and what policies see of them."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave, Return
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.judge import judge
from gsopt.simulation import Action, IllegalDecision, Move, Resize, Start, State, Stop, Wake, replay
from gsopt.simulation.shapes import Shapes
from gsopt.testing import check_policy
from heuristics import policies
from heuristics.policies import fifo, srtf
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive, adaptive_scenarios, typed
from tests.gsopt.simulation.monkeys import monkey
from tests.gsopt.simulation.recorded import judged, schedule_of
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing, scripted

_EXACT = Agents(whole_seconds=False)
_CLUSTER = Cluster.uniform(machines=3, gpus=2)
_run = partial(judged, complete=True)
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def _job(name: str, gpus: int = 1, release: float = 0, **fields: Any) -> Job:
    """Return an adaptive job on any number of GPUs, with the batch of 4 with which it needs 36 iterations."""
    menu = {1: 100.0, 2: 100.0, 4: 100.0} | {gpus: 1.0}
    job = Job(name=name, release_date=release, duration=7.92, gpus=gpus, menu=tuple(menu.items()))
    return adaptive(job, 4).model_copy(update={"duration": 7.92, **fields})


def _scenario(*jobs: Job, **physics: Any) -> Scenario:
    return Scenario.of(
        bundle(jobs), _CLUSTER, **{"applications": {"cnn": APPLICATION}, "agents": _EXACT, **physics}
    )


@pytest.mark.parametrize(
    ("gpus", "seconds"),
    [((0,), 36 * 0.22), ((0, 1), 36 * 0.22), ((0, 2), 36 * 0.27), ((1, 2, 4, 5), 36 * 0.35)],
)
def test_the_speed_depends_on_the_machines(gpus: tuple[int, ...], seconds: float) -> None:
    """A job needs the measured seconds of its iterations on the machines that its GPUs are on."""
    run = _run(_scenario(_job("a", len(gpus))), scripted([Start(0, gpus)]))
    assert run.completion_times == pytest.approx((seconds,))


def test_epochs_end_in_whole_seconds() -> None:
    """Three epochs of 2.64 s take 3 s each where agents count so."""
    assert _run(_scenario(_job("a"), agents=Agents()), fifo).completion_times == (9.0,)


def test_a_job_that_tunes_its_batch_takes_another() -> None:
    """In a mode that tunes, the batch changes at the interval and at the ends of epochs; else it never does."""
    seen: dict[str, list[Any]] = {"": [], "adaptive": []}

    def watch(mode: str, state: State) -> Iterable[Action]:
        view = state.trainee(0)
        assert view is not None
        if not state.running and not state.completed:
            yield Start(0, (0, 1), mode)
        if not state.completed:
            seen[mode].append(view.batch and view.batch.over(2))
            yield Wake(state.now + 0.5)

    for mode in seen:
        _run(_scenario(_job("a", 2), agents=Agents(interval=2)), doing(partial(watch, mode)))
    assert set(seen[""]) == {None, 4}
    assert len(set(seen["adaptive"])) > 2


@pytest.mark.parametrize(
    ("restarts", "seconds"), [("change", (8, 8, 8)), ("shape", (8, 8, 0)), ("machines", (0, 8, 0))]
)
def test_what_a_restart_is_paid_for(restarts: str, seconds: tuple[int, ...]) -> None:
    """A resize costs its overhead always, or only where shape or number of machines change."""
    steps: list[list[Any]] = [[Resize(0, (0, 1))], [Resize(0, (0, 2))], [Move(0, (2, 4))]]
    for step, paid in zip(steps, seconds, strict=True):
        first = (0,) if step == steps[0] else (0, 1) if step == steps[1] else (0, 2)
        scenario = _scenario(_job("a", len(first)), overheads=Overhead(start=1, resize=8), restarts=restarts)
        run = _run(scenario, scripted([Start(0, first), Wake(3.0)], step))
        with_none = scenario.model_copy(update={"overheads": {"": Overhead(start=1)}})
        free = _run(with_none, scripted([Start(0, first), Wake(3.0)], step))
        assert run.completion_times[0] - free.completion_times[0] == pytest.approx(paid)


def test_a_policy_sees_an_adaptive_job() -> None:
    """The state shows what the job knows, its true speed, what is left, and None for other jobs."""
    found: list[Any] = []

    def look(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0, (0,))
            yield Start(1, (1,))
            yield Wake(1.1)
        elif not found:
            view = state.trainee(0)
            assert view is not None
            assert view.application is APPLICATION
            found.extend([state.remaining(0), view.share, view.epoch, view.restarts, view.most_gpus])
            found.extend([state.rate(0, (0,)), state.rate(0, 2), state.rate(0, 2, tier="rack")])
            assert view.model is not None
            assert view.gradient == (1.0, 2.0)
            assert view.rate((1, 1), 4) == pytest.approx(1 / (36 * 0.27))
            assert view.goodput(1, 1) is not None
            assert (view.batch_size, view.batch and view.batch.local) == (4, 4)
            assert state.trainee(1) is None

    plain = Job(name="b", release_date=0, duration=2, gpus=1)
    _run(_scenario(_job("a"), plain), doing(look))
    assert found == pytest.approx([6.82, 1.1 / 7.92, 0, 0, 1, 1.0, 1.0, 22 / 27])


def test_sharing_slows_an_adaptive_job_down() -> None:
    """Beside another job it is slower by the interference, as long as that lasts."""
    scenario = _scenario(_job("a"), _job("b"), share_limit=2, speed=Speed(default_interference=2.0))
    run = _run(scenario, scripted([Start(0, (0,)), Start(1, (0,)), Wake(3.0)], [Move(1, (1,))]))
    assert run.completion_times == pytest.approx((7.92 + 1.5, 7.92 + 1.5))


@pytest.mark.parametrize(("keeps", "lost"), [(True, 1.0), (False, 3.0)])
def test_work_is_lost_with_a_machine(keeps: bool, lost: float) -> None:
    """A job on a machine that leaves loses the seconds of work that are named, or all without checkpoints."""
    events = [Leave(time=3, servers=["machine 0.0"], lost_work=1), Return(time=60, servers=["machine 0.0"])]
    scenario = _scenario(_job("a", checkpoints=keeps), events=events)
    run = _run(scenario, scripted([Start(0, (0,))], [Start(0, (2,))]))
    assert run.completion_times == pytest.approx((7.92 + lost,))


def test_a_stop_without_checkpoints_loses_everything() -> None:
    """A job that cannot keep its progress begins anew."""
    steps: list[list[Any]] = [[Start(0, (0,)), Wake(3.0)], [Stop(0), Wake(4.0)], [Start(0, (0,))]]
    run = _run(_scenario(_job("a", checkpoints=False)), scripted(*steps))
    assert run.completion_times == pytest.approx((4 + 7.92,))
    run = _run(_scenario(_job("a")), scripted(*steps))
    assert run.completion_times == pytest.approx((1 + 7.92,))


def test_nobody_decides_when_a_job_tunes_itself() -> None:
    """Decisions are taken at arrivals, completions and wakes, not at the intervals of the agents."""
    times: list[float] = []

    def note(state: State) -> Iterable[Action]:
        times.append(state.now)
        return [Start(job, (job,)) for job in state.arrived]

    run = _run(_scenario(_job("a"), _job("b", release=2.5), agents=Agents(interval=1)), doing(note))
    assert times == [0, 2.5, *run.completion_times]


def test_a_wake_in_every_round_gives_a_decision_in_every_round() -> None:
    """A policy that wakes at each round decides in all of them though every job runs; so do adaptive jobs."""
    for job in (_job("a"), Job(name="a", release_date=0, duration=7.5, gpus=1)):
        times: list[float] = []

        def note(state: State, times: list[float] = times) -> Iterable[Action]:
            times.append(state.now)
            yield from (Start(job, (job,)) for job in state.arrived)
            if state.running or state.arrived:
                yield Wake(state.now + 1)

        _run(_scenario(job), doing(note), round_length=1.0)
        assert times == [0, 1, 2, 3, 4, 5, 6, 7, 8][: len(times)]
        assert len(times) >= 8


def test_what_cannot_be_is_refused() -> None:
    """Fractions are refused in one line, and so are GPUs on which a model was never measured."""
    scenario = _scenario(_job("a"))
    rule = r"exact: True: must be False: the speed of 'a', whose model has an application, is a float"
    with pytest.raises(InvalidInput, match=rule):
        replay(scenario, fifo, exact=True)
    run = replay(scenario, fifo, record=True)
    with pytest.raises(InvalidInput, match=rule):
        judge(schedule_of(run), scenario, exact=True)
    few = APPLICATION.model_copy(update={"placements": APPLICATION.placements[:1]})
    with pytest.raises(IllegalDecision, match="must be placements of cnn measured"):
        replay(_scenario(_job("a", 2), applications={"cnn": few}), fifo)


@settings(calm, max_examples=cases(48))
@given(scenario=adaptive_scenarios(), seed=st.integers(0, 10**6), length=st.sampled_from([None, 1.75]))
def test_any_decisions_about_adaptive_jobs(scenario: Scenario, seed: int, length: float | None) -> None:
    """Simulator and judge agree on adaptive jobs beside others, whatever a policy decides."""
    options: dict[str, Any] = {"seed": seed, "share_limit": scenario.share_limit}
    assert check_policy(monkey, [scenario], exact=False, round_length=length, **options) == 1


@pytest.mark.parametrize("name", policies.__all__)
def test_every_policy_runs_adaptive_jobs(name: str) -> None:
    """Policies that know nothing of adaptive jobs complete them, at events and in rounds."""
    jobs = [_job(str(index), gpus=1 + index % 2, release=index) for index in range(4)]
    policy = getattr(policies, name)
    for length in (None, 2.0):
        assert check_policy(policy, [_scenario(*jobs)], exact=False, round_length=length) == 1


def test_remaining_work_orders_adaptive_jobs() -> None:
    """The work that is left is the share that is not done, in seconds of the job's duration."""
    jobs = [_job("long", gpus=2), _job("short", gpus=2, release=7)]
    scenario = Scenario.of(
        bundle(jobs), Cluster.uniform(machines=1, gpus=2), applications={"cnn": APPLICATION}, agents=_EXACT
    )
    assert _run(scenario, srtf).completion_times == pytest.approx((7.92, 2 * 7.92))


def test_a_tuned_mode_is_a_mode() -> None:
    """A fixed batch of another mode is kept as such."""
    mode = Mode(name="large", menu=[(1, 100.0)], batch_size=16)
    run = _run(_scenario(_job("a", modes=(mode,))), scripted([Start(0, (0,), "large")]))
    assert run.completion_times[0] != pytest.approx(7.92)


def test_a_job_that_keeps_its_shape_does_not_restart() -> None:
    """Where shapes are paid for, a move to as many GPUs of other machines is no restart; a new shape is."""
    counts: list[int] = []

    def move(state: State) -> Iterable[Action]:
        view = state.trainee(0)
        assert view is not None
        counts.append(view.restarts)
        if not state.running and not state.completed:
            yield Start(0, (0, 1), "adaptive")
        elif state.now == 2:
            yield Move(0, (2, 3))
        elif state.now == 4:
            yield Move(0, (1, 3))
        if state.now < 6:
            yield Wake(state.now + 2)

    scenario = _scenario(_job("a", 2), overheads=Overhead(start=1, resize=1), restarts="shape")
    run = _run(scenario, doing(move))
    assert counts == [0, 0, 0, 1, 1]
    assert [segment.placement for segment in schedule_of(run).segments] == [(0, 1), (2, 3), (1, 3)]


@pytest.mark.parametrize("restarts", ["change", "shape", "machines"])
def test_another_type_is_a_restart(restarts: Any) -> None:
    """However restarts are paid for, a job restarts on GPUs of another type; two types at once are refused."""
    machines = [Machine(name=name, gpus=2, gpu_type=name) for name in ("old", "new")]
    scenario = Scenario.of(
        bundle([_job("a")]),
        Cluster(racks=[Rack(name="r", machines=machines)]),
        applications={"cnn": typed()},
        agents=_EXACT,
        overheads=Overhead(resize=1),
        restarts=restarts,
    )
    run = _run(scenario, scripted([Start(0, (0,)), Wake(3.96)], [Move(0, (2,))]))
    assert run.completion_times == pytest.approx((3.96 + 1 + 0.4 * 3.96,))
    with pytest.raises(
        IllegalDecision, match="gpus: of the types new and old: must be of one type, as cnn was"
    ):
        _run(scenario, scripted([Start(0, (1, 2), "adaptive")]))


@pytest.mark.parametrize("model", [APPLICATION, typed()])
def test_a_number_of_gpus_is_of_the_required_type(model: Application) -> None:
    """The speed on a number of GPUs is that on the required type, or on the fastest; 0 if there are too few."""
    types = ("old", "new", "new")
    machines = [Machine(name=str(place), gpus=2, gpu_type=name) for place, name in enumerate(types)]
    first = {"old": (0, 1), "new": (2, 3)}
    found: list[float] = []

    def look(state: State) -> Iterable[Action]:
        if not found:
            for job, gpu_type in enumerate(("old", "new", "")):
                places = [first[gpu_type]] if gpu_type else list(first.values())
                for count in (1, 2):
                    assert state.rate(job, count) == max(state.rate(job, gpus[:count]) for gpus in places)
            found.extend([state.rate(0, 4), state.rate(1, 4), state.rate(1, 6)])
            found.append(state.rate(0, 2, "elsewhere") - state.rate(0, (2, 3), "elsewhere"))
        yield from (Start(job, (0,) if job == 0 else (1 + job,)) for job in state.arrived)

    elsewhere = Mode(name="elsewhere", menu=[(2, 100.0)], gpu_type="new", tunes=True)
    jobs = [_job(kind or "any", gpu_type=kind, modes=(elsewhere,)) for kind in ("old", "new", "")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    _run(Scenario.of(bundle(jobs), cluster, applications={"cnn": model}, agents=_EXACT), doing(look))
    assert found[0] == found[2] == found[3] == 0
    assert found[1] > 0


@pytest.mark.parametrize("time", [8.75, 9.0])
def test_work_is_lost_until_the_last_epoch_ends(time: float) -> None:
    """A job of 7.92 s whose epochs end in whole seconds has done all at 8.64 s, and is complete at 9 s."""
    events = [Leave(time=time, servers=["machine 0.0"]), Return(time=60, servers=["machine 0.0"])]
    scenario = _scenario(_job("a", checkpoints=False), agents=Agents(), events=events)
    run = _run(scenario, scripted([Start(0, (0,))], [Start(0, (2,))] if time < 9 else []))
    assert run.completion_times == (time + 9 if time < 9 else 9.0,)


def test_a_move_beside_another_job_is_slower_though_no_restart() -> None:
    """Where shapes are paid for, a job that moves onto a shared GPU goes on there at its slowdown."""
    scenario = _scenario(
        _job("a"),
        _job("b"),
        overheads=Overhead(resize=1),
        restarts="shape",
        share_limit=2,
        speed=Speed(default_interference=2.0),
    )
    run = _run(scenario, scripted([Start(0, (0,)), Start(1, (2,)), Wake(3.0)], [Move(1, (0,))]))
    assert run.completion_times == pytest.approx((2 * 7.92 - 3, 2 * 7.92 - 3))


@pytest.mark.parametrize(
    ("gpus", "step", "shares"),
    [((0, 2), 2.7, [0, 2.7 / 9.72, (3.24 + 2.4) / 9.72, (6.48 + 2.1) / 9.72]), ((0,), 2.9, [0, 2.64 / 7.92])],
)
def test_what_is_left_between_two_decisions(gpus: tuple[int, ...], step: float, shares: list[float]) -> None:
    """A policy sees the true work that is left of a job, more than none until its last epoch ends."""
    left: list[float] = []

    def look(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0, gpus)
        if state.now == 0 or state.running:
            left.append(state.remaining(0))
            yield Wake(state.now + step)

    _run(_scenario(_job("a", len(gpus)), agents=Agents()), doing(look))
    assert left[: len(shares)] == pytest.approx([7.92 * (1 - share) for share in shares])
    assert len(left) == 4
    assert left[-1] > 0


_UNEVEN = Cluster(
    racks=(Rack(name="r", machines=tuple(Machine(name=f"m{size}", gpus=size) for size in (2, 4, 1))),)
)


@pytest.mark.parametrize(
    ("count", "tier", "shape"),
    [
        (1, "machine", (1,)),
        (1, "network", (1,)),
        (4, "machine", (4,)),
        (5, "machine", (4, 1)),
        (7, "machine", (4, 2, 1)),
        (2, "rack", (1, 1)),
        (4, "rack", (3, 1)),
        (5, "rack", (4, 1)),
        (6, "network", (4, 2)),
    ],
)
def test_a_number_of_gpus_is_on_the_fewest_machines(count: int, tier: str, shape: tuple[int, ...]) -> None:
    """The largest machines come first, and a tier that joins machines makes them two at least."""
    assert Shapes(_UNEVEN).closest(count, tier) == shape


def test_gpus_count_by_machine() -> None:
    """The shape of numbered GPUs follows the order of the machines."""
    assert Shapes(_UNEVEN).of([0, 2, 3, 4, 6]) == (1, 3, 1)
