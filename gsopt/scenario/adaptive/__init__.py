"""Applications: models whose speed depends on the shape of the placement, the batch and the progress so far."""
