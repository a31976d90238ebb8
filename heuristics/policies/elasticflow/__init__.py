"""ElasticFlow: plans in slots of time that keep the deadlines of all jobs that are admitted."""

from heuristics.policies.elasticflow.policy import elasticflow

__all__ = ["elasticflow"]
