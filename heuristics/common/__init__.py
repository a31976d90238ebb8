"""Common: what heuristics of several decisions share."""
