"""Tests of the schedulers of base and flexible workers."""
