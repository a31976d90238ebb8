"""Speed-ups as an array."""

import numpy as np

from heuristics.goodput.table import SpeedupTable
from tests.effort import cases
from tests.strategies.goodput import tiny


def test_costs_are_those_of_the_judge() -> None:
    """What jobs count with any GPUs is what the judge says, and -1 stands where they do not run."""
    for seed in range(cases(50)):
        problem = tiny(seed)
        table = SpeedupTable.of(problem)
        for solution in list(problem.candidates())[:20]:
            vectors = np.array(problem.vectors(solution), dtype=np.int64).reshape(table.current.shape)
            restarts = (vectors != table.current).any(axis=1)
            counted = table.counted(table.speedup(vectors), restarts)
            judged = [
                float(problem.cost(place, sum(vector > 0), sum(vector), restarts=bool(moved)))
                for place, (vector, moved) in enumerate(zip(vectors, restarts, strict=True))
            ]
            assert np.allclose(counted, judged, rtol=1e-12), seed
            assert table.solution(vectors) == solution, seed
