"""The policy of Aryl and a second one, written from the paper, do the same whatever is lent and asked back."""

from functools import partial
from random import Random

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.judge import judge
from gsopt.simulation import replay
from heuristics.policies.aryl.policy import aryl
from tests.effort import cases
from tests.exactness.loaning import INFERENCE, TRAINING, Aryl

#: Seconds between decisions of the scheduler and of the orchestrator.
_INTERVALS = [(60, 300), (60, 120), (70, 200), (50, 300)]

#: When all machines are there for good.
_ALL_LENT = 10_000.0


def test_two_versions_do_the_same() -> None:
    """Completion times, machines given up and preemptions are equal, and the judge finds no fault."""
    seen = [0, 0, 0]
    for seed in range(cases(250)):
        random = Random(seed)
        given, (interval, orchestrator) = _scenario(random), random.choice(_INTERVALS)
        grouping = random.random() < 0.7
        second = Aryl(given, interval=interval, orchestrator=orchestrator, grouping=grouping)
        policy = partial(aryl, interval=interval, orchestrator_interval=orchestrator, grouping=grouping)
        run = replay(given, policy, record=True, exact=True)
        assert run.schedule is not None
        given_up = [(each.time, each.server) for each in run.schedule.vacated]
        preemptions = sum(each.preemptions for each in second.runs)
        assert (seed, *run.completion_times) == (seed, *(each.done for each in second.runs))
        assert (seed, given_up) == (seed, second.given_up)
        assert (seed, run.metrics.preemptions) == (seed, preemptions)
        assert judge(run.schedule, given, exact=True, fairness=False).violations == ()
        seen = [seen[0] + preemptions, seen[1] + len(given_up), seen[2] + run.metrics.resizes]
    assert min(seen) > cases(250) / 4, "preemptions, machines given up and resizes are no rare cases"


def _scenario(random: Random) -> Scenario:
    """Draw two pools, jobs of every kind, loans and requests; times of jobs are no ties but by chance."""
    while True:
        cluster = _cluster(random)
        lost = Overhead(start=random.choice([0, 5]), stop=random.choice([0, 63]), resize=random.choice([0, 7]))
        try:
            return Scenario(
                clock_start=0,
                workload=Workload(jobs=[_job(random, number) for number in range(random.randint(1, 7))]),
                cluster=cluster,
                speed=Speed(
                    gpu_types={INFERENCE: random.choice([1.0, 1.7, 3.1])},
                    mixed=random.choice([1.0, 1.23, 1.43, 2.03]),
                ),
                overheads=random.choice([{}, {"": lost}]),
                events=_events(random, [each.name for each in cluster.machines if each.gpu_type == INFERENCE]),
            )
        except ValueError:  # a job that fits nowhere is drawn again
            continue


def _cluster(random: Random) -> Cluster:
    box, odd = random.choice([1, 2, 4, 4, 4, 8]), random.random() < 0.2

    def machine(kind: str, number: int) -> Machine:
        return Machine(name=f"{kind} {number}", gpus=random.choice([1, 2, 3, 4]) if odd else box, gpu_type=kind)

    machines = [machine(TRAINING, number) for number in range(random.randint(1, 3))]
    machines += [machine(INFERENCE, number) for number in range(random.randint(1, 4))]
    if random.random() < 0.15:
        random.shuffle(machines)
    return Cluster(racks=[Rack(name="rack", machines=machines)])


def _job(random: Random, number: int) -> Job:
    size, base = random.choice([1, 1, 2, 4]), random.randint(1, 2)
    most = base + random.choice([0, 1, 2, 3])
    counts = [workers * size for workers in range(base, most + 1)]
    if len(counts) > 2 and random.random() < 0.2:
        counts.remove(random.choice(counts[1:]))
    loss = random.choice([1.0, 0.9])
    demand = random.choice(counts)
    speeds = {count: count * loss ** max(0, count // size - (base + most) // 2) for count in counts}
    menu = [(count, speed / speeds[demand]) for count, speed in speeds.items()]
    kind = random.choice([TRAINING, TRAINING, "either", "either", "", INFERENCE])
    times = random.choice([1, 1, 1, 3])
    lent = Mode(name="lent", gpu_type=INFERENCE, menu=[(count * times, speed * times) for count, speed in menu])
    return Job(
        name=f"job {number}",
        release_date=random.choice([0, random.randint(0, 300), random.randint(0, 900)]),
        duration=random.randint(1, 1999),
        gpus=demand,
        menu=menu if len(menu) > 1 else [],
        gpu_type=TRAINING if kind == "either" else kind,
        modes=[lent] if kind == "either" else [],
        checkpoints=random.random() < 0.6,
    )


def _events(random: Random, lent: list[str]) -> list[Event]:
    """Draw how many machines come and go, mostly at multiples of five minutes."""
    events: list[Event] = []
    out = len(lent) if random.random() < 0.85 else 0
    if out:
        events.append(Leave(time=0, servers=lent))
    for number in range(random.choice([3, 6, 12])):
        time = number * 300 + (random.randint(1, 299) if random.random() < 0.2 else 0)
        if out and random.random() < 0.5:
            back = random.randint(1, out)
            out -= back
            events.append(Loan(time=time, servers=back, gpu_type=INFERENCE))
        elif out < len(lent) and random.random() < 0.7:
            asked = random.randint(1, len(lent) - out)
            out += asked
            deadline = time + random.choice([300, 300, 600, 150, 17])
            events.append(Reclaim(time=time, deadline=deadline, servers=asked, gpu_type=INFERENCE))
    return [*events, Loan(time=_ALL_LENT, servers=len(lent), gpu_type=INFERENCE)]
