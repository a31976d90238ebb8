"""Evaluation: finds, solves, compares, simulates and judges; the front door."""
