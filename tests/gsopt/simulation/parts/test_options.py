"""Options of policies of offers."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from gsopt.simulation import State, simulate
from gsopt.simulation.parts.options import offers
from tests.gsopt.simulation.scenarios import bundle


@pytest.mark.parametrize("option", ["order", "placement", "clock", "renew"])
def test_words(option: str) -> None:
    """A word that an option does not know is refused with those that it knows."""
    options: dict[str, Any] = {"order": "fifo", "placement": "best", "lease": None, option: "neither"}

    def policy(state: State) -> Any:
        return offers(state, None, **options)  # type: ignore[arg-type]

    with pytest.raises(InvalidInput, match=f"^{option}: 'neither': must be one of "):
        simulate(bundle([Job(name="a", release_date=0, duration=1, gpus=1)]), policy, cluster=1)
