"""The compiled rows of a division."""

from math import inf

import numpy as np

from gsopt.core.numbers.compiled import plain
from gsopt.performance.batching.kernel import fill_rows
from gsopt.performance.batching.split import least_costs, widest
from tests.effort import cases
from tests.strategies.batching import drawn_costs


def test_the_kernel_fills_the_same_rows() -> None:
    """Compiled, as plain Python and in numpy the table of least costs is the same, to the last bit."""
    random = np.random.default_rng(2)
    for _ in range(cases(200)):
        costs, gpus = drawn_costs(random)
        if not len(costs):
            continue
        table = least_costs(costs, gpus, compiled=False)
        assert np.array_equal(least_costs(costs, gpus, compiled=True), table)
        again = np.full_like(table, inf)
        again[0, 0] = 0
        plain(fill_rows)(costs, widest(costs), again)
        assert np.array_equal(again, table)
