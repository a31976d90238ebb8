"""Core: problems, methods and results, which are the foundation of the library."""
