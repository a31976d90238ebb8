"""Where heterogeneous jobs may grow."""

from collections.abc import Iterator
from typing import Any

import pytest

from gsopt.scenario.speed import Speed
from gsopt.simulation import simulate
from gsopt.simulation.policy import Action, Start, State
from heuristics.policies.aryl.crew import Crew
from heuristics.policies.aryl.forms import forms_of
from heuristics.policies.aryl.machines import Machines
from heuristics.policies.aryl.reach import reach
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.aryl.scenes import job, pools


def _reach(own: int, lent: int, mixed: float, base: dict[int, int], **fields: Any) -> Any:
    told: list[Any] = []

    class Asking:
        preemptive = False

        def decide(self, state: State) -> Iterator[Action]:
            if state.arrived:
                machines = Machines(state.cluster, "T4")
                form = forms_of(state.jobs[0], machines)[0]
                told.append(reach(state, Crew(0, form, base, pool=form.pool, speeds=form.speeds), machines))
                yield Start(0)

    def asking(state: State) -> Asking:
        del state
        return Asking()

    one = job("a", 0, 9, 4, 12, **{"gpu_type": "", **fields})
    speed = Speed(gpu_types={"T4": 2.0}, mixed=mixed)
    simulate(bundle([one]), asking, cluster=pools(own, lent, 4), speed=speed, bound=False)
    return told[0]


@pytest.mark.parametrize(
    ("own", "lent", "mixed", "base", "pool", "speeds"),
    [
        (3, 2, 1.0, {0: 1}, "mixed", (1.0, 1.5, 2.0)),  # four more GPUs at half the speed each
        (1, 2, 1.0, {0: 1}, "inference", (1.0, 1.5, 2.0)),
        (3, 2, 2.5, {0: 1}, "training", (1.0, 2.0, 3.0)),
        (1, 2, 1.6, {0: 1}, "inference", (1.0, 0.0, 1.25)),  # one worker would slow the job down
        (1, 1, 2.5, {0: 1}, "training", (1.0,)),
        (1, 3, 1.0, {2: 1}, "mixed", (1.0, 2.0, 3.0)),  # base workers on T4 GPUs
    ],
)
def test_pools_and_speeds(
    own: int, lent: int, mixed: float, base: dict[int, int], pool: str, speeds: tuple[float, ...]
) -> None:
    """A pool counts where workers there make the job faster, and speeds are those of the GPUs it would get."""
    found = _reach(own, lent, mixed, base)
    assert found[0] == pool
    assert found[1] == pytest.approx(speeds)


def test_other_jobs_keep_their_menus() -> None:
    """A job of one type has the speeds of its menu in its pool."""
    assert _reach(3, 1, 9.0, {0: 1}, gpu_type="V100") == ("training", (1.0, 2.0, 3.0))
