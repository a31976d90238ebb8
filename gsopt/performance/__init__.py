"""Performance: models of training speed by batch size and number of GPUs, alone or on shared GPUs."""
