"""Outlook: what jobs have left, and what it costs."""

from collections.abc import Iterable

import numpy as np
import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.training import Training
from gsopt.simulation import Action, State, Wake, simulate
from heuristics.policies.ones.dividing import Forced, Roster
from heuristics.policies.ones.remaining_work import Costs, Knowledge, RemainingWork
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing

_TRAINING = Training(epoch=10, samples=80)


def _job(name: str, training: Training | None = _TRAINING) -> Job:
    double = Mode(name="double", menu=[(2, 1.6)], batch_size=64, samples=120 if training else None)
    return Job(
        name=name, release_date=0, duration=8, gpus=1, batch_size=32, menu=[(1, 1), (2, 1.2)], modes=[double],
        training=training,
    )  # fmt: skip


def _costs(knowledge: Knowledge, jobs: list[Job], gpus: int, forced: Forced = "new") -> Costs:
    """Let the first job run for two seconds, and give the costs of then."""
    outlook, rosters, found = RemainingWork(knowledge, forced, seed=0), list[Roster](), list[Costs]()

    def decide(state: State) -> Iterable[Action]:
        if state.now == 0:
            rosters.append(Roster(state))
        rosters[0].update(state)
        if state.now in (0, 2):
            division = rosters[0].division(state)
        if state.now == 0:
            yield from rosters[0].actions(state, division, [1] + [0] * (len(jobs) - 1))
            yield Wake(2)
        elif state.now == 2:
            found.append(outlook.costs(state, division))

    simulate(bundle(jobs), doing(decide), cluster=gpus, bound=False)
    return found[0]


def test_known_work_by_hand() -> None:
    """Known work counts in seconds, and a unit of it costs GPUs over speed, up to the cap of the batch."""
    costs = _costs("known", [_job("a"), _job("b")], gpus=3)
    assert costs.weight.tolist() == [6, 8]
    assert costs.unit.tolist() == [[0, 1, 1.25, np.inf]] * 2
    assert costs.draw is None


def test_predicted_work_counts_in_samples() -> None:
    """Predicted work counts in samples, ten epochs before anything is learned, and is drawn."""
    costs = _costs("predicted", [_job("a"), _job("b")], gpus=2)
    assert costs.weight.tolist() == [100, 100]
    assert costs.unit.tolist() == [[0, 1 / 10, 2 / (1.6 * 120 / 8)]] * 2
    assert costs.draw is not None
    drawn = [costs.draw(np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert drawn[0].tolist() == drawn[1].tolist() != drawn[2].tolist()


def test_new_jobs_must_run_as_long_as_there_is_room() -> None:
    """Those that came first must, one GPU each; one that has run need not."""
    costs = _costs("known", [_job(name) for name in "abcd"], gpus=2)
    assert costs.forced.tolist() == [False, True, True, False]


def test_all_jobs_must_run_shortest_first() -> None:
    """Those with the least left on their fewest GPUs must, whether they have run or not."""
    short, long = (_job(name).model_copy(update={"duration": left}) for name, left in [("s", 4.0), ("l", 9.0)])
    costs = _costs("known", [_job("a"), long, short, _job("b")], gpus=2, forced="all")
    assert costs.forced.tolist() == [True, False, True, False]


def test_predictions_need_a_training() -> None:
    """A job whose training is not described is refused by name, unless its work is known."""
    with pytest.raises(InvalidInput, match=r"training: of 'b': None: must be described"):
        _costs("predicted", [_job("a"), _job("b", training=None)], gpus=2)
    assert _costs("known", [_job("a"), _job("b", training=None)], gpus=2).draw is None
