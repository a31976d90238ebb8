"""Heuristics for admission: the preemption rules of cluster schedulers, and two greedy algorithms.

All except `cheapest_first` admit pending gangs one by one, in descending order of priority. They place a
gang that fits without preemption in the group at its level with the least room to spare, and apply their
rules only to gangs that do not fit.
"""

from heuristics.admission.cheapest_first import cheapest_first
from heuristics.admission.greedy import greedy
from heuristics.admission.kai import kai
from heuristics.admission.kai_consolidate import kai_consolidate
from heuristics.admission.kube_scheduler import kube_scheduler
from heuristics.admission.kueue import kueue
from heuristics.admission.kueue_fair import kueue_fair
from heuristics.admission.slurm import slurm
from heuristics.admission.volcano import volcano
from heuristics.admission.volcano_preempt import volcano_preempt
from heuristics.admission.workload_aware import workload_aware

#: Best ones first, because a short time limit leaves out the last ones.
__all__ = [  # noqa: RUF022 - not by name
    "greedy",
    "cheapest_first",
    "workload_aware",
    "kueue",
    "slurm",
    "volcano",
    "kube_scheduler",
    "kai",
    "kueue_fair",
    "volcano_preempt",
    "kai_consolidate",
]
