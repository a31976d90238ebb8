"""Resizing: the joint optimum over time of elastic jobs that run from their start to their completion.

`jobs` reads the problem, `rules` makes first schedules, `model` and `cuts` bound all of them, and `order` makes
the best schedule for an order of starts and completions; `method` goes from one to the other.
"""

from formulations.scheduling.resizing.method import Resizing, resizing

__all__ = ["Resizing", "resizing"]
