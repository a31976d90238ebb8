"""The first 20 jobs of a workload of Sia on two nodes, which the simulator of Pollux' authors has run."""

from functools import cache

import pytest

from gsopt.scenario.scenario import Scenario
from instances import data_folder
from instances.scenarios import pollux


@cache
def twenty_jobs() -> Scenario:
    """Return the scenario; made once, as it is made of tens of thousands of measured steps."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA is unset or holds no sia")
    return pollux(folder, trace="philly", nodes=2, jobs=20)
