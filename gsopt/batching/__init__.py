"""Batching: what elastic batch sizes rest on, from how fast jobs train to how much of their training is left.

Examples
--------
>>> LimitRules(rate=0.01).after_epoch(256, elapsed=60)
512
"""

from gsopt.batching.limits import LimitRules, ScaleDown, scaled_down

__all__ = ["LimitRules", "ScaleDown", "scaled_down"]
