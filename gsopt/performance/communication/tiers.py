"""Tiers: the penalties of a model by network tier, computed by the communication model."""

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
    """Return the penalty of a model on every tier, for `gsopt.scenario.speed.Speed`.

    With computing times and collectives fitted to Table I of Dally, the penalty is within 5 % of the table's
    value for the network. For the rack, it is typically off by a factor of about two, and for the machine, by a
    factor of about ten. The table itself is `gsopt.scenario.speed.TIER_PENALTIES`.

    Parameters
    ----------
    layers
        The layers of the model.
    collectives
        Durations of all-reduces, keyed by tier: machine, rack, network, and any further levels.
    scale, floor
        As in `penalty`; the same for every tier.

    Raises
    ------
    InvalidInput
        A machine, rack or network tier is missing, or an argument is out of range.

    Examples
    --------
    >>> layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    >>> times = {"machine": 0, "rack": 4, "network": 10}
    >>> tier_penalty([layer], {tier: Collective(latency=time) for tier, time in times.items()}, floor=0.1)
    TierPenalty(machine=0.1, rack=0.3333333333333333, network=1.3333333333333333)
    """
    for tier in Tier:
        if tier not in collectives:
            raise InvalidInput("collectives", "", f"must hold the tier {tier}")
    return TierPenalty(
        **{
            str(tier): penalty(layers, collective, scale=scale, floor=floor)
            for tier, collective in collectives.items()
        }
    )
