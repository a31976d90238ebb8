"""Solvers: models, their standard form, and the backends that solve them."""
