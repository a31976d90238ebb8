"""ElasticFlow: plans in slots of time that keep the deadlines of all admitted jobs."""

from heuristics.policies.elasticflow.policy import elasticflow

__all__ = ["elasticflow"]
