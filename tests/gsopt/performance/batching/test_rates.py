"""Throughput of many jobs at once."""

from random import Random

import numpy as np

from gsopt.core.numbers.tolerances import SUM
from gsopt.performance.batching import StepTime
from gsopt.performance.batching.rates import StepTimes
from gsopt.performance.communication import Wire, Wiring


def test_arrays_are_the_models() -> None:
    """For random jobs, limits and numbers of GPUs the throughput is that of the model's fastest batch."""
    random = Random(1)
    models = [_model(random) for _ in range(60)]
    limit = [random.choice((1, 5, 30, 200)) for _ in models]
    local = [random.choice((1, 4, 7, 64)) for _ in models]
    batch, rate = StepTimes.of(models).fastest(limit, local, widest=9)
    assert batch.shape == rate.shape == (60, 10)
    for place, model in enumerate(models):
        for gpus in range(1, 10):
            best = model.fastest(gpus, min(limit[place], gpus * local[place]))
            if best is None:
                assert (batch[place, gpus], rate[place, gpus]) == (0, 0)
                continue
            wanted = float(model.samples_per_second(best, gpus))
            assert np.isclose(rate[place, gpus], wanted, rtol=SUM, atol=0)
            own = float(model.samples_per_second(int(batch[place, gpus]), gpus))
            assert np.isclose(own, wanted, rtol=SUM, atol=0)


def test_no_gpus_are_no_throughput() -> None:
    """The first column is 0, and without jobs there is no row."""
    batch, rate = StepTimes.of([_model(Random(2))]).fastest([8], [8], widest=0)
    assert (batch.tolist(), rate.tolist()) == ([[0]], [[0.0]])
    assert StepTimes.of([]).fastest([], [], widest=3)[0].shape == (0, 4)


def _model(random: Random) -> StepTime:
    wire = Wire(
        bandwidth=10 ** random.uniform(8, 11),
        latency=random.choice((0.0, 1e-5, 1e-3)),
        wiring=random.choice(list(Wiring)),
    )
    return StepTime(
        fixed=random.choice((0.0, 1e-3, 0.1)),
        per_sample=random.choice((1e-4, 1e-3, 0.01)),
        message=random.choice((0.0, 1e8)),
        wire=random.choice((None, wire)),
    )
