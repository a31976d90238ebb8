"""Scheduling: exact methods, the smallest feasible fairness constant, and the price of fairness."""

from formulations.scheduling.event_orders import event_orders
from formulations.scheduling.exact import exact
from formulations.scheduling.fairness import smallest_fairness as smallest_fairness  # no method
from formulations.scheduling.milp import milp
from formulations.scheduling.price import price_of_fairness as price_of_fairness  # no method
from formulations.scheduling.resizing import resizing

__all__ = ["event_orders", "exact", "milp", "resizing"]
