"""Preemption by priority: which jobs stop, and where the others start."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from random import Random
from typing import Any, get_args

import pytest

from formulations.admission import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.grid import exact_total
from gsopt.problems.admission import Admission, AdmissionSolution
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import Policy, simulate
from gsopt.testing import check_policy
from heuristics.policies.preempting import admitting, priority_preemption
from heuristics.policies.preempting.admitting import Cost
from tests.effort import cases
from tests.unwrap import unwrap

_RULES = ("exact", "greedy", "cheapest_first", "kueue", "kube_scheduler", "slurm", "workload_aware")
POLICIES = [priority_preemption, *(partial(admitting, solver=rule) for rule in _RULES)]


def _jobs(*rows: tuple[float, float, int, int], **fields: Any) -> Workload:
    """Return jobs of release date, duration, GPUs and priority, which lose their work when they stop."""
    named = [
        Job(
            name=f"j{number}",
            release_date=date,
            duration=length,
            gpus=gpus,
            priority=priority,
            **{"checkpoints": False, **fields},
        )
        for number, (date, length, gpus, priority) in enumerate(rows)
    ]
    return Workload(jobs=named)


def _times(workload: Workload, policy: Policy, cluster: Cluster | int, **given: Any) -> tuple[float, ...]:
    return tuple(
        float(unwrap(time)) for time in simulate(workload, policy, cluster=cluster, **given).completion_times
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_a_more_important_job_starts_at_once(policy: Policy) -> None:
    """The unimportant job stops after 3 s, loses them, and starts again when the important one is complete."""
    assert _times(_jobs((0, 10, 4, 0), (3, 5, 4, 1)), policy, 4) == (18, 8)


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_stops_for_equals(policy: Policy) -> None:
    """A job of the same priority waits."""
    assert _times(_jobs((0, 10, 4, 1), (3, 5, 4, 1)), policy, 4) == (10, 15)


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_stops_in_vain(policy: Policy) -> None:
    """The job would need the GPUs of an equal one too, so it waits, and a smaller one starts before it."""
    jobs = _jobs((0, 10, 2, 0), (0, 10, 2, 1), (3, 5, 4, 1), (4, 1, 1, 2))
    assert _times(jobs, policy, 4)[1:] == (10, 15, 5)


def test_the_latest_stop_first_even_if_they_free_nothing_useful() -> None:
    """The latest job stops in vain, and starts again a second later; the decision lets it run."""
    cluster = Cluster.uniform(machines=2, gpus=4)
    jobs = _jobs((0, 100, 3, 0), (0, 100, 4, 2), (10, 90, 1, 0), (20, 5, 3, 1))
    # machine 0 holds j0 and j2; j3 needs 3 GPUs there
    assert _times(jobs, priority_preemption, cluster) == (125, 100, 111, 25)
    assert _times(jobs, admitting, cluster) == (125, 100, 100, 25)


def test_the_least_work_is_lost() -> None:
    """Stopping one wide job loses 80 GPU-seconds; two narrow ones lose 24 together."""
    cluster = Cluster.uniform(machines=2, gpus=4)
    jobs = _jobs((0, 100, 4, 0), (14, 100, 2, 0), (14, 100, 2, 0), (20, 5, 4, 1))
    costs: tuple[Cost, ...] = ("lost_work", "jobs", "gpus")
    lost = {cost: _times(jobs, partial(admitting, cost=cost), cluster) for cost in costs}
    assert lost["lost_work"] == (100, 125, 125, 25)
    assert lost["jobs"] == lost["gpus"] == (125, 114, 114, 25)


def test_lost_work_is_gpu_time() -> None:
    """A job of one GPU that has run for 8 s stops, rather than one of four GPUs that has run for 5 s."""
    jobs = _jobs((0, 100, 3, 2), (2, 100, 1, 0), (5, 100, 4, 0), (10, 5, 1, 1))
    assert _times(jobs, admitting, Cluster.uniform(machines=2, gpus=4)) == (100, 115, 105, 15)


def test_the_fewest_jobs_stop_if_nothing_is_lost() -> None:
    """One job of four GPUs stops, and not the two of two GPUs that share a machine."""
    jobs = _jobs((0, 100, 2, 0), (0, 100, 2, 0), (0, 100, 4, 0), (10, 5, 4, 1), checkpoints=True)
    assert _times(jobs, admitting, Cluster.uniform(machines=2, gpus=4)) == (100, 100, 105, 15)


@pytest.mark.parametrize("within", ["", "rack"])
def test_jobs_start_where_the_fewest_gpus_are_free(within: str) -> None:
    """Small jobs fill a machine, and machines a rack, so that large ones find room at once."""
    policy = partial(priority_preemption, within=within)
    small = _jobs((0, 50, 2, 0), (1, 50, 1, 0), (2, 50, 4, 0))
    assert _times(small, policy, Cluster.uniform(machines=2, gpus=4)) == (50, 51, 52)
    large = _jobs((0, 50, 4, 0), (1, 50, 4, 0), (2, 50, 8, 0))
    racks = Cluster.uniform(racks=2, machines=2, gpus=4)
    assert _times(large, policy, racks) == (50, 51, 52)


def test_what_keeps_its_progress_costs_nothing() -> None:
    """The job with checkpoints stops, although it has run for longer, and goes on where it was."""
    jobs = _jobs((0, 100, 4, 0), (14, 100, 4, 0), (20, 5, 4, 1)).jobs
    saved = [jobs[0].model_copy(update={"checkpoints": True}), *jobs[1:]]
    assert _times(Workload(jobs=saved), admitting, Cluster.uniform(machines=2, gpus=4)) == (105, 114, 25)


def test_a_job_within_a_rack() -> None:
    """Without a level the job takes a machine of each rack; within a rack, one job has to stop."""
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    jobs = _jobs((0, 50, 4, 0), (0, 60, 4, 0), (10, 5, 8, 1))
    spread = _times(jobs, partial(admitting, within=""), cluster)
    assert spread == (50, 60, 15)
    one_each = _jobs((0, 50, 8, 0), (0, 60, 8, 0), (10, 5, 8, 1))
    assert sorted(_times(one_each, partial(admitting, within="rack"), cluster)) == [15, 60, 65]


@pytest.mark.parametrize("policy", [priority_preemption, admitting])
def test_types_and_memory(policy: Policy) -> None:
    """A job stops only others on GPUs of its type with enough memory."""
    machines = [
        Machine(name="small", gpus=2, gpu_type="A", memory=8),
        Machine(name="large", gpus=2, gpu_type="A", memory=16),
        Machine(name="other", gpus=2, gpu_type="B", memory=16),
    ]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    low = [
        Job(name=kind + str(memory), release_date=0, duration=50, gpus=2, gpu_type=kind, memory=memory)
        for kind, memory in (("A", 16), ("A", 8), ("B", 16))
    ]
    high = Job(name="high", release_date=5, duration=5, gpus=2, gpu_type="A", memory=12, priority=1)
    # the jobs with memory 16, with memory 8, and of type B; the first one made way
    assert _times(Workload(jobs=[*low, high]), policy, cluster) == (55, 50, 50, 10)


def test_gpus_that_leave() -> None:
    """A job whose GPUs leave waits again, and no GPU that is away is used."""
    changes = [CapacityChange(time=5, gpus=4), CapacityChange(time=30, gpus=8)]
    jobs = _jobs((0, 10, 4, 0), (0, 20, 4, 1), (6, 3, 4, 2))
    times = _times(jobs, admitting, Cluster.uniform(machines=2, gpus=4), capacity_changes=changes)
    assert times[2] == 9
    assert max(times) <= 50


@pytest.mark.parametrize(
    ("option", "value", "line"),
    [
        ("cost", "money", "cost: 'money': must be one of"),
        ("within", "galaxy", "within: 'galaxy': must be one of"),
        ("solver", "magic", "solver: 'magic': must be"),
        ("solver_time", 0, "solver_time: 0: must be a positive number"),
    ],
)
def test_bad_options(option: str, value: Any, line: str) -> None:
    """Each bad option is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=line):
        simulate(_jobs((0, 1, 1, 0)), partial(admitting, **{option: value}), cluster="1x1x2")


