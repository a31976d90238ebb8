"""Tables of pairs whose slowdowns follow a rule."""

from collections.abc import Callable

from gsopt.performance.interference import PairTable, Profile


def ruled(
    loads: dict[str, float], rule: Callable[[float, float], float] = lambda mine, other: 1 + mine * other
) -> PairTable:
    """Return all pairs of configurations with some loads; a rule makes the slowdown of both."""
    profiles = [Profile(name=name, features={"load": load}) for name, load in loads.items()]
    slowdowns = {
        one: {other: max(1.0, rule(mine, load)) for other, load in loads.items()} for one, mine in loads.items()
    }
    return PairTable(name="ruled", profiles=profiles, slowdowns=slowdowns)


#: Eight configurations, from idle to busy.
EIGHT = ruled({name: place / 4 for place, name in enumerate("abcdefgh")})
