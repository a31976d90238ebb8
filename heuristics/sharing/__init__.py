"""Sharing over time: the policies that never interrupt jobs, used as heuristics."""

from gsopt.core.method import Method
from gsopt.evaluation.lift import lift_sharing
from heuristics import policies

#: The policies that let each job run to its end on the GPUs on which it starts.
_NEVER_INTERRUPT = (
    "best_pairs",
    "fifo",
    "fifo_skipping",
    "restricted_sharing",
    "sjf",
    "sjf_bsbf",
    "sjf_ffs",
    "ssf",
)

_LIFTED = {name: lift_sharing(getattr(policies, name)) for name in _NEVER_INTERRUPT}

__all__ = [*_LIFTED]  # noqa: PLE0604 - strings


def __getattr__(name: str) -> Method:
    """Return the policy of a given name as a heuristic (PEP 562)."""
    if name in _LIFTED:
        return _LIFTED[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
