"""Simulation: the event-by-event simulation of a workload under a policy.

A policy is a callable that creates a decider for one run. The decider is called when events occur or, if the
run has rounds, at the start of a round. It reads the state and yields actions. It keeps its own queue, which it
updates from the lists of arrived, completed and evicted jobs.

Examples
--------
>>> from gsopt.scenario.job import Job, Workload
>>> class LargestFirst:
...     preemptive = False
...
...     def __init__(self):
...         self.waiting = []
...
...     def decide(self, state):
...         self.waiting += state.arrived
...         for job in sorted(self.waiting, key=lambda job: -state.jobs[job].gpus):
...             if state.fits(job):
...                 self.waiting.remove(job)
...                 yield Start(job)
>>> def largest_first(state):
...     return LargestFirst()
>>> jobs = [Job(name=str(gpus), release_date=0, duration=1, gpus=gpus) for gpus in (1, 2, 4)]
>>> simulate(Workload(jobs=jobs), largest_first, cluster=4).completion_times
(2.0, 2.0, 1.0)
"""

from gsopt.schedule.bounds import mean_jct_bound
from gsopt.simulation.placer import FreeGpus, Placer, consolidated
from gsopt.simulation.policy import (
    Action,
    Assign,
    Decider,
    IllegalDecision,
    Move,
    NotReleased,
    Policy,
    Request,
    Resize,
    Start,
    State,
    Stop,
    Vacate,
    Wake,
)
from gsopt.simulation.run import Replay, replay, simulate

__all__ = [
    "Action",
    "Assign",
    "Decider",
    "FreeGpus",
    "IllegalDecision",
    "Move",
    "NotReleased",
    "Placer",
    "Policy",
    "Replay",
    "Request",
    "Resize",
    "Start",
    "State",
    "Stop",
    "Vacate",
    "Wake",
    "consolidated",
    "mean_jct_bound",
    "replay",
    "simulate",
]
