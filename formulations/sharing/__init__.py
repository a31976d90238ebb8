"""Exact methods for sharing over time: a search for starts at events, linear programs for any starts."""

from formulations.sharing.exact import exact
from formulations.sharing.orders import orders
from formulations.sharing.slots import slots
from formulations.sharing.time_indexed import time_indexed

__all__ = ["exact", "orders", "slots", "time_indexed"]
