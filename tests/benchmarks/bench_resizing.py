"""Elastic jobs that are resized without a pause: what is proven how fast, and the gap of Aryl's two phases.

``pytest tests/benchmarks/bench_resizing.py -s`` prints the tables. Seconds are those of the clock, as the
solver runs in a process of its own.
"""

from functools import partial
from random import Random
from statistics import mean, median
from time import perf_counter

import pytest

from formulations.scheduling import resizing
from gsopt.core.numbers.tolerances import CONTINUOUS, SUM
from gsopt.core.result import Status
from gsopt.problems.scheduling import Scheduling
from heuristics.scheduling.two_phase import two_phase
from tests.benchmarks.measures import proven, report, timed
from tests.exactness.resizing import elastic
from tests.unwrap import unwrap

pytestmark = pytest.mark.slow

#: GPUs of every cluster.
GPUS = 8

#: Numbers of jobs, seeds of each, and seconds after which a proof is given up.
PROOFS, PROOF_SEEDS, LIMIT = (6, 8), range(10), 10.0

#: Elastic ones of five jobs, and seeds of each: 75 instances.
ELASTIC, JOBS, GAP_SEEDS = (1, 3, 5), 5, range(25)


def drawn(jobs: int, resizable: int, seed: int) -> Scheduling:
    """Draw jobs of 1 to 4 GPUs of which so many may have up to 8, and take 10 to 100 s on their most."""
    random = Random(seed)
    chosen = set(random.sample(range(jobs), resizable))
    parts = []
    for index in range(jobs):
        fewest = random.randint(1, GPUS // 2)
        most = random.randint(fewest + 1, GPUS) if index in chosen else fewest
        parts.append(elastic(f"j{index}", most * random.uniform(10, 100), fewest, most))
    return Scheduling(gpus=GPUS, jobs=parts, preemptive=False)


def test_how_long_proofs_take() -> None:
    """Six jobs, four of them elastic, are mostly proven in ten seconds, and no bound is above its schedule."""
    resizing(drawn(3, 2, seed=1))  # load the solver
    report(f"\n{'jobs':8}{'proven':>8}{'median s':>12}{'longest s':>12}{'largest gap':>14}")
    for jobs in PROOFS:
        seconds, gaps, count = [], [], 0
        for seed in PROOF_SEEDS:
            problem = drawn(jobs, 2 * jobs // 3, seed)
            result, spent = timed(partial(resizing, problem, time_limit=LIMIT), clock=perf_counter)
            seconds.append(spent)
            count += result.status is Status.OPTIMAL
            gaps.append(float(unwrap(result.objective)) / float(unwrap(result.bound)) - 1)
        shown = f"{f'{count}/{len(seconds)}':>8}{median(seconds):12.2f}{max(seconds):12.2f}{max(gaps):14.1%}"
        report(f"{jobs:<8}{shown}")
        assert min(gaps) >= -CONTINUOUS
        assert jobs > min(PROOFS) or count >= len(seconds) / 2


def test_two_phases_against_the_joint_optimum() -> None:
    """On 75 instances of five jobs the two phases are never better, and further off where all are elastic."""
    gaps: dict[int, list[float]] = {}
    report(f"\n{'elastic':10}{'mean':>8}{'median':>8}{'largest':>9}{'optimal':>9}")
    for resizable in ELASTIC:
        own = gaps[resizable] = [_gap(drawn(JOBS, resizable, seed)) for seed in GAP_SEEDS]
        optimal = f"{sum(gap <= CONTINUOUS for gap in own)}/{len(own)}"
        shown = f"{mean(own):8.1%}{median(own):8.1%}{max(own):9.1%}{optimal:>9}"
        report(f"{resizable / JOBS:<10.0%}{shown}")

    least = min(min(own) for own in gaps.values())
    report(f"the least gap is {least:.2e}")
    assert least >= -SUM
    assert mean(gaps[JOBS]) > mean(gaps[1])


def _gap(problem: Scheduling) -> float:
    """Return how much longer jobs take by the two phases than in the optimum, which is proven."""
    best, found = proven(resizing, problem, []), unwrap(two_phase(problem).objective)
    return float(found) / float(best) - 1
