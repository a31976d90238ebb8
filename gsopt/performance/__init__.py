"""Performance: how fast jobs are together, apart, and with other batches."""
