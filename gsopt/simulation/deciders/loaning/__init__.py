"""Loaning: base and flexible workers on machines that are always there and on those that are on loan."""

from gsopt.simulation.deciders.loaning.epoch import Elastic, Epoch, Pool, Scheduler, Waiting
from gsopt.simulation.deciders.loaning.loaning import Loaning
from gsopt.simulation.deciders.loaning.orchestrator import Orchestrator
from gsopt.simulation.deciders.loaning.two_phase import TwoPhase

__all__ = ["Elastic", "Epoch", "Loaning", "Orchestrator", "Pool", "Scheduler", "TwoPhase", "Waiting"]
