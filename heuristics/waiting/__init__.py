"""Waiting over time: list scheduling by tier, and non-preemptive policies used as heuristics."""

from gsopt.core.method import Method
from gsopt.evaluation.lift import lift_waiting
from heuristics import policies
from heuristics.waiting.best_tier import best_tier

#: The policies that let each job run to its end on the GPUs on which it starts, with options that switch off
#: leases. Policies that wait for a tier come first.
_NEVER_INTERRUPT = {
    "break_even": {"lease": None},
    "dally": {"lease": None},
    "fifo": {},
    "fifo_skipping": {},
    "sjf": {},
    "ssf": {},
}

_LIFTED = {name: lift_waiting(getattr(policies, name), **preset) for name, preset in _NEVER_INTERRUPT.items()}

__all__ = ["best_tier", *_LIFTED]  # noqa: PLE0604 - strings


def __getattr__(name: str) -> Method:
    """Return the policy of a given name as a heuristic (PEP 562)."""
    if name in _LIFTED:
        return _LIFTED[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
