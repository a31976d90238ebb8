"""Exact models of scheduling over time."""

from formulations.scheduling.event_orders import event_orders

__all__ = ["event_orders"]
