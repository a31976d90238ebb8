"""Outlook: what is expected of jobs, by menu and by their own model."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import simulate
from gsopt.simulation.policy import Action, Start, State, Wake
from heuristics.policies.pollux.nodes import Nodes
from heuristics.policies.pollux.outlook import Caps, JobOutlook
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive
from tests.gsopt.simulation.scenarios import bundle

CAPS = Caps(gpus=64, nodes=16)
TWO = Cluster.uniform(machines=2, gpus=2)


def told(job: Job, look: Callable[[State, JobOutlook], Any], times: list[float], **physics: Any) -> list[Any]:
    """Let a job run on what it demands from the beginning, and look at it at some times."""
    found: list[Any] = []

    class Looking:
        preemptive = False

        def decide(self, state: State) -> Iterable[Action]:
            if state.arrived:
                self.outlook = JobOutlook(state, 0, CAPS)
            if len(found) < len(times) and state.now >= times[len(found)]:
                found.append(look(state, self.outlook))
            if state.arrived:
                self.outlook.note(job.gpus)
                mode = self.outlook.mode(job.gpus)
                yield Start(0, tuple(range(job.gpus)), mode)
            if len(found) < len(times):
                yield Wake(times[len(found)])

    simulate(bundle([job]), lambda _: Looking(), cluster=TWO, bound=False, **physics)
    return found


def test_a_menu_is_relative_to_the_fair_share() -> None:
    """Rows hold what the menu says, on two nodes with the slowdown; later it may have twice as many."""
    menu = [(1, 1.0), (2, 1.5), (4, 2.0)]
    job = Job(name="a", release_date=0, duration=90, gpus=1, menu=menu, model="cnn")
    slower = Speed(tiers={"cnn": TierPenalty(machine=0.0, rack=1.0, network=1.0)})

    def look(state: State, outlook: JobOutlook) -> Any:
        return outlook.most(state), outlook.speedups(state, Nodes(state), 2)

    before, after = told(job, look, [0.0, 10.0], speed=slower)

    assert before == (1, [[1 / 1.5]])
    assert after == (2, [[1 / 1.5, 1.0], [0.5]])


def test_numbers_on_which_it_does_not_run_are_worth_the_next_lower() -> None:
    """Such GPUs are taken away again, from the last nodes; below its fewest it has none."""
    job = Job(name="a", release_date=0, duration=90, gpus=2, menu=[(2, 1.0), (4, 1.5)])

    def look(state: State, outlook: JobOutlook) -> Any:
        vectors = [(1, 0), (1, 1), (2, 1), (2, 2), ()]
        return (
            outlook.fewest,
            [outlook.within(each) for each in vectors],
            outlook.speedups(state, Nodes(state), 1),
        )

    [_, (fewest, within, rows)] = told(job, look, [0.0, 10.0])

    assert fewest == 2
    assert within == [(), (1, 1), (2, 0), (2, 2), ()]
    assert rows == [[0.0, 2.0], [2.0, 2.0, 3.0]]  # a fair share of one GPU would be half as fast as two


def test_an_adaptive_job_tells_what_it_has_learned() -> None:
    """Before it has measured anything GPUs count alike; then its own goodput does, on one node or several."""
    job = adaptive(Job(name="a", release_date=0, duration=9, gpus=1, menu=[(1, 1), (2, 1), (3, 1)]), 4)

    def look(state: State, outlook: JobOutlook) -> Any:
        trainee = state.trainee(0)
        assert trainee is not None
        expected = trainee.goodput([1, 1, 2], [1, 2, 2])
        return outlook.mode(1), outlook.speedups(state, Nodes(state), 2), expected

    physics = {"applications": {"cnn": APPLICATION}, "agents": Agents(interval=1)}
    (mode, unknown, nothing), (_, known, expected) = told(job, look, [0.0, 2.0], **physics)

    assert (mode, nothing) == ("adaptive", None)
    assert unknown == [[0.5]]
    one, two, apart = expected.goodput.tolist()
    assert known == [[pytest.approx(one / two), pytest.approx(1.0)], [pytest.approx(apart / two)]]
