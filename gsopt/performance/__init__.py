"""Performance: models of training speed for different batch sizes, numbers of GPUs, and shared GPUs."""
