"""Heuristics: published algorithms, one package per decision and one algorithm per file."""
