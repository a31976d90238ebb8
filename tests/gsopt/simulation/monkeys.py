"""Monkeys: policies that decide anything that is allowed, at random."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from gsopt.simulation import Action, Assign, Decider, Move, Resize, Start, State, Stop, Vacate, Wake

#: GPUs of a job, as a number or by number, and its mode.
Choice = tuple[Any, str]


class Desk:
    """A monkey's own books of who holds what, so that it can think of a whole decision before it takes it."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.held = {job: state.placement(job) for job in state.running}
        self.modes = {job: state.mode(job) for job in state.running}
        there = {*state.free_gpus(), *(gpu for gpus in self.held.values() for gpu in gpus)}
        self.users: dict[int, list[int]] = {gpu: [] for gpu in sorted(there)}
        for job, gpus in self.held.items():
            for gpu in gpus:
                self.users[gpu].append(job)

    def put(self, job: int, gpus: tuple[int, ...], mode: str) -> None:
        """Let a job hold GPUs."""
        self.held[job], self.modes[job] = gpus, mode
        for gpu in gpus:
            self.users[gpu].append(job)

    def lift(self, job: int) -> None:
        """Take the GPUs of a job."""
        for gpu in self.held.pop(job):
            self.users[gpu].remove(job)

    def places(self, job: int, mode: str, share_limit: int) -> list[int]:
        """Return the GPUs on which there is room for a job."""
        item, cluster = self.state.jobs[job], self.state.cluster
        need = item.memory_in(mode) or 0
        suitable = []
        for gpu, users in self.users.items():
            machine = cluster.machines[cluster.machine_of[gpu]]
            taken = sum(self.state.jobs[user].memory_in(self.modes[user]) or 0 for user in users)
            fits = machine.memory is None or taken + need <= machine.memory
            if fits and len(users) < share_limit and item.gpu_type_in(mode) in ("", machine.gpu_type):
                suitable.append(gpu)
        return suitable

    def choose(self, random: Random, job: int, share_limit: int) -> tuple[tuple[int, ...], str] | None:
        """Choose GPUs and a mode for a job, if there is room."""
        ways = [(mode, count) for mode, menu in self.state.jobs[job].speeds.items() for count in menu]
        for mode, count in random.sample(ways, len(ways)):
            places = self.places(job, mode, share_limit)
            trainee = self.state.trainee(job)
            if trainee is not None and trainee.application.gpu_types:
                cluster, types = self.state.cluster, dict[str, list[int]]()
                for gpu in places:
                    types.setdefault(cluster.machines[cluster.machine_of[gpu]].gpu_type, []).append(gpu)
                places = random.choice([own for own in types.values() if count <= len(own)] or [[]])
            if count <= len(places):
                return tuple(random.sample(places, count)), mode
        return None


class Monkey:
    """Does anything that is allowed, at random, with a limited number of interruptions.

    It makes up its mind about everything at once and says so in random order, so that most of its decisions
    are illegal halfway.
    """

    preemptive = True

    def __init__(self, seed: int, share_limit: int) -> None:
        self._random, self._share_limit = Random(seed), share_limit
        self._waiting: set[int] = set()
        self._tricks = 25

    def decide(self, state: State) -> Iterable[Action]:
        """Vacate machines, and run other jobs on other GPUs."""
        self._waiting |= {*state.arrived, *state.evicted}
        if (servers := self._servers(state)) and self._random.random() < 0.7:
            yield Vacate(servers)
            self._waiting |= set(state.evicted)
        self._waiting -= {*state.completed, *state.running}
        lifted = [job for job in state.running if self._tricks and self._random.random() < 0.4]
        self._tricks -= len(lifted) > 0
        chosen = self._on_racks(state, lifted) if state.cluster.racks else self._plain(state, lifted)
        yield from self._said(state, lifted, chosen)
        self._waiting = (self._waiting | set(lifted)) - chosen.keys()
        if self._tricks or self._waiting:
            self._tricks = max(self._tricks - 1, 0)
            yield Wake(state.now + type(state.now)(self._random.choice([0.5, 1.25])))

    def _servers(self, state: State) -> list[str]:
        """Choose machines to give up for one request."""
        for request in state.requests[:1]:
            types = {machine.name: machine.gpu_type for machine in state.cluster.machines}
            ready = [
                name
                for name in state.servers
                if (not request.among or name in request.among) and request.gpu_type in ("", types[name])
            ]
            most = min(request.servers, len(ready))
            return self._random.sample(ready, self._random.randint(0, most))
        return []

    def _on_racks(self, state: State, lifted: Sequence[int]) -> dict[int, Choice]:
        """Choose GPUs by number for the jobs that are lifted and those that wait."""
        desk, chosen = Desk(state), {}
        for job in lifted:
            desk.lift(job)
        jobs = [job for job in lifted if self._random.random() < 0.8] + sorted(self._waiting)
        for job in self._random.sample(jobs, len(jobs)):
            choice = desk.choose(self._random, job, self._share_limit)
            if choice is not None:
                desk.put(job, *choice)
                chosen[job] = choice
        return chosen

    def _plain(self, state: State, lifted: Sequence[int]) -> dict[int, Choice]:
        """Choose numbers of GPUs."""
        chosen: dict[int, Choice] = {}
        free = state.free + sum(state.running[job] for job in lifted)
        jobs = [job for job in lifted if self._random.random() < 0.8] + sorted(self._waiting)
        for job in self._random.sample(jobs, len(jobs)):
            ways = [(k, mode) for mode, menu in state.jobs[job].speeds.items() for k in menu if k <= free]
            if ways:
                chosen[job] = self._random.choice(ways)
                free -= chosen[job][0]
        return chosen

    def _said(self, state: State, lifted: Sequence[int], chosen: dict[int, Choice]) -> list[Action]:
        """Say what has been chosen: as a whole, or as changes in any order."""
        if self._random.random() < 0.3:
            kept = {
                job: (state.placement(job) or count, state.mode(job))
                for job, count in state.running.items()
                if job not in lifted
            }
            return [Assign(kept | chosen)]
        actions: list[list[Action]] = []
        for job in {*lifted, *chosen}:
            if job not in chosen:
                actions.append([Stop(job)])
            elif job not in lifted:
                actions.append([Start(job, *chosen[job])])
            elif self._random.random() < 0.5:
                gpus, mode = chosen[job]
                is_move = isinstance(gpus, tuple) and (len(gpus), mode) == (state.running[job], state.mode(job))
                actions.append([Move(job, gpus) if is_move else Resize(job, gpus, mode)])
            else:
                actions.append([Stop(job), Start(job, *chosen[job])])
        self._random.shuffle(actions)
        return [action for several in actions for action in several]


def monkey(state: State, *, seed: int = 0, share_limit: int = 1) -> Decider:
    """Make a Monkey."""
    del state
    return Monkey(seed, share_limit)
