"""Policies: functions that make deciders for simulations, most of them following published schedulers."""

from heuristics.policies.backfilling import conservative_backfilling, easy_backfilling
from heuristics.policies.break_even import break_even
from heuristics.policies.castor import best_pairs, sjf_bsbf, sjf_ffs
from heuristics.policies.dally import dally
from heuristics.policies.efq import efq
from heuristics.policies.elastic import elastic_las, elastic_srtf
from heuristics.policies.equal_share import equal_share
from heuristics.policies.fifo import fifo
from heuristics.policies.fifo_skipping import fifo_skipping
from heuristics.policies.gandiva import gandiva, gandiva_growing, gandiva_rotation
from heuristics.policies.las import las
from heuristics.policies.lucid import lucid, restricted_sharing
from heuristics.policies.marginal import marginal, marginal_attained
from heuristics.policies.muri import muri
from heuristics.policies.optimus import afs, optimus
from heuristics.policies.random_order import random_order
from heuristics.policies.sia import sia
from heuristics.policies.sjf import sjf
from heuristics.policies.skew_consolidation import skew_consolidation
from heuristics.policies.srsf import srsf
from heuristics.policies.srtf import srtf
from heuristics.policies.ssf import ssf
from heuristics.policies.tiresias import tiresias

__all__ = [
    "afs",
    "best_pairs",
    "break_even",
    "conservative_backfilling",
    "dally",
    "easy_backfilling",
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

#: The modules of further policies, keyed by policy name; comparisons include these only if they are named.
OTHERS = {
    "admitting": "heuristics.policies.preempting",
    "allox": "heuristics.policies.allox",
    "allox_port": "heuristics.policies.allox",
    "aryl": "heuristics.policies.aryl",
    "believed": "heuristics.policies.believed",
    "capped": "heuristics.policies.ones",
    "edf": "heuristics.policies.edf",
    "elasticflow": "heuristics.policies.elasticflow",
    "estimated": "heuristics.policies.estimated",
    "exact_batching": "heuristics.policies.ones",
    "gandiva_packing": "heuristics.policies.gandiva",
    "gavel": "heuristics.policies.gavel",
    "ones": "heuristics.policies.ones",
    "pollux": "heuristics.policies.pollux",
    "priority_preemption": "heuristics.policies.preempting",
    "rolling_prices": "heuristics.policies.marginal",
    "shockwave": "heuristics.policies.shockwave",
    "themis": "heuristics.policies.gavel",
    "themis_auction": "heuristics.policies.gavel",
}
