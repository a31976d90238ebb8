"""Profiling: what is learned of jobs before they share GPUs, and when they are to share. The parts of Lucid."""
