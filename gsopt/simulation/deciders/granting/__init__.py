"""Granting: all GPUs are granted anew at every decision, a step at a time, by what jobs have left on them."""
