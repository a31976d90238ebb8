"""Batching: what batches, durations and decisions are known when batch sizes are elastic."""
