"""Ledgers and placers: their books and choices are what a look at every GPU finds."""

from collections.abc import Sequence
from functools import partial
from itertools import chain
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.scenario.cluster import Cluster, Machine, Rack, Tier
from gsopt.scenario.job import Job, Mode
from gsopt.simulation import FreeGpus, IllegalDecision, Start, consolidated, simulate
from gsopt.simulation.ledger import Forbidden, Placements
from gsopt.simulation.placer import emptiest_first, first_fit
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing, scripted, workload
from tests.strategies.topology import trees


def _job(kind: str, memory: int | None) -> Job:
    modes = [
        Mode(name="less", menu=[(1, 1.0)], memory=4),
        Mode(name="old", menu=[(1, 1.0)], gpu_type="old"),
        Mode(name="any", menu=[(1, 1.0)], gpu_type=""),
    ]
    return Job(name="a", release_date=0, duration=1, gpus=1, gpu_type=kind, memory=memory, modes=modes)


_MODES = ("", "less", "old", "any")
_JOBS = [_job(kind, memory) for kind in ("", "old", "new") for memory in (None, 4, 8, 9)]


def random_cluster(random: Random, sizes: Sequence[int] = range(1, 6), most: int = 3) -> Cluster:
    """Make racks of machines of some sizes and of any type and memory."""
    return Cluster(
        racks=[
            Rack(
                name=f"r{r}",
                machines=[
                    Machine(
                        name=f"m{r}.{m}",
                        gpus=random.choice(sizes),
                        gpu_type=random.choice(["", "old", "new"]),
                        memory=random.choice([None, 8, 16]),
                    )
                    for m in range(random.randint(1, most))
                ],
            )
            for r in range(random.randint(1, most))
        ]
    )


