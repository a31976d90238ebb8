"""Aryl."""

from gsopt.simulation import Decider, State
from gsopt.simulation.deciders.loaning.loaning import Loaning
from gsopt.simulation.deciders.loaning.orchestrator import Orchestrator
from gsopt.simulation.deciders.loaning.two_phase import TwoPhase
from gsopt.studies.catalogue import find_method


def aryl(state: State, *, interval: float = 60, orchestrator_interval: float = 300, reclaiming="greedy", grouping=True, inference="T4") -> Decider:
    return Loaning(state, TwoPhase(find_method("allocation", "exact")), Orchestrator(find_method("reclaiming", reclaiming)),
        interval=interval, orchestrator_interval=orchestrator_interval, grouping=grouping, inference=inference)
