"""Core: the contract of problems, methods and results, and what all else stands on."""
