"""The ledger of racks: after any changes its books are what a look at every GPU finds."""

from random import Random

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack, Tier
from gsopt.scenario.job import Job, Mode
from gsopt.simulation.ledger import Forbidden, Placements
from gsopt.simulation.placer import consolidated
from tests.effort import cases


def _job(kind: str, memory: int | None) -> Job:
    modes = [
        Mode(name="less", menu=[(1, 1.0)], memory=4),
        Mode(name="old", menu=[(1, 1.0)], gpu_type="old"),
        Mode(name="any", menu=[(1, 1.0)], gpu_type=""),
    ]
    return Job(name="a", release_date=0, duration=1, gpus=1, gpu_type=kind, memory=memory, modes=modes)


_MODES = ("", "less", "old", "any")
_JOBS = [_job(kind, memory) for kind in ("", "old", "new") for memory in (None, 4, 8, 9)]


def random_cluster(random: Random) -> Cluster:
    """Make racks of machines of any size, type and memory."""
    return Cluster(
        racks=[
            Rack(
                name=f"r{r}",
                machines=[
                    Machine(
                        name=f"m{r}.{m}",
                        gpus=random.randint(1, 5),
                        gpu_type=random.choice(["", "old", "new"]),
                        memory=random.choice([None, 8, 16]),
                    )
                    for m in range(random.randint(1, 3))
                ],
            )
            for r in range(random.randint(1, 3))
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
            with pytest.raises(Forbidden, match=f"runs on {kind} GPUs only, which GPU {wrong[0]} is not"):
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
    with pytest.raises(Forbidden, match="new GPUs only, which GPU 1 is not"):
        ledger.take(1, _job("new", None), "", (1,))
