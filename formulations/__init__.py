"""Exact models, one package per decision and one technique per file."""
