"""Sharing over time: gaps of policies to the optimum of starts at events, proofs, and plans in slots.

``pytest tests/benchmarks/bench_sharing.py -s`` prints the tables. Processor seconds are those of this process.
"""

from collections.abc import Iterator
from functools import partial
from statistics import mean, median
from time import perf_counter

import pytest

from formulations.sharing import exact, slots
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import CONTINUOUS
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import heuristics
from gsopt.evaluation.solve import best_of_heuristics
from gsopt.problems.sharing import Sharing
from instances.sharing import interfering_jobs
from tests.benchmarks.measures import proven, report, timed
from tests.unwrap import unwrap

pytestmark = pytest.mark.slow

#: Numbers of jobs and GPUs, and seeds of each: 40 instances.
SIZES, SEEDS = ((6, 4), (6, 8), (6, 16), (8, 4), (8, 8)), range(8)

POLICIES = ("fifo", "sjf", "ssf", "sjf_ffs", "sjf_bsbf", "best_pairs")

#: Numbers of jobs and GPUs, and seconds after which a proof is given up.
PROOFS = ((6, 8, None), (8, 4, None), (8, 8, None), (8, 16, None), (10, 8, 20.0))

#: Jobs, GPUs, seeds and seconds of plans in slots.
SLOTTED_JOBS, SLOTTED_GPUS, SLOTTED_SEEDS, SLOTTED_LIMIT = 12, 8, range(6), 15.0


def instances(jobs: int, gpus: int) -> Iterator[tuple[Sharing, float]]:
    """Yield instances with their optima."""
    for seed in SEEDS:
        problem = interfering_jobs(jobs=jobs, gpus=gpus, seed=seed)
        yield problem, float(proven(exact, problem, []))


def test_no_policy_is_better_than_the_optimum() -> None:
    """On 40 instances every policy's gap to the optimum is at least 0, and sharing by pairs has small ones."""
    methods, all_gaps = heuristics("sharing"), dict[str, list[float]]()
    report(f"\n{'jobs, GPUs':12}" + "".join(f"{name:>14}" for name in POLICIES))
    for jobs, gpus in SIZES:
        gaps: dict[str, list[float]] = {name: [] for name in POLICIES}
        for problem, optimum in instances(jobs, gpus):
            for name in POLICIES:
                value = unwrap(methods[name](problem).objective)
                gaps[name].append(float(value) / optimum - 1)
        for name, own in gaps.items():
            all_gaps.setdefault(name, []).extend(own)
        report(f"{f'{jobs}, {gpus}':12}" + "".join(f"{_shown(gaps[name]):>14}" for name in POLICIES))
    report(f"{'all':12}" + "".join(f"{_shown(all_gaps[name]):>14}" for name in POLICIES))

    least = min(min(own) for own in all_gaps.values())
    report(f"the least gap is {least:.2e}")
    assert least >= -CONTINUOUS
    assert mean(all_gaps["sjf_bsbf"]) < mean(all_gaps["sjf"]) < mean(all_gaps["fifo"])


def _shown(gaps: list[float]) -> str:
    return f"{mean(gaps):.1%}/{max(gaps):.0%}"


def test_how_long_proofs_take() -> None:
    """Eight jobs are always proven, and three of five instances of ten jobs within the time limit."""
    exact(interfering_jobs(jobs=8, gpus=16, seed=1))  # load the kernel
    report(f"\n{'jobs, GPUs':12}{'proven':>8}{'median s':>12}{'longest s':>12}")
    for jobs, gpus, limit in PROOFS:
        seconds, count = [], 0
        for seed in SEEDS:
            problem = interfering_jobs(jobs=jobs, gpus=gpus, seed=seed)
            result, spent = timed(partial(exact, problem, time_limit=limit))
            count += result.status is Status.OPTIMAL
            seconds.append(spent)
        shown = f"{f'{count}/{len(seconds)}':>8}{median(seconds):12.2f}{max(seconds):12.2f}"
        report(f"{f'{jobs}, {gpus}':12}{shown}")
        assert count >= len(seconds) * (1 if limit is None else 0.6)


def test_slots_are_never_worse_than_the_best_policy() -> None:
    """Plans of twelve jobs are no worse than any policy's schedule on each instance, and better on some."""
    ratios = []
    for seed in SLOTTED_SEEDS:
        problem = interfering_jobs(jobs=SLOTTED_JOBS, gpus=SLOTTED_GPUS, seed=seed)
        start = best_of_heuristics(problem, Budget())
        plan = partial(slots, problem, start=start, time_limit=SLOTTED_LIMIT)
        found, seconds = timed(plan, clock=perf_counter)
        value, known = float(unwrap(found.objective)), float(problem.objective(start))
        ratios.append(value / known)
        report(f"seed {seed}: policy {known:.2f} s, slots {value:.2f} s, {seconds:.1f} s")
        report(f"  {found.message}")
    report(f"mean ratio {mean(ratios):.3f}")
    assert max(ratios) <= 1
    assert min(ratios) < 1
