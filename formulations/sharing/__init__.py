"""Sharing: exact methods for GPU sharing over time, with starts at events, at any time or in time slots."""

from formulations.sharing.exact import exact
from formulations.sharing.orders import orders
from formulations.sharing.slots import slots
from formulations.sharing.time_indexed import time_indexed

__all__ = ["exact", "orders", "slots", "time_indexed"]
