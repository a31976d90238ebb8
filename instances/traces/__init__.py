"""Traces: readers for public traces.

Every reader takes a path, the options of `Selection`, and possibly further options. It returns a `Reading`: a
workload, and the rows that were dropped or repaired.
"""

from instances.traces.ares import ares
from instances.traces.castor import castor
from instances.traces.crux import crux
from instances.traces.dally import dally
from instances.traces.gavel import gavel
from instances.traces.helios import helios
from instances.traces.itp import itp
from instances.traces.openb import openb
from instances.traces.philly import philly
from instances.traces.sia import sia
from instances.traces.swf import swf
from instances.traces.tiresias import tiresias

__all__ = [
    "ares",
    "castor",
    "crux",
    "dally",
    "gavel",
    "helios",
    "itp",
    "openb",
    "philly",
    "sia",
    "swf",
    "tiresias",
]