class Trial:
    """A ledger that is changed at random, and who holds what by lists; jobs crowd on GPUs unless checked."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.cluster = random_cluster(self.random)
        self.ledger = Placements(self.cluster, 2, consolidated)
        self.held: dict[int, tuple[int, ...]] = {}
        self.jobs: dict[int, Job] = {}
        self.modes: dict[int, str] = {}
        self.limit = self.cluster.gpus
        self.away: set[int] = set()

    def there(self) -> list[int]:
        """Return the GPUs that are there."""
        return [gpu for gpu in range(self.limit) if self.cluster.machine_of[gpu] not in self.away]

    def change(self, step: int) -> None:
        """Do something at random."""
        self.jobs[step] = self.random.choice(_JOBS)
        self.random.choice([self.place, self.take, self.give, self.cut, self.leave, self.back])(step)

    def place(self, step: int) -> None:
        """Take a number of free GPUs."""
        taken = {gpu for gpus in self.held.values() for gpu in gpus}
        mode = self.modes[step] = self.random.choice(_MODES)
        fitting = [
            gpu for gpu in self.there() if gpu not in taken and _suits(self.cluster, self.jobs[step], gpu, mode)
        ]
        count = self.random.randint(1, 4)
        assert self.ledger.place(step, self.jobs[step], mode, count) == (count <= len(fitting))
        if count <= len(fitting):
            self.held[step] = self.ledger.placement(step)
            assert set(self.held[step]) <= set(fitting)

    def take(self, step: int) -> None:
        """Take GPUs of the right type by number."""
        machines, machine_of = self.cluster.machines, self.cluster.machine_of
        mode = self.modes[step] = self.random.choice(_MODES)
        kind = _kind(self.jobs[step], mode)
        types = {gpu: machines[machine_of[gpu]].gpu_type for gpu in self.there()}
        right = [gpu for gpu, each in types.items() if kind in ("", each)]
        wrong = [gpu for gpu in types if gpu not in right]
        if wrong:
            with pytest.raises(Forbidden, match=f"must run on {kind} GPUs, and GPU {wrong[0]} is of another"):
                self.ledger.take(step, self.jobs[step], mode, wrong[:1])
        if gpus := tuple(sorted(self.random.sample(right, min(len(right), 2)))):
            self.ledger.take(step, self.jobs[step], mode, gpus)
            self.held[step] = gpus

    def give(self, step: int) -> None:
        """Return GPUs."""
        del step
        if self.held:
            self.drop([self.random.choice(list(self.held))])

    def cut(self, step: int) -> None:
        """Set the limit."""
        del step
        self.limit = self.random.randint(0, self.cluster.gpus)
        lost = self.ledger.displaced(self.limit, dict.fromkeys(self.held, 1))
        assert lost == [job for job, gpus in self.held.items() if max(gpus) >= self.limit]
        self.drop(lost)
        self.ledger.set_limit(self.limit)

    def leave(self, step: int) -> None:
        """Let a machine go."""
        del step
        machine = self.random.randrange(len(self.cluster.machines))
        own = {*self.cluster.gpus_of[self.cluster.machines[machine].name]}
        users = self.ledger.users_of_machine(machine)
        assert users == sorted(job for job, gpus in self.held.items() if own & {*gpus})
        self.drop(users)
        self.ledger.leave(machine)
        self.away.add(machine)

    def back(self, step: int) -> None:
        """Let a machine be there again."""
        del step
        machine = self.random.randrange(len(self.cluster.machines))
        self.ledger.bring_back(machine)
        self.away.discard(machine)

    def drop(self, jobs: list[int]) -> None:
        """Let jobs give their GPUs back."""
        for job in jobs:
            self.ledger.give_back(job, len(self.held.pop(job)))

    def compare(self) -> None:
        """Look at every GPU and every job."""
        ledger, machine_of = self.ledger, self.cluster.machine_of
        users = {g: [job for job, gpus in self.held.items() if g in gpus] for g in range(self.cluster.gpus)}
        free = [gpu for gpu in self.there() if not users[gpu]]
        assert (ledger.capacity, ledger.free) == (len(self.there()), len(free))
        assert ledger.shared == sum(len(own) > 1 for own in users.values())
        machines = enumerate(self.cluster.machines)
        assert ledger.servers() == tuple(each.name for number, each in machines if number not in self.away)
        assert (ledger.free_gpus(), ledger.occupied) == (tuple(free), len(self.there()) - len(free))
        for item in _JOBS:
            for mode in _MODES:
                assert ledger.room(item, mode) == sum(_suits(self.cluster, item, gpu, mode) for gpu in free)
        for gpu, own in users.items():
            memory = self.cluster.machines[machine_of[gpu]].memory
            left = (
                None
                if memory is None
                else memory - sum(_memory(self.jobs[job], self.modes[job]) for job in own)
            )
            assert (sorted(ledger.users(gpu)), ledger.memory(gpu)) == (own, left)
        for job, gpus in self.held.items():
            assert (ledger.placement(job), ledger.tier(job)) == (gpus, self.cluster.tier(gpus))
            assert [*ledger.partners(job)] == sorted({user for gpu in gpus for user in users[gpu]} - {job})


@pytest.mark.parametrize("seed", range(cases(40)))
def test_the_books_are_right(seed: int) -> None:
    """Whatever is taken, given back, gone and there again, and whichever jobs have asked before."""
    trial = Trial(seed)
    for step in range(120):
        trial.change(step)
        trial.compare()


def _kind(job: Job, mode: str) -> str:
    return {"old": "old", "any": ""}.get(mode, job.gpu_type)


def _memory(job: Job, mode: str) -> int:
    return 4 if mode == "less" else job.memory or 0


def _suits(cluster: Cluster, job: Job, gpu: int, mode: str) -> bool:
    machine = cluster.machines[cluster.machine_of[gpu]]
    return _kind(job, mode) in ("", machine.gpu_type) and (machine.memory or 99) >= _memory(job, mode)


def test_free_gpus_of_a_type() -> None:
    """Only those of the type are given."""
    machines = [Machine(name="m", gpus=2, gpu_type="old"), Machine(name="n", gpus=1, gpu_type="new")]
    ledger = Placements(Cluster(racks=[Rack(name="r", machines=machines)]), 1, consolidated)
    assert (ledger.free_gpus("old"), ledger.free_gpus("new"), ledger.free_gpus("x")) == ((0, 1), (2,), ())
    ledger.take(0, _JOBS[0], "", (0, 2))
    assert (ledger.free_gpus("old"), ledger.free_gpus("new"), ledger.tier(0)) == ((1,), (), Tier.RACK)
    with pytest.raises(Forbidden, match="must run on new GPUs, and GPU 1 is of another type"):
        ledger.take(1, _job("new", None), "", (1,))


def by_definition(cluster: Cluster, free: list[int], count: int) -> tuple[int, ...]:
    """Place by looking at every free GPU."""
    on_machine: dict[int, list[int]] = {}
    for gpu in free:
        on_machine.setdefault(cluster.machine_of[gpu], []).append(gpu)
    if room := [gpus for gpus in on_machine.values() if len(gpus) >= count]:
        return tuple(min(room, key=len)[:count])
    on_rack: dict[int, list[list[int]]] = {}
    for machine, gpus in on_machine.items():
        on_rack.setdefault(cluster.rack_of[machine], []).append(gpus)
    racks = [machines for machines in on_rack.values() if sum(map(len, machines)) >= count]
    within = min(racks, key=lambda machines: sum(map(len, machines))) if racks else on_machine.values()
    return tuple(gpu for gpus in sorted(within, key=len, reverse=True) for gpu in gpus)[:count]


def first_by_definition(cluster: Cluster, free: list[int], count: int) -> tuple[int, ...]:
    """Look at machines, then at racks, then at everything, from the front."""
    rack_of = [cluster.rack_of[machine] for machine in cluster.machine_of]
    for group in (cluster.machine_of, rack_of, [0] * cluster.gpus):
        for number in sorted(set(group)):
            own = [gpu for gpu in free if group[gpu] == number]
            if len(own) >= count:
                return tuple(own[:count])
    raise AssertionError


@pytest.mark.parametrize(("sizes", "most"), [(range(1, 6), 3), ((1, 2, 4, 8), 4)])
@pytest.mark.parametrize("seed", range(cases(60)))
def test_placers_are_their_definitions(seed: int, sizes: Sequence[int], most: int) -> None:
    """After GPUs were taken and given back at random each chooses what a look at all of them chooses."""
    random = Random(seed)
    cluster = random_cluster(random, sizes, most)
    free = [list(gpus) for gpus in cluster.gpus_of.values()]
    books = FreeGpus(cluster, range(len(free)), free)
    for _ in range(60):
        machine = random.randrange(len(free))
        before = len(free[machine])
        whole = list(cluster.gpus_of[cluster.machines[machine].name])
        free[machine][:] = sorted(random.sample(whole, random.randint(0, len(whole))))
        books.recount(machine, before, len(free[machine]))
        all_free = [gpu for gpus in free for gpu in gpus]
        assert books.count == len(all_free)
        for count in range(1, len(all_free) + 1):
            assert consolidated(books, count) == by_definition(cluster, all_free, count)
            assert first_fit(books, count) == first_by_definition(cluster, all_free, count)
            assert emptiest_first(books, count) == emptiest_by_definition(cluster, all_free, count)


def emptiest_by_definition(cluster: Cluster, free: list[int], count: int) -> tuple[int, ...]:
    """Take GPU by GPU, those of the machines with the most free ones first."""
    machines = [cluster.machine_of[gpu] for gpu in free]
    order = sorted(
        (-machines.count(machine), machine, gpu) for machine, gpu in zip(machines, free, strict=True)
    )
    return tuple(gpu for _, _, gpu in order[:count])


def _spread(cluster: Cluster, free: list[int], count: int) -> tuple[int, ...]:
    """Place on a tree of any levels by looking at every free GPU: group by group, from the innermost level."""

    def fullest(level: str, among: list[int]) -> list[list[int]]:
        groups = [[gpu for gpu in group.gpus if gpu in among] for group in cluster.groups[level]]
        return sorted((gpus for gpus in groups if gpus), key=len, reverse=True)

    def fewest(level: str) -> list[int]:
        return min(
            (gpus for gpus in fullest(level, free)[::-1] if len(gpus) >= count), key=lambda g: (len(g), g)
        )

    real = [gpu for gpu in free if cluster.machines[cluster.machine_of[gpu]].islands]
    islands = [gpus for gpus in fullest("island", real) if len(gpus) >= count > 1] if real else []
    if islands:
        return tuple(min(islands, key=lambda gpus: (len(gpus), gpus))[:count])
    levels = cluster.levels[cluster.levels.index("machine") :]
    within = next(level for level in levels if len(fullest(level, free)[0]) >= count)
    chosen = [fewest(within)] if within == "machine" else fullest("machine", fewest(within))
    out: list[int] = []
    for gpus in chosen:
        left = count - len(out)
        machine = cluster.machines[cluster.machine_of[gpus[0]]]
        islands = fullest("island", gpus) if machine.islands and left < len(gpus) else [gpus]
        enough = [each for each in islands if len(each) >= left]
        out += (
            min(enough, key=lambda each: (len(each), each))[:left] if enough else list(chain(*islands))[:left]
        )
    return tuple(out)


@settings(max_examples=25, deadline=None)
@given(cluster=trees(linked=False), seed=st.integers(0, 99))
def test_consolidated_on_any_tree(cluster: Cluster, seed: int) -> None:
    """It takes the innermost group with the fewest free GPUs that suffice, whatever levels there are."""
    random = Random(seed)
    taken = random.sample(range(cluster.gpus), random.randint(0, cluster.gpus - 1))
    free = [[gpu for gpu in gpus if gpu not in taken] for gpus in cluster.gpus_of.values()]
    books = FreeGpus(cluster, range(len(free)), free)
    left = [gpu for gpus in free for gpu in gpus]
    for count in range(1, len(left) + 1):
        assert consolidated(books, count) == _spread(cluster, left, count)


@pytest.mark.parametrize("bad", [(0, 0), (0,), (0, 99), (0, -1), (0, 2)])
def test_a_placer_that_does_not_choose_free_gpus_is_refused(bad: tuple[int, ...]) -> None:
    """Too few GPUs, one twice, one that is not there and one that is held are no placement."""

    def placer(free: FreeGpus, count: int) -> tuple[int, ...]:
        return bad if count == 2 else tuple(range(free.count - 2, free.count - 2 + count))

    jobs = workload((0, 1, 1), (0, 1, 2))
    with pytest.raises(IllegalDecision, match="a placer must choose 2 free GPUs"):
        simulate(
            jobs, scripted([Start(0), Start(1)]), cluster=Cluster.uniform(machines=1, gpus=4), placer=placer
        )


@pytest.mark.parametrize("need", [{"memory": 8}, {"gpu_type": "new"}])
def test_a_placer_keeps_to_what_it_is_shown(need: dict[str, Any]) -> None:
    """A free GPU of too little memory, or of another type than the job's, is no placement either."""
    small, large = (Machine(name=t, gpus=1, gpu_type=t, memory=m) for t, m in [("old", 4), ("new", 8)])
    cluster = Cluster(racks=[Rack(name="r", machines=[small, large])])
    jobs = bundle([Job(name="a", release_date=0, duration=1, gpus=1, **need)])
    for chosen in (0, 1):
        run = partial(
            simulate, jobs, scripted([Start(0)]), cluster=cluster, placer=lambda *_, gpu=chosen: (gpu,)
        )
        if chosen == 1:
            assert run().completion_times == (1,)
            continue
        with pytest.raises(IllegalDecision, match="1 free GPUs that suit the job"):
            run()


def test_a_start_touches_the_machines_it_uses_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 4,096 GPUs in racks a job on one machine changes the books of one machine, when it starts and ends."""
    counted: list[int] = []
    recount = FreeGpus.recount

    def count(self: FreeGpus, machine: int, before: int, after: int) -> None:
        counted.append(machine)
        recount(self, machine, before, after)

    jobs = bundle(Job(name=str(i), release_date=i, duration=50, gpus=1 + i % 8) for i in range(100))
    cluster = Cluster.uniform(racks=16, machines=32, gpus=8)
    monkeypatch.setattr(FreeGpus, "recount", count)
    simulate(jobs, doing(lambda state: map(Start, state.arrived)), cluster=cluster, bound=False)
    assert len(counted) == len(cluster.machines) + 2 * 100
    assert len(set(counted[len(cluster.machines) :])) < 60
