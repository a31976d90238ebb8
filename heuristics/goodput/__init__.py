"""Heuristics for goodput."""

__all__: list[str] = []
