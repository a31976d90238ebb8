"""Tiers: the penalties of a model by network tier, made by the model of communication."""

from collections.abc import Mapping, Sequence

from gsopt.core.errors import InvalidInput
from gsopt.performance.communication.collective import Collective
from gsopt.performance.communication.layers import Layer
from gsopt.performance.communication.overlap import penalty
from gsopt.scenario.cluster import Tier
from gsopt.scenario.speed import TierPenalty


def tier_penalty(
    layers: Sequence[Layer], collectives: Mapping[str, Collective], *, scale: float = 1.0, floor: float = 0.0
) -> TierPenalty:
    """Return the penalty of a model on every tier, as `gsopt.scenario.speed.Speed` takes it.

    Within a factor of about two of Table I of Dally for machine and rack, and within 5 % for the network, with
    collectives fitted to it; the table itself is `gsopt.scenario.speed.TIER_PENALTIES`.

    Parameters
    ----------
    layers
        The layers of the model.
    collectives
        How long all-reduces take on each tier: machine, rack, network, and any further levels.
    scale, floor
        See `penalty`; the floor is that of every tier.

    Raises
    ------
    InvalidInput
        A tier has no collective, or an option is out of its range.

    Examples
    --------
    >>> layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    >>> times = {"machine": 0, "rack": 4, "network": 10}
    >>> tier_penalty([layer], {tier: Collective(latency=time) for tier, time in times.items()}, floor=0.1)
    TierPenalty(machine=0.1, rack=0.3333333333333333, network=1.3333333333333333)
    """
    missing = next((tier for tier in Tier if tier not in collectives), None)
    if missing is not None:
        raise InvalidInput("", "collectives", "", f"must hold the tier {missing}")
    return TierPenalty(
        **{
            str(tier): penalty(layers, collective, scale=scale, floor=floor)
            for tier, collective in collectives.items()
        }
    )
