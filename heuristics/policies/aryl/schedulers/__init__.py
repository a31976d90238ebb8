"""Schedulers: alternatives to Aryl's two phases for base and flexible workers.

Each is a function that makes a scheduler from its options. The policy's option `scheduler` takes the name of
the function.
"""

from heuristics.policies.aryl.schedulers.afs import afs
from heuristics.policies.aryl.schedulers.fifo import fifo
from heuristics.policies.aryl.schedulers.gandiva import gandiva
from heuristics.policies.aryl.schedulers.goodput_search import goodput_search
from heuristics.policies.aryl.schedulers.marginal import marginal
from heuristics.policies.aryl.schedulers.max_first import max_first
from heuristics.policies.aryl.schedulers.optimus import optimus

__all__ = ["afs", "fifo", "gandiva", "goodput_search", "marginal", "max_first", "optimus"]
