"""Simulation: a workload replayed under a policy, event by event."""

from gsopt.simulation.ledger import Placer, consolidated
from gsopt.simulation.metrics import Metrics, mean_jct_bound
from gsopt.simulation.policy import (
    Action,
    Decider,
    IllegalDecision,
    Move,
    Policy,
    Resize,
    Start,
    State,
    Stop,
    Wake,
)
from gsopt.simulation.run import PolicyComparison, Replay, compare_policies, replay, scenario_of, simulate

__all__ = [
    "Action",
    "Decider",
    "IllegalDecision",
    "Metrics",
    "Move",
    "Placer",
    "Policy",
    "PolicyComparison",
    "Replay",
    "Resize",
    "Start",
    "State",
    "Stop",
    "Wake",
    "compare_policies",
    "consolidated",
    "mean_jct_bound",
    "replay",
    "scenario_of",
    "simulate",
]
