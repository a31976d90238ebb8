"""Schedulers: who starts on base workers and who has flexible ones, beside the two phases of Aryl.

Each is a function whose options make a scheduler; it is named in the option `scheduler` of a policy.
"""

from gsopt.simulation.deciders.loaning.schedulers.afs import afs
from gsopt.simulation.deciders.loaning.schedulers.fifo import fifo
from gsopt.simulation.deciders.loaning.schedulers.gandiva import gandiva
from gsopt.simulation.deciders.loaning.schedulers.goodput_search import goodput_search
from gsopt.simulation.deciders.loaning.schedulers.marginal import marginal
from gsopt.simulation.deciders.loaning.schedulers.max_first import max_first
from gsopt.simulation.deciders.loaning.schedulers.optimus import optimus

__all__ = ["afs", "fifo", "gandiva", "goodput_search", "marginal", "max_first", "optimus"]
