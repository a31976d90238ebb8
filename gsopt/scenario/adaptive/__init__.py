"""Adaptive jobs: training jobs whose speed depends on their placement, batch size and progress."""
