"""Published policies for scheduling over time: those of `heuristics.policies`, each lifted to a heuristic."""

from gsopt.method import Method
from gsopt.simulation import lift
from heuristics import policies

#: What is best most often comes first: only a part of an exact method's time goes into its start.
__all__ = ["marginal", "srtf", "elastic_srtf", "efq"]  # noqa: RUF022 - in the order in which they are tried
__all__ += [name for name in policies.__all__ if name not in __all__]

_LIFTED = {name: lift(getattr(policies, name)) for name in __all__}


def __getattr__(name: str) -> Method:
    """Give a policy as a heuristic (PEP 562)."""
    if name in _LIFTED:
        return _LIFTED[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
