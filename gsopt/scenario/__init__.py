"""Scenario: the input of a simulation: jobs, speeds, cluster and events."""
