"""Adapting: jobs have any numbers of GPUs on any machines, as often as they gain by it."""

from gsopt.simulation.deciders.adapting.adapting import Adapting, Divide

__all__ = ["Adapting", "Divide"]
