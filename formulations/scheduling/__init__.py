"""Exact models of scheduling over time."""

__all__: list[str] = []
