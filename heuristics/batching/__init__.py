"""Batching: heuristics that choose the GPUs and batch size of each job."""

from heuristics.batching.equal_share import equal_share
from heuristics.batching.evolution import evolution
from heuristics.batching.marginal import marginal
from heuristics.batching.srpt import srpt

__all__ = ["marginal", "equal_share", "srpt", "evolution"]  # noqa: RUF022 - the best of little time first
