"""Solvers: formulations, their standard form, and the backends that solve them."""
