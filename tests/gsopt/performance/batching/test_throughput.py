"""Throughput by a model and by a table."""

from fractions import Fraction
from math import isclose
from random import Random

import pytest
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.performance.batching import Rate, StepTime, Tabulated
from gsopt.performance.communication import Dimension, Wire, Wiring, flat_ring
from tests.effort import cases

RING = Wire(bandwidth=1e9, latency=1e-3, wiring=Wiring.RING)


def test_a_step_by_hand() -> None:
    """130 samples on 4 GPUs are 33 on the largest; 6 messages of 25 MB take 25 + 1 ms each."""
    model = StepTime(fixed=0.02, per_sample=0.001, message=1e8, wire=RING)
    assert model.seconds(130, 4) == Fraction(20 + 33 + 6 * 26, 1000)
    assert model.samples_per_second(130, 4) == Fraction(130_000, 209)
    assert model.seconds(130, 1) == Fraction(150, 1000)


def test_the_formula_of_a_ring_of_single_hops() -> None:
    """On single hops communication is 2 (c - 1) / c M / w + 2 (c - 1) l, and double the latency by a switch."""
    for gpus in range(2, 20):
        wanted = Fraction(2 * (gpus - 1), gpus) * Fraction(10**8, 10**9) + Fraction(2 * (gpus - 1), 1000)
        assert StepTime(fixed=1, per_sample=1, message=1e8, wire=RING).communication(gpus) == wanted
    switch = RING.model_copy(update={"wiring": Wiring.SWITCH})
    latency = StepTime(fixed=1, per_sample=1, message=0, wire=switch).communication(3)
    assert latency == Fraction(8, 1000)


def test_communication_is_that_of_the_library() -> None:
    """The exact seconds are those of the flat ring in floats."""
    random = Random(1)
    for _ in range(100):
        wiring = random.choice(list(Wiring))
        wire = Wire(bandwidth=10 ** random.uniform(6, 12), latency=random.uniform(0, 1e-3), wiring=wiring)
        size, gpus = 10 ** random.uniform(0, 10), random.randint(1, 64)
        exact = StepTime(fixed=1, per_sample=0, message=size, wire=wire).communication(gpus)
        assert isclose(exact, flat_ring(size, Dimension(units=gpus, wire=wire)), rel_tol=1e-12)


def test_the_fastest_batch_is_fastest() -> None:
    """No other batch within the limit gives more samples per second, with or without a fixed part."""
    random, tried = Random(2), cases(300)
    smaller = 0
    for _ in range(tried):
        fixed = random.choice((0.0, 0.0, 1e-3, 1.0))
        model = StepTime(fixed=fixed, per_sample=random.choice((0.001, 0.1)), message=1e6, wire=RING)
        model = random.choice((model, model.on(None)))
        gpus, most = random.randint(1, 6), random.randint(1, 30)
        best = max(range(gpus, most + 1), key=lambda b: model.samples_per_second(b, gpus), default=None)
        found = model.fastest(gpus, most)
        assert (found is None) == (best is None) == (not model.offers(gpus, most))
        if found is not None and best is not None:
            assert model.samples_per_second(found, gpus) == model.samples_per_second(best, gpus)
            smaller += found < most
    assert smaller > tried / 20  # without a fixed part the remainder does not pay


def test_more_samples_are_faster_where_locals_are_equal() -> None:
    """With equal local batches throughput grows with the batch."""
    model = StepTime(fixed=0.01, per_sample=0.001, message=1e7, wire=RING)
    rates = [model.samples_per_second(local * 3, 3) for local in range(1, 40)]
    assert rates == sorted(rates)
    assert len(set(rates)) == len(rates)


def test_a_table_knows_what_was_measured() -> None:
    """Nothing is interpolated, and of equally fast batches the larger is taken."""
    rates = [(32, 1, 100.0), (64, 1, 150.0), (96, 1, 150.0), (128, 1, 90.0), (64, 2, 180.0)]
    table = Tabulated(rates=[Rate(batch_size=b, gpus=c, samples_per_second=x) for b, c, x in rates])
    assert table.samples_per_second(64, 2) == 180
    assert (table.knows(64, 2), table.knows(32, 2), table.knows(64, 3)) == (True, False, False)
    assert (table.fastest(1, 1000), table.fastest(1, 95), table.fastest(1, 31)) == (96, 64, None)
    assert (table.offers(1, 32), table.offers(1, 31), table.offers(3, 99)) == (True, False, False)
    with pytest.raises(InvalidInput, match="batch_size: 32 samples on 2 GPUs: must be one of the measured"):
        table.samples_per_second(32, 2)


def test_more_gpus_than_samples_are_refused() -> None:
    """Every GPU needs a sample, and there is a GPU."""
    model = StepTime(fixed=1, per_sample=1)
    with pytest.raises(InvalidInput, match="batch_size: 3: must be at least the 4 GPUs"):
        model.seconds(3, 4)
    with pytest.raises(InvalidInput, match="gpus: 0: must be at least 1"):
        model.seconds(3, 0)
    assert (model.knows(3, 4), model.knows(3, 0), model.knows(4, 4)) == (False, False, True)


def test_bad_throughput_is_refused() -> None:
    """A step takes time, a pair is measured once, and has a sample on each GPU."""
    with pytest.raises(ValidationError, match=r"per_sample: 0\.0: must be at least 1e-09"):
        StepTime(fixed=0, per_sample=0)
    for bandwidth in (1e-320, 0.9):
        with pytest.raises(ValidationError, match=r"wire\.bandwidth: .* must carry the 1e"):
            StepTime(fixed=1, per_sample=1, message=1e9, wire=Wire(bandwidth=bandwidth))
    rate = Rate(batch_size=4, gpus=2, samples_per_second=1)
    with pytest.raises(ValidationError, match=r"rates\[1\]: '4 samples on 2 GPUs': must be given once"):
        Tabulated(rates=[rate, rate])
    with pytest.raises(ValidationError, match=r"rates\[0\].batch_size: 1: must be at least the 2 GPUs"):
        Tabulated(rates=[Rate(batch_size=1, gpus=2, samples_per_second=1)])
