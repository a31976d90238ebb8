"""Adaptive jobs: training jobs whose speed depends on placement shape, batch size and progress."""
