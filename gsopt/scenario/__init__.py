"""Scenario: what is given: jobs, speeds, clusters, events."""
