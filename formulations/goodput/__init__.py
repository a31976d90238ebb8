"""Exact methods for goodput."""

from formulations.goodput.exact import exact

__all__ = ["exact"]
