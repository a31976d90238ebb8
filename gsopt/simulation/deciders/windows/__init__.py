"""Windows: plans of the next rounds, which say of every job in which of them it runs."""