def _random(random: Random) -> Scenario:
    cluster = Cluster.uniform(racks=2, machines=2, gpus=random.choice([2, 4]))
    most = cluster.machines[0].gpus * 2
    rows = [
        (random.randint(0, 30), random.randint(1, 20), random.randint(1, most), random.randint(0, 2))
        for _ in range(random.randint(3, 14))
    ]
    jobs = _jobs(*rows, checkpoints=random.random() < 0.3)
    return Scenario(workload=jobs, cluster=cluster)


@pytest.mark.parametrize("within", ["", "rack"])
def test_schedules_are_legal_and_above_the_bound(within: str) -> None:
    """The judge accepts what each policy does on random workloads, and it is not better than the bound."""
    scenarios = [_random(Random(seed)) for seed in range(cases(8, least=3))]
    policies = [partial(priority_preemption, within=within), partial(admitting, within=within)]
    assert sum(check_policy(policy, scenarios) for policy in policies) == 2 * 2 * len(scenarios)


def _least(problem: Admission) -> tuple[Fraction, int]:
    """Return the least cost of gangs that make room, and the fewest at that cost, by trying all sets."""
    able = [gang for gang in problem.running if problem.evictable(gang)]
    costs = []
    for size in range(len(able) + 1):
        for gone in combinations(able, size):
            free = [amounts[0] for amounts in problem.free]
            for gang in gone:
                for machine, (amount,) in problem.load([(gang, gang.on)]).items():
                    free[machine] += amount
            if _fits(problem, free):
                costs.append((Fraction(exact_total([gang.cost for gang in gone])), size))
    return min(costs)


def _fits(problem: Admission, free: Sequence[int]) -> bool:
    (gang,) = problem.pending
    sizes = sorted((part.needs.gpu for part in gang.parts for _ in range(part.count)), reverse=True)
    for group in problem.groups(gang):
        room = [free[machine] for machine in group.machines]
        for size in sizes:
            best = min((each for each in room if each >= size), default=None)
            if best is None:
                break
            room[room.index(best)] -= size
        else:
            return True
    return False


def test_every_decision_is_optimal_and_states_the_cluster() -> None:
    """In random runs, the jobs that stop cost the least and, at that cost, are the fewest, by brute force."""
    asked = 0

    def watched(problem: Admission) -> AdmissionSolution:
        nonlocal asked
        solution = unwrap(exact(problem).solution)
        first = exact_total([gang.cost for gang in problem.running if gang.name in solution.evicted])
        assert (Fraction(first), len(solution.evicted)) == _least(problem)
        assert problem.second_objective == "gangs"
        assert not _fits(problem, [amounts[0] for amounts in problem.free])
        asked += 1
        return solution

    for seed in range(cases(150)):
        scenario = _random(Random(seed))
        for cost in get_args(Cost):
            simulate(scenario, partial(admitting, solver=watched, within="rack", cost=cost))
    assert asked > 20
