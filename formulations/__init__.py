"""Formulations: exact models and methods, with one package per decision and one module per technique."""
