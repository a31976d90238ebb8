"""Guarantees: plans in slots of time that keep the deadlines of all jobs that are admitted."""
