"""Resizing: schedules and bounds for elastic jobs that run from start to completion without preemption.

`jobs` reads the problem, `rules` makes initial schedules, `model` and `cuts` bound all schedules, and `order`
finds the best schedule for an order of starts and completions. `method` combines them.
"""

from formulations.scheduling.resizing.method import Resizing, resizing

__all__ = ["Resizing", "resizing"]
