"""Adaptive jobs complete at the same times in the simulator and in a second one."""

from collections.abc import Iterable
from random import Random

import pytest

from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.schedule.judge import judge
from gsopt.simulation import Action, Assign, Policy, State, Wake, replay
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing
from tests.gsopt.simulation.second import GPUS, MACHINES, Second, Turn


def _turns(random: Random, jobs: int) -> list[list[Turn]]:
    """Draw what each job has from several times on; in the end each has a GPU."""
    turns: list[list[Turn]] = [[] for _ in range(jobs)]
    for number in range(6):
        free = random.sample(range(MACHINES * GPUS), MACHINES * GPUS)
        for own in turns:
            count = random.choice([0, 1, 1, 2, 3] if number < 5 else [1, 2])
            gpus, free = tuple(sorted(free[:count])), free[count:]
            own.append(Turn(number * 1.75, gpus, random.choice(["", "adaptive"])))
    return turns


def _given(random: Random) -> Scenario:
    menu = tuple((count, 1.0) for count in (1, 2, 3))
    jobs = [Job(name=name, release_date=0, duration=12, gpus=1, menu=menu) for name in "ab"]
    return Scenario.of(
        bundle(adaptive(job, random.randint(4, 16)) for job in jobs),
        Cluster.uniform(machines=MACHINES, gpus=GPUS),
        applications={"cnn": APPLICATION.model_copy(update={"slowdown": random.choice([1.0, 1.3])})},
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


@pytest.mark.parametrize("seed", range(cases(40)))
def test_both_complete_at_the_same_times(seed: int) -> None:
    """Whatever GPUs and modes jobs have when, both simulators say the same, and the judge agrees."""
    random = Random(seed)
    given = _given(random)
    turns = _turns(random, len(given.workload.jobs))
    run = replay(given, _following(turns), record=True)
    expected = [Second(job, given).run(own) for job, own in zip(given.workload.jobs, turns, strict=True)]
    assert run.completion_times == pytest.approx(expected, rel=SUM)
    assert run.schedule is not None
    assert judge(run.schedule, given).violations == ()
