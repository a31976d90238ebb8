"""Estimates: the goodput that jobs expect of configurations."""

from collections.abc import Iterable, Mapping

from gsopt.problems.configuration import Shape
from gsopt.scenario.job import Job
from gsopt.simulation import Action, Decider, State, Wake, simulate
from heuristics.policies import fifo
from heuristics.policies.sia.configuring import JobHistory
from heuristics.policies.sia.estimates import Batches, Estimated
from heuristics.policies.sia.nodes import NodePool
from tests.gsopt.simulation.adaptive import learning
from tests.gsopt.simulation.scenarios import bundle


def test_estimates_end_at_the_users_batch() -> None:
    """With the user's batch as the largest a job expects less of more GPUs than with that of its model."""
    seen: dict[str, Mapping[Shape, float]] = {}

    def watching(state: State, batches: Batches) -> Decider:
        pool, first = NodePool(state.cluster), fifo(state)
        estimates = Estimated(pool, None, 64, 30.0, {}, batches)

        class Watching:
            preemptive = False

            def decide(self, state: State) -> Iterable[Action]:
                for job in state.arrived:
                    estimates.enter(state, job)
                if state.running and state.now >= 1:
                    seen[batches] = estimates.goodputs(state, 0, JobHistory(has_choice=True))
                yield from first.decide(state)
                yield Wake(state.now + 1)

        return Watching()

    menu = [(count, 1.0) for count in (1, 2, 4)]
    job = Job(name="a", release_date=0, duration=9, gpus=1, menu=menu)
    scenario = learning(job)
    small = scenario.workload.jobs[0].model_copy(update={"batch_size": 4})
    for batches in ("user", "model"):
        simulate(scenario.model_copy(update={"workload": bundle([small])}), watching, batches=batches)
    best = {batches: max(goodputs.values()) for batches, goodputs in seen.items()}
    assert seen["user"].keys() == seen["model"].keys()
    assert best["user"] < best["model"]
