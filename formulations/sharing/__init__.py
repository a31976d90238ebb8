"""Exact models of sharing over time: a search over starts at events, and orders for starts at any time."""

from formulations.sharing.exact import exact
from formulations.sharing.orders import orders

__all__ = ["exact", "orders"]
