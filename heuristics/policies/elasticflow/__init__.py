"""ElasticFlow: time-slotted plans to meet the deadlines of all admitted jobs."""

from heuristics.policies.elasticflow.policy import elasticflow

__all__ = ["elasticflow"]
