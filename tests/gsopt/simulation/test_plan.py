"""The plan: a decision is legal when where it leads is, and only the difference takes effect."""

from collections.abc import Iterable
from itertools import permutations
from typing import Any, cast

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Overhead
from gsopt.scenario.speed import Speed
from gsopt.simulation import (
    Action,
    Assign,
    IllegalDecision,
    Move,
    Replay,
    Resize,
    Start,
    State,
    Stop,
    Vacate,
    Wake,
    simulate,
)
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing, scripted, workload

_TWO = workload((0, 4, 1), (0, 4, 1))
_RACK = Cluster.uniform(machines=2, gpus=1)
_OVERHEAD = Overhead(start=0.5, stop=0.25, resize=0.125)


def pieces(run: Replay) -> list[tuple[Any, ...]]:
    """Return what ran when: job, start, end, GPUs by number or their number, mode."""
    return [
        (each.job, float(each.start), float(each.end), each.placement or each.gpus, each.mode)
        for each in schedule_of(run).segments
    ]


def run(jobs: Any, *steps: Any, cluster: Cluster | int = _RACK, **options: Any) -> Replay:
    """Follow a script and record it, in fractions."""
    return simulate(jobs, scripted(*steps), cluster=cluster, record=True, exact=True, **options)


def test_two_jobs_swap() -> None:
    """Each may take the GPU of the other; neither is preempted, and both pay for a resize."""
    swap = [Move(0, (1,)), Move(1, (0,))]
    done = run(_TWO, [Start(0, (0,)), Start(1, (1,)), Wake(1)], swap, overheads=_OVERHEAD)
    assert done.completion_times == (4.625, 4.625)
    assert (done.metrics.preemptions, done.metrics.resizes) == (0, 0)
    assert pieces(done)[2:] == [("j0", 1, 4.625, (1,), ""), ("j1", 1, 4.625, (0,), "")]


@pytest.mark.parametrize(
    "nothing",
    [
        [Stop(0), Start(0, (0,))],
        [Stop(0), Start(0)],
        [Move(0, (0,))],
        [Resize(0, 1)],
        [Move(0, (1,)), Move(0, (0,))],
        [Start(1), Stop(1)],
        [Stop(0), Start(0, (1,)), Resize(0, (0,))],
        [Assign({0: 1})],
        [Assign({0: (0,)})],
        [Assign({1: 1}), Assign({0: (0,)})],
    ],
)
def test_what_ends_where_it_began_is_nothing(nothing: list[Action]) -> None:
    """Overheads are not paid, nothing is counted and the segment goes on."""
    jobs = workload((0, 4, 1), (0, 4, 1))
    done = run(jobs, [Start(0, (0,)), Wake(1)], nothing, [Start(1)], overheads=_OVERHEAD)
    assert pieces(done) == [("j0", 0, 4.5, (0,), ""), ("j1", 4.5, 9, (0,), "")]
    assert (done.metrics.preemptions, done.metrics.resizes) == (0, 0)


@pytest.mark.parametrize("order", [*permutations([Stop(0), Start(1), Start(2)])])
def test_the_order_of_changes_does_not_matter(order: tuple[Action, ...]) -> None:
    """A job may start on GPUs that a later change frees, by number and by count, on racks and without."""
    jobs = workload((0, 4, 2), (0, 1, 1), (0, 2, 1))
    for cluster in (2, _RACK):
        steps = [[Start(0), Wake(1)], list(order), [], [Start(0)]]
        done = run(jobs, *steps, cluster=cluster)
        assert done.completion_times == (6, 2, 3)


def test_stop_and_start_elsewhere_is_a_resize() -> None:
    """A job that goes on without a pause has not been preempted."""
    done = run(_TWO, [Start(0, (0,)), Wake(1)], [Stop(0), Start(0, (1,))], [Start(1)], overheads=_OVERHEAD)
    assert pieces(done)[1] == ("j0", 1, 4.625, (1,), "")
    assert done.metrics.preemptions == 0


