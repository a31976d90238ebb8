"""Exact models of scheduling over time."""

from formulations.scheduling.event_orders import event_orders
from formulations.scheduling.exact import exact
from formulations.scheduling.fairness import (
    smallest_fairness as smallest_fairness,  # no method: it gives a number
)
from formulations.scheduling.milp import milp

__all__ = ["event_orders", "exact", "milp"]
