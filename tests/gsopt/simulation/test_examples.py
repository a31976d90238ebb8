"""Four policies in at most 40 lines each: swaps, whole assignments, reclaim requests, tiers and rates."""

from collections.abc import Iterable
from inspect import getsource
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Reclaim
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed
from gsopt.schedule.judge import judge
from gsopt.simulation import Action, Assign, Move, Replay, Start, State, Vacate, replay
from gsopt.testing import check_policy
from heuristics.policies import fifo
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, tree_scenarios

_MOST_LINES = 40


class Swapping:
    """First in, first out; two jobs of one size swap their GPUs where both together are faster for it."""

    preemptive = False

    def __init__(self, state: State) -> None:
        self._line = fifo(state)

    def decide(self, state: State) -> Iterable[Action]:
        """Start what fits, then make the first swap that helps."""
        yield from self._line.decide(state)
        for one, other in combinations(state.running, 2):
            here, there = state.placement(one), state.placement(other)
            if state.running[one] == state.running[other] and not state.jobs[one].gpu_type:
                now = state.rate(one, here) + state.rate(other, there)
                if state.rate(one, there) + state.rate(other, here) > now:
                    yield Move(one, there)
                    yield Move(other, here)
                    return


class Replacing:
    """The jobs of the shortest remaining time run, and at every event all of them are placed anew."""

    preemptive = True

    def __init__(self, state: State) -> None:
        del state
        self._active: set[int] = set()

    def decide(self, state: State) -> Iterable[Action]:
        """Place the largest of the chosen jobs first, each on the next GPUs that are there."""
        self._active = (self._active | {*state.arrived}) - {*state.completed}
        there = sorted({*state.free_gpus(), *(gpu for job in state.running for gpu in state.placement(job))})
        left, chosen = len(there), []
        for job in sorted(self._active, key=lambda job: (state.remaining(job), job)):
            if state.jobs[job].gpus <= left:
                chosen.append(job)
                left -= state.jobs[job].gpus
        chosen.sort(key=lambda job: -state.jobs[job].gpus)
        gpus = iter(there)
        yield Assign({job: tuple(next(gpus) for _ in range(state.jobs[job].gpus)) for job in chosen})


class Answering:
    """First in, first out; a request is answered at once with the machines whose jobs have done the least."""

    preemptive = False

    def __init__(self, state: State) -> None:
        self._line = fifo(state)
        names = [machine.name for machine in state.cluster.machines]
        self._gpus = {name: [*state.cluster.gpus_of[name]] for name in names}

    def decide(self, state: State) -> Iterable[Action]:
        """Vacate machines, and let the jobs that ran there be the first to start again."""
        for request in state.requests:
            ready = [name for name in state.servers if not request.among or name in request.among]
            yield Vacate(sorted(ready, key=lambda name: self._lost(state, name))[: request.servers])
        yield from self._line.decide(state)

    def _lost(self, state: State, name: str) -> Any:
        users = {job for gpu in self._gpus[name] for job in state.users(gpu)}
        return sum(state.service(job) for job in users)


class Communicating:
    """A job waits for GPUs on which it has at least half of its speed, and takes the fastest of them."""

    preemptive = False

    def __init__(self, state: State) -> None:
        del state
        self._waiting: list[int] = []

    def decide(self, state: State) -> Iterable[Action]:
        """Look for room on one machine, in one rack, and anywhere."""
        self._waiting += [*state.arrived, *state.evicted]
        for job in list(self._waiting):
            count = state.jobs[job].gpus
            rooms = [room[:count] for room in self._rooms(state) if len(room) >= count]
            best = max(rooms, key=lambda gpus: state.rate(job, gpus), default=())
            if best and state.rate(job, best) >= state.rate(job, count) / 2:
                self._waiting.remove(job)
                yield Start(job, best)

    def _rooms(self, state: State) -> list[tuple[int, ...]]:
        free, cluster = state.free_gpus(), state.cluster
        on_machine: dict[int, list[int]] = {}
        in_rack: dict[int, list[int]] = {}
        for gpu in free:
            machine = cluster.machine_of[gpu]
            on_machine.setdefault(machine, []).append(gpu)
            in_rack.setdefault(cluster.rack_of[machine], []).append(gpu)
        return [*map(tuple, on_machine.values()), *map(tuple, in_rack.values()), free]


@pytest.mark.parametrize("policy", [Swapping, Replacing, Answering, Communicating])
def test_they_are_short(policy: type) -> None:
    """Nobody needs more than 40 lines for any of them."""
    assert len(getsource(policy).rstrip().splitlines()) <= _MOST_LINES