def test_jobs_that_are_stopped_and_started_keep_their_place() -> None:
    """The running jobs stand in the order of their starts, which a stop and start in one instant is not."""
    seen: list[list[int]] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            return [Start(0), Start(1), Wake(1.0)]
        seen.append(list(state.running))
        return [Stop(0), Start(0), Wake(2.0)] if state.now == 1 else []

    simulate(_TWO, doing(decide), cluster=2)
    assert seen[:2] == [[0, 1], [0, 1]]


def test_a_generator_sees_the_plan() -> None:
    """After each change the state shows where the plan stands, with fewer than no GPUs in between."""
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            yield Start(0)
            yield Wake(1.0)
        elif state.now == 1:
            for action in (Start(1), Stop(1), Start(1), Stop(0)):
                yield action
                seen.append((state.free, dict(state.running), state.placement(1), state.fits(0)))

    for cluster in (Cluster.plain(1), Cluster.uniform(machines=1, gpus=1)):
        simulate(_TWO, doing(decide), cluster=cluster)
    taken, gone = (-1, {0: 1, 1: 1}, (), False), (0, {0: 1}, (), False)
    assert seen[:4] == [taken, gone, taken, (0, {1: 1}, (), False)]
    assert seen[:4] == seen[4:]


def test_an_assignment_says_who_runs() -> None:
    """All others stop; numbers of GPUs find room wherever all the others leave it; modes may be given."""
    halves = Mode(name="halves", menu=[(1, 0.5), (2, 1.0)])
    jobs = bundle(
        Job(name=n, release_date=0, duration=4, gpus=g, modes=[halves]) for n, g in [("a", 2), ("b", 1)]
    )
    done = run(
        jobs,
        [Assign({0: 2}), Wake(1)],
        [Assign({1: 1, 0: (1, "halves")}), Wake(2)],
        [Assign({0: ((0, 1), "halves")})],
        [Assign({1: 1})],
    )
    assert pieces(done) == [
        ("a", 0, 1, (0, 1), ""),
        ("b", 1, 2, (0,), ""),
        ("a", 1, 2, (1,), "halves"),
        ("a", 2, 4.5, (0, 1), "halves"),
        ("b", 4.5, 7.5, (0,), ""),
    ]


def test_an_assignment_may_be_empty() -> None:
    """Then nobody runs."""
    done = run(_TWO, [Assign({0: 1, 1: 1}), Wake(1)], [Assign({}), Wake(2)], [Assign({1: 1, 0: 1})])
    assert done.completion_times == (5, 5)
    assert done.metrics.preemptions == 2


def test_a_mode_changes_the_speed_from_then_on() -> None:
    """Another mode on the same GPUs is a resize that keeps them; without a mode it stays."""
    slow = Mode(name="slow", menu=[(1, 0.5), (2, 1.0)])
    jobs = bundle([Job(name="a", release_date=0, duration=4, gpus=1, modes=[slow])])
    steps = [[Start(0, (1,)), Wake(1)], [Resize(0, 1, "slow"), Wake(3)], [Resize(0, (0, 1))]]
    done = run(jobs, *steps, overheads=Overhead(resize=0.5))
    assert pieces(done) == [("a", 0, 1, (1,), ""), ("a", 1, 3, (1,), "slow"), ("a", 3, 5.75, (0, 1), "slow")]
    assert done.metrics.resizes == 1


