"""Schedulers of base and flexible workers other than Aryl's two phases.

Each of them is a function that makes a scheduler from its options. The policy's option `scheduler` takes its
name.
"""

from heuristics.policies.aryl.schedulers.afs import afs
from heuristics.policies.aryl.schedulers.fifo import fifo
from heuristics.policies.aryl.schedulers.gandiva import gandiva
from heuristics.policies.aryl.schedulers.goodput_search import goodput_search
from heuristics.policies.aryl.schedulers.marginal import marginal
from heuristics.policies.aryl.schedulers.max_first import max_first
from heuristics.policies.aryl.schedulers.optimus import optimus

__all__ = ["afs", "fifo", "gandiva", "goodput_search", "marginal", "max_first", "optimus"]
