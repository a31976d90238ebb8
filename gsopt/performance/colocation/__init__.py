"""Colocation: the decision whether a new job shares the GPUs of a running job, and with which sub-batches.

A `Pair` describes the two jobs, and compares two choices: sharing from now on, or waiting until the running job
completes. `choose_sub_batch` tries the sub-batches of the new job that fit into the memory that the running job
leaves free. `halvings` lists the possible sub-batches.

Examples
--------
>>> pair = Pair(remaining=4, seconds=1, slowdown_running=2, slowdown_new=2)
>>> pair.shared_sum, pair.sequential_sum, pair.shares()
(Fraction(7, 1), 9, True)
"""

from gsopt.performance.colocation.pair import Pair, Rule
from gsopt.performance.colocation.sub_batches import Choice, SubBatch, choose_sub_batch, halvings

__all__ = ["Choice", "Pair", "Rule", "SubBatch", "choose_sub_batch", "halvings"]
