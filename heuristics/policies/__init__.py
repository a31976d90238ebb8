"""Policies: what decides, event by event, in a simulation; each is a callable that makes a fresh decider."""

from heuristics.policies.afs import afs
from heuristics.policies.best_pairs import best_pairs
from heuristics.policies.break_even import break_even
from heuristics.policies.dally import dally
from heuristics.policies.efq import efq
from heuristics.policies.elastic_las import elastic_las
from heuristics.policies.elastic_srtf import elastic_srtf
from heuristics.policies.equal_share import equal_share
from heuristics.policies.fifo import fifo
from heuristics.policies.fifo_skipping import fifo_skipping
from heuristics.policies.gandiva import gandiva
from heuristics.policies.gandiva_growing import gandiva_growing
from heuristics.policies.gandiva_rotation import gandiva_rotation
from heuristics.policies.las import las
from heuristics.policies.lucid import lucid
from heuristics.policies.marginal import marginal
from heuristics.policies.marginal_attained import marginal_attained
from heuristics.policies.muri import muri
from heuristics.policies.optimus import optimus
from heuristics.policies.random_order import random_order
from heuristics.policies.restricted_sharing import restricted_sharing
from heuristics.policies.sia import sia
from heuristics.policies.sjf import sjf
from heuristics.policies.sjf_bsbf import sjf_bsbf
from heuristics.policies.sjf_ffs import sjf_ffs
from heuristics.policies.skew_consolidation import skew_consolidation
from heuristics.policies.srsf import srsf
from heuristics.policies.srtf import srtf
from heuristics.policies.ssf import ssf
from heuristics.policies.tiresias import tiresias

__all__ = [
    "afs",
    "best_pairs",
    "break_even",
    "dally",
    "efq",
    "elastic_las",
    "elastic_srtf",
    "equal_share",
    "fifo",
    "fifo_skipping",
    "gandiva",
    "gandiva_growing",
    "gandiva_rotation",
    "las",
    "lucid",
    "marginal",
    "marginal_attained",
    "muri",
    "optimus",
    "random_order",
    "restricted_sharing",
    "sia",
    "sjf",
    "sjf_bsbf",
    "sjf_ffs",
    "skew_consolidation",
    "srsf",
    "srtf",
    "ssf",
    "tiresias",
]
