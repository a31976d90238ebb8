"""Pool: jobs of different types and memory needs compete for the GPUs that they may use, and for no others."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from math import inf
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave, Return
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import efficient_counts
from gsopt.schedule.judge import fluid_finish_times
from gsopt.simulation import Action, Decider, Policy, Resize, Start, State, Stop, replay, simulate
from gsopt.testing import check_policy
from heuristics import policies
from heuristics.policies.elasticflow import elasticflow
from heuristics.policies.gavel import themis_auction
from tests.effort import cases
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle

POLICIES = [getattr(policies, name) for name in policies.__all__]
Kind = tuple[str, int | None]
Counts = Callable[[int], tuple[int, ...]]
Key = Callable[[State, int], Any]


class Scan:
    """Looks at every job at every event: what the deciders are to choose, and slow.

    In the order of the keys each job gets the largest of its counts that it could have if only the jobs before
    it were there. What is not free it takes from the last running jobs that hold something for it.
    """

    def __init__(self, key: Key, *, preemptive: bool, alpha: float | None, blocking: bool = False) -> None:
        self.preemptive = preemptive
        self._key, self._alpha, self._blocking = key, alpha, blocking
        self._there: set[int] = set()

    def decide(self, state: State) -> Iterable[Action]:
        """Choose by a scan in key order; running jobs that may not be stopped keep what they have."""
        self._there |= set(state.arrived)
        self._there -= set(state.completed)
        before = {job: [state.placement(job)] for job in state.running}
        held = {job: list(state.placement(job)) for job in state.running}
        free = list(state.free_gpus())
        order = sorted(self._there, key=lambda job: (self._key(state, job), job))
        for place, job in enumerate(order):
            had = held.get(job, [])
            if had and not self.preemptive:
                continue
            behind = [other for other in order[place + 1 :] if other in held] if self.preemptive else []
            pool = [*free, *(gpu for other in behind for gpu in held[other])]
            may = len(had) + sum(_suits(state, job, gpu) for gpu in pool)
            count = max((count for count in self._counts(state, job) if count <= may), default=0)
            if count <= len(had):
                if self._blocking and not had:
                    break
                continue
            while len(had) + sum(_suits(state, job, gpu) for gpu in free) < count:
                victim = behind.pop()
                if any(_suits(state, job, gpu) for gpu in held[victim]):
                    free += held.pop(victim)
            free += had
            suitable = [gpu for gpu in free if _suits(state, job, gpu)]
            own = before.get(job, [()])[0]
            quota = {kind: sum(_kind(state, gpu) == kind for gpu in own) for kind in _kinds(state)}
            held[job] = _choose(state, suitable, own, quota, count)
            free = [gpu for gpu in free if gpu not in held[job]]
        return _difference(state, held)

    def _counts(self, state: State, job: int) -> tuple[int, ...]:
        item = state.jobs[job]
        return (item.gpus,) if self._alpha is None else efficient_counts(item, self._alpha)


def _kinds(state: State) -> list[Kind]:
    kinds = dict.fromkeys((machine.gpu_type, machine.memory) for machine in state.cluster.machines)
    return sorted(kinds, key=lambda kind: inf if kind[1] is None else kind[1])


def _kind(state: State, gpu: int) -> Kind:
    machine = state.cluster.machines[state.cluster.machine_of[gpu]]
    return machine.gpu_type, machine.memory


def _suits(state: State, job: int, gpu: int) -> bool:
    item, (name, memory) = state.jobs[job], _kind(state, gpu)
    return item.gpu_type in ("", name) and (item.memory is None or memory is None or item.memory <= memory)


def _choose(
    state: State, suitable: list[int], own: tuple[int, ...], quota: Mapping[Kind, int], count: int
) -> list[int]:
    """Choose as many of each kind as before, then the least memory; of a kind the job's own GPUs first."""
    kinds = _kinds(state)
    of_kind = {
        kind: sorted(
            (gpu for gpu in suitable if _kind(state, gpu) == kind), key=lambda gpu: (gpu not in own, gpu)
        )
        for kind in kinds
    }
    chosen: list[int] = []
    for limit in (quota, dict.fromkeys(kinds, count)):
        for kind in kinds:
            part = min(limit[kind], count - len(chosen))
            chosen += of_kind[kind][:part]
            del of_kind[kind][:part]
    return chosen


