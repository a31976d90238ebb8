"""Performance: how batch size, number of GPUs, communication and GPU sharing affect training speed."""
