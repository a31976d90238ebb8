"""Heuristics: published algorithms and gsopt's own, one package per decision, and policies for simulations."""
