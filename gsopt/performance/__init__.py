"""Performance: models of training speed for different batch sizes, GPU counts, and shared GPUs."""
