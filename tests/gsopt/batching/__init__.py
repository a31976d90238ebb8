"""Tests of the throughput and the jobs of batching."""
