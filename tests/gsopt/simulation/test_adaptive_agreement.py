"""Adaptive jobs agree with a second simulator, written from the definitions."""

from collections.abc import Iterable
from math import ceil, floor, inf
from random import Random
from typing import NamedTuple

import pytest

from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.fitting import Measurement, fit
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.schedule.judge import judge
from gsopt.simulation import Action, Assign, Policy, State, Wake, replay
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, TYPES, adaptive, typed
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing

#: The machines on which turns are taken, and the GPUs of each.
MACHINES, GPUS = 4, 2


class Turn(NamedTuple):
    """What a job has from a time on: GPUs by number, none to wait, and its mode."""

    time: float
    gpus: tuple[int, ...]
    mode: str

    @property
    def gpu_type(self) -> str:
        """Type of the GPUs, in a cluster of types."""
        return TYPES[self.gpus[0] // GPUS] if self.gpus else ""

    @property
    def shape(self) -> tuple[int, ...]:
        """GPUs on each machine."""
        counts = [sum(gpu // GPUS == machine for gpu in self.gpus) for machine in range(MACHINES)]
        return tuple(count for count in counts if count)


class Second:
    """One adaptive job alone on its GPUs, which goes piece by piece at one speed."""

    def __init__(self, job: Job, given: Scenario) -> None:
        self.job, self.agents = job, given.agents
        self.application: Application = given.applications[job.model]
        self.overhead, self.restarts = given.overhead(job), given.restarts
        self.done, self.epoch, self.completed_at = 0.0, 0, inf
        self.seen: dict[str, dict[tuple[int, int, int], Measurement]] = {}  # by type of GPU
        self.gradient: Gradient | None = None
        self.sees: tuple[str, Measurement, Gradient] | None = None
        self.begin, self.end, self.speed, self.ends_epoch = 0.0, inf, 0.0, False

    def run(self, turns: list[Turn]) -> float:
        """Take the turns, the last one until it is complete, and give that time."""
        before, works_from, runs_again = Turn(0, (), ""), 0.0, False
        for turn, until in zip(turns, [*(each.time for each in turns[1:]), inf], strict=True):
            if self.completed_at < inf:
                break
            if turn[1:] != before[1:]:
                if turn.gpus and not before.gpus:
                    works_from = turn.time + self.overhead.start + (self.overhead.stop if runs_again else 0)
                    runs_again = True
                elif turn.gpus and self._pays(before, turn):
                    works_from = max(works_from, turn.time + self.overhead.resize)
                same = (turn.shape, turn.mode, self._type(turn)) == (
                    before.shape,
                    before.mode,
                    self._type(before),
                )
                if self.restarts == "change" or not same:
                    self._stop(turn.time)
                    if turn.gpus:
                        self._work(turn, max(works_from, turn.time))
            while self.end < inf and self.end <= until:
                self._next(turn)
            before = turn
        return self.completed_at

    def _type(self, turn: Turn) -> str:
        """Return the type of the GPUs, if it matters to the job."""
        return turn.gpu_type if self.application.gpu_types else ""

    def _pays(self, before: Turn, now: Turn) -> bool:
        if self._type(before) != self._type(now):
            return True
        if self.restarts == "machines":
            return len(before.shape) != len(now.shape)
        return self.restarts == "change" or before.shape != now.shape

    def _stop(self, time: float) -> None:
        """End a piece; what the job saw of it, it knows from then on."""
        self.done = min(self.done + max(time - self.begin, 0) * self.speed, self._goal())
        if time > self.begin and self.sees is not None:
            gpu_type, measurement, self.gradient = self.sees
            self.seen.setdefault(gpu_type, {}).setdefault(measurement[:3], measurement)
        self.end, self.speed, self.sees = inf, 0.0, None

    def _work(self, turn: Turn, begin: float) -> None:
        """Begin a piece, which lasts until the epoch ends or the batch is tuned."""
        self.begin, (local, steps) = begin, self._batch(turn)
        nodes, gpus, shape = len(turn.shape), len(turn.gpus), turn.shape
        step, sync = self.application.on(self._type(turn)).step_time(shape, local) or (inf, inf)
        gradient = Gradient(1.0, 2.0 * (self.epoch + 1))
        self.sees = self._type(turn), Measurement(nodes, gpus, local, step, sync), gradient
        samples = local * (steps + 1) * gpus
        gain = float(samples)
        if self.agents.progress == "statistical":
            noise = 2.0 * (self.epoch + 1)
            gain = (noise + 1) / (noise / (samples / 4) + 1)
        self.speed = gain / (step + steps * (step - sync)) / self.application.slowdown
        seconds = (self._goal() - self.done) / self.speed
        if self.agents.whole_seconds:
            seconds = max(1, round(seconds))
        tuned = (floor(begin / self.agents.interval) + 1) * self.agents.interval
        self.ends_epoch, self.end = begin + seconds <= tuned, min(begin + seconds, tuned)

    def _next(self, turn: Turn) -> None:
        """End a piece: an epoch may end, and the job works on with a batch that is chosen anew."""
        end = self.end
        self._stop(end)
        if self.ends_epoch:
            self.done, self.epoch = self._goal(), self.epoch + 1
        if self.epoch == self.application.epochs:
            self.completed_at = end
        else:
            self._work(turn, end)

    def _goal(self) -> float:
        """Find the progress at the end of the epoch: twelve iterations of four samples each, or as samples."""
        if self.agents.progress == "statistical":
            return 12.0 * (self.epoch + 1)
        own = self.job.batch_size or 0
        return own * (12 + (own - 4) / (16 - 4) * (3 - 12)) * (self.epoch + 1)

    def _batch(self, turn: Turn) -> tuple[int, int]:
        """Return samples that a GPU processes at once, and accumulations."""
        limits, gpus = self.application.on(self._type(turn)).limits, len(turn.gpus)
        seen = self.seen.get(self._type(turn), {})
        if turn.mode == "adaptive" and self.gradient is not None and seen:
            best = fit(list(seen.values())).goodput(len(turn.shape), gpus, self.gradient, limits)
            local, steps = int(best.local), int(best.steps)
        else:
            size = self.job.batch_size if turn.mode == "" else None
            each = ceil((size or max(limits.initial_batch, gpus)) / gpus)
            steps = max(ceil(each / limits.most_local) - 1, int(gpus == 1 and each > limits.initial_batch))
            local = ceil(each / (steps + 1))
        return min(local, limits.most_batch // (gpus * (steps + 1))), steps


def _turns(random: Random, jobs: int, *, types: bool) -> list[list[Turn]]:
    """Draw what each job has from several times on, perhaps of one type; in the end each has a GPU."""
    turns: list[list[Turn]] = [[] for _ in range(jobs)]
    for number in range(6):
        free = random.sample(range(MACHINES * GPUS), MACHINES * GPUS)
        for own in turns:
            count = random.choice([0, 1, 1, 2, 3] if number < 5 else [1, 2])
            gpu_type = TYPES[free[0] // GPUS]
            alike = [gpu for gpu in free if not types or TYPES[gpu // GPUS] == gpu_type]
            gpus = tuple(sorted(alike[:count]))
            free = [gpu for gpu in free if gpu not in gpus]
            own.append(Turn(number * 1.75, gpus, random.choice(["", "adaptive"])))
    return turns


def _given(random: Random, *, types: bool) -> Scenario:
    machines = [Machine(name=str(n), gpus=GPUS, gpu_type=TYPES[n] if types else "") for n in range(MACHINES)]
    menu = tuple((count, 1.0) for count in (1, 2, 3))
    jobs = [Job(name=name, release_date=0, duration=12, gpus=1, menu=menu) for name in "ab"]
    return Scenario.of(
        bundle(adaptive(job, random.randint(4, 16)) for job in jobs),
        Cluster(racks=[Rack(name="r", machines=machines)]),
        applications={
            "cnn": (typed() if types else APPLICATION).model_copy(
                update={"slowdown": random.choice([1.0, 1.3])}
            )
        },
        agents=Agents(
            interval=random.choice([1, 3, 60]),
            whole_seconds=random.random() < 0.5,
            progress=random.choice(["statistical", "samples"]),
        ),
        overheads=Overhead(
            start=random.choice([0, 0.4]), stop=random.choice([0, 0.7]), resize=random.choice([0, 0.3, 2.2])
        ),
        restarts=random.choice(["change", "shape", "machines"]),
    )


def _following(turns: list[list[Turn]]) -> Policy:
    """Make a policy of the turns of all jobs."""
    completed: set[int] = set()

    def follow(state: State) -> Iterable[Action]:
        completed.update(state.completed)
        now = [[turn for turn in own if turn.time <= state.now][-1] for own in turns]
        there = {job: turn for job, turn in enumerate(now) if turn.gpus and job not in completed}
        yield Assign({job: (turn.gpus, turn.mode) for job, turn in there.items()})
        yield from [Wake(turn.time) for turn in turns[0] if turn.time > state.now][:1]

    return doing(follow)


@pytest.mark.parametrize("types", [False, True], ids=["alike", "types"])
@pytest.mark.parametrize("seed", range(cases(40)))
def test_both_complete_at_the_same_times(seed: int, types: bool) -> None:
    """Whatever GPUs and modes jobs have when, both simulators say the same, and the judge agrees."""
    random = Random(seed)
    given = _given(random, types=types)
    turns = _turns(random, len(given.workload.jobs), types=types)
    run = replay(given, _following(turns), record=True)
    expected = [Second(job, given).run(own) for job, own in zip(given.workload.jobs, turns, strict=True)]
    assert run.completion_times == pytest.approx(expected, rel=SUM)
    assert judge(schedule_of(run), given).violations == ()
