"""Core: problems, methods and results, on which everything else is built."""
