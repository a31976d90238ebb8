"""Exact models of scheduling over time."""

from formulations.scheduling.event_orders import event_orders
from formulations.scheduling.exact import exact
from formulations.scheduling.milp import milp

__all__ = ["event_orders", "exact", "milp"]
