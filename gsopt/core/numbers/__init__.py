"""Numbers: exact arithmetic, clocks, spans of time, hulls, tolerances and compiled kernels."""
