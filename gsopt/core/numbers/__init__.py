"""Numbers: exact arithmetic, clocks, durations, hulls, tolerances and compiled kernels."""
