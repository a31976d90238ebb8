"""The shapes of workloads, and the trace facts they are made of."""

from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from instances.traces.reading import Reading
from instances.workloads.shape import ITP, PHILLY, PROBABILITIES, Shape

SHAPES = {"philly": PHILLY, "itp": ITP}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_quantiles_ascend(shape: Shape) -> None:
    """A duration that is exceeded less often is longer."""
    for _, quantiles in shape.durations:
        assert list(quantiles) == sorted(quantiles)
    assert list(PROBABILITIES) == sorted(PROBABILITIES)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_mean_is_that_of_the_draws(shape: Shape) -> None:
    """The closed form agrees with the mean over many draws, within 5 % for jobs of one GPU."""
    drawn = [duration for _, duration in shape.draw(200_000, 1, Random(1))]

    assert np.mean(drawn) == pytest.approx(shape.mean_gpu_seconds(1), rel=0.05)


def test_draws_have_the_quantiles_of_the_trace() -> None:
    """Half, a tenth and a hundredth of the draws lie above the quantiles; demands come in their proportions."""
    drawn = list(PHILLY.draw(100_000, 128, Random(2)))
    single = sorted(duration for gpus, duration in drawn if gpus == 1)
    demands = Counter(gpus for gpus, _ in drawn)

    for probability, quantile in zip(PROBABILITIES[3:-2], PHILLY.durations[0][1][3:-2], strict=True):
        above = sum(duration > quantile for duration in single) / len(single)
        assert above == pytest.approx(1 - probability, rel=0.1, abs=0.003)
    assert demands[1] / 100_000 == pytest.approx(71_355 / 76_531, rel=0.01)
    assert demands[8] / 100_000 == pytest.approx(1_502 / 76_531, rel=0.1)


@settings(deadline=None)
@given(gpus=st.integers(1, 200), seed=st.integers(0, 100), shape=st.sampled_from([PHILLY, ITP]))
def test_no_draw_is_outside_of_the_facts(gpus: int, seed: int, shape: Shape) -> None:
    """No job demands more than the cluster has, and none is shorter or longer than any of the trace."""
    shortest = min(quantiles[0] for _, quantiles in shape.durations)
    longest = max(quantiles[-1] for _, quantiles in shape.durations)

    for demand, duration in shape.draw(50, gpus, Random(seed)):
        assert 1 <= demand <= gpus
        assert shortest <= duration <= longest


def test_a_cluster_too_small_for_every_demand_is_refused() -> None:
    """With fewer GPUs than the smallest demand there is nothing to draw."""
    with pytest.raises(InvalidInput, match=r"^gpus: 0: must be at least 1, the smallest demand$"):
        list(PHILLY.draw(1, 0, Random(0)))


def test_durations_above_the_last_class_are_those_of_it() -> None:
    """A demand between two classes has the durations of the lower one, and one below all those of the first."""
    shape = Shape(
        demands=((1, 1), (5, 1), (99, 1)), durations=((2, (60.0,) * 12), (4, (70.0,) * 12), (8, (80.0,) * 12))
    )

    assert set(shape.draw(99, 99, Random(0))) == {(1, 60), (5, 70), (99, 80)}


def measured(jobs: Sequence[Job], shape: Shape) -> Shape:
    """Measure the facts of a shape on a trace."""
    least = [demand for demand, _ in shape.durations]
    classes = np.searchsorted(least, [job.gpus for job in jobs], side="right") - 1
    durations = np.array([job.duration for job in jobs])
    return Shape(
        source=shape.source,
        demands=tuple(sorted(Counter(job.gpus for job in jobs).items())),
        durations=tuple(
            (demand, tuple(float(round(q)) for q in np.quantile(durations[classes == number], PROBABILITIES)))
            for number, demand in enumerate(least)
        ),
    )


def test_the_facts_of_philly(late_philly: Reading) -> None:
    """The constants are what is measured on the real trace from October on."""
    jobs = late_philly.workload.jobs
    mean = sum(job.gpu_seconds for job in jobs) / len(jobs)

    assert measured(jobs, PHILLY) == PHILLY
    assert PHILLY.mean_gpu_seconds(128) == pytest.approx(38_939, abs=1) == pytest.approx(1.07 * mean, rel=0.01)


def test_the_facts_of_itp(whole_itp: Reading) -> None:
    """The constants are what is measured on the real trace."""
    workload = whole_itp.workload
    mean = workload.gpu_hours * 3600 / len(workload.jobs)

    assert measured(workload.jobs, ITP) == ITP
    assert ITP.mean_gpu_seconds(64) == pytest.approx(87_425, abs=1) == pytest.approx(1.03 * mean, rel=0.01)
