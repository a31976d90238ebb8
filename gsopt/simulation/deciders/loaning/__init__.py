"""Loaning: base and flexible workers on machines that are always there and on those that are on loan."""

from gsopt.simulation.deciders.loaning.epoch import Elastic, Epoch, Pool, Scheduler, Waiting

__all__ = ["Elastic", "Epoch", "Pool", "Scheduler", "Waiting"]
