"""Plans in slots: what CP-SAT finds in fifteen seconds beside the best policy, and how far it is proven.

``pytest tests/benchmarks/bench_sharing_slots.py -s`` prints a line for each instance: twelve jobs on 8 GPUs.
"""

from statistics import fmean
from time import perf_counter

import pytest

from formulations.sharing import slots
from gsopt.core.budget import Budget
from gsopt.evaluation.solve import best_of_heuristics
from instances.sharing import interfering_jobs
from tests.benchmarks.measures import report

pytestmark = pytest.mark.slow

JOBS, GPUS, SEEDS, LIMIT = 12, 8, range(6), 15.0


def test_slots_are_never_worse_than_the_best_policy() -> None:
    """Plans of twelve jobs are no worse than any policy's schedule on each instance, and better on some."""
    ratios = []
    for seed in SEEDS:
        problem = interfering_jobs(jobs=JOBS, gpus=GPUS, seed=seed)
        start = best_of_heuristics(problem, Budget())
        begin = perf_counter()
        found = slots(problem, start=start, time_limit=LIMIT)
        seconds, known = perf_counter() - begin, float(problem.objective(start))
        assert found.objective is not None
        ratios.append(float(found.objective) / known)
        report(f"seed {seed}: policy {known:.2f} s, slots {float(found.objective):.2f} s, {seconds:.1f} s")
        report(f"  {found.message}")
    report(f"mean ratio {fmean(ratios):.3f}")
    assert max(ratios) <= 1
    assert min(ratios) < 1