def _difference(state: State, held: Mapping[int, list[int]]) -> list[Action]:
    stops: list[Action] = [Stop(job) for job in state.running if job not in held]
    changes: list[Action] = []
    for job, chosen in held.items():
        gpus = tuple(sorted(chosen))
        if job not in state.running:
            changes.append(Start(job, gpus))
        elif gpus != state.placement(job):
            changes.append(Resize(job, gpus))
    return stops + changes


@cache
def mixed(seed: int, *, elastic: bool = False) -> Scenario:
    """Generate a crowd on machines of several types and memories, of which one kind may go and return."""
    random = Random(seed)
    machines = tuple(
        Machine(
            name=f"m{index}",
            gpus=random.randint(1, 4),
            gpu_type=random.choice(["", "old", "new"]),
            memory=random.choice([None, 16, 32, 80]),
        )
        for index in range(random.randint(2, 6))
    )
    cluster = Cluster(
        racks=(
            Rack(name="r", machines=machines[:2]),
            Rack(name="s", machines=machines[2:] or (Machine(name="last", gpus=2),)),
        )
    )
    jobs: list[Job] = []
    while len(jobs) < 14:
        name = random.choice(["", "", *(machine.gpu_type for machine in machines)])
        memory = random.choice([None, 8, 16, 24, 60])
        room = sum(
            machine.gpus
            for machine in cluster.machines
            if name in ("", machine.gpu_type)
            and (memory is None or machine.memory is None or memory <= machine.memory)
        )
        if not room:
            continue
        demand = random.randint(1, min(room, 6))
        menu = [(demand * factor, float(factor) ** 0.75) for factor in (1, 2, 4)] if elastic else []
        jobs.append(
            Job(
                name=str(len(jobs)),
                release_date=float(random.randint(0, 12)),
                duration=float(random.randint(1, 9)),
                gpus=demand,
                menu=tuple(menu) if random.random() < 0.7 else (),
                memory=memory,
                gpu_type=name,
            )
        )
    machine = random.choice(cluster.machines)  # with all others of its kind
    leaving = [
        each.name
        for each in cluster.machines
        if (each.gpu_type, each.memory) == (machine.gpu_type, machine.memory)
    ]
    events = (Leave(time=5.0, servers=tuple(leaving)), Return(time=12.0, servers=tuple(leaving)))
    return Scenario(workload=bundle(jobs), cluster=cluster, events=events if random.random() < 0.4 else ())


def scan(key: Key, *, preemptive: bool = True, alpha: float | None = None, blocking: bool = False) -> Policy:
    """Make a scanning policy."""

    def policy(state: State) -> Decider:
        del state
        return Scan(key, preemptive=preemptive, alpha=alpha, blocking=blocking)

    return policy


def _top_speed_time(state: State, job: int) -> Any:
    item, number = state.jobs[job], type(state.now)
    return max(state.remaining(job), number(0)) / number(item.speed(efficient_counts(item, 0.75)[-1]))


CASES: dict[str, tuple[Policy, bool]] = {
    "fifo": (scan(lambda _, job: job, preemptive=False, blocking=True), False),
    "fifo_skipping": (scan(lambda _, job: job, preemptive=False), False),
    "sjf": (scan(lambda state, job: state.jobs[job].duration, preemptive=False), False),
    "ssf": (scan(lambda state, job: state.jobs[job].gpu_seconds, preemptive=False), False),
    "srtf": (scan(lambda state, job: state.remaining(job)), False),
    "srsf": (scan(lambda state, job: state.remaining(job) * state.jobs[job].gpus), False),
    "las": (scan(lambda state, job: state.service(job)), False),
    "elastic_srtf": (scan(_top_speed_time, alpha=0.75), True),
    "elastic_las": (scan(lambda state, job: state.service(job), alpha=0.75), True),
}


