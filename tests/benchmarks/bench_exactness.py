"""Twenty thousand proofs against brute force in fractions, with every method of every decision."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.exactness.trial import ORACLES, Tally, attack

pytestmark = pytest.mark.slow

SIZES = {"reclaiming": 8_000, "allocation": 6_000, "placement": 4_500, "scheduling": 1_500}


@pytest.mark.benchmark(group="exactness: 20,000 instances over the decisions")
@pytest.mark.parametrize("word", ORACLES)
def test_no_proof_is_beaten(benchmark: BenchmarkFixture, word: str) -> None:
    """No optimum is beaten by brute force, no bound lies beyond it, and the default method proves all."""
    tally: Tally = benchmark.pedantic(  # type: ignore[no-untyped-call]
        attack, args=(word, range(SIZES[word])), kwargs={"turns": 3}, rounds=1
    )
    print(f"\n{word}: {tally}")  # noqa: T201 - a benchmark reports what it measured

    assert tally.failures == []
    assert tally.refused["exact"] == 0
    assert tally.rate("exact") == 1
