"""Performance: how fast jobs are with other batches, on more GPUs, and when they share GPUs."""