_SMALL = Cluster(
    racks=(
        Rack(
            name="r",
            machines=(
                Machine(name="m", gpus=1, gpu_type="old", memory=8),
                Machine(name="n", gpus=1, gpu_type="new", memory=16),
            ),
        ),
    )
)
_MEMORY = bundle(
    Job(
        name=name,
        release_date=0,
        duration=4,
        gpus=1,
        memory=memory,
        modes=[Mode(name="lean", menu=[(1, 0.5)], memory=4)],
    )
    for name, memory in [("a", 4), ("b", 10), ("c", 6)]
)


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        ([[Start(0), Start(1), Start(2)]], r"Start\(job=2.*free GPUs \(0 are free for it\)"),
        ([[Start(0, (1,)), Start(1)]], r"Start\(job=1.*free GPUs \(0 are free for it\)"),
        ([[Start(1, (0,))]], r"Start\(job=1.*fit its memory \(not jobs 1\)"),
        ([[Start(0, (0,)), Start(2, (0,))]], r"Start\(job=2.*GPU 0 must fit its memory \(not jobs 0, 2\)"),
        ([[Start(0, (0,)), Wake(1.0)], [Resize(0, (1,), "x")]], r"one of its modes \('', 'lean'\)"),
        ([[Start(0, 2, "lean")]], r"allowed number of GPUs \(1\)"),
        ([[Start(0, (0,)), Wake(1.0)], [Assign({0: (1,), 1: (0,)})]], "fit its memory"),
        ([[Assign({0: 3})]], r"Start\(job=0, gpus=3, mode=''\): a job must run on an allowed number"),
        ([[Assign({7: 1})]], "a job of the workload"),
        ([[Start(0, cast("Any", "01"))]], "GPUs must be a number of GPUs, or GPU numbers"),
        ([[Start(0, None), Wake(1.0)], [Move(0, cast("Any", 1))]], "must keep the number"),
        ([[Vacate(["m"])]], "on request"),
        ([[Vacate(["x"])]], "must be available"),
    ],
)
def test_what_a_plan_may_not_be(steps: list[list[Any]], rule: str) -> None:
    """The error names the rule, the action and the jobs or the GPU."""
    with pytest.raises(IllegalDecision, match=rule):
        run(_MEMORY, *steps, cluster=_SMALL, share_limit=2)


def test_memory_of_a_mode_counts() -> None:
    """In a mode that needs less memory a job fits beside another, and on a smaller GPU."""
    steps = [[Start(1, (0,), "lean"), Start(0, (0,)), Start(2)]]
    done = run(_MEMORY, *steps, cluster=_SMALL, share_limit=2)
    assert done.completion_times == (4, 8, 4)


def test_a_job_that_moves_to_and_fro_may_find_another_beside_it() -> None:
    """What it holds is what it held, but its speed is not; nor when the other goes in the same way."""
    jobs = bundle(Job(name=n, release_date=0, duration=4, gpus=1, model="m") for n in "ab")
    come = [Move(0, (1,)), Start(1, (0,)), Move(0, (0,)), Wake(2)]
    leave = [Move(0, (1,)), Stop(1), Move(0, (0,))]
    speed = Speed(interference={"m": {"m": 2.0}})
    done = run(jobs, [Start(0, (0,)), Wake(1)], come, leave, [Start(1)], speed=speed, share_limit=2)
    assert done.completion_times == (4.5, 8)


def test_too_many_jobs_on_a_gpu_are_named() -> None:
    """Sharing beyond the limit is refused in the end, not halfway."""
    with pytest.raises(IllegalDecision, match=r"at most 1 jobs may hold GPU 0 \(not jobs 0, 1\)"):
        run(_TWO, [Start(0, (0,)), Start(1, (0,))])
    swap = [Start(1, (0,)), Resize(0, (1,))]
    assert run(_TWO, [Start(0, (0,)), Wake(1)], swap).completion_times == (4, 5)


def test_a_promise_not_to_preempt_looks_at_the_whole_decision() -> None:
    """A policy that is not preemptive may stop and start a job in one instant, but let none wait."""
    for last, legal in [(Start(0, (1,)), True), (Wake(3), False)]:
        policy = scripted([Start(0, (0,)), Wake(1)], [Stop(0), last], [Start(1)], preemptive=False)
        if legal:
            assert simulate(_TWO, policy, cluster=_RACK).completion_times == (4, 8)
        else:
            with pytest.raises(IllegalDecision, match="not preemptive"):
                simulate(_TWO, policy, cluster=_RACK)
