"""Scheduling over time: the policies in `heuristics.policies`, used as heuristics, and Aryl's Algorithm 2."""

from gsopt.core.method import Method
from gsopt.evaluation.lift import lift
from heuristics import policies
from heuristics.scheduling.two_phase import two_phase

#: Those that are most often best come first: an exact method spends only part of its time on its start.
__all__ = ["two_phase", "marginal", "srtf", "elastic_srtf", "efq"]  # noqa: RUF022 - in the order of trials
__all__ += [name for name in policies.__all__ if name not in __all__]

_LIFTED = {name: lift(getattr(policies, name)) for name in policies.__all__}


def __getattr__(name: str) -> Method:
    """Return the policy of a given name as a heuristic (PEP 562)."""
    if name in _LIFTED:
        return _LIFTED[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
