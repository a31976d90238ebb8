"""Adaptive jobs: training whose speed depends on the shape of the placement, the batch and the progress."""
