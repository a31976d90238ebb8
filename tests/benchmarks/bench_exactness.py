"""Twenty thousand proofs against brute force in fractions, with every method of every decision."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gsopt.schedule.bounds.prices import price_bound
from tests.benchmarks.measures import once, report
from tests.exactness import prices
from tests.exactness.trial import ORACLES, attack

pytestmark = pytest.mark.slow

SIZES = {
    "reclaiming": 8_000,
    "allocation": 6_000,
    "batching": 3_000,
    "colocation": 3_000,
    "consolidation": 3_000,
    "placement": 4_500,
    "scheduling": 1_500,
    "shares": 3_000,
    "sharing": 1_500,
    "waiting": 1_500,
}


@pytest.mark.benchmark(group="exactness: 20,000 instances over the decisions")
@pytest.mark.parametrize("word", ORACLES)
def test_no_proof_is_beaten(benchmark: BenchmarkFixture, word: str) -> None:
    """No optimum is beaten by brute force, no bound lies beyond it, and the default method proves all."""
    tally = once(benchmark, lambda: attack(word, range(SIZES[word]), turns=3))
    report(f"{word}: {tally}")

    assert tally.failures == []
    assert tally.refused["exact"] == 0
    assert tally.rate("exact") == 1


#: Instances on which bounds by prices are held against the optimum, and part by which a linear program may err.
PRICED, ERROR = 2_000, 1e-8


@pytest.mark.benchmark(group="exactness: 2,000 tiny instances, random and improved prices")
def test_no_price_exceeds_the_optimum(benchmark: BenchmarkFixture) -> None:
    """The bound by priced time, from its definition in fractions, is nowhere above the optimum."""
    shares = once(benchmark, lambda: list(_shares(range(PRICED))))
    near = sum(share > 0.95 for share in shares)
    report(f"{len(shares):,} bounds, {near} within 5 %")

    assert max(shares) <= 1 + ERROR
    assert near > len(shares) / 10  # most random prices prove little


def _shares(seeds: range) -> Iterator[float]:
    """Yield the bound as a part of the optimum; every fourth instance has improved prices."""
    for seed in seeds:
        random, scenario, weights = prices.drawn(seed)
        grid, drawn = prices.draw_prices(random, scenario)
        chosen = drawn if seed % 4 else prices.climb(scenario, weights, grid, drawn, 30)
        best = prices.optimum(scenario, weights)
        bound = float(prices.bound(scenario, weights, grid, chosen).value)
        yield bound / best if best else 1 + bound


@pytest.mark.benchmark(group="exactness: 2,000 tiny instances, prices of the library")
@pytest.mark.parametrize("compiled", [False, True])
def test_bound_is_what_its_prices_prove(benchmark: BenchmarkFixture, compiled: bool) -> None:
    """It is nowhere above what its prices prove in fractions, nor the optimum, and falls with no evaluation."""
    rows = once(benchmark, lambda: [_prove(seed, compiled=compiled) for seed in range(PRICED)])
    near = sum(bound > 0.95 * best for bound, best in rows)
    report(f"{len(rows):,} bounds, {near} within 5 %")

    assert all(bound <= best * (1 + ERROR) for bound, best in rows)
    assert near > len(rows) / 2


def _prove(seed: int, *, compiled: bool) -> tuple[float, float]:
    """Return the bound and the optimum of a random instance, in weighted sums of job completion times."""
    _, scenario, drawn = prices.drawn(seed)
    weights = [weight or Fraction(1, 2) for weight in drawn]
    given = [float(weight) for weight in weights]
    found = [
        price_bound(scenario, weights=given, evaluations=number, compiled=compiled) for number in (1, 7, 50)
    ]
    values = [each.total_jct for each in found]
    assert values == sorted(values), seed
    assert all(Fraction(each.total_jct) <= prices.proven(scenario, weights, each) for each in found), seed
    return values[-1], prices.optimum(scenario, weights) - float(prices.waited(scenario, weights))