def _run(scenario: Scenario, policy: Any) -> Replay:
    done = replay(scenario, policy, record=True, exact=True)
    assert done.schedule is not None
    verdict = judge(done.schedule, scenario, exact=True)
    assert (verdict.violations, verdict.completion_times) == ((), done.completion_times)
    return done


_RACKS = Cluster.uniform(racks=2, machines=2, gpus=4)
_SPEED = Speed(tiers=TIER_PENALTIES)


def _jobs(count: int, seed: int, most: int = 6) -> Any:
    random = Random(seed)
    return bundle(
        Job(
            name=str(i),
            release_date=random.randint(0, 60),
            duration=random.randint(5, 30),
            gpus=min(random.choice([1, 1, 2, 3, 4, 6]), most),
            model=random.choice(["", "resnet50", "resnet18", "mobilenetv3"]),
        )
        for i in range(count)
    )


def test_a_swap_helps() -> None:
    """A job that needs the network least gives its machine to one that needs it most."""
    jobs = bundle(
        Job(name=name, release_date=0, duration=10, gpus=gpus, model=model)
        for name, gpus, model in [("x", 3, ""), ("y", 3, ""), ("b", 2, "vgg11"), ("c", 2, "resnet18")]
    )
    jobs = bundle(job.model_copy(update={"duration": 1.0} if job.name in "xy" else {}) for job in jobs.jobs)
    scenario = Scenario(workload=jobs, cluster=Cluster.uniform(racks=2, machines=1, gpus=5), speed=_SPEED)
    still, swapped = _run(scenario, fifo), _run(scenario, Swapping)
    assert swapped.metrics.mean_jct is not None
    assert still.metrics.mean_jct is not None
    assert swapped.metrics.mean_jct <= still.metrics.mean_jct
    crowded = [Scenario(workload=_jobs(40, seed), cluster=_RACKS, speed=_SPEED) for seed in range(5)]
    means = [[_run(each, policy).metrics.mean_jct for each in crowded] for policy in (Swapping, fifo)]
    assert sum(map(float, filter(None, means[0]))) < sum(map(float, filter(None, means[1])))


@settings(deadline=None, max_examples=cases(60), suppress_health_check=[HealthCheck.too_slow])
@given(scenario=tree_scenarios())
def test_everything_is_placed_anew(scenario: Scenario) -> None:
    """All jobs complete, and the largest jobs stand closest together however those before them left."""
    assert check_policy(Replacing, [scenario]) == 2


@settings(deadline=None, max_examples=cases(80), suppress_health_check=[HealthCheck.too_slow])
@given(scenario=plain_scenarios(changes=False) | tree_scenarios())
def test_without_requests_it_is_fifo(scenario: Scenario) -> None:
    """A policy that answers requests and delegates the rest runs what the other runs."""
    first, second = (replay(scenario, policy, exact=True) for policy in (Answering, fifo))
    assert first.completion_times == second.completion_times


def test_requests_are_answered() -> None:
    """Machines are given up when they are asked for, less work is interrupted than if the engine took them."""
    events = [Reclaim(time=t, deadline=t + 8, servers=1) for t in (20.0, 30.0)]
    for seed in range(5):
        scenario = Scenario(workload=_jobs(30, seed), cluster=_RACKS, events=events)
        done = _run(scenario, Answering)
        assert done.schedule is not None
        assert [float(each.time) for each in done.schedule.vacated] == [20, 30]


def test_the_network_is_looked_at() -> None:
    """Jobs that wait for a better place are never slower than half their speed, and sooner done on average."""
    scenarios = [Scenario(workload=_jobs(40, seed, 4), cluster=_RACKS, speed=_SPEED) for seed in range(5)]
    means: dict[Any, float] = {}
    for policy in (Communicating, fifo):
        runs = [_run(scenario, policy) for scenario in scenarios]
        means[policy] = sum(float(run.metrics.mean_jct or 0) for run in runs)
        slowest = min(
            scenario.speed.rate(job, job.gpus, _RACKS.tier(segment.placement))
            / scenario.speed.rate(job, job.gpus, _RACKS.tier([0]))
            for scenario, run in zip(scenarios, runs, strict=True)
            for segment in (run.schedule.segments if run.schedule else ())
            for job in scenario.workload.jobs
            if job.name == segment.job
        )
        assert (slowest >= 0.5) == (policy is Communicating)
    assert means[Communicating] < means[fifo]
