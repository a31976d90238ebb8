"""Exact models of scheduling over time."""

from formulations.scheduling.exact import exact

__all__ = ["exact"]