def _held(scenario: Scenario, policy: Policy) -> dict[str, list[tuple[Any, Any, Mapping[Kind, int]]]]:
    """Return how many GPUs of each kind each job holds, from when to when."""
    run = replay(scenario, policy, record=True, exact=True)
    machines, machine_of = scenario.cluster.machines, scenario.cluster.machine_of
    held: dict[str, list[tuple[Any, Any, Mapping[Kind, int]]]] = {}
    for piece in schedule_of(run).segments:
        on = [machines[machine_of[gpu]] for gpu in piece.placement]
        kinds = Counter((machine.gpu_type, machine.memory) for machine in on)
        pieces = held.setdefault(piece.job, [])
        if pieces and pieces[-1][1:] == (piece.start, kinds):
            pieces[-1] = (pieces[-1][0], piece.end, kinds)  # moved to GPUs of the same kinds
        else:
            pieces.append((piece.start, piece.end, kinds))
    return held


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(cases(60)))
def test_kinds_equal_the_scan(name: str, seed: int) -> None:
    """Every job holds as many GPUs of every kind, and when, as under the scan."""
    reference, elastic = CASES[name]
    scenario = mixed(seed, elastic=elastic)
    assert _held(scenario, getattr(policies, name)) == _held(scenario, reference)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_fair_order_equals_the_scan(seed: int) -> None:
    """So it is in the order of the judge's fluid finish times."""
    scenario = mixed(seed, elastic=True)

    def scan_fair(state: State) -> Decider:
        number, jobs = type(state.now), scenario.workload.jobs
        fair = fluid_finish_times(jobs, state.capacity, [number(state.capacity)] * len(jobs), number)
        return Scan(lambda _, job: fair[job], preemptive=True, alpha=0.75)

    assert _held(scenario, policies.efq) == _held(scenario, scan_fair)


@pytest.mark.parametrize("memories", [(None, None), (16, 32)])
@pytest.mark.parametrize("policy", [*POLICIES, elasticflow, themis_auction], ids=lambda policy: policy.__name__)
def test_a_job_that_runs_only_in_another_mode_breaks_no_run(
    policy: Policy, memories: tuple[int | None, ...]
) -> None:
    """A job whose default mode suits no GPU runs in a mode that does, or waits, or is refused."""
    machines = [
        Machine(name=str(number), gpus=2, gpu_type="V100", memory=memory)
        for number, memory in enumerate(memories)
    ]
    mode = Mode(name="other", gpu_type="V100", menu=((1, 0.5), (2, 0.75)))
    job = Job(name="a", release_date=0, duration=9, gpus=1, gpu_type="T4", modes=(mode,))
    cluster = Cluster(racks=[Rack(name="rack", machines=machines)])
    with suppress(InvalidInput, Unsupported):
        run = simulate(
            bundle([job, Job(name="b", release_date=0, duration=5, gpus=1)]), policy, cluster=cluster
        )
        assert run.completion_times[0] is None or run.completion_times[0] > 9


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
@pytest.mark.parametrize("seed", range(cases(10)))
def test_every_policy_heeds_types_and_memory(policy: Policy, seed: int) -> None:
    """The judge finds every job on GPUs that it may use, and the figures that the simulator booked.

    Policies that give a job GPUs of one kind only refuse one that needs several.
    """
    with suppress(Unsupported):
        assert check_policy(policy, [mixed(seed, elastic=True)]) == 2


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.__name__)
def test_least_sufficient_memory(policy: Policy) -> None:
    """The job that needs little memory leaves the large GPU to the one that needs it, and nobody waits."""
    machines = (Machine(name="large", gpus=1, memory=80), Machine(name="small", gpus=1, memory=16))
    jobs = bundle(
        Job(name=name, release_date=0, duration=2, gpus=1, memory=memory)
        for name, memory in [("a", 8), ("b", 40)]
    )
    run = simulate(jobs, policy, cluster=Cluster(racks=(Rack(name="r", machines=machines),)), record=True)
    assert {piece.job: piece.placement for piece in schedule_of(run).segments} == {"a": (1,), "b": (0,)}
    assert run.completion_times == (2, 2)


def test_only_those_who_hold_the_right_gpus_are_stopped() -> None:
    """The short job for the new GPU stops the job there, not the longer one on the old GPU."""
    machines = (Machine(name="m", gpus=1, gpu_type="old"), Machine(name="n", gpus=1, gpu_type="new"))
    jobs = bundle(
        Job(name=name, release_date=date, duration=duration, gpus=1, gpu_type=kind)
        for name, date, duration, kind in [("a", 0, 9, "old"), ("b", 0, 5, "new"), ("c", 1, 1, "new")]
    )
    cluster = Cluster(racks=(Rack(name="r", machines=machines),))
    assert simulate(jobs, policies.srtf, cluster=cluster).completion_times == (9, 6, 2)
