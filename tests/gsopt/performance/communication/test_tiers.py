"""Penalties by tier."""

from collections.abc import Mapping

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.performance.communication import Collective, Layer, tier_penalty
from gsopt.scenario.cluster import Tier
from gsopt.scenario.job import Job
from gsopt.scenario.speed import Speed


def test_the_model_slows_jobs_down() -> None:
    """A job whose model waits for a third of its computation runs at three quarters of its speed."""
    layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    times = {"machine": 0, "rack": 4, "network": 10}
    made = tier_penalty([layer], {tier: Collective(latency=time) for tier, time in times.items()}, floor=0.1)
    job = Job(name="a", release_date=0, duration=60, gpus=2, model="mine")
    speed = Speed(tiers={"mine": made})

    assert speed.rate(job, 2, Tier.RACK) == 0.75
    assert speed.rate(job, 2, Tier.MACHINE) == 1 / 1.1


def test_every_tier_needs_a_collective() -> None:
    """A tier without a collective is named in one line."""
    layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    with pytest.raises(InvalidInput, match=r"^collectives: must hold the tier rack$"):
        tier_penalty([layer], {"machine": Collective(latency=1)})


def test_further_levels_are_kept() -> None:
    """A level of a deeper cluster has the penalty of its own collective."""
    layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    times = {"machine": 0, "rack": 4, "pod": 7, "network": 10}
    made = tier_penalty([layer], {tier: Collective(latency=time) for tier, time in times.items()})

    assert made.of("pod") == 5 / 6


def test_resnet_50_needs_a_floor(models: Mapping[str, tuple[Layer, ...]]) -> None:
    """Its 12 % in a machine and in a rack are the floor alone, its 38 % on the network are the model's."""
    collectives = {
        "machine": Collective(latency=8.7e-7, per_byte=3.5e-12),
        "rack": Collective(latency=9e-6, per_byte=5.1e-12),
        "network": Collective(latency=2.49e-4, per_byte=3e-13),
    }
    made = tier_penalty(models["resnet50"], collectives, scale=0.03395, floor=0.12)

    assert (made.machine, made.rack) == (0.12, 0.12)
    assert 0.36 < made.network < 0.39
