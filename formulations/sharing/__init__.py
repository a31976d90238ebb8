"""Exact models of sharing over time: a search over starts at events."""

from formulations.sharing.exact import exact

__all__ = ["exact"]
