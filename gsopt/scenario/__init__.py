"""Scenario: the input of a simulation, which consists of jobs, speeds, a cluster and events."""
