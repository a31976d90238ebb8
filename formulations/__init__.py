"""Formulations: exact models, with one package per decision and one module per technique."""
