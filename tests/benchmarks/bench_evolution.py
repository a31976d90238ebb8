"""ONES' evolutionary search: two engines, and how far from the optimum it ends, after how long and why."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from gsopt.performance.batching import StepTime
from gsopt.performance.batching.rates import StepTimeTable
from gsopt.performance.batching.split import split
from gsopt.performance.communication import Wire, Wiring
from heuristics.batching.evolution import CostTable, Engine, Evolved, Settings, evolve
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.population import repair
from heuristics.batching.evolution.rows import counts_of, scores
from heuristics.batching.evolution.table import Floats, Whole
from tests.benchmarks.measures import report, tabulate, timed

#: GPUs and jobs of the clusters that are compared.
SIZES = ((16, 20), (64, 60), (256, 200))

#: Generations after which the gap is looked at, and seeds.
SHOWN, SEEDS = (10, 20, 50, 200), 10

WIRE = Wire(bandwidth=1e10, wiring=Wiring.RING)

#: Gap at which the optimum counts as found: costs are sums of floats.
FOUND = 1e-9

#: Settings that are compared, beside what the paper prints.
READINGS: tuple[dict[str, Any], ...] = ({}, {"mutation_rate": 0.3}, {"distinct": True})

#: Generations after which populations are as they stay.
LONG = 100

#: GPUs from which on a generation takes longer than the optimum with either engine.
LARGE = 256

#: Running jobs of which all sets of preempted ones are tried.
MOST_RUNNING = 12

#: By how much arrays are to be faster than lists, by GPUs.
FASTER = {16: 2.5, 64: 5.0, 256: 5.0}


def drawn(gpus: int, jobs: int, seed: int, *, believed: bool = False) -> CostTable:
    """Draw jobs of one to 32 GPUs whose work left is spread over orders of magnitude (Eq. 3, nobody forced).

    Where it is `believed` the progress of each job is Beta distributed, with 2 to 30 epochs done and up to 60
    to come, and their mean stands in the table.
    """
    generator = default_rng(seed)
    local = 2 ** generator.integers(5, 9, size=jobs)
    limit = local * generator.integers(1, 33, size=jobs)
    models = [
        StepTime(fixed=fixed, per_sample=sample, message=size, wire=WIRE)
        for fixed, sample, size in zip(
            generator.uniform(0.01, 0.05, size=jobs).tolist(),
            generator.uniform(1e-4, 3e-3, size=jobs).tolist(),
            generator.uniform(2e7, 5e8, size=jobs).tolist(),
            strict=True,
        )
    ]
    _, rate = StepTimeTable.of(models).fastest(limit, local, widest=gpus)
    cap = np.minimum(-(-limit // local), gpus)
    numbers = np.arange(gpus + 1)
    unit = np.divide(numbers, rate, out=np.zeros(rate.shape), where=rate > 0)
    unit[numbers > cap[:, None]] = np.inf
    options: dict[str, Any] = (
        _beliefs(jobs, generator) if believed else {"weight": generator.lognormal(14, 1.5, size=jobs)}
    )
    target = min(gpus, int(cap.sum()))
    return CostTable.of([f"j{job}" for job in range(jobs)], unit, target=target, **options)


def _beliefs(jobs: int, generator: Generator) -> dict[str, Any]:
    alpha, beta = generator.uniform(2, 30, size=jobs), generator.uniform(1, 60, size=jobs)
    processed = alpha * generator.lognormal(10, 1.0, size=jobs)

    def draw(generator: Generator) -> Floats:
        return processed * (1 / generator.beta(alpha, beta) - 1)

    return {"weight": processed * beta / (alpha - 1), "draw": draw}


def optimum(table: CostTable, costs: Floats | None = None) -> tuple[float, Whole]:
    """Find the least expected cost, or that of the division that is best for other costs, and the division."""
    chosen = split(table.used_cost if costs is None else costs, table.gpus)
    return float(scores(chosen[None, :], table.used_cost)[0]), chosen


def searched(table: CostTable, generations: int, seed: int, **options: Any) -> Evolved:
    """Search with the defaults of the paper, except for some settings."""
    settings = Settings.model_validate(options)
    return evolve(table, generations, settings=settings, generator=default_rng(seed))


@pytest.mark.parametrize(
    ("gpus", "jobs", "generations", "rounds"), [(16, 20, 60, 7), (64, 60, 10, 5), (256, 200, 2, 3)]
)
def test_arrays_are_faster_than_lists(gpus: int, jobs: int, generations: int, rounds: int) -> None:
    """A generation on arrays takes a fraction of the processor time that one on DEAP's lists takes.

    On large clusters a generation takes longer than the exact division.
    """
    engines: tuple[Engine, ...] = ("deap", "vectorised")
    evolve(drawn(2, 2, 0), 1, engine="deap")  # loads DEAP
    spent: dict[str, list[float]] = {engine: [] for engine in (*engines, "split")}
    for seed in range(rounds):
        table = drawn(gpus, jobs, seed)
        costs = table.used_cost
        for engine in engines:
            begin = process_time()
            evolve(table, generations, engine=engine, generator=default_rng(seed))
            spent[engine].append((process_time() - begin) / generations)
        spent["split"].append(timed(partial(split, costs, gpus))[1])
    lists, arrays, exact = (1000 * median(spent[name]) for name in (*engines, "split"))
    report(
        f"{gpus} GPUs, {jobs} jobs: {lists:.2f} ms per generation on lists, {arrays:.2f} on arrays "
        f"({lists / arrays:.1f} times faster); the optimum takes {exact:.2f} ms"
    )
    assert lists >= FASTER[gpus] * arrays
    assert gpus < LARGE or arrays > exact


@pytest.mark.slow
def test_gap_to_the_optimum() -> None:
    """The gap stops falling within some fifty generations, often above 0; higher mutation rates end closer."""
    rows: list[list[str]] = []
    stuck = {}
    for (gpus, jobs), options in product(SIZES, READINGS):
        gaps, seconds_spent = [], 0.0
        for seed in range(SEEDS):
            table = drawn(gpus, jobs, seed)
            least, _ = optimum(table)
            begin = process_time()
            found = searched(table, SHOWN[-1], seed, **options)
            seconds_spent += process_time() - begin
            best = found.logbook.select("best")
            assert min(best) >= least * (1 - FOUND)
            gaps.append([best[generation] / least - 1 for generation in SHOWN])
        cells = [f"{median(each):.2%} ({max(each):.1%})" for each in zip(*gaps, strict=True)]
        hits = sum(each[-1] <= FOUND for each in gaps)
        name = ", ".join(f"{key}={value}" for key, value in options.items()) or "paper"
        time = f"{1000 * seconds_spent / SEEDS / SHOWN[-1]:.2f} ms"
        rows.append([f"{gpus} x {jobs}", name, *cells, f"{hits}/{SEEDS}", time])
        stuck[gpus, name] = (median(each[2] for each in gaps), median(each[3] for each in gaps))
    shown = (f"{generation}" for generation in SHOWN)
    tabulate(
        "gap to the optimum after so many generations: median (largest)",
        ("GPUs x jobs", "settings", *shown, "optimum hit", "per generation"),
        rows,
    )
    assert all(later <= sooner for sooner, later in stuck.values())
    assert sum(later == sooner for sooner, later in stuck.values()) > len(stuck) / 2


def test_why_the_gap_freezes() -> None:
    """Where all candidates divide the GPUs alike no mutation of whole jobs helps: the gap stays.

    A refill does the same whenever the same jobs are preempted. So of r running jobs there are 2^r mutants, all
    of which are tried; and what crossover can combine are packings of the same division.
    """
    frozen = stuck = 0
    for (gpus, jobs), seed in product(SIZES[:2], range(SEEDS)):
        table = drawn(gpus, jobs, seed)
        found = searched(table, LONG, seed)
        running = sorted(set(found.best) - {IDLE})
        divisions = np.unique(counts_of(found.population.genomes, jobs), axis=0)
        if len(divisions) > 1 or len(running) > MOST_RUNNING:
            continue
        frozen += 1
        stuck += found.score > optimum(table)[0] * (1 + FOUND)
        mutants = np.array(list(preempted(found.best, running)))
        counts = repair(mutants, table, Settings(), default_rng(0))
        assert scores(counts, table.used_cost, table.target).min() >= found.score * (1 - FOUND)
    report(f"{frozen} searches froze, {stuck} of them above the optimum; no mutant of these is better")
    assert frozen > SEEDS


def preempted(genome: Sequence[int], running: Sequence[int]) -> Iterator[list[int]]:
    """Yield the genome with each set of its jobs preempted."""
    for picked in product((False, True), repeat=len(running)):
        gone = {job for job, goes in zip(running, picked, strict=True) if goes}
        yield [IDLE if job in gone else job for job in genome]


@pytest.mark.slow
def test_draws_against_one_exact_division() -> None:
    """Of drawn work the last survivor costs more than the division that is best for the expected work."""
    rows = []
    for gpus, jobs in SIZES:
        gaps: dict[str, list[float]] = {
            name: [] for name in ("one draw", "thompson", "DP on a draw", "DP on means")
        }
        for seed in range(SEEDS):
            table = drawn(gpus, jobs, seed, believed=True)
            least, _ = optimum(table)
            for name in ("one draw", "thompson"):
                if name == "thompson" and gpus > SIZES[1][0]:
                    continue  # as many draws for a generation as there are GPUs
                found = searched(table, SHOWN[-1], seed, selection=name)
                held = counts_of(np.array([found.best]), table.jobs)
                gaps[name].append(float(scores(held, table.used_cost)[0]) / least - 1)
            drawn_best, _ = optimum(table, table.drawn_cost(default_rng(seed)))
            gaps["DP on a draw"].append(drawn_best / least - 1)
            gaps["DP on means"].append(optimum(table)[0] / least - 1)
        cells = [f"{median(each):.1%} ({max(each):.0%})" if each else "-" for each in gaps.values()]
        rows.append([f"{gpus} x {jobs}", *cells])
        assert median(gaps["one draw"]) >= median(gaps["DP on means"]) == 0
    tabulate(
        "expected cost above the least one, after 200 generations: median (largest)",
        ("GPUs x jobs", "one draw", "thompson", "DP on a draw", "DP on means"),
        rows,
    )
